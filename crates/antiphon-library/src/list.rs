//! The list of what is kept: some of it, in an order.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use antiphon_catalog::{CatalogError, EventQuery, Key};
use antiphon_model::Timestamp;
use antiphon_views::Totals;

use crate::catalogue::Progress;
use crate::search::retain_holding;
use crate::{LeftOut, Store, StoredSession};

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

/// Which sessions are wanted; what is not said does not matter. Words are parts, in small letters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionQuery {
    pub agent: Option<String>,
    pub project: Option<String>,
    pub role: Option<String>,
    pub issue: Option<String>,
    /// The word for how it stands.
    pub status: Option<String>,
    /// The whole name of a tool that was called.
    pub tool: Option<String>,
    pub file: Option<String>,
    pub min_cost_usd: Option<f64>,
    /// Something happened at this time or after it.
    pub since: Option<Timestamp>,
    /// It began before this time.
    pub until: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionSort {
    /// The last to change first.
    Changed,
    /// The last to begin first.
    Started,
    /// The dearest first.
    Cost,
    /// The longest first.
    Events,
}

impl SessionQuery {
    /// By what its row says.
    pub(crate) fn wants(&self, session: &StoredSession) -> bool {
        let has = |text: &Option<String>, part: &Option<String>| {
            let Some(part) = part else { return true };
            text.as_ref().is_some_and(|text| text.to_lowercase().contains(part))
        };
        let last = session.last_event_at.unwrap_or(session.changed_at);
        let first = session.started_at.unwrap_or(session.changed_at);
        has(&session.agent, &self.agent)
            && has(&session.project, &self.project)
            && has(&session.role, &self.role)
            && has(&session.issue, &self.issue)
            && self.since.is_none_or(|since| last >= since)
            && self.until.is_none_or(|until| first < until)
            // Last, as it may ask the file system.
            && self.status.as_ref().is_none_or(|it| it == session.standing().status.as_str())
    }
}

impl Store {
    /// The sessions that are wanted, in an order.
    pub fn list(
        &self,
        query: &SessionQuery,
        sort: SessionSort,
        progress: Progress<'_>,
    ) -> Result<List, CatalogError> {
        let mut catalogue = self.catalogue(progress)?;
        let damaged = self.damaged();
        let mut sums: BTreeMap<Key, Totals> = BTreeMap::new();
        for sum in catalogue.ask(|catalog| catalog.roll_up())? {
            *sums.entry(sum.session).or_default() += sum.totals;
        }
        let mut sessions = catalogue.sessions()?;
        sessions.retain(|session| query.wants(session));
        if let Some(tool) = &query.tool {
            let with = EventQuery { tool: Some(tool.clone()), ..EventQuery::default() };
            let with: BTreeMap<Key, u64> =
                catalogue.ask(|catalog| catalog.sessions_with(&with))?.into_iter().collect();
            sessions.retain(|session| with.contains_key(&session.key));
        }
        if let Some(file) = &query.file {
            retain_holding(&mut catalogue, &mut sessions, file)?;
        }
        let listed = |session: StoredSession| {
            let totals = sums.get(&session.key).copied().unwrap_or_default();
            let is_damaged = damaged.contains_key(&session.key);
            Listed { session, totals, is_damaged }
        };
        let mut sessions: Vec<Listed> = sessions.into_iter().map(listed).collect();
        if let Some(least) = query.min_cost_usd {
            sessions.retain(|it| it.totals.known().as_f64() >= least);
        }
        match sort {
            // That is how they come.
            SessionSort::Changed => {}
            SessionSort::Started => sessions.sort_by_key(|it| Reverse(it.session.started_at)),
            SessionSort::Cost => sessions.sort_by_key(|it| Reverse(it.totals.known())),
            SessionSort::Events => sessions.sort_by_key(|it| Reverse(it.session.events)),
        }
        Ok(List { sessions, left_out: catalogue.left_out() })
    }
}
