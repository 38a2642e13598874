//! Phases: those that were recorded, and those that are worked out where the standard wants some.

use antiphon_model::{BodyError, CallIx};
use antiphon_views::{Phase, automatic_phases, context_references, phases};
use serde_json::{Map, Value};

use super::PhaseDetail;
use super::cast::Cast;
use super::object::{Object, Origin, fits};
use crate::{ContextReference, Decision};

/// Fewer calls need no phases; more than the second number want all of them.
const ADVISED: (usize, usize) = (5, 20);

pub(super) fn write(
    cast: &Cast<'_>,
    detail: PhaseDetail,
    origin: &Origin,
) -> Result<Option<Value>, BodyError> {
    let reading = cast.reading;
    let recorded = match reading.session.annotations().next() {
        Some(_) => phases(reading)?,
        None => Vec::new(),
    };
    if detail == PhaseDetail::Never {
        return Ok(None);
    }
    if !recorded.is_empty() {
        let written = recorded.iter().filter(|phase| phase.phase_type.is_some());
        let written = written.enumerate().map(|(at, phase)| annotation(cast, at, phase, origin));
        let written: Vec<Value> =
            written.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        return Ok(Some(written.into()));
    }
    let Some(main) = cast.main else { return Ok(None) };
    let is_certain = |phase: &Phase| phase.confidence.as_deref() == Some("high");
    let mut derived = automatic_phases(reading, main)?;
    match (detail, cast.calls.len()) {
        (PhaseDetail::Always, _) => {}
        (PhaseDetail::Never, _) => return Ok(None),
        (PhaseDetail::Advised, _) if cast.is_document => return Ok(None),
        (PhaseDetail::Advised, calls) if calls < ADVISED.0 => return Ok(None),
        (PhaseDetail::Advised, calls) if calls <= ADVISED.1 => derived.retain(is_certain),
        (PhaseDetail::Advised, _) => {}
    }
    let mut written = Vec::new();
    for (at, phase) in derived.iter().enumerate() {
        origin.derived(&format!("/phase_annotations/{at}"));
        let mut whole = match phase.annotation() {
            Value::Object(whole) => whole,
            _ => Map::new(),
        };
        if let Some((first, last)) = phase.ends {
            whole.insert("tool_call_range".to_owned(), range(cast, first, last));
            let covered: Vec<CallIx> =
                cast.calls.iter().copied().filter(|ix| (first..=last).contains(ix)).collect();
            let used = context_references(reading, &covered)?;
            if !used.is_empty() {
                let used = serde_json::to_value(used).unwrap_or_default();
                whole.insert("context_used".to_owned(), used);
            }
        }
        written.push(Value::Object(whole));
    }
    Ok((!written.is_empty()).then(|| written.into()))
}

fn range(cast: &Cast<'_>, first: CallIx, last: CallIx) -> Value {
    let mut range = Map::new();
    range.insert("start_call_id".to_owned(), cast.call_id(first).into());
    range.insert("end_call_id".to_owned(), cast.call_id(last).into());
    Value::Object(range)
}

/// A recorded one, in the standard's shape. One whose calls are not there is told elsewhere: a
/// range is never widened.
fn annotation(
    cast: &Cast<'_>,
    at: usize,
    phase: &Phase,
    origin: &Origin,
) -> Result<Option<Value>, BodyError> {
    let whole: Value = match &phase.raw {
        Some(raw) => serde_json::from_str(raw).unwrap_or_default(),
        None => phase.annotation(),
    };
    let mut object = Object::new(format!("/phase_annotations/{at}"), origin);
    let Some((first, last)) = phase.ends else {
        origin.keep(&object.pointer, whole);
        return Ok(None);
    };
    let Value::Object(mut members) = whole else { return Ok(None) };
    let recorded_range = members.remove("tool_call_range").unwrap_or_default();
    let own = range(cast, first, last);
    let is_same = recorded_range["start_call_id"] == own["start_call_id"]
        && recorded_range["end_call_id"] == own["end_call_id"];
    if is_same {
        object.set("tool_call_range", recorded_range);
    } else {
        origin.keep(&object.below("tool_call_range"), recorded_range);
        object.set("tool_call_range", own);
    }
    lists::<Decision>(&mut members, "decisions", &object);
    lists::<ContextReference>(&mut members, "context_used", &object);
    let has =
        |name: &str, members: &Map<String, Value>| members.get(name).is_some_and(Value::is_string);
    for (name, otherwise) in [
        ("annotation_id", format!("ann-{:03}", at + 1)),
        ("phase_type", "unclassified".to_owned()),
        ("annotated_by", "auto".to_owned()),
        ("confidence", "low".to_owned()),
    ] {
        if !has(name, &members) {
            if let Some(other) = members.remove(name) {
                origin.keep(&object.below(name), other);
            }
            object.derive(name, otherwise);
        }
    }
    object.rest(members);
    Ok(Some(object.value()))
}

/// Leaves of a list what fits its standard shape; the rest is kept elsewhere.
fn lists<T: serde::de::DeserializeOwned>(
    members: &mut Map<String, Value>,
    name: &str,
    object: &Object<'_>,
) {
    let Some(list) = members.get(name) else { return };
    if fits::<Vec<T>>(list) {
        return;
    }
    if let Some(list) = members.remove(name) {
        object.origin().keep(&object.below(name), list);
    }
}
