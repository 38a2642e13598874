//! Builds a JSON object, member by member, from raw JSON and from text.

use super::{Json, push_on_one_line, push_string};
use crate::Timestamp;

/// The members of a JSON object.
#[derive(Debug, Default, Clone)]
pub struct Members {
    text: String,
}

impl Members {
    /// Members with room for that many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes) }
    }

    /// Adds a raw JSON value.
    pub fn raw(&mut self, key: &str, value: &str) {
        if !self.text.is_empty() {
            self.text.push(',');
        }
        push_string(&mut self.text, key);
        self.text.push(':');
        self.text.push_str(value);
    }

    /// Adds a raw JSON value, on one line: see [`push_on_one_line`].
    pub fn on_one_line(&mut self, key: &str, value: &str) {
        self.raw(key, "");
        self.text.reserve(value.len());
        push_on_one_line(&mut self.text, value);
    }

    /// Adds a value that a program built.
    pub fn json(&mut self, key: &str, value: &Json) {
        self.raw(key, value.as_str());
    }

    /// Adds a time, if there is one.
    pub fn time(&mut self, key: &str, value: Option<Timestamp>) {
        if let Some(value) = value {
            self.raw(key, "\"");
            value.push_to(&mut self.text);
            self.text.push('"');
        }
    }

    /// Adds a string.
    pub fn word(&mut self, key: &str, value: &str) {
        self.raw(key, "");
        self.text.reserve(value.len() + 2);
        push_string(&mut self.text, value);
    }

    /// Adds a string, if there is one.
    pub fn text(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.word(key, value);
        }
    }

    /// Adds a number or a flag, if there is one.
    pub fn number(&mut self, key: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.raw(key, &value.to_string());
        }
    }

    /// Adds a list of strings, if there are any.
    pub fn list<'w>(&mut self, key: &str, words: impl IntoIterator<Item = &'w str>) {
        let mut list = String::from("[");
        for word in words {
            if list.len() > 1 {
                list.push(',');
            }
            push_string(&mut list, word);
        }
        if list.len() > 1 {
            list.push(']');
            self.raw(key, &list);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Adds another object, unless it has no members.
    pub fn members(&mut self, key: &str, members: &Self) {
        if !members.is_empty() {
            self.raw(key, &members.object());
        }
    }

    /// The members, as they are between an object's braces.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The members: [`as_str`](Self::as_str), without a copy.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The object, as a value.
    pub fn to_json(&self) -> Json {
        Json::built(self.object())
    }

    /// The object, as text.
    pub fn object(&self) -> String {
        format!("{{{}}}", self.text)
    }
}
