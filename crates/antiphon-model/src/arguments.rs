//! A call's arguments: as a line that a person can read, and by name.

use crate::{BodyError, CallIx, Reading, json};

/// How much of one value is shown.
const VALUE_CHARS: usize = 48;
/// How many arguments are shown.
const ARGUMENTS_MAX: usize = 6;

/// `name: "Jack", system_prompt: "You work in HR…"` from raw arguments, which are JSON, or a string
/// that contains JSON, or neither.
pub fn short_arguments(raw: &str) -> String {
    let inner = json::text(raw);
    let object = inner.as_deref().unwrap_or(raw);
    let mut shown = Vec::new();
    let mut count = 0;
    let parsed = json::members(object, |key, value| {
        count += 1;
        if count <= ARGUMENTS_MAX {
            shown.push(format!("{key}: {}", short_value(value)));
        }
    });
    if parsed.is_err() {
        return clip(object);
    }
    if count > ARGUMENTS_MAX {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

fn short_value(raw: &str) -> String {
    match json::text(raw) {
        Some(text) => format!("\"{}\"", clip(&text)),
        None => clip(raw),
    }
}

/// The beginning of a text, on one line.
fn clip(text: &str) -> String {
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = words.char_indices().nth(VALUE_CHARS) {
        words.truncate(cut);
        words.push('…');
    }
    words
}

/// A call's arguments, accessible by name.
#[derive(Debug)]
pub struct Arguments {
    /// JSON, or any other text that the tool was given.
    text: String,
}

impl Arguments {
    pub fn of(reading: &Reading<'_>, ix: CallIx) -> Result<Self, BodyError> {
        let place = reading.session.call(ix).arguments;
        if place.is_none() {
            return Ok(Self { text: String::new() });
        }
        let raw = reading.bodies.read(place)?;
        let text = json::text(&raw).map(std::borrow::Cow::into_owned).unwrap_or(raw);
        Ok(Self { text })
    }

    /// All of them; if they are a string, its content.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The raw argument of that name.
    pub fn raw(&self, name: &str) -> Option<&str> {
        json::member(&self.text, name)
    }

    /// The argument of that name, if it is a text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.raw(name).and_then(json::text).map(std::borrow::Cow::into_owned)
    }

    /// The first of these arguments that is a text.
    pub fn any_text(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.text(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_in_all_their_forms() {
        let check = |raw: &str| short_arguments(raw);
        assert_eq!(check(r#""{\"name\": \"Jack\", \"n\": 3}""#), r#"name: "Jack", n: 3"#);
        assert_eq!(check(r#"{"speakers":["Jack","Jill"]}"#), r#"speakers: ["Jack","Jill"]"#);
        assert_eq!(check(r#""free text,\n not JSON""#), "free text, not JSON");
        assert_eq!(check(r#""{}""#), "");
        assert_eq!(check(&format!("\"{}\"", "x".repeat(60))).chars().count(), 49);
    }
}
