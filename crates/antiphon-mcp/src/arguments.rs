//! The arguments of a tool, as a model gives them.

use serde_json::{Map, Value};

/// The arguments of one call.
#[derive(Debug)]
pub(crate) struct Arguments<'a>(pub(crate) &'a Map<String, Value>);

impl Arguments<'_> {
    /// An argument that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<&str, String> {
        self.text(name)?.ok_or_else(|| format!("the argument `{name}` is missing"))
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text)),
            Some(_) => Err(format!("the argument `{name}` is not a text")),
        }
    }

    /// How many are wanted: at least one, and not more than `most`.
    pub(crate) fn limit(&self, usual: usize, most: usize) -> Result<usize, String> {
        let wrong = || format!("the argument `limit` is not a number from 1 to {most}");
        match self.0.get("limit") {
            None | Some(Value::Null) => Ok(usual),
            Some(value) => {
                let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
                number.filter(|number| (1..=most).contains(number)).ok_or_else(wrong)
            }
        }
    }
}
