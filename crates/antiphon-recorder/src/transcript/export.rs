//! The transcript of any session: what its messages would have been.

#![expect(clippy::indexing_slicing, reason = "a `Value` gives null for a member that it has not")]

use antiphon_model::{BodyError, Entry, EntryKind, Role, Timestamp};
use antiphon_views::Reading;
use serde_json::{Value, json};

use super::{Header, Outcome, Transcript, footer};
use crate::Assignment;

/// Writes a session as a transcript.
pub fn export(
    reading: &Reading<'_>,
    session_id: &str,
    transcript: Transcript,
) -> Result<String, BodyError> {
    let session = reading.session;
    let info = session.info();
    let own = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
    let assignment = Assignment {
        role: own(&info.role),
        issue: own(&info.issue),
        spec_paths: info.spec_paths.iter().map(|path| path.to_string()).collect(),
        run_id: own(&info.run_id),
        task_id: own(&info.task_id),
    };
    let (first, last) = session
        .time_span()
        .unwrap_or_else(|| (Timestamp::from_millis(0), Timestamp::from_millis(0)));
    let header = Header { assignment: &assignment, session_id, started: first };
    let mut out = header.to_text();
    let mut now = first;
    let mut has_init = false;
    for entry in session.entries() {
        now = entry.at().unwrap_or(now).max(now);
        let Some(message) = message(reading, entry)? else { continue };
        has_init |= message["subtype"] == "init";
        if !has_init {
            has_init = true;
            out.push_str(&transcript.message(&init(reading), "", now));
        }
        out.push_str(&transcript.message(&message, &message.to_string(), now));
    }
    if info.ended {
        let outcome = match info.outcome.as_deref() {
            Some("completed") => Outcome::Completed,
            Some("cancelled") => Outcome::Cancelled,
            _ => Outcome::Failed,
        };
        let reason = info.reason.as_deref().filter(|reason| *reason == "timeout");
        out.push_str(&footer(outcome, reason, last));
    }
    Ok(out)
}

fn init(reading: &Reading<'_>) -> Value {
    let session = reading.session;
    let model = session.agents().find_map(|(_, agent)| agent.language_model());
    let mut message = json!({"type": "system", "subtype": "init"});
    message["model"] = model.or_else(|| session.requests().find_map(|it| it.2)).into();
    message["cwd"] = session.info().cwd.as_deref().into();
    message
}

/// What the agent's SDK would have said.
fn message(reading: &Reading<'_>, entry: Entry<'_>) -> Result<Option<Value>, BodyError> {
    Ok(Some(match entry.kind() {
        EntryKind::Message(Role::Assistant) => {
            let mut blocks = Vec::new();
            let text = reading.text(entry)?;
            if !text.is_empty() {
                blocks.push(json!({"type": "text", "text": text}));
            }
            for (ix, call) in entry.calls() {
                let arguments = match call.arguments.is_none() {
                    true => Value::Null,
                    false => value(&reading.bodies.read(call.arguments)?),
                };
                let name = reading.session.tool_name(ix);
                let id = reading.session.call_id(ix);
                blocks
                    .push(json!({"type": "tool_use", "id": id, "name": name, "input": arguments}));
            }
            if blocks.is_empty() {
                return Ok(None);
            }
            json!({"type": "assistant", "message": {"role": "assistant", "content": blocks}})
        }
        EntryKind::Message(Role::Tool) => {
            let call = entry.call().map(|call| reading.session.call_id(call));
            let block = json!({
                "type": "tool_result", "tool_use_id": call, "content": reading.text(entry)?,
            });
            json!({"type": "user", "message": {"role": "user", "content": [block]}})
        }
        EntryKind::Message(Role::User) => {
            let block = json!({"type": "text", "text": reading.text(entry)?});
            json!({"type": "user", "message": {"role": "user", "content": [block]}})
        }
        EntryKind::Unknown => return told(reading, entry),
        EntryKind::Message(Role::System | Role::Other)
        | EntryKind::AgentCreated
        | EntryKind::AgentEnded
        | EntryKind::SessionStarted
        | EntryKind::SessionEnded
        | EntryKind::RunStatus
        | EntryKind::ContextEdited
        | EntryKind::Fragment
        | EntryKind::Annotation
        | EntryKind::Gap
        | EntryKind::Recovered => return Ok(None),
    }))
}

/// What was printed and has a form of its own: who the agent is, and how it went.
fn told(reading: &Reading<'_>, entry: Entry<'_>) -> Result<Option<Value>, BodyError> {
    if !matches!(entry.event_type(), Some("init" | "result")) {
        return Ok(None);
    }
    let line = value(&reading.line(entry)?);
    let line = line.get("raw").cloned().unwrap_or(line);
    Ok(Some(line).filter(|line| matches!(line["type"].as_str(), Some("system" | "result"))))
}

fn value(raw: &str) -> Value {
    let value: Value = serde_json::from_str(raw).unwrap_or_default();
    let inner = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    inner.unwrap_or(value)
}
