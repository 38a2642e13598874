//! Events in order, with their lane, time and duration.

use antiphon_model::{AgentIx, BodyError, Entry, EntryKind, Role, Session, Source, Timestamp};
use serde::Serialize;

use crate::Reading;

#[derive(Debug, Serialize)]
pub struct TimelineRow {
    /// The position in the log, from 1: the only axis that every log has.
    pub step: usize,
    pub message_id: String,
    /// The lane.
    pub agent_id: Option<String>,
    pub name: Option<String>,
    pub kind: &'static str,
    /// Of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// Where a message came from: an agent's id, `external` or `system`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The tools that it calls, or whose result it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// How long a call took: recorded, or from the call to its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// Whether that duration was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_basis: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// Which events are wanted; what is not said does not matter, and of several words one is enough.
#[derive(Debug, Default)]
pub struct TimelineFilter {
    pub agents: Vec<AgentIx>,
    pub roles: Vec<String>,
    /// Ids of agents, `external` or `system`.
    pub sources: Vec<String>,
    pub kinds: Vec<String>,
    /// Whole names, in any letter case.
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
            && is_one(&self.kinds, Some(kind(entry)))
            && (self.tools.is_empty() || tools(session, entry).any(is_tool))
    }
}

/// Where a message came from, where the log says so.
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

/// The rows, one at a time: a session may hold a million.
pub fn timeline<'a>(
    reading: Reading<'a>,
    filter: &'a TimelineFilter,
) -> impl Iterator<Item = Result<TimelineRow, BodyError>> + 'a {
    let session = reading.session;
    wanted(session, filter).map(move |entry| {
        let duration = duration(&reading, entry);
        Ok(TimelineRow {
            step: entry.ix().index() + 1,
            message_id: entry.id().to_owned(),
            agent_id: entry.agent().map(|agent| session.agent_id(agent).to_owned()),
            name: entry.agent().map(|agent| session.agent_name(agent).to_owned()),
            kind: kind(entry),
            role: entry.role().map(Role::as_str),
            source: source(session, entry).map(str::to_owned),
            tools: tools(session, entry).map(str::to_owned).collect(),
            text: reading.description(entry)?,
            timestamp: entry.at(),
            duration_ms: duration.map(|(millis, _)| millis),
            duration_basis: duration.map(|(_, basis)| basis),
            is_error: entry.is_error(),
        })
    })
}

/// The agents that have a row, in the order of their first.
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

/// `said` and `called` tell more than `assistant`.
fn kind(entry: Entry<'_>) -> &'static str {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others have a word of their own")]
    match entry.kind() {
        EntryKind::Message(Role::Assistant) if entry.makes_calls() => "called",
        EntryKind::Message(Role::Assistant) => "said",
        EntryKind::Message(Role::User) => "heard",
        EntryKind::Message(Role::Tool) => "received",
        other => other.as_str(),
    }
}

fn duration(reading: &Reading<'_>, entry: Entry<'_>) -> Option<(i64, &'static str)> {
    if let Some(recorded) = entry.duration_ms() {
        return Some((i64::try_from(recorded).unwrap_or(i64::MAX), "recorded"));
    }
    let call = entry.call().filter(|_| entry.role() == Some(Role::Tool))?;
    let made = reading.session.call_started_at(call)?;
    Some((entry.at()?.since(made), "inferred"))
}
