//! The transcript of any session, from messages in the form of the agent's SDK.

#![expect(clippy::indexing_slicing, reason = "a `Value` gives null for a member that it has not")]

use std::io;

use antiphon_model::{BodyError, Entry, EntryKind, Role, Session, Timestamp};
use antiphon_views::Reading;
use serde_json::{Value, json};
use thiserror::Error;

use super::{Header, INIT, Outcome, Transcript, footer};
use crate::Assignment;

/// Prefixes of the event types that the transcript's reader gives to such records.
const RECORDS: [&str; 4] = ["system_", "result_", "unknown_", "user"];

#[derive(Debug, Error)]
pub enum ExportError {
    #[error(transparent)]
    Body(#[from] BodyError),
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Takes the next piece of a transcript.
type Out<'o> = &'o mut dyn FnMut(&str) -> io::Result<()>;

/// Writes a session as a transcript, a record at a time. `printed` is the output of its command,
/// line by line, if it was recorded: then this is the transcript that was written while it ran.
pub fn export(
    reading: &Reading<'_>,
    session_id: &str,
    printed: Option<&[(Timestamp, String)]>,
    transcript: Transcript,
    out: Out<'_>,
) -> Result<(), ExportError> {
    let session = reading.session;
    let span = session.time_span();
    let (first, last) = span.unwrap_or((Timestamp::from_millis(0), Timestamp::from_millis(0)));
    match printed {
        Some(printed) => as_printed(out, printed, session, (session_id, first), transcript)?,
        None => from_events(out, reading, (session_id, first), transcript)?,
    }
    let info = session.info();
    if info.ended {
        let outcome = match info.outcome.as_deref() {
            Some("completed") => Outcome::Completed,
            Some("cancelled") => Outcome::Cancelled,
            _ => Outcome::Failed,
        };
        let reason = info.reason.as_deref().filter(|reason| *reason == "timeout");
        let at = info.ended_by.and_then(|event| session.entry(event).at());
        out(&footer(outcome, reason, at.unwrap_or(last)))?;
    }
    Ok(())
}

fn assignment(session: &Session) -> Assignment {
    let info = session.info();
    let own = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
    Assignment {
        role: own(&info.role),
        issue: own(&info.issue),
        spec_paths: info.spec_paths.iter().map(|path| path.to_string()).collect(),
        run_id: own(&info.run_id),
        task_id: own(&info.task_id),
    }
}

/// Writes recorded output. Lines from before the agent identified itself come after the header, as
/// in a live transcript.
fn as_printed(
    out: Out<'_>,
    printed: &[(Timestamp, String)],
    session: &Session,
    (session_id, began): (&str, Timestamp),
    transcript: Transcript,
) -> io::Result<()> {
    let assignment = assignment(session);
    // Decoded twice, because decoded messages take several times the room of their lines.
    let message = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_default();
    let init = printed
        .iter()
        .find_map(|(at, line)| Some((*at, super::session_id(&message(line))?.to_owned())));
    let first = printed.first().map(|(at, _)| *at);
    // A command that prints no messages has begun all the same.
    let (started, id) = init.unwrap_or_else(|| (first.unwrap_or(began), session_id.to_owned()));
    out(&Header { assignment: &assignment, session_id: &id, started }.to_text())?;
    for (at, line) in printed {
        out(&transcript.message(&message(line), line, *at))?;
    }
    Ok(())
}

fn from_events(
    out: Out<'_>,
    reading: &Reading<'_>,
    (session_id, started): (&str, Timestamp),
    transcript: Transcript,
) -> Result<(), ExportError> {
    let session = reading.session;
    let assignment = assignment(session);
    out(&Header { assignment: &assignment, session_id, started }.to_text())?;
    let mut now = started;
    let mut has_init = false;
    for entry in session.entries() {
        now = entry.at().unwrap_or(now).max(now);
        if let Some((head, body)) = record(reading, entry)? {
            has_init |= head == INIT;
            out(&transcript.record(&head, &body, now))?;
            continue;
        }
        let Some(message) = message(reading, entry)? else { continue };
        has_init |= message["subtype"] == "init";
        if !has_init {
            has_init = true;
            out(&transcript.message(&init(reading), "", now))?;
        }
        out(&transcript.message(&message, &message.to_string(), now))?;
    }
    Ok(())
}

/// The head and the body of a transcript's record that a session keeps as an unknown event.
fn record(reading: &Reading<'_>, entry: Entry<'_>) -> Result<Option<(String, String)>, BodyError> {
    let is_record =
        entry.event_type().is_some_and(|it| RECORDS.iter().any(|of| it.starts_with(of)));
    if entry.kind() != EntryKind::Unknown || !is_record {
        return Ok(None);
    }
    let line = value(&reading.line(entry)?);
    let text = |name: &str| line[name].as_str().map(str::to_owned);
    Ok(text("head").zip(text("text")))
}

fn init(reading: &Reading<'_>) -> Value {
    let session = reading.session;
    let model = session.agents().find_map(|(_, agent)| agent.language_model());
    let mut message = json!({"type": "system", "subtype": "init"});
    message["model"] = model.or_else(|| session.requests().find_map(|it| it.2)).into();
    message["cwd"] = session.info().cwd.as_deref().into();
    message
}

/// The message in the form of the agent's SDK.
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
        EntryKind::Unknown => return as_printed_line(reading, entry),
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

/// A printed line in its original form, if it identifies the agent or has its result.
fn as_printed_line(reading: &Reading<'_>, entry: Entry<'_>) -> Result<Option<Value>, BodyError> {
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
