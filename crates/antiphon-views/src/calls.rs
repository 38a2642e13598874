//! The tool calls: what was asked of which tool, how it went, and how long it took.

use antiphon_model::{BodyError, CallIx, Timestamp};
use serde::Serialize;

use crate::{Category, Reading, category};

#[derive(Debug, Serialize)]
pub struct CallRow {
    pub call_id: String,
    pub tool_name: String,
    /// As recorded, or by the tool's name; null for a tool that is not known.
    pub tool_category: Option<Category>,
    pub agent_id: String,
    pub name: String,
    /// `success`, `failed`, or `open` while there is no result.
    pub status: &'static str,
    pub started_at: Option<Timestamp>,
    pub duration_ms: Option<i64>,
    /// Whether the duration was recorded, or is the time from the call to its result.
    pub duration_basis: Option<&'static str>,
    pub message_id: String,
    /// Every result, in order: none, one or several.
    pub results: Vec<String>,
    pub text: String,
}

pub fn calls(reading: &Reading<'_>) -> Result<Vec<CallRow>, BodyError> {
    let session = reading.session;
    session.calls().map(|(ix, _)| row(reading, ix)).collect()
}

fn row(reading: &Reading<'_>, ix: CallIx) -> Result<CallRow, BodyError> {
    let session = reading.session;
    let call = session.call(ix);
    let made = session.entry(call.event);
    let tool = session.tool_name(ix);
    let duration = call_duration(reading, ix);
    Ok(CallRow {
        call_id: session.call_id(ix).to_owned(),
        tool_name: tool.to_owned(),
        tool_category: category(reading, ix)?,
        agent_id: session.agent_id(call.agent).to_owned(),
        name: session.agent_name(call.agent).to_owned(),
        status: match call.first_result() {
            None => "open",
            Some(_) if has_failed(reading, ix) => "failed",
            Some(_) => "success",
        },
        started_at: session.call_made_at(ix),
        duration_ms: duration.map(|(millis, _)| millis),
        duration_basis: duration.map(|(_, basis)| basis),
        message_id: made.id().to_owned(),
        results: session.results(ix).map(|event| session.entry(event).id().to_owned()).collect(),
        text: reading.call_text(tool, call)?,
    })
}

/// Whether a result of the call says that it is an error.
pub(crate) fn has_failed(reading: &Reading<'_>, ix: CallIx) -> bool {
    reading.session.results(ix).any(|event| reading.session.entry(event).is_error())
}

/// How long a call took: as recorded, or else from the call to its last result.
pub(crate) fn call_duration(reading: &Reading<'_>, ix: CallIx) -> Option<(i64, &'static str)> {
    let session = reading.session;
    let call = session.call(ix);
    let last = session.entry(call.last_result()?);
    if let Some(recorded) = last.duration_ms() {
        return Some((i64::try_from(recorded).unwrap_or(i64::MAX), "recorded"));
    }
    Some((last.at()?.since(session.call_made_at(ix)?), "inferred"))
}
