//! The origin of a document's members: which were derived, and which were recorded in a form that
//! the document cannot contain.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::interfaces::{Shape, conform};

/// The origins in a document, or in one item of a list. Pointers are relative to it.
#[derive(Debug, Default)]
pub(super) struct Origin {
    derived: RefCell<Vec<String>>,
    original: RefCell<BTreeMap<String, Original>>,
    stage: Cell<Stage>,
}

/// A value in `x_antiphon.original`.
#[derive(Debug, Clone)]
pub(super) struct Original {
    pub(super) stage: Stage,
    pub(super) value: Value,
}

/// When a value was kept. Of several values with the same pointer, the one of the latest stage
/// wins; items are composed one by one, so they do not arrive in the order of the stages.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// It was in the `x_antiphon` of the document that was read.
    Earlier,
    #[default]
    Composed,
    /// The document that was read had it in place of a part of another type.
    Part,
    Conformed,
}

impl Origin {
    pub(super) fn derived(&self, pointer: &str) {
        self.derived.borrow_mut().push(pointer.to_owned());
    }

    /// Sets the stage of the values that are kept from now on.
    pub(super) fn set_stage(&self, stage: Stage) {
        self.stage.set(stage);
    }

    /// Keeps a value that does not fit at its pointer.
    pub(super) fn keep(&self, pointer: &str, value: Value) {
        self.insert(pointer.to_owned(), Original { stage: self.stage.get(), value });
    }

    fn insert(&self, pointer: String, new: Original) {
        let mut original = self.original.borrow_mut();
        if original.get(&pointer).is_none_or(|known| known.stage <= new.stage) {
            original.insert(pointer, new);
        }
    }

    /// Keeps a value that does not fit into a list, in a list of such values.
    pub(super) fn keep_one_of(&self, pointer: &str, value: Value) {
        let mut original = self.original.borrow_mut();
        match original.get_mut(pointer) {
            Some(Original { value: Value::Array(others), .. }) => others.push(value),
            _ => {
                let list = Original { stage: self.stage.get(), value: Value::Array(vec![value]) };
                original.insert(pointer.to_owned(), list);
            }
        }
    }

    /// Makes a value fit an interface; what did not fit is kept.
    pub(super) fn conform(&self, value: &mut Value, shape: &'static Shape) {
        self.set_stage(Stage::Conformed);
        let mut misfits = Vec::new();
        conform(value, shape, "", &mut misfits);
        for misfit in misfits {
            if misfit.is_replaced {
                self.derived(&misfit.pointer);
            }
            self.keep(&misfit.pointer, misfit.value);
        }
    }

    /// Adds the origins of the value at a pointer of this document.
    pub(super) fn take_over(&self, pointer: &str, notes: Self) {
        let below = |relative: &String| format!("{pointer}{relative}");
        self.derived.borrow_mut().extend(notes.derived.into_inner().iter().map(below));
        for (relative, original) in notes.original.into_inner() {
            self.insert(below(&relative), original);
        }
    }

    /// Adds what the `x_antiphon` of the document that was read contained; returns its other
    /// members.
    pub(super) fn take_earlier(&self, before: Option<Value>) -> Map<String, Value> {
        let mut own = match before {
            Some(Value::Object(own)) => own,
            _ => Map::new(),
        };
        // A derived value does not become a recorded one by having been written.
        if let Some(Value::Array(earlier)) = own.remove("derived") {
            let earlier = earlier.iter().filter_map(Value::as_str).map(str::to_owned);
            self.derived.borrow_mut().extend(earlier);
        }
        if let Some(Value::Object(earlier)) = own.remove("original") {
            let mut original = self.original.borrow_mut();
            for (pointer, value) in earlier {
                original.entry(pointer).or_insert(Original { stage: Stage::Earlier, value });
            }
        }
        own
    }

    /// The pointers to derived members in order, and the original values.
    pub(super) fn into_parts(self) -> (Vec<String>, BTreeMap<String, Original>) {
        let mut derived = self.derived.into_inner();
        derived.sort();
        derived.dedup();
        (derived, self.original.into_inner())
    }
}
