//! An object of a document while it is composed from recorded and derived values.

use antiphon_model::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::origin::Origin;

/// Whether a value has the type that the standard requires.
pub(super) fn fits<T: DeserializeOwned>(value: &Value) -> bool {
    serde_json::from_value::<T>(value.clone()).is_ok()
}

/// Whether a member has the name of a time or a duration but not such a value.
fn is_wrong(name: &str, value: &Value) -> bool {
    let is_time = || value.as_str().and_then(Timestamp::parse).is_some();
    (name.ends_with("_at") && !is_time()) || (name.ends_with("_ms") && !is_duration(value))
}

/// Whether a value is a number that is not negative.
pub(super) fn is_duration(value: &Value) -> bool {
    value.as_f64().is_some_and(|millis| millis >= 0.0)
}

/// Sets a member to the recorded value if that is valid; otherwise the value is derived, and the
/// recorded one is kept in `x_antiphon`.
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

/// The members of an object, and its pointer in the document.
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

    /// A member; `null` if it does not exist.
    pub(super) fn get(&self, name: &str) -> &Value {
        self.members.get(name).unwrap_or(&Value::Null)
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.get(name).as_str().unwrap_or_default()
    }

    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.members.insert(name.to_owned(), value.into());
    }

    /// Sets a member to the recorded value, if there is one.
    pub(super) fn set_some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }

    /// Sets a member to a derived value.
    pub(super) fn derive(&mut self, name: &str, value: impl Into<Value>) {
        self.origin.derived(&self.below(name));
        self.set(name, value);
    }

    /// Sets a member to the recorded value, or else to a derived one.
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

    /// Adds the other recorded members, as long as the object is still a `T`; those that would make
    /// it invalid are kept in `x_antiphon`. Must be called last.
    pub(super) fn rest_of<T: DeserializeOwned>(&mut self, extra: Map<String, Value>) {
        for (name, value) in extra {
            if self.members.contains_key(&name) {
                continue;
            }
            let is_wrong = is_wrong(&name, &value);
            self.set(&name, value);
            // Only a member that the type knows can make it invalid; most are unknown.
            if is_wrong || !self.is_a::<T>() {
                let value = self.members.remove(&name).unwrap_or_default();
                self.origin.keep(&self.below(&name), value);
            }
        }
    }

    fn is_a<T: DeserializeOwned>(&self) -> bool {
        T::deserialize(Value::Object(self.members.clone())).is_ok()
    }

    /// Adds the other recorded members without checking whether the object is still valid: for
    /// large objects whose own members have all been set.
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
