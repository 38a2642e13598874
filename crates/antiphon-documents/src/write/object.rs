//! An object of a document while it is written: what was recorded, and what was worked out.

use std::cell::RefCell;

use antiphon_model::Timestamp;
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

    /// Keeps what has no place in a list, in a list of its own.
    pub(super) fn keep_one_of(&self, pointer: &str, value: Value) {
        let mut original = self.original.borrow_mut();
        match original.get_mut(pointer) {
            Some(Value::Array(others)) => others.push(value),
            _ => {
                original.insert(pointer.to_owned(), Value::Array(vec![value]));
            }
        }
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

/// Whether a member is no time, or no duration, that has the name of one.
fn is_wrong(name: &str, value: &Value) -> bool {
    let is_time = || value.as_str().and_then(Timestamp::parse).is_some();
    (name.ends_with("_at") && !is_time()) || (name.ends_with("_ms") && !is_duration(value))
}

/// A number that is not below 0.
pub(super) fn is_duration(value: &Value) -> bool {
    value.as_f64().is_some_and(|millis| millis >= 0.0)
}

/// Sets a member to what was recorded, if that is right; else it is worked out, and what was
/// recorded is kept elsewhere.
pub(super) fn missing(
    object: &mut Object<'_>,
    recorded: &mut Map<String, Value>,
    name: &str,
    is_right: impl Fn(&Value) -> bool,
    otherwise: impl Into<Value>,
) {
    match recorded.remove(name) {
        Some(value) if is_right(&value) => object.set(name, value),
        found => {
            if let Some(value) = found.filter(|it| !it.is_null()) {
                object.origin.keep(&object.below(name), value);
            }
            object.derive(name, otherwise);
        }
    }
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

    /// A member; null, if it is not there.
    pub(super) fn get(&self, name: &str) -> &Value {
        self.members.get(name).unwrap_or(&Value::Null)
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.get(name).as_str().unwrap_or_default()
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

    /// Adds what else was recorded, where the whole is still a `T`; what would spoil it is kept
    /// elsewhere. To be called last.
    pub(super) fn rest_of<T: DeserializeOwned>(&mut self, extra: Map<String, Value>) {
        for (name, value) in extra {
            if self.members.contains_key(&name) {
                continue;
            }
            let is_wrong = is_wrong(&name, &value);
            self.set(&name, value);
            // Only a member that a type knows can spoil it; most are not known to any.
            if is_wrong || !self.is_a::<T>() {
                let value = self.members.remove(&name).unwrap_or_default();
                self.origin.keep(&self.below(&name), value);
            }
        }
    }

    fn is_a<T: DeserializeOwned>(&self) -> bool {
        T::deserialize(Value::Object(self.members.clone())).is_ok()
    }

    /// The same without asking whether the whole is still right: for what is large, and whose own
    /// members have all been set.
    pub(super) fn rest(&mut self, extra: Map<String, Value>) {
        for (name, value) in extra {
            if self.members.contains_key(&name) {
                continue;
            }
            match is_wrong(&name, &value) {
                true => self.origin.keep(&self.below(&name), value),
                false => self.set(&name, value),
            }
        }
    }

    pub(super) fn value(self) -> Value {
        Value::Object(self.members)
    }
}
