//! Where the members of a document come from: what was worked out, and what was recorded in a
//! shape that has no place in it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::letter::{Shape, conform};

/// Notes about a document, or about one item of a list. Pointers begin at what the notes are about.
#[derive(Debug, Default)]
pub(super) struct Origin {
    derived: RefCell<Vec<String>>,
    original: RefCell<BTreeMap<String, Original>>,
    stage: Cell<Stage>,
}

/// What stands in `x_antiphon.original` under a pointer.
#[derive(Debug, Clone)]
pub(super) struct Original {
    pub(super) stage: Stage,
    pub(super) value: Value,
}

/// Of several values under one pointer, that of the latest stage is kept; items are composed one by
/// one, and so not in the order of the stages.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// A document that was read said so in its own `x_antiphon`.
    Earlier,
    #[default]
    Composed,
    /// A document that was read had something else where it should stand.
    Part,
    Conformed,
}

impl Origin {
    pub(super) fn derived(&self, pointer: &str) {
        self.derived.borrow_mut().push(pointer.to_owned());
    }

    /// What is kept from now on is of this stage.
    pub(super) fn set_stage(&self, stage: Stage) {
        self.stage.set(stage);
    }

    /// Keeps what does not fit where it belongs.
    pub(super) fn keep(&self, pointer: &str, value: Value) {
        self.insert(pointer.to_owned(), Original { stage: self.stage.get(), value });
    }

    fn insert(&self, pointer: String, new: Original) {
        let mut original = self.original.borrow_mut();
        if original.get(&pointer).is_none_or(|known| known.stage <= new.stage) {
            original.insert(pointer, new);
        }
    }

    /// Keeps what has no place in a list, in a list of its own.
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

    /// Makes a value fit the letter; what did not fit is kept.
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

    /// Takes over the notes about what stands at a pointer of this document.
    pub(super) fn take_over(&self, pointer: &str, notes: Self) {
        let below = |relative: &String| format!("{pointer}{relative}");
        self.derived.borrow_mut().extend(notes.derived.into_inner().iter().map(below));
        for (relative, original) in notes.original.into_inner() {
            self.insert(below(&relative), original);
        }
    }

    /// Takes over what `x_antiphon` said in a document that was read; gives what else it said.
    pub(super) fn take_earlier(&self, before: Option<Value>) -> Map<String, Value> {
        let mut own = match before {
            Some(Value::Object(own)) => own,
            _ => Map::new(),
        };
        // What was worked out once is not recorded because it was written down.
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

    /// The pointers in order, and what is kept.
    pub(super) fn into_parts(self) -> (Vec<String>, BTreeMap<String, Original>) {
        let mut derived = self.derived.into_inner();
        derived.sort();
        derived.dedup();
        (derived, self.original.into_inner())
    }
}
