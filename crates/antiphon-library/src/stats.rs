//! Tokens and cost of everything that is kept.

use std::collections::BTreeMap;

use antiphon_catalog::{CatalogError, Key};
use antiphon_views::{Facts, Group, Prices, Stats};

use crate::catalogue::Progress;
use crate::{LeftOut, Store, StoredSession};

impl Store {
    /// Counts every request once, from the catalogue's sums; by other prices, if there are some,
    /// from its requests. Says what sessions could not be read or are damaged.
    pub fn stats(
        &self,
        group: Group,
        prices: Option<&Prices>,
        progress: Progress<'_>,
    ) -> Result<(Stats, Vec<LeftOut>), CatalogError> {
        let mut catalogue = self.catalogue(progress)?;
        let sessions = catalogue.sessions()?;
        let sums = catalogue.ask(|catalog| match prices {
            Some(prices) => catalog.roll_up_by(prices),
            None => catalog.roll_up(),
        })?;
        let mut stats = Stats::new(group);
        let by_key: BTreeMap<&Key, &StoredSession> =
            sessions.iter().map(|session| (&session.key, session)).collect();
        for sum in &sums {
            let Some(session) = by_key.get(&sum.session) else { continue };
            let facts = Facts {
                session_id: &session.session_id,
                program: session.agent.as_deref(),
                project: session.project.as_deref(),
                model: sum.model.as_deref(),
                sub_agent: sum.sub_agent.as_deref(),
                day: sum.day,
            };
            stats.add_totals(&facts, sum.totals);
        }
        sessions.iter().for_each(|_| stats.add_session());
        Ok((stats, catalogue.left_out()))
    }
}
