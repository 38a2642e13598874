//! An object of a document while it is written: what was recorded, and what was worked out.

use std::cell::RefCell;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Where the members of a document come from.
#[derive(Debug, Default)]
pub(super) struct Origin {
    derived: RefCell<Vec<String>>,
    original: RefCell<Map<String, Value>>,
}

impl Origin {
    pub(super) fn derived(&self, pointer: &str) {
        self.derived.borrow_mut().push(pointer.to_owned());
    }

    /// Keeps what does not fit where it belongs.
    pub(super) fn keep(&self, pointer: &str, value: Value) {
        self.original.borrow_mut().insert(pointer.to_owned(), value);
    }

    /// The member `x_antiphon`, if there is anything to say. `before` is what it said in a document
    /// that was read.
    pub(super) fn into_value(
        self,
        before: Option<Value>,
        native_id: Option<&str>,
    ) -> Option<Value> {
        let mut own = match before {
            Some(Value::Object(own)) => own,
            _ => Map::new(),
        };
        let mut derived = self.derived.into_inner();
        // What was worked out once is not recorded because it was written down.
        if let Some(Value::Array(earlier)) = own.remove("derived") {
            derived.extend(earlier.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        let mut original = self.original.into_inner();
        if let Some(Value::Object(earlier)) = own.remove("original") {
            for (pointer, value) in earlier {
                original.entry(pointer).or_insert(value);
            }
        }
        if !original.is_empty() {
            own.insert("original".to_owned(), Value::Object(original));
        }
        if let Some(id) = native_id {
            own.insert("session_id".to_owned(), id.into());
        }
        // What stands in a derived object is derived; only the object is listed.
        derived.sort();
        derived.dedup_by(|later, earlier| {
            let below = later.strip_prefix(earlier.as_str());
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if !derived.is_empty() {
            own.insert("derived".to_owned(), derived.into());
        }
        (!own.is_empty()).then_some(Value::Object(own))
    }
}

/// Whether a value is what the standard has in its place.
pub(super) fn fits<T: DeserializeOwned>(value: &Value) -> bool {
    serde_json::from_value::<T>(value.clone()).is_ok()
}

/// An object, its members, and where it stands.
pub(super) struct Object<'o> {
    pub(super) pointer: String,
    pub(super) members: Map<String, Value>,
    origin: &'o Origin,
}

impl<'o> Object<'o> {
    pub(super) fn new(pointer: impl Into<String>, origin: &'o Origin) -> Self {
        Self { pointer: pointer.into(), members: Map::new(), origin }
    }

    pub(super) fn origin(&self) -> &'o Origin {
        self.origin
    }

    pub(super) fn below(&self, name: &str) -> String {
        format!("{}/{name}", self.pointer)
    }

    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.members.insert(name.to_owned(), value.into());
    }

    /// What was recorded, if anything was.
    pub(super) fn set_some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }

    /// What was worked out.
    pub(super) fn derive(&mut self, name: &str, value: impl Into<Value>) {
        self.origin.derived(&self.below(name));
        self.set(name, value);
    }

    /// What was recorded, or else what is worked out.
    pub(super) fn set_or<V: Into<Value>>(
        &mut self,
        name: &str,
        recorded: Option<impl Into<Value>>,
        otherwise: impl FnOnce() -> V,
    ) {
        match recorded {
            Some(value) => self.set(name, value),
            None => self.derive(name, otherwise()),
        }
    }

    /// Adds the members that nothing else has set.
    pub(super) fn rest(&mut self, extra: Map<String, Value>) {
        for (name, value) in extra {
            self.members.entry(name).or_insert(value);
        }
    }

    pub(super) fn value(self) -> Value {
        Value::Object(self.members)
    }
}
