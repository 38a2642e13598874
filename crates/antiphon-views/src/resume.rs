//! Where a session can be resumed.

use std::collections::BTreeSet;

use antiphon_model::{BodyError, CallIx, Entry, EventIx, Role, Session};
use serde::Serialize;

use crate::Reading;

/// The point from which a session can be continued, and what is unfinished.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resume {
    /// The id of the session.
    pub session_id: String,
    /// Whether the end of the session is recorded.
    pub ended: bool,
    /// The last point at which every call had a result; null if there is none.
    pub last_complete: Option<ResumePoint>,
    /// The number of events after it.
    pub events_after: usize,
    /// Every call without a result.
    pub open_calls: Vec<OpenCall>,
}

/// A point at which every call had a result.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResumePoint {
    /// The id of the message.
    pub message_id: String,
    /// Its line in the file, from 1.
    pub line: u64,
    /// The id of the agent in whose transcript it is.
    pub agent_id: Option<String>,
    /// The name of that agent; its id, if it has no name.
    pub name: Option<String>,
    /// The text of the message; for a call, the tool and its main arguments.
    pub text: String,
}

/// A call without a result.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenCall {
    /// The id of the call.
    pub call_id: String,
    /// The tool that was called.
    pub tool_name: String,
    /// The id of the agent that made the call.
    pub agent_id: String,
    /// The name of that agent; its id, if it has no name.
    pub name: String,
    /// The id of the message that made the call.
    pub message_id: String,
    /// The line of that message, from 1.
    pub line: u64,
    /// The call, in words: the tool and its main arguments.
    pub text: String,
}

pub fn resume(reading: &Reading<'_>, session_id: &str) -> Result<Resume, BodyError> {
    let session = reading.session;
    let last = last_complete(session);
    let mut open_calls = Vec::new();
    for (ix, call) in session.calls().filter(|(_, call)| call.is_open()) {
        let made = session.entry(call.event);
        open_calls.push(OpenCall {
            call_id: session.call_id(ix).to_owned(),
            tool_name: session.tool_name(ix).to_owned(),
            agent_id: session.agent_id(call.agent).to_owned(),
            name: session.agent_name(call.agent).to_owned(),
            message_id: made.id().to_owned(),
            line: made.line_number(),
            text: reading.call_text(session.tool_name(ix), call)?,
        });
    }
    Ok(Resume {
        session_id: session_id.to_owned(),
        ended: session.info().ended,
        last_complete: last.map(|event| point(reading, session.entry(event))).transpose()?,
        events_after: session.len() - last.map_or(0, |event| event.index() + 1),
        open_calls,
    })
}

/// The last message at which no call waits for a result, and no agent has to react to one.
fn last_complete(session: &Session) -> Option<EventIx> {
    let mut waiting: BTreeSet<CallIx> = BTreeSet::new();
    let mut owing: BTreeSet<usize> = BTreeSet::new();
    let mut last = None;
    for entry in session.entries() {
        let Some(role) = entry.role() else { continue };
        let agent = entry.agent().map(antiphon_model::AgentIx::index);
        waiting.extend(entry.calls().map(|(ix, _)| ix));
        match role {
            Role::Tool => {
                if let Some(call) = entry.call() {
                    waiting.remove(&call);
                }
                owing.extend(agent);
            }
            Role::Assistant => {
                if let Some(agent) = agent {
                    owing.remove(&agent);
                }
            }
            Role::User | Role::System | Role::Other => {}
        }
        // Between a result and the answer to it, the agent is in the middle of its turn.
        if waiting.is_empty() && owing.is_empty() {
            last = Some(entry.ix());
        }
    }
    last
}

fn point(reading: &Reading<'_>, entry: Entry<'_>) -> Result<ResumePoint, BodyError> {
    let session = reading.session;
    Ok(ResumePoint {
        message_id: entry.id().to_owned(),
        line: entry.line_number(),
        agent_id: entry.agent().map(|agent| session.agent_id(agent).to_owned()),
        name: entry.agent().map(|agent| session.agent_name(agent).to_owned()),
        text: reading.description(entry)?,
    })
}
