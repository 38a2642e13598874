//! What was said, ranked by relevance.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_views::Reading;

use super::{Hit, Look, Sqlite, entry, in_parallel};
use crate::search::Matching;
use crate::{CatalogError, Key};

impl Look<'_> {
    /// What was said, the best match first.
    pub(super) fn ranked(
        &self,
        catalog: &Sqlite,
        matching: Matching,
    ) -> Result<Vec<Hit>, CatalogError> {
        let wanted: BTreeSet<&Key> = self.sessions.iter().copied().collect();
        // Some may be of sessions, tools or times that do not match.
        let most = self.limit.saturating_mul(4).max(100);
        let ranked = catalog.ranked(self.words, matching, most)?;
        let ranked: Vec<(&Key, &str)> = ranked
            .iter()
            .filter(|it| wanted.contains(&it.session))
            .map(|it| (&it.session, &*it.event_id))
            .collect();
        let mut hits = Vec::new();
        for best in ranked.chunks(self.limit.max(1)) {
            hits.extend(self.found(best));
            if hits.len() >= self.limit {
                break;
            }
        }
        hits.truncate(self.limit);
        Ok(hits)
    }

    /// Those of some events that match the query. Each session is opened once, and closed again.
    fn found(&self, events: &[(&Key, &str)]) -> Vec<Hit> {
        let mut by_session: BTreeMap<&Key, Vec<(usize, &str)>> = BTreeMap::new();
        for (rank, (session, id)) in events.iter().enumerate() {
            by_session.entry(session).or_default().push((rank, id));
        }
        let sessions: Vec<_> = by_session.into_iter().collect();
        let find = |(session, events): &(&Key, Vec<(usize, &str)>)| {
            let text = self.texts.session(session)?;
            let reading = Reading { session: &text.session, bodies: &*text.bodies };
            let hit = |id| {
                let entry = text.session.find(id)?;
                let found = entry::look_at_prose(&reading, entry, self.query, self.words)?;
                Some(found.hit(session))
            };
            let hits = events.iter().filter_map(|(rank, id)| Some((*rank, hit(id)?)));
            Some(hits.collect::<Vec<_>>())
        };
        let (found, _) = in_parallel(&sessions, |_| false, find);
        let mut hits: Vec<(usize, Hit)> = found.into_iter().flat_map(|(_, hits)| hits).collect();
        hits.sort_by_key(|(rank, _)| *rank);
        hits.into_iter().map(|(_, hit)| hit).collect()
    }
}
