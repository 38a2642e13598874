//! What a row of the sums is about.

use std::collections::BTreeMap;

use antiphon_model::{Span, Timestamp};
use serde::Serialize;
use serde::ser::Serializer;

use super::Facts;
use crate::{Sums, Totals};

/// The key by which rows are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    Model,
    /// The program that ran the session.
    Agent,
    /// The kind or the name of the sub-agent that made the request.
    SubAgent,
    /// The folder that the session worked in.
    Project,
    Session,
    /// The hour, day, week or month of the request.
    Hour,
    Day,
    Week,
    Month,
    /// The five-hour window in which subscriptions count.
    Block,
}

/// What a row is about; null if the log does not say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum StatsKey {
    Model {
        /// The model that was used.
        model: Option<String>,
    },
    Agent {
        /// The program that ran the session.
        agent: Option<String>,
    },
    SubAgent {
        /// The kind of sub-agent; null for the session's own agent.
        sub_agent: Option<String>,
    },
    Project {
        /// The folder in which the session worked.
        project: Option<String>,
    },
    Hour {
        /// The hour of the request, in the local time zone: `2026-03-01T14:00+01:00`.
        hour: Option<String>,
    },
    Day {
        /// The day of the request, in the local time zone: `2026-03-01`.
        day: Option<String>,
    },
    Week {
        /// The week of the request, in the local time zone, from Monday: `2026-W09`.
        week: Option<String>,
    },
    Month {
        /// The month of the request, in the local time zone: `2026-03`.
        month: Option<String>,
    },
    Block {
        /// When the five-hour window began: the full hour of its first request.
        block: Option<Timestamp>,
        /// When it ends or ended.
        until: Option<Timestamp>,
        /// Whether it has not ended yet.
        running: bool,
        /// How long a running one still lasts, in milliseconds.
        left_ms: Option<i64>,
    },
    Session {
        /// The id of the session.
        session_id: String,
    },
}

/// A row: what it is about, and its sums.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatsRow<'r> {
    #[serde(flatten)]
    pub key: &'r StatsKey,
    #[serde(flatten)]
    pub sums: Sums,
}

impl Group {
    /// The span of the calendar that it groups by.
    pub(super) fn span(self) -> Option<Span> {
        match self {
            Self::Hour => Some(Span::Hour),
            Self::Day => Some(Span::Day),
            Self::Week => Some(Span::Week),
            Self::Month => Some(Span::Month),
            Self::Model
            | Self::Agent
            | Self::SubAgent
            | Self::Project
            | Self::Session
            | Self::Block => None,
        }
    }

    /// The row of requests; `span` is the name of the span of the calendar in which they were made.
    pub(super) fn key(self, facts: &Facts<'_>, span: Option<String>) -> StatsKey {
        let own = |word: Option<&str>| word.map(str::to_owned);
        match self {
            Self::Model => StatsKey::Model { model: own(facts.model) },
            Self::Agent => StatsKey::Agent { agent: own(facts.program) },
            Self::SubAgent => StatsKey::SubAgent { sub_agent: own(facts.sub_agent) },
            Self::Project => StatsKey::Project { project: own(facts.project) },
            Self::Session => StatsKey::Session { session_id: facts.session_id.to_owned() },
            Self::Hour => StatsKey::Hour { hour: span },
            Self::Day => StatsKey::Day { day: span },
            Self::Week => StatsKey::Week { week: span },
            Self::Month => StatsKey::Month { month: span },
            Self::Block => StatsKey::NO_BLOCK,
        }
    }
}

impl StatsKey {
    /// The row of requests without a time.
    pub(super) const NO_BLOCK: Self =
        Self::Block { block: None, until: None, running: false, left_ms: None };
}

/// What a row is about, in a word.
impl std::fmt::Display for StatsKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = match self {
            Self::Model { model: word }
            | Self::Agent { agent: word }
            | Self::Project { project: word }
            | Self::Hour { hour: word }
            | Self::Day { day: word }
            | Self::Week { week: word }
            | Self::Month { month: word } => word.as_deref(),
            Self::Block { block, .. } => {
                return match block {
                    Some(block) => block.fmt(f),
                    None => f.write_str("(unknown)"),
                };
            }
            Self::SubAgent { sub_agent } => Some(sub_agent.as_deref().unwrap_or("no sub-agent")),
            Self::Session { session_id } => Some(session_id.as_str()),
        };
        f.write_str(word.unwrap_or("(unknown)"))
    }
}

/// Each row as one object.
pub(super) fn rows<S: Serializer>(
    rows: &BTreeMap<StatsKey, Totals>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer
        .collect_seq(rows.iter().map(|(key, totals)| StatsRow { key, sums: Sums::from(*totals) }))
}
