//! Values that a document has in the standard's terms, and that were recorded in others.
//!
//! A writer that strictly conforms to the standard lists in `x_antiphon.original` the values that
//! it had to change, by JSON Pointer. For names and links, the original counts.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::json;

use super::fields::Fields;
use crate::line::elements;

/// Members whose original replaces their value. Of statuses, only those of calls that have not
/// ended.
const RESTORED: [&str; 6] = [
    "tool_name",
    "agent_type",
    "parent_session_id",
    "triggered_by_call_id",
    "message_type",
    "status",
];

#[derive(Debug, Default)]
pub(super) struct Originals {
    by_pointer: BTreeMap<String, String>,
    /// Pointers of what was inferred, and not recorded.
    derived: BTreeSet<String>,
    /// Annotations without a place in the document.
    annotations: Vec<String>,
}

impl Originals {
    pub(super) fn of(document: &Fields<'_>) -> Self {
        let mut by_pointer = BTreeMap::new();
        let mut annotations = Vec::new();
        let own = |name| document.get("x_antiphon").and_then(|own| json::member(own, name));
        let derived = own("derived").map(elements).unwrap_or_default();
        let derived = derived.into_iter().filter_map(json::text).map(Cow::into_owned).collect();
        let own = own("original");
        if let Some(original) = own {
            let _ = json::raw_members(original, |_, pointer, value| {
                if pointer == "/phase_annotations" && value.starts_with('[') {
                    let objects = elements(value).into_iter().filter(|it| it.starts_with('{'));
                    annotations = objects.map(str::to_owned).collect();
                }
                let name = pointer.rsplit('/').next().unwrap_or_default();
                if let (true, Some(text)) = (RESTORED.contains(&name), json::text(value)) {
                    by_pointer.insert(pointer.to_owned(), text.into_owned());
                }
            });
        }
        Self { by_pointer, derived, annotations }
    }

    pub(super) fn take_annotations(&mut self) -> Vec<String> {
        std::mem::take(&mut self.annotations)
    }

    /// Whether a member of the object at `pointer` was inferred, alone or with the whole object.
    pub(super) fn is_derived(&self, pointer: &str, name: &str) -> bool {
        self.derived.contains(pointer) || self.derived.contains(&format!("{pointer}/{name}"))
    }

    /// The recorded value of a member of the object at `pointer`, if the document has another.
    pub(super) fn text(&self, pointer: &str, name: &str) -> Option<&str> {
        if self.by_pointer.is_empty() {
            return None;
        }
        self.by_pointer.get(&format!("{pointer}/{name}")).map(String::as_str)
    }
}
