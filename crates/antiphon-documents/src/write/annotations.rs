//! Phases: those that were recorded, and those that are worked out where the standard wants some.

use std::collections::BTreeSet;

use antiphon_model::{BodyError, CallIx, Timestamp};
use antiphon_views::{Phase, automatic_phases, phases};
use serde_json::{Map, Value};

use super::PhaseDetail;
use super::cast::Cast;
use super::object::{Object, Origin, missing};
use crate::PhaseAnnotation;

/// Fewer calls need no phases; more than the second number want all of them.
const ADVISED: (usize, usize) = (5, 20);

pub(super) fn write(
    cast: &Cast<'_>,
    detail: PhaseDetail,
    completed_at: &str,
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
        let mut written = Vec::new();
        let mut ids = BTreeSet::new();
        for phase in recorded.iter().filter(|phase| phase.phase_type.is_some()) {
            written.extend(annotation(
                cast,
                (written.len(), completed_at),
                phase,
                &mut ids,
                origin,
            )?);
        }
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
        let Value::Object(mut whole) = phase.annotation() else { continue };
        if let Some((first, last)) = phase.ends {
            whole.insert("tool_call_range".to_owned(), range(cast, first, last));
        }
        // Nobody read the calls before they were all there.
        whole.insert("annotated_at".to_owned(), completed_at.into());
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

/// A recorded one, in the standard's shape. One whose calls are not among the session's own is told
/// elsewhere: a range is never widened.
fn annotation(
    cast: &Cast<'_>,
    (at, completed_at): (usize, &str),
    phase: &Phase,
    ids: &mut BTreeSet<String>,
    origin: &Origin,
) -> Result<Option<Value>, BodyError> {
    let whole: Value = match &phase.raw {
        Some(raw) => serde_json::from_str(raw).unwrap_or_default(),
        None => phase.annotation(),
    };
    let mut object = Object::new(format!("/phase_annotations/{at}"), origin);
    let is_ours = |call: &CallIx| cast.calls.binary_search(call).is_ok();
    let ends = phase.ends.filter(|(first, last)| is_ours(first) && is_ours(last));
    let Some((first, last)) = ends else {
        origin.keep_one_of("/phase_annotations", whole);
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
    let own_id = |it: &Value| it.as_str().is_some_and(|id| !ids.contains(id));
    let id = format!("ann-{:03}", at + 1);
    missing(&mut object, &mut members, "annotation_id", own_id, id);
    ids.insert(object.text("annotation_id").to_owned());
    missing(&mut object, &mut members, "phase_type", Value::is_string, "unclassified");
    missing(&mut object, &mut members, "annotated_by", Value::is_string, "auto");
    missing(&mut object, &mut members, "confidence", Value::is_string, "low");
    let is_time = |it: &Value| it.as_str().and_then(Timestamp::parse).is_some();
    missing(&mut object, &mut members, "annotated_at", is_time, completed_at);
    complete(&mut members, "decisions", ("decision_id", "decision"), &object);
    complete(&mut members, "context_used", ("relevance", "medium"), &object);
    object.rest_of::<PhaseAnnotation>(members);
    Ok(Some(object.value()))
}

/// Gives the items of a list the member that they must have and that hands leave out. An id gets a
/// number behind it.
fn complete(
    members: &mut Map<String, Value>,
    list: &str,
    (name, otherwise): (&str, &str),
    of: &Object<'_>,
) {
    let items = members.get_mut(list).and_then(Value::as_array_mut);
    for (at, item) in items.into_iter().flatten().enumerate() {
        let Some(item) = item.as_object_mut().filter(|it| !it.contains_key(name)) else { continue };
        let word = match name.ends_with("_id") {
            true => format!("{otherwise}-{:03}", at + 1),
            false => otherwise.to_owned(),
        };
        of.origin().derived(&format!("{}/{list}/{at}/{name}", of.pointer));
        item.insert(name.to_owned(), word.into());
    }
}
