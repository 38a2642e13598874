//! The tool calls: the tool, how the call went, and how long it took.

use std::collections::BTreeMap;

use antiphon_model::{AgentIx, BodyError, CallIx, Session, Timestamp};
use serde::Serialize;

use crate::call_subject::call_subject;
use crate::{Category, FactBasis, Reading, category};

/// A tool call.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallRow {
    /// The id of the call.
    pub call_id: String,
    /// The tool that was called.
    pub tool_name: String,
    /// As recorded, or else derived from the tool and, for a shell, from its command; null for an
    /// unknown tool.
    pub tool_category: Option<Category>,
    /// The id of the agent that made the call.
    pub agent_id: String,
    /// The name of that agent; its id, if it has no name.
    pub name: String,
    /// How the call went.
    pub status: CallStatus,
    /// When the call was made.
    pub started_at: Option<Timestamp>,
    /// When its result came. For a call that created an agent, when that agent was finished, if
    /// that is later.
    pub ended_at: Option<Timestamp>,
    /// How long the call took, in milliseconds: as recorded, or else the time from `started_at` to
    /// `ended_at`.
    pub duration_ms: Option<i64>,
    /// Whether the duration is recorded.
    pub duration_basis: Option<FactBasis>,
    /// The id of the message that made the call.
    pub message_id: String,
    /// The ids of the messages with its results, in order: none, one or several.
    pub results: Vec<String>,
    /// The call, in words: the tool and its main arguments.
    pub text: String,
    /// What it is about: a command, a path, or its arguments in short.
    pub subject: String,
}

/// How a call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    /// It has a result.
    Success,
    /// Its result is an error.
    Failed,
    /// It has no result.
    Open,
}

impl CallStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Open => "open",
        }
    }
}

pub fn calls(reading: &Reading<'_>) -> Result<Vec<CallRow>, BodyError> {
    let session = reading.session;
    let delegations = Delegations::of(session);
    session.calls().map(|(ix, _)| call_row(reading, &delegations, ix)).collect()
}

/// The row of one call.
pub(crate) fn call_row(
    reading: &Reading<'_>,
    delegations: &Delegations,
    ix: CallIx,
) -> Result<CallRow, BodyError> {
    let session = reading.session;
    let call = session.call(ix);
    let made = session.entry(call.event);
    let tool = session.tool_name(ix);
    let duration = call_duration(reading, delegations, ix);
    Ok(CallRow {
        call_id: session.call_id(ix).to_owned(),
        tool_name: tool.to_owned(),
        tool_category: category(reading, ix)?,
        agent_id: session.agent_id(call.agent).to_owned(),
        name: session.agent_name(call.agent).to_owned(),
        status: call_status(reading, ix),
        started_at: session.call_started_at(ix),
        ended_at: call.last_result().and_then(|_| call_ended_at(reading, delegations, ix)),
        duration_ms: duration.map(|(millis, _)| millis),
        duration_basis: duration.map(|(_, basis)| basis),
        message_id: made.id().to_owned(),
        results: session.results(ix).map(|event| session.entry(event).id().to_owned()).collect(),
        text: reading.call_text(tool, call)?,
        subject: call_subject(reading, ix)?,
    })
}

/// How a call went.
pub fn call_status(reading: &Reading<'_>, ix: CallIx) -> CallStatus {
    match reading.session.call(ix).first_result() {
        None => CallStatus::Open,
        Some(_) if has_failed(reading, ix) => CallStatus::Failed,
        Some(_) => CallStatus::Success,
    }
}

/// Whether a result of the call says that it is an error.
pub(crate) fn has_failed(reading: &Reading<'_>, ix: CallIx) -> bool {
    reading.session.results(ix).any(|event| reading.session.entry(event).is_error())
}

/// How long a call took: as recorded, or else from the call to its end.
pub(crate) fn call_duration(
    reading: &Reading<'_>,
    delegations: &Delegations,
    ix: CallIx,
) -> Option<(i64, FactBasis)> {
    let session = reading.session;
    let call = session.call(ix);
    let last = session.entry(call.last_result()?);
    if let Some(recorded) = last.duration_ms() {
        return Some((i64::try_from(recorded).unwrap_or(i64::MAX), FactBasis::Recorded));
    }
    let ended = call_ended_at(reading, delegations, ix)?;
    Some((ended.since(session.call_started_at(ix)?), FactBasis::Inferred))
}

/// When a call ended: when its last result came. A call that created an agent lasts as long as that
/// agent does, because some calls return while the agent goes on in the background.
pub fn call_ended_at(
    reading: &Reading<'_>,
    delegations: &Delegations,
    ix: CallIx,
) -> Option<Timestamp> {
    call_back_at(reading, ix).max(delegations.ends.get(&ix).copied())
}

/// When the last result of a call came, or should have come by its recorded duration.
pub(crate) fn call_back_at(reading: &Reading<'_>, ix: CallIx) -> Option<Timestamp> {
    let session = reading.session;
    let back = session.entry(session.call(ix).last_result()?);
    let by_duration = || {
        let took = i64::try_from(back.duration_ms()?).ok()?;
        let started = session.call_started_at(ix)?;
        Some(Timestamp::from_millis(started.as_millis().saturating_add(took)))
    };
    back.at().or_else(by_duration)
}

/// Whether a tool delegates work to another agent, by the names in the seeds.
pub fn delegates(tool: &str) -> bool {
    matches!(tool, "Task" | "Agent" | "task")
}

/// Which calls created which agents.
#[derive(Debug, Default, Clone)]
pub struct Delegations {
    agents: BTreeMap<CallIx, AgentIx>,
    makers: BTreeMap<AgentIx, CallIx>,
    /// For each call: when the last of its agents ended, or its last event.
    ends: BTreeMap<CallIx, Timestamp>,
}

impl Delegations {
    pub fn of(session: &Session) -> Self {
        let mut delegations = Self::default();
        for (agent, facts) in session.agents() {
            let created = facts.created.map(|event| session.entry(event));
            let Some(call) = created.and_then(|entry| entry.call()) else { continue };
            delegations.agents.entry(call).or_insert(agent);
            delegations.makers.insert(agent, call);
            let events = facts.ended.into_iter().chain(facts.transcript().rev());
            if let Some(end) = events.filter_map(|event| session.entry(event).at()).next() {
                let known = delegations.ends.entry(call).or_insert(end);
                *known = end.max(*known);
            }
        }
        delegations
    }

    /// The agent that a call created; of several, the first.
    pub(crate) fn agent(&self, call: CallIx) -> Option<AgentIx> {
        self.agents.get(&call).copied()
    }

    /// The call that created an agent.
    pub fn maker(&self, agent: AgentIx) -> Option<CallIx> {
        self.makers.get(&agent).copied()
    }
}
