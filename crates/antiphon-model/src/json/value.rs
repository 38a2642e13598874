//! A JSON value of a program, as text: every value of this type was checked or built here.

use std::fmt;

use super::{NotJson, push_string, scan};

/// The text of a JSON value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Json(String);

impl Json {
    /// A string with that text.
    pub fn text(text: &str) -> Self {
        let mut json = String::with_capacity(text.len() + 2);
        push_string(&mut json, text);
        Self(json)
    }

    /// An array.
    pub fn array(values: impl IntoIterator<Item = Self>) -> Self {
        let mut json = String::from("[");
        for value in values {
            if json.len() > 1 {
                json.push(',');
            }
            json.push_str(&value.0);
        }
        json.push(']');
        Self(json)
    }

    /// Parses `text`; an error if it is not JSON.
    pub fn parse(text: &str) -> Result<Self, NotJson> {
        let text = text.trim_matches([' ', '\t', '\n', '\r']);
        match scan::first(text) {
            Some(value) if value.len() == text.len() => Ok(Self(text.to_owned())),
            _ => Err(NotJson::of(text, "a value")),
        }
    }

    /// A text that was built as JSON.
    pub(super) fn built(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Members;

    #[test]
    fn only_json_becomes_a_value() {
        assert_eq!(Json::parse(" {\"a\": 1}\n").unwrap().as_str(), "{\"a\": 1}");
        for text in ["", "words", "{\"a\":", "1 2", "[1]]", "{\"a\":1},\"b\":2"] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        assert_eq!(Json::text("a \"b\"\n").as_str(), r#""a \"b\"\n""#);
        let mut members = Members::default();
        members.json("list", &Json::array([Json::text("a"), Json::array([])]));
        assert_eq!(members.to_json().as_str(), r#"{"list":["a",[]]}"#);
    }
}
