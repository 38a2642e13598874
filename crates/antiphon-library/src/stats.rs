//! Tokens and cost over many sessions, and which of them are missing.

use std::path::PathBuf;

use antiphon_sources::{Error, Wanted};
use antiphon_views::{Group, Prices, SessionRequests, Stats};
use serde::Serialize;

use crate::{LeftOut, open_all};

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
    /// The files that could not be read, in the order of their paths.
    #[serde(skip)]
    pub failed: Vec<(PathBuf, Error)>,
    /// How many problems the files that were read have.
    #[serde(skip)]
    pub problems: usize,
}

impl StatsReport {
    pub(crate) fn of_kept(stats: Stats, left_out: Vec<LeftOut>) -> Self {
        Self { stats, not_sessions: None, left_out, failed: Vec::new(), problems: 0 }
    }
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
        (SessionRequests::read(session, id, group, prices), session.problems().len())
    });
    let mut failed = all.failed;
    failed.sort_by(|a, b| a.0.cmp(&b.0));
    let (sessions, problems): (Vec<_>, Vec<_>) = all.sessions.into_iter().unzip();
    StatsReport {
        stats: Stats::of(group, &sessions),
        not_sessions: Some(all.others).filter(|&others| others > 0),
        left_out: Vec::new(),
        failed,
        problems: problems.iter().sum(),
    }
}
