//! Where a session can be taken up again.

use std::collections::BTreeSet;

use antiphon_model::{BodyError, CallIx, Entry, EventIx, Role, Session};
use serde::Serialize;

use crate::Reading;

#[derive(Debug, Serialize)]
pub struct Resume {
    pub session_id: String,
    /// Whether the session was ended.
    pub ended: bool,
    /// The last point at which every call had its result; `None` if there is none.
    pub last_complete: Option<Point>,
    /// How many events come after it.
    pub events_after: usize,
    /// Every call without a result.
    pub open_calls: Vec<OpenCall>,
}

#[derive(Debug, Serialize)]
pub struct Point {
    pub message_id: String,
    pub line: u64,
    pub agent_id: Option<String>,
    pub name: Option<String>,
    pub text: String,
}

#[derive(Debug, Serialize)]
pub struct OpenCall {
    pub call_id: String,
    pub tool_name: String,
    pub agent_id: String,
    pub name: String,
    pub message_id: String,
    pub line: u64,
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

/// The last message at which no call waits for a result, and no agent owes an answer to one.
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
        // Between a result and the answer to it the agent is in the middle of its turn.
        if waiting.is_empty() && owing.is_empty() {
            last = Some(entry.ix());
        }
    }
    last
}

fn point(reading: &Reading<'_>, entry: Entry<'_>) -> Result<Point, BodyError> {
    let session = reading.session;
    Ok(Point {
        message_id: entry.id().to_owned(),
        line: entry.line_number(),
        agent_id: entry.agent().map(|agent| session.agent_id(agent).to_owned()),
        name: entry.agent().map(|agent| session.agent_name(agent).to_owned()),
        text: reading.description(entry)?,
    })
}
