//! Phases: annotations in version 3, and what version 2 had instead.

use std::collections::BTreeMap;

use antiphon_model::json::{self, Members};

use super::call::Caller;
use super::document::Document;
use super::fields::Fields;

/// A phase of version 2 that has calls.
pub(super) struct Phase<'a> {
    fields: Fields<'a>,
    /// Calls that are in the phase itself, and nowhere else.
    nested: Vec<(String, &'a str)>,
    call_ids: Vec<String>,
}

/// The phases of version 2: one that has calls becomes an annotation of them. The others have no
/// range, and stay where the standard still allows them.
pub(super) struct Phases<'a> {
    with_calls: Vec<Phase<'a>>,
    others: Option<Vec<&'a str>>,
}

impl<'a> Phases<'a> {
    pub(super) fn of(phases: Option<Vec<(String, &'a str)>>, document: &mut Document) -> Self {
        let mut with_calls = Vec::new();
        let Some(phases) = phases else { return Self { with_calls, others: None } };
        let mut others = Vec::new();
        let is_empty = phases.is_empty();
        for (pointer, raw) in phases {
            match Phase::of(raw, pointer, document) {
                Some(phase) => with_calls.push(phase),
                None => others.push(raw),
            }
        }
        if !with_calls.is_empty() {
            let what = "has phases of version 2; those with calls are read as annotations";
            document.notes.lenient("/phases", what);
        }
        Self { with_calls, others: (is_empty || !others.is_empty()).then_some(others) }
    }

    /// Adds the phases without calls to the facts of the session.
    pub(super) fn leave(&self, extra: &mut Members) {
        if let Some(others) = &self.others {
            extra.raw("phases", &format!("[{}]", others.join(",")));
        }
    }
}

impl<'a> Phase<'a> {
    fn of(raw: &'a str, pointer: String, document: &mut Document) -> Option<Self> {
        let mut fields = Fields::of(raw, pointer, &mut document.notes)?;
        let named = fields.get("tool_call_ids").map(crate::line::elements).unwrap_or_default();
        let call_ids: Vec<String> =
            named.into_iter().filter_map(json::text).map(String::from).collect();
        let nested = match fields.has("tool_calls") && call_ids.is_empty() {
            true => fields.take_list("tool_calls", &mut document.notes).unwrap_or_default(),
            false => Vec::new(),
        };
        (!call_ids.is_empty() || !nested.is_empty()).then_some(Self { fields, nested, call_ids })
    }
}

impl Document {
    /// Reads an annotation. One that names a sub-session is about the calls of its agent.
    pub(super) fn annotation(
        &mut self,
        raw: &str,
        pointer: &str,
        agents: &BTreeMap<String, String>,
    ) {
        if !raw.starts_with('{') {
            return self.keep(pointer, raw, "is not an object and cannot be an annotation");
        }
        if json::member(raw, "tool_call_range").is_some_and(|range| range.starts_with('[')) {
            let what = "has a range that is a list; its first and last calls are used";
            self.notes.lenient(pointer, what);
        }
        let sub = json::member(raw, "sub_session_id").and_then(json::text);
        let agent = sub.and_then(|id| agents.get(&*id)).map(String::as_str);
        // A note has a phase's members only because the standard requires them.
        let is_note =
            json::member(raw, "note").is_some() && self.originals.is_derived(pointer, "phase_type");
        if !is_note {
            return self.annotate(raw, agent);
        }
        let mut note = Members::default();
        let _ = json::raw_members(raw, |_, name, value| {
            if !self.originals.is_derived(pointer, name) {
                note.raw(name, value);
            }
        });
        self.annotate(&note.object(), agent);
    }

    /// Reads annotations that have no place in a strictly conforming document.
    pub(super) fn other_annotations(&mut self) {
        for raw in self.originals.take_annotations() {
            self.annotate(&raw, None);
        }
    }

    fn annotate(&mut self, raw: &str, agent: Option<&str>) {
        let id = json::member(raw, "annotation_id").and_then(json::text);
        let mut line = Members::default();
        line.word("message_id", &self.id(id.as_deref().unwrap_or("annotation")));
        line.word("event_type", "annotation");
        line.text("agent", agent);
        line.raw("annotation", raw);
        self.line(line, None);
    }

    /// Writes the calls within phases, then the annotations that the phases become.
    pub(super) fn phases(&mut self, caller: &Caller, phases: Phases<'_>) {
        let mut number = 0;
        let mut annotations = Vec::new();
        for phase in phases.with_calls {
            let mut call_ids = phase.call_ids;
            for (pointer, raw) in phase.nested {
                number += 1;
                call_ids.extend(self.nested_call(caller, raw, pointer, number));
            }
            if let (Some(first), Some(last)) = (call_ids.first(), call_ids.last()) {
                let at = annotations.len() + 1;
                annotations.push(annotation_of(phase.fields, first, last, at));
            }
        }
        for annotation in annotations {
            self.annotate(&annotation, None);
        }
    }

    /// Reads a call without an id: `{tool, target, action, details}`.
    fn nested_call(
        &mut self,
        caller: &Caller,
        raw: &str,
        pointer: String,
        number: usize,
    ) -> Option<String> {
        let mut fields = Fields::of(raw, pointer, &mut self.notes)?;
        if fields.has("call_id") && fields.has("tool_name") {
            let id = json::member(raw, "call_id").and_then(json::text)?.into_owned();
            self.call(caller, raw, &fields.pointer);
            return Some(id);
        }
        self.notes.lenient(&fields.pointer, "is a call without an id; it is given one");
        let call_id = format!("tool-{number:03}");
        let mut input = Members::default();
        let tool = fields.take_text("tool").or_else(|| fields.take_text("tool_name"));
        let action = fields.take_text("action");
        input.raw("params", &fields.rest().object());
        input.text("description", action.as_deref());
        let mut call = Members::default();
        call.word("call_id", &call_id);
        call.word("tool_name", tool.as_deref().unwrap_or_default());
        call.raw("input", &input.object());
        self.call(caller, &call.object(), &fields.pointer);
        Some(call_id)
    }
}

/// Converts a phase to an annotation, whose members have other names.
fn annotation_of(mut phase: Fields<'_>, first: &str, last: &str, number: usize) -> String {
    let mut all = Members::default();
    let id = phase.take_text("annotation_id");
    all.word("annotation_id", &id.map_or_else(|| format!("ann-{number:03}"), String::from));
    let kind = phase.take_text("phase_type").or_else(|| phase.take_text("phase"));
    all.word("phase_type", kind.as_deref().unwrap_or("unclassified"));
    let mut range = Members::default();
    range.word("start_call_id", first);
    range.word("end_call_id", last);
    all.raw("tool_call_range", &range.object());
    for (name, word) in [("annotated_by", "auto"), ("confidence", "medium")] {
        phase.take(name);
        all.word(name, word);
    }
    phase.rest_into(&mut all);
    all.object()
}
