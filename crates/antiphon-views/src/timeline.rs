//! Events in order, with their lane, time and duration.

mod kind;

use antiphon_model::{AgentIx, BodyError, Entry, Role, Session, Source, Timestamp};
use serde::Serialize;

use crate::{FactBasis, Reading};
pub use kind::TimelineKind;

/// An event of a session.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelineRow {
    /// The position in the log, from 1: the only axis that every log has.
    pub step: usize,
    /// The id of the event.
    pub message_id: String,
    /// The id of the agent that it belongs to.
    pub agent_id: Option<String>,
    /// The name of that agent; its id, if it has no name.
    pub name: Option<String>,
    /// What happened.
    pub kind: TimelineKind,
    /// The role of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Where a message came from: an agent's id, `external` or `system`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The tools that it calls, or the tool whose result it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The text of the message; for a call, the tool and its main arguments.
    pub text: String,
    /// When it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// For a result, how long the call took, in milliseconds: as recorded, or else the time from
    /// the call to its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// Whether the duration is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_basis: Option<FactBasis>,
    /// Whether it is the result of a call that failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// Which events are wanted. An empty list means all; of several values one is enough.
#[derive(Debug, Default)]
pub struct TimelineFilter {
    pub agents: Vec<AgentIx>,
    pub roles: Vec<String>,
    /// Ids of agents, `external` or `system`.
    pub sources: Vec<String>,
    pub kinds: Vec<TimelineKind>,
    /// Complete names, in any letter case.
    pub tools: Vec<String>,
}

impl TimelineFilter {
    fn wants(&self, session: &Session, entry: Entry<'_>) -> bool {
        let is_one = |words: &[String], word: Option<&str>| {
            words.is_empty() || word.is_some_and(|word| words.iter().any(|it| it == word))
        };
        let is_tool = |tool: &str| self.tools.iter().any(|it| it.eq_ignore_ascii_case(tool));
        (self.agents.is_empty() || entry.agent().is_some_and(|it| self.agents.contains(&it)))
            && is_one(&self.roles, entry.role().map(Role::as_str))
            && is_one(&self.sources, source(session, entry))
            && (self.kinds.is_empty() || self.kinds.contains(&TimelineKind::of(entry)))
            && (self.tools.is_empty() || tools(session, entry).any(is_tool))
    }
}

/// The source of a message, if the log names it.
fn source<'s>(session: &'s Session, entry: Entry<'s>) -> Option<&'s str> {
    match entry.source() {
        Source::Own => None,
        Source::Agent(agent) => Some(session.agent_id(agent)),
        Source::External => Some("external"),
        Source::System => Some("system"),
    }
}

/// The tools that a message calls, or the one whose result it is.
fn tools<'s>(session: &'s Session, entry: Entry<'s>) -> impl Iterator<Item = &'s str> {
    let result_of = entry.call().filter(|_| entry.role() == Some(Role::Tool));
    entry.calls().map(|(ix, _)| ix).chain(result_of).map(|ix| session.tool_name(ix))
}

/// The rows, one at a time, because a session may have a million.
pub fn timeline<'a>(
    reading: Reading<'a>,
    filter: &'a TimelineFilter,
) -> impl Iterator<Item = Result<TimelineRow, BodyError>> + 'a {
    wanted(reading.session, filter).map(move |entry| timeline_row(&reading, entry))
}

/// The row of one event.
pub(crate) fn timeline_row(
    reading: &Reading<'_>,
    entry: Entry<'_>,
) -> Result<TimelineRow, BodyError> {
    let session = reading.session;
    let duration = duration(reading, entry);
    Ok(TimelineRow {
        step: entry.ix().index() + 1,
        message_id: entry.id().to_owned(),
        agent_id: entry.agent().map(|agent| session.agent_id(agent).to_owned()),
        name: entry.agent().map(|agent| session.agent_name(agent).to_owned()),
        kind: TimelineKind::of(entry),
        role: entry.role(),
        source: source(session, entry).map(str::to_owned),
        tools: tools(session, entry).map(str::to_owned).collect(),
        text: reading.description(entry)?,
        timestamp: entry.at(),
        duration_ms: duration.map(|(millis, _)| millis),
        duration_basis: duration.map(|(_, basis)| basis),
        is_error: entry.is_error(),
    })
}

/// The agents that have a row, in the order of their first row.
pub fn timeline_lanes(session: &Session, filter: &TimelineFilter) -> Vec<AgentIx> {
    let mut seen = vec![false; session.agents().len()];
    let agents = wanted(session, filter).filter_map(Entry::agent);
    let is_first = |agent: &AgentIx| {
        let seen = seen.get_mut(agent.index());
        seen.is_some_and(|seen| !std::mem::replace(seen, true))
    };
    agents.filter(is_first).collect()
}

fn wanted<'a>(
    session: &'a Session,
    filter: &'a TimelineFilter,
) -> impl Iterator<Item = Entry<'a>> + 'a {
    session.entries().filter(|&entry| filter.wants(session, entry))
}

fn duration(reading: &Reading<'_>, entry: Entry<'_>) -> Option<(i64, FactBasis)> {
    if let Some(recorded) = entry.duration_ms() {
        return Some((i64::try_from(recorded).unwrap_or(i64::MAX), FactBasis::Recorded));
    }
    let call = entry.call().filter(|_| entry.role() == Some(Role::Tool))?;
    let made = reading.session.call_started_at(call)?;
    Some((entry.at()?.since(made), FactBasis::Inferred))
}
