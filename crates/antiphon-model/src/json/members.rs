//! Building a JSON object, member by member, from text that is JSON already and text that is not.

use super::push_string;

/// The members of a JSON object.
#[derive(Debug, Default, Clone)]
pub struct Members {
    text: String,
}

impl Members {
    /// The members of an event of that type.
    pub fn of_event(event_type: &str) -> Self {
        let mut members = Self::default();
        members.word("event_type", event_type);
        members
    }

    /// A value that is JSON.
    pub fn raw(&mut self, key: &str, value: &str) {
        if !self.text.is_empty() {
            self.text.push(',');
        }
        push_string(&mut self.text, key);
        self.text.push(':');
        self.text.push_str(value);
    }

    /// A string.
    pub fn word(&mut self, key: &str, value: &str) {
        self.raw(key, "");
        self.text.reserve(value.len() + 2);
        push_string(&mut self.text, value);
    }

    /// A string, if there is one.
    pub fn text(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.word(key, value);
        }
    }

    /// A number or a flag, if there is one.
    pub fn number(&mut self, key: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.raw(key, &value.to_string());
        }
    }

    /// Strings, if there are any.
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

    /// Another object, unless it has no members.
    pub fn members(&mut self, key: &str, members: &Self) {
        if !members.is_empty() {
            self.raw(key, &members.object());
        }
    }

    /// The members, as they stand between an object's braces.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The object.
    pub fn object(&self) -> String {
        format!("{{{}}}", self.text)
    }
}
