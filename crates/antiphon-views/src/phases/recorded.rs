//! Annotations in a log, in all the forms in which they occur.

use antiphon_model::{BodyError, CallIx, Entry};
use serde_json::{Map, Value};

use super::{CallRange, Phase};
use crate::{CallIndex, CallNotFound, Reading};

/// Every annotation, in the order of the log.
pub(super) fn recorded(
    reading: &Reading<'_>,
    index: &CallIndex<'_>,
) -> Result<Vec<Phase>, BodyError> {
    let annotations = reading.session.annotations();
    let annotations = annotations.map(|(entry, place)| {
        let raw = reading.bodies.read(place)?;
        Ok(phase(reading, index, entry, raw))
    });
    annotations.collect()
}

fn phase(reading: &Reading<'_>, index: &CallIndex<'_>, entry: Entry<'_>, raw: String) -> Phase {
    let session = reading.session;
    let (mut fields, unread) = match serde_json::from_str(&raw) {
        Ok(Value::Object(fields)) => (fields, None),
        Ok(_) => (Map::new(), Some("it is not an object".to_owned())),
        Err(error) => (Map::new(), Some(format!("it cannot be read: {error}"))),
    };
    let range = fields.remove("tool_call_range").filter(|range| !range.is_null());
    let named = range.as_ref().and_then(ends);
    let mut phase = Phase {
        annotation_id: word(&mut fields, "annotation_id"),
        phase_type: word(&mut fields, "phase_type"),
        note: word(&mut fields, "note"),
        annotated_by: word(&mut fields, "annotated_by"),
        annotated_at: word(&mut fields, "annotated_at"),
        confidence: word(&mut fields, "confidence"),
        tool_call_range: named,
        calls: 0,
        description: word(&mut fields, "description"),
        decisions: fields.remove("decisions").filter(|value| !value.is_null()),
        context_used: fields.remove("context_used").filter(|value| !value.is_null()),
        agent_id: entry.agent().map(|agent| session.agent_id(agent).to_owned()),
        broken: false,
        reason: None,
        message_id: Some(entry.id().to_owned()),
        extra: fields,
        raw: Some(raw),
        ends: None,
    };
    let is_note = phase.phase_type.is_none() && phase.note.is_some();
    let reason = match (unread, &phase.tool_call_range) {
        (Some(unread), _) => Some(unread),
        (None, None) if is_note && range.is_none() => None,
        (None, None) => Some("it names no calls".to_owned()),
        (None, Some(named)) => match resolve(index, named, entry) {
            Ok(ends) => {
                phase.ends = Some(ends);
                None
            }
            Err(reason) => Some(reason),
        },
    };
    phase.broken = reason.is_some();
    phase.reason = reason;
    phase.calls = phase.calls(index).len();
    if let (None, Some((from, to))) = (&phase.agent_id, phase.ends) {
        let (from, to) = (session.call(from).agent, session.call(to).agent);
        phase.agent_id = (from == to).then(|| session.agent_id(from).to_owned());
    }
    phase
}

/// Takes a member that is a text or a number.
fn word(fields: &mut Map<String, Value>, name: &str) -> Option<String> {
    let text = as_word(fields.get(name)?)?;
    fields.remove(name);
    Some(text)
}

fn as_word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The ends of a range: `{start_call_id, end_call_id}`, `{start, end}`, or a list of ids, of which
/// the first and the last count.
fn ends(range: &Value) -> Option<CallRange> {
    let (start, end) = match range {
        Value::Array(ids) => (ids.first()?, ids.last()?),
        Value::Object(range) => {
            let end = |long: &str, short: &str| range.get(long).or_else(|| range.get(short));
            (end("start_call_id", "start")?, end("end_call_id", "end")?)
        }
        Value::String(_) => (range, range),
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    Some(CallRange { start_call_id: as_word(start)?, end_call_id: as_word(end)? })
}

/// The calls that a range names, exactly: a range is never widened.
fn resolve(
    index: &CallIndex<'_>,
    named: &CallRange,
    entry: Entry<'_>,
) -> Result<(CallIx, CallIx), String> {
    let why = |id: &str, error: CallNotFound| match error {
        CallNotFound::Unknown => format!("there is no call `{id}`"),
        CallNotFound::Ambiguous { agents } => {
            format!("several agents have a call `{id}`: {}", agents.join(", "))
        }
    };
    let (start, end) = (&named.start_call_id, &named.end_call_id);
    let from = index.find(start, entry.agent(), None).map_err(|error| why(start, error))?;
    let to = index.find(end, entry.agent(), Some(from)).map_err(|error| why(end, error))?;
    if to < from {
        return Err(format!("`{end}` comes before `{start}`"));
    }
    Ok((from, to))
}
