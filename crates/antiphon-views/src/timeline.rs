//! Events in order, with their lane, time and duration.

use antiphon_model::{BodyError, Entry, EntryKind, Role, Timestamp};
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

pub fn timeline(reading: &Reading<'_>) -> Result<Vec<TimelineRow>, BodyError> {
    let session = reading.session;
    let rows = session.entries().map(|entry| {
        let duration = duration(reading, entry);
        Ok(TimelineRow {
            step: entry.ix().index() + 1,
            message_id: entry.id().to_owned(),
            agent_id: entry.agent().map(|agent| session.agent_id(agent).to_owned()),
            name: entry.agent().map(|agent| session.agent_name(agent).to_owned()),
            kind: kind(entry),
            text: reading.deed(entry)?,
            timestamp: entry.at(),
            duration_ms: duration.map(|(millis, _)| millis),
            duration_basis: duration.map(|(_, basis)| basis),
            is_error: entry.is_error(),
        })
    });
    rows.collect()
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
    let made = reading.session.call_made_at(call)?;
    Some((entry.at()?.since(made), "inferred"))
}
