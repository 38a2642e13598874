//! The list of what is kept, and what it cost.

use std::collections::HashMap;

use antiphon_catalog::{CatalogError, Key, SessionQuery, SessionSort, Summary};
use antiphon_views::{Group, Prices, Totals};

use crate::catalogue::Progress;
use crate::texts::KeptTexts;
use crate::{LeftOut, StatsReport, Store, StoredSession};

/// A session, and what it cost.
#[derive(Debug, Clone)]
pub struct Listed {
    pub session: StoredSession,
    pub totals: Totals,
    /// Whether something of it is not what was written.
    pub is_damaged: bool,
}

/// The sessions that were asked for, and those that could not be read or are damaged.
#[derive(Debug, Clone, Default)]
pub struct List {
    pub sessions: Vec<Listed>,
    pub left_out: Vec<LeftOut>,
}

impl Store {
    /// The sessions that are wanted, in an order. `status` is the word for how they stand now, if
    /// that matters: no catalogue knows whether somebody still writes.
    pub fn list(
        &self,
        query: &SessionQuery,
        status: Option<&str>,
        sort: SessionSort,
        progress: Progress<'_>,
    ) -> Result<List, CatalogError> {
        let mut catalogue = self.catalogue(progress)?;
        let damaged = self.damaged();
        let sessions = catalogue.sessions()?;
        let texts = KeptTexts::new(self, &sessions);
        let summaries: Vec<&Summary> = sessions.iter().map(|session| &session.summary).collect();
        let found = catalogue.ask(|catalog| catalog.list(&summaries, query, sort, &texts))?;
        drop(texts);
        let places: HashMap<Key, usize> =
            sessions.iter().zip(0..).map(|(it, at)| (it.key.clone(), at)).collect();
        let mut sessions: Vec<Option<StoredSession>> = sessions.into_iter().map(Some).collect();
        let listed = |(key, totals): (Key, Totals)| {
            let session = sessions.get_mut(*places.get(&key)?)?.take()?;
            let is_damaged = damaged.contains_key(&key);
            Some(Listed { session, totals, is_damaged })
        };
        let mut sessions: Vec<Listed> = found.into_iter().filter_map(listed).collect();
        if let Some(status) = status {
            sessions.retain(|it| it.session.standing().status.as_str() == status);
        }
        Ok(List { sessions, left_out: catalogue.left_out() })
    }

    /// Counts every request once, by the catalogue's prices or by others. Says what sessions could
    /// not be read or are damaged.
    pub fn stats(
        &self,
        group: Group,
        prices: Option<&Prices>,
        progress: Progress<'_>,
    ) -> Result<StatsReport, CatalogError> {
        let mut catalogue = self.catalogue(progress)?;
        let sessions = catalogue.sessions()?;
        let summaries: Vec<&Summary> = sessions.iter().map(|session| &session.summary).collect();
        let stats = catalogue.ask(|catalog| catalog.stats(&summaries, group, prices))?;
        Ok(StatsReport::of_kept(stats, &sessions, catalogue.left_out()))
    }
}
