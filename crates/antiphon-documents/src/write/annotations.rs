//! Phases and notes: those that were recorded, and phases that are worked out where the standard
//! wants some.
//!
//! The standard has one list of them, and their ranges may reach into sub-sessions. Ids of calls
//! are a session's own, so one about a sub-session's calls names the sub-session.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{BodyError, CallIx, Timestamp};
use antiphon_views::{Phase, phases, phases_of_all};
use serde_json::{Map, Value};

use super::PhaseDetail;
use super::cast::Cast;
use super::object::{Object, Origin, missing};
use crate::{PhaseAnnotation, Standard};

/// Fewer calls need no phases; more than the second number want all of them.
const ADVISED: (usize, usize) = (5, 20);

/// The list while it is written.
pub(super) struct Annotations<'c, 'a> {
    pub(super) cast: &'c Cast<'a>,
    pub(super) origin: &'c Origin,
    pub(super) standard: Standard,
    pub(super) completed_at: &'c str,
}

/// Whose calls an annotation is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The session's own, or several sessions' whose ids say which is meant.
    Any,
    /// A sub-session's.
    Sub(usize),
}

impl Annotations<'_, '_> {
    pub(super) fn write(&self, detail: PhaseDetail) -> Result<Option<Value>, BodyError> {
        let reading = self.cast.reading;
        if detail == PhaseDetail::Never {
            return Ok(None);
        }
        let mut recorded = match reading.session.annotations().next() {
            Some(_) => phases(reading)?,
            None => Vec::new(),
        };
        recorded.retain(|phase| phase.message_id.is_some());
        let has_phases = recorded.iter().any(|phase| phase.phase_type.is_some());
        let mut written = Vec::new();
        let mut ids = BTreeSet::new();
        if !has_phases {
            for phase in self.derived(detail)? {
                ids.extend(phase["annotation_id"].as_str().map(str::to_owned));
                self.origin.derived(&format!("/phase_annotations/{}", written.len()));
                written.push(phase);
            }
        }
        for phase in &recorded {
            written.extend(self.recorded(written.len(), phase, &mut ids));
        }
        Ok((has_phases || !written.is_empty()).then(|| written.into()))
    }

    /// Phases by rule: the session's, and those of its sub-sessions, as many as its calls want.
    fn derived(&self, detail: PhaseDetail) -> Result<Vec<Value>, BodyError> {
        let cast = self.cast;
        let (Some(main), true) = (cast.main, detail == PhaseDetail::Always || !cast.is_document)
        else {
            return Ok(Vec::new());
        };
        let session = cast.reading.session;
        let mut by_agent: BTreeMap<String, Vec<Phase>> = BTreeMap::new();
        for phase in phases_of_all(cast.reading)?.into_iter().filter(|it| it.message_id.is_none()) {
            by_agent.entry(phase.agent_id.clone().unwrap_or_default()).or_default().push(phase);
        }
        let mut written = Vec::new();
        let own = (main, Whose::Any, cast.calls.len());
        let subs = cast.subs.iter().enumerate();
        let subs = subs.filter_map(|(at, sub)| Some((sub.agent?, Whose::Sub(at), sub.calls.len())));
        let subs = subs.filter(|_| self.standard == Standard::Std008);
        for (agent, whose, calls) in std::iter::once(own).chain(subs) {
            let mut phases = by_agent.remove(session.agent_id(agent)).unwrap_or_default();
            match detail {
                PhaseDetail::Always => {}
                PhaseDetail::Never => phases.clear(),
                PhaseDetail::Advised if calls < ADVISED.0 => phases.clear(),
                PhaseDetail::Advised if calls <= ADVISED.1 => {
                    phases.retain(|phase| phase.confidence.as_deref() == Some("high"));
                }
                PhaseDetail::Advised => {}
            }
            written.extend(phases.iter().filter_map(|phase| self.by_rule(phase, whose)));
        }
        Ok(written)
    }

    fn by_rule(&self, phase: &Phase, whose: Whose) -> Option<Value> {
        let Value::Object(mut whole) = phase.annotation() else { return None };
        if let Some((first, last)) = phase.ends {
            whole.insert("tool_call_range".to_owned(), self.range(first, last));
        }
        if let Some(sub) = self.sub_session_id(whose) {
            // Every agent's are numbered from one.
            let id = phase.annotation_id.as_deref().unwrap_or_default();
            whole.insert("annotation_id".to_owned(), format!("{sub}-{id}").into());
            whole.insert("sub_session_id".to_owned(), sub.into());
        }
        // Nobody read the calls before they were all there.
        whole.insert("annotated_at".to_owned(), self.completed_at.into());
        Some(Value::Object(whole))
    }

    fn sub_session_id(&self, whose: Whose) -> Option<&str> {
        match whose {
            Whose::Any => None,
            Whose::Sub(at) => self.cast.subs.get(at).map(|sub| sub.id.as_str()),
        }
    }

    fn range(&self, first: CallIx, last: CallIx) -> Value {
        let mut range = Map::new();
        range.insert("start_call_id".to_owned(), self.cast.call_id(first).into());
        range.insert("end_call_id".to_owned(), self.cast.call_id(last).into());
        Value::Object(range)
    }

    /// Whose calls a range is about; nothing, if the document cannot say which calls are meant.
    fn whose(&self, first: CallIx, last: CallIx) -> Option<Whose> {
        let cast = self.cast;
        let (start, end) = (cast.owner_of(first), cast.owner_of(last));
        let has_subs = self.standard == Standard::Std008;
        match (start, end) {
            (None, None) => Some(Whose::Any),
            (Some(start), Some(end)) if start == end && has_subs => Some(Whose::Sub(start)),
            _ if has_subs && cast.is_found_by_id(first) && cast.is_found_by_id(last) => {
                Some(Whose::Any)
            }
            _ => None,
        }
    }

    /// A recorded one, in the standard's shape. One whose calls are not in the document is told
    /// elsewhere: a range is never widened. So is a note about no calls: the standard has a range
    /// in all of them. A note about calls is a phase that nobody has classified.
    fn recorded(&self, at: usize, phase: &Phase, ids: &mut BTreeSet<String>) -> Option<Value> {
        let origin = self.origin;
        let whole: Value = match &phase.raw {
            Some(raw) => serde_json::from_str(raw).unwrap_or_default(),
            None => phase.annotation(),
        };
        let mut object = Object::new(format!("/phase_annotations/{at}"), origin);
        let ends =
            phase.ends.and_then(|(first, last)| Some((first, last, self.whose(first, last)?)));
        let Some((first, last, whose)) = ends else {
            origin.keep_one_of("/phase_annotations", whole);
            return None;
        };
        let Value::Object(mut members) = whole else { return None };
        let recorded_range = members.remove("tool_call_range").unwrap_or_default();
        let own = self.range(first, last);
        let is_same = recorded_range["start_call_id"] == own["start_call_id"]
            && recorded_range["end_call_id"] == own["end_call_id"];
        if is_same {
            object.set("tool_call_range", recorded_range);
        } else {
            origin.keep(&object.below("tool_call_range"), recorded_range);
            object.set("tool_call_range", own);
        }
        if let Some(sub) = self.sub_session_id(whose) {
            let is_right = |it: &Value| it.as_str() == Some(sub);
            missing(&mut object, &mut members, "sub_session_id", is_right, sub);
        }
        let own_id = |it: &Value| it.as_str().is_some_and(|id| !ids.contains(id));
        let id = format!("ann-{:03}", at + 1);
        missing(&mut object, &mut members, "annotation_id", own_id, id);
        ids.insert(object.text("annotation_id").to_owned());
        missing(&mut object, &mut members, "phase_type", Value::is_string, "unclassified");
        missing(&mut object, &mut members, "annotated_by", Value::is_string, "auto");
        missing(&mut object, &mut members, "confidence", Value::is_string, "low");
        let is_time = |it: &Value| it.as_str().and_then(Timestamp::parse).is_some();
        missing(&mut object, &mut members, "annotated_at", is_time, self.completed_at);
        if let (None, Some(note)) = (&phase.description, &phase.note) {
            object.derive("description", note.as_str());
        }
        complete(&mut members, "decisions", ("decision_id", "decision"), &object);
        complete(&mut members, "context_used", ("relevance", "medium"), &object);
        object.rest_of::<PhaseAnnotation>(members);
        Some(object.value())
    }
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
