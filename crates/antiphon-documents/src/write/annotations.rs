//! Phases and notes: the recorded ones, and derived phases where the standard requires some.
//!
//! The standard has one list for both, and their ranges may extend into sub-sessions. Ids of calls
//! are unique only within a session, so an annotation of a sub-session's calls names the
//! sub-session.

use std::collections::BTreeSet;

use antiphon_model::{BodyError, CallIx, Timestamp};
use antiphon_views::{AutomaticPhases, CallIndex, Phase, phases};
use serde_json::{Map, Value};

use super::PhaseDetail;
use super::object::{Object, missing};
use super::origin::Origin;
use super::roles::Roles;
use crate::{PhaseAnnotation, Standard};

/// A session with fewer calls than the first number needs no phases; one with more than the second
/// needs all of them.
const ADVISED: (usize, usize) = (5, 20);

/// Composes the list of annotations.
pub(super) struct Annotations<'c, 'a> {
    pub(super) roles: &'c Roles<'a>,
    pub(super) origin: &'c Origin,
    pub(super) standard: Standard,
    pub(super) completed_at: &'c str,
}

/// The session whose calls an annotation is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The main session, or several sessions, if the ids of the calls are unambiguous.
    Any,
    /// A sub-session, by index.
    Sub(usize),
}

/// The phases and notes of a document.
pub(super) enum Phases {
    None,
    /// All of them, in memory.
    Held(Value),
    /// All of them are derived and there may be many, so [`Annotations::derived`] composes them one
    /// by one.
    Derived,
}

/// How confident a derived phase must be to be written, which depends on the number of calls.
#[derive(Clone, Copy)]
enum MinConfidence {
    Any,
    High,
}

impl MinConfidence {
    fn of(detail: PhaseDetail, calls: usize) -> Option<Self> {
        match detail {
            PhaseDetail::Always => Some(Self::Any),
            PhaseDetail::Never => None,
            PhaseDetail::Advised if calls < ADVISED.0 => None,
            PhaseDetail::Advised if calls <= ADVISED.1 => Some(Self::High),
            PhaseDetail::Advised => Some(Self::Any),
        }
    }

    fn accepts(self, phase: &Phase) -> bool {
        match self {
            Self::Any => true,
            Self::High => phase.confidence.as_deref() == Some("high"),
        }
    }
}

impl<'c> Annotations<'c, '_> {
    pub(super) fn compose(&self, detail: PhaseDetail) -> Result<Phases, BodyError> {
        let reading = self.roles.reading;
        if detail == PhaseDetail::Never {
            return Ok(Phases::None);
        }
        if reading.session.annotations().next().is_none() {
            return Ok(Phases::Derived);
        }
        let mut recorded = phases(reading)?;
        recorded.retain(|phase| phase.message_id.is_some());
        let has_phases = recorded.iter().any(|phase| phase.phase_type.is_some());
        let mut written = Vec::new();
        let mut ids = BTreeSet::new();
        if !has_phases {
            let index = CallIndex::new(reading.session);
            for phase in self.derived(&index, detail) {
                let phase = phase?;
                ids.extend(phase["annotation_id"].as_str().map(str::to_owned));
                self.origin.derived(&format!("/phase_annotations/{}", written.len()));
                written.push(phase);
            }
        }
        for phase in &recorded {
            written.extend(self.recorded(written.len(), phase, &mut ids));
        }
        Ok(match has_phases || !written.is_empty() {
            true => Phases::Held(written.into()),
            false => Phases::None,
        })
    }

    /// Derived phases of the session and its sub-sessions, as many as the number of calls requires.
    pub(super) fn derived(
        &self,
        index: &'c CallIndex<'c>,
        detail: PhaseDetail,
    ) -> impl Iterator<Item = Result<Value, BodyError>> {
        let roles = self.roles;
        let is_wanted = detail == PhaseDetail::Always || !roles.is_document;
        let own = roles.main.filter(|_| is_wanted);
        let own = own.map(|main| (main, Scope::Any, roles.calls.len()));
        let subs = roles.subs.iter().enumerate();
        let subs = subs.filter_map(|(at, sub)| Some((sub.agent?, Scope::Sub(at), sub.calls.len())));
        let has_subs = self.standard == Standard::Std008 && own.is_some();
        let all = own.into_iter().chain(subs.filter(move |_| has_subs));
        let all = all.filter_map(move |(agent, scope, calls)| {
            let min_confidence = MinConfidence::of(detail, calls)?;
            Some((AutomaticPhases::of(roles.reading, index, agent), scope, min_confidence))
        });
        all.flat_map(move |(phases, scope, min_confidence)| {
            let (phases, failure) = match phases {
                Ok(phases) => (Some(phases), None),
                Err(error) => (None, Some(Err(error))),
            };
            let accepted = phases.into_iter().flatten();
            let accepted = accepted
                .filter(move |phase| phase.as_ref().map_or(true, |it| min_confidence.accepts(it)));
            let accepted = accepted.filter_map(move |phase| {
                phase.map(|phase| self.by_rule(&phase, scope)).transpose()
            });
            failure.into_iter().chain(accepted)
        })
    }

    fn by_rule(&self, phase: &Phase, scope: Scope) -> Option<Value> {
        let Value::Object(mut whole) = phase.annotation() else { return None };
        if let Some((first, last)) = phase.ends {
            whole.insert("tool_call_range".to_owned(), self.range(first, last));
        }
        if let Some(sub) = self.sub_session_id(scope) {
            // The numbers of phases start from one for each agent.
            let id = phase.annotation_id.as_deref().unwrap_or_default();
            whole.insert("annotation_id".to_owned(), format!("{sub}-{id}").into());
            whole.insert("sub_session_id".to_owned(), sub.into());
        }
        // A phase cannot have been derived before the last call was recorded.
        whole.insert("annotated_at".to_owned(), self.completed_at.into());
        Some(Value::Object(whole))
    }

    fn sub_session_id(&self, scope: Scope) -> Option<&str> {
        match scope {
            Scope::Any => None,
            Scope::Sub(at) => self.roles.subs.get(at).map(|sub| sub.id.as_str()),
        }
    }

    fn range(&self, first: CallIx, last: CallIx) -> Value {
        let mut range = Map::new();
        range.insert("start_call_id".to_owned(), self.roles.call_id(first).into());
        range.insert("end_call_id".to_owned(), self.roles.call_id(last).into());
        Value::Object(range)
    }

    /// The session whose calls a range is about; `None` if the document cannot express it.
    fn scope(&self, first: CallIx, last: CallIx) -> Option<Scope> {
        let roles = self.roles;
        let (start, end) = (roles.owner_of(first), roles.owner_of(last));
        let has_subs = self.standard == Standard::Std008;
        match (start, end) {
            (None, None) => Some(Scope::Any),
            (Some(start), Some(end)) if start == end && has_subs => Some(Scope::Sub(start)),
            _ if has_subs && roles.is_found_by_id(first) && roles.is_found_by_id(last) => {
                Some(Scope::Any)
            }
            _ => None,
        }
    }

    /// A recorded annotation, in the standard's form. One whose calls are not in the document is
    /// kept in `x_antiphon` instead, because a range is never widened. So is a note that is not
    /// about calls, because the standard requires a range. A note about calls becomes a phase
    /// without a classification.
    fn recorded(&self, at: usize, phase: &Phase, ids: &mut BTreeSet<String>) -> Option<Value> {
        let origin = self.origin;
        let whole: Value = match &phase.raw {
            Some(raw) => serde_json::from_str(raw).unwrap_or_default(),
            None => phase.annotation(),
        };
        let mut object = Object::new(format!("/phase_annotations/{at}"), origin);
        let ends =
            phase.ends.and_then(|(first, last)| Some((first, last, self.scope(first, last)?)));
        let Some((first, last, scope)) = ends else {
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
        if let Some(sub) = self.sub_session_id(scope) {
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

/// Adds a required member that people often leave out to the items of a list. An id gets a number
/// as a suffix.
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
