//! Tokens and cost over many sessions, and which of them are missing.

use std::path::PathBuf;

use antiphon_sources::{Error, Wanted};
use antiphon_views::{Group, Prices, SessionRequests, Stats};
use serde::Serialize;

use crate::{LeftOut, StoredSession, Trouble, open_all};

/// Tokens and cost over many sessions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatsReport {
    #[serde(flatten)]
    pub stats: Stats,
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

impl StatsReport {
    pub(crate) fn of_kept(
        stats: Stats,
        sessions: &[StoredSession],
        left_out: Vec<LeftOut>,
    ) -> Self {
        let named = |session: &StoredSession| trouble(session.session_id.clone(), session.problems);
        let with_problems = sessions.iter().filter_map(named).collect();
        Self { stats, not_sessions: None, left_out, with_problems, failed: Vec::new() }
    }
}

/// What is said of a session with so many problems.
pub(crate) fn trouble(at: String, problems: u64) -> Option<Trouble> {
    let plural = if problems == 1 { "" } else { "s" };
    let what = format!("{problems} problem{plural}; see `antiphon show`");
    (problems > 0).then_some(Trouble { at, what })
}

/// Counts the sessions at these paths and below them, each request once.
pub fn stats_at(paths: &[PathBuf], group: Group, prices: &Prices) -> StatsReport {
    // Agents are called by what stands beside their usage.
    let wanted = match group {
        Group::Agent | Group::SubAgent | Group::Project => Wanted::Everything,
        Group::Model | Group::Day | Group::Session => Wanted::Usage,
    };
    let all = open_all(paths, wanted, &|opened| {
        let session = &opened.session;
        let id = session.info().session_id.as_deref().unwrap_or(&opened.name);
        let main = opened.files.first().map(|main| main.display().to_string());
        let trouble = trouble(main.unwrap_or_default(), session.problems().len() as u64);
        (SessionRequests::read(session, id, group, prices), trouble)
    });
    let mut failed = all.failed;
    failed.sort_by(|a, b| a.0.cmp(&b.0));
    let (sessions, troubles): (Vec<_>, Vec<_>) = all.sessions.into_iter().unzip();
    StatsReport {
        stats: Stats::of(group, &sessions),
        not_sessions: Some(all.others).filter(|&others| others > 0),
        left_out: Vec::new(),
        with_problems: troubles.into_iter().flatten().collect(),
        failed,
    }
}
