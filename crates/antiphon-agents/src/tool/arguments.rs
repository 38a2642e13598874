//! The arguments of a call: what a model wrote, asked for by name.

use serde_json::{Map, Value};

use super::ToolError;

/// The arguments of a call: an object.
#[derive(Debug, Clone, Default)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// Reads what a model wrote. Nothing at all stands for no arguments.
    pub fn parse(text: &str) -> Result<Self, ToolError> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(members)) => Ok(Self(members)),
            Ok(_) => Err(ToolError::failed("The arguments must be a JSON object.")),
            Err(error) => {
                Err(ToolError::failed(format!("The arguments are not valid JSON: {error}.")))
            }
        }
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// All of them.
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }

    /// A text that must be there.
    pub fn text(&self, name: &str) -> Result<&str, ToolError> {
        let text = self.optional_text(name)?;
        text.ok_or_else(|| ToolError::failed(format!("The argument `{name}` is missing.")))
    }

    pub fn optional_text(&self, name: &str) -> Result<Option<&str>, ToolError> {
        self.get(name).map(|value| value.as_str().ok_or_else(|| wrong(name, "text"))).transpose()
    }

    /// A list of texts.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<&str>>, ToolError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let texts = value.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
        texts.map(Some).ok_or_else(|| wrong(name, "a list of texts"))
    }

    /// A whole number of at least one.
    pub fn count(&self, name: &str) -> Result<Option<u64>, ToolError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = value.as_u64().filter(|&number| number >= 1);
        number.map(Some).ok_or_else(|| wrong(name, "a whole number of at least 1"))
    }
}

fn wrong(name: &str, wanted: &str) -> ToolError {
    ToolError::failed(format!("The argument `{name}` must be {wanted}."))
}
