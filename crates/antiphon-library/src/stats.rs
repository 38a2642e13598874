//! Tokens, cost and calls over many sessions, and which of them are missing.

use std::path::PathBuf;

use antiphon_catalog::{CatalogError, SessionQuery, Summary};
use antiphon_model::Session;
use antiphon_sources::{Error, Opened, Wanted};
use antiphon_views::{
    CallStats, CallStatsQuery, Group, Prices, Reading, SessionCalls, SessionRequests, Stats,
    StatsQuery,
};
use serde::Serialize;

use crate::catalogue::{Catalogue, Progress};
use crate::{LeftOut, Store, StoredSession, Trouble, open_all};

/// Sums over many sessions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "{S}Report"))]
pub struct StatsReport<S = Stats> {
    #[serde(flatten)]
    pub stats: S,
    /// The number of files below the folders that are not sessions and do not belong to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_sessions: Option<usize>,
    /// The kept sessions that could not be read or are damaged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// The sessions whose files have problems, such as a line that could not be read: some of what
    /// they used may be missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with_problems: Vec<Trouble>,
    /// The files that could not be read, in the order of their paths.
    #[serde(skip)]
    pub failed: Vec<(PathBuf, Error)>,
}

impl<S> StatsReport<S> {
    fn of_kept(
        wanted: &SessionQuery,
        sessions: &[StoredSession],
        left_out: Vec<LeftOut>,
        stats: S,
    ) -> Self {
        let named = |session: &StoredSession| trouble(session.session_id.clone(), session.problems);
        let sessions = sessions.iter().filter(|session| wanted.wants(session));
        let with_problems = sessions.filter_map(named).collect();
        Self { stats, not_sessions: None, left_out, with_problems, failed: Vec::new() }
    }
}

/// What is said of a session with so many problems.
pub(crate) fn trouble(at: String, problems: u64) -> Option<Trouble> {
    let plural = if problems == 1 { "" } else { "s" };
    let what = format!("{problems} problem{plural}; see `antiphon show`");
    (problems > 0).then_some(Trouble { at, what })
}

impl Store {
    /// Counts every request of the sessions that are wanted once, by the catalogue's prices or by
    /// others. Says what sessions could not be read or are damaged.
    pub fn stats(
        &self,
        wanted: &SessionQuery,
        query: &StatsQuery,
        prices: Option<&Prices>,
        progress: Progress<'_>,
    ) -> Result<StatsReport, CatalogError> {
        self.sums(wanted, progress, |catalogue, sessions| {
            catalogue.ask(|catalog| catalog.stats(sessions, wanted, query, prices))
        })
    }

    /// Counts every tool call of the sessions that are wanted once.
    pub fn call_stats(
        &self,
        wanted: &SessionQuery,
        query: &CallStatsQuery,
        progress: Progress<'_>,
    ) -> Result<StatsReport<CallStats>, CatalogError> {
        self.sums(wanted, progress, |catalogue, sessions| {
            catalogue.ask(|catalog| catalog.call_stats(sessions, wanted, query))
        })
    }

    fn sums<S>(
        &self,
        wanted: &SessionQuery,
        progress: Progress<'_>,
        sum: impl Fn(&mut Catalogue<'_>, &[&Summary]) -> Result<S, CatalogError>,
    ) -> Result<StatsReport<S>, CatalogError> {
        let mut catalogue = self.catalogue(progress)?;
        let sessions = catalogue.sessions()?;
        let summaries: Vec<&Summary> = sessions.iter().map(|session| &session.summary).collect();
        let stats = sum(&mut catalogue, &summaries)?;
        Ok(StatsReport::of_kept(wanted, &sessions, catalogue.left_out(), stats))
    }
}

/// Counts the sessions at these paths and below them, each request once.
pub fn stats_at(
    paths: &[PathBuf],
    wanted: &SessionQuery,
    query: &StatsQuery,
    prices: &Prices,
) -> StatsReport {
    let is_by_usage = match query.group {
        // Agents are called by what stands beside their usage.
        Group::Agent | Group::SubAgent | Group::Project => false,
        Group::Model
        | Group::Session
        | Group::Hour
        | Group::Day
        | Group::Week
        | Group::Month
        | Group::Block => wanted.agent.is_none() && wanted.project.is_none(),
    };
    let read = if is_by_usage { Wanted::Usage } else { Wanted::Everything };
    let of_agent = SessionQuery { agent: wanted.agent.clone(), ..SessionQuery::default() };
    let make = |opened: &Opened, id: &str| {
        let is_wanted = matches(wanted, &opened.session);
        let is_of_agent = is_wanted || matches(&of_agent, &opened.session);
        is_of_agent.then(|| SessionRequests::read(&opened.session, id, is_wanted, prices))
    };
    sums_at(paths, read, wanted, &make, |sessions| Stats::of(query, &sessions))
}

/// Counts the sessions at these paths and below them, each tool call once.
pub fn call_stats_at(
    paths: &[PathBuf],
    wanted: &SessionQuery,
    query: &CallStatsQuery,
) -> StatsReport<CallStats> {
    let make = |opened: &Opened, id: &str| {
        let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
        Some(SessionCalls::read(&reading, id, matches(wanted, &opened.session)))
    };
    sums_at(paths, Wanted::Everything, wanted, &make, |sessions| CallStats::of(query, &sessions))
}

fn sums_at<T: Send, S>(
    paths: &[PathBuf],
    read: Wanted,
    wanted: &SessionQuery,
    make: &(dyn Fn(&Opened, &str) -> Option<T> + Sync),
    sum: impl FnOnce(Vec<T>) -> S,
) -> StatsReport<S> {
    let all = open_all(paths, read, &|opened| {
        let session = &opened.session;
        let id = session.info().session_id.as_deref().unwrap_or(&opened.name);
        let main = opened.files.first().map(|main| main.display().to_string());
        let problems = session.problems().len() as u64;
        let trouble = trouble(main.unwrap_or_default(), problems);
        (make(opened, id), trouble.filter(|_| matches(wanted, session)))
    });
    let mut failed = all.failed;
    failed.sort_by(|a, b| a.0.cmp(&b.0));
    let (sessions, troubles): (Vec<_>, Vec<_>) = all.sessions.into_iter().unzip();
    StatsReport {
        stats: sum(sessions.into_iter().flatten().collect()),
        not_sessions: Some(all.others).filter(|&others| others > 0),
        left_out: Vec::new(),
        with_problems: troubles.into_iter().flatten().collect(),
        failed,
    }
}

/// Whether a session that was read is among those that are wanted.
fn matches(wanted: &SessionQuery, session: &Session) -> bool {
    let info = session.info();
    wanted.wants_session(info.program.as_deref(), info.cwd.as_deref())
}
