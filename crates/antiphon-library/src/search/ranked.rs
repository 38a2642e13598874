//! What was said, by how well it fits.

use std::collections::BTreeMap;

use antiphon_catalog::{CatalogError, Key, Ranked};
use antiphon_views::Reading;

use super::{Hit, Search, entry, in_parallel};
use crate::catalogue::Catalogue;
use crate::{StoredSession, open};

impl Search<'_> {
    /// What was said, what fits best first.
    pub(super) fn ranked(
        &self,
        catalogue: &mut Catalogue<'_>,
        sessions: &[StoredSession],
        all: bool,
    ) -> Result<Vec<Hit>, CatalogError> {
        let by_key: BTreeMap<&Key, &StoredSession> =
            sessions.iter().map(|session| (&session.key, session)).collect();
        // Some may be of sessions, tools or times that are not asked for.
        let most = self.limit.saturating_mul(4).max(100);
        let ranked = catalogue.ask(|catalog| catalog.ranked(self.words, all, most))?;
        let about = |it: &Ranked| by_key.get(&it.session).filter(|it| self.is_about(it)).copied();
        let ranked: Vec<(&StoredSession, &str)> =
            ranked.iter().filter_map(|it| Some((about(it)?, &*it.event_id))).collect();
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

    /// Those of some events that are asked for. Each session is opened once, and closed again.
    fn found(&self, events: &[(&StoredSession, &str)]) -> Vec<Hit> {
        let mut by_session: BTreeMap<&Key, Vec<(usize, &StoredSession, &str)>> = BTreeMap::new();
        for (rank, (session, id)) in events.iter().enumerate() {
            by_session.entry(&session.key).or_default().push((rank, session, id));
        }
        let sessions: Vec<_> = by_session.into_values().collect();
        let find = |events: &Vec<(usize, &StoredSession, &str)>| {
            let (_, session, _) = events.first()?;
            let path = session.path();
            let opened = match open(&path) {
                Ok(opened) => opened,
                Err(error) => {
                    self.note_error(session, &error);
                    return None;
                }
            };
            self.note_damage(session, &opened);
            let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
            let hit = |id| {
                let entry = opened.session.find(id)?;
                let found = entry::look_at_prose(&reading, entry, self.query, self.words)?;
                Some(found.hit(session, &path))
            };
            let hits = events.iter().filter_map(|(rank, _, id)| Some((*rank, hit(id)?)));
            Some(hits.collect::<Vec<_>>())
        };
        let (found, _) = in_parallel(&sessions, |_| false, find);
        let mut hits: Vec<(usize, Hit)> = found.into_iter().flat_map(|(_, hits)| hits).collect();
        hits.sort_by_key(|(rank, _)| *rank);
        hits.into_iter().map(|(_, hit)| hit).collect()
    }
}
