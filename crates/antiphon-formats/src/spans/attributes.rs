//! The attributes of a span: names with JSON values. A list may be spread over many attributes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use antiphon_model::json::{self, Members};

use crate::line::{Object, elements};

/// How deeply nested a value may be before it is kept as it is.
const DEPTH: usize = 32;

/// The attributes of a span.
#[derive(Debug, Default, Clone)]
pub(crate) struct Attributes {
    values: BTreeMap<String, String>,
}

impl Attributes {
    /// Reads OTLP's list: `[{"key": …, "value": {"stringValue": …}}]`.
    pub(crate) fn of_list(list: &str) -> Self {
        let mut attributes = Self::default();
        for element in elements(list) {
            let element = Object::parse(element).unwrap_or_default();
            if let Some((key, value)) = element.text("key").zip(element.raw("value")) {
                attributes.values.insert(key.into_owned(), any_value(value, DEPTH));
            }
        }
        attributes
    }

    /// Reads an object whose values are JSON.
    pub(crate) fn of_object(object: &str) -> Self {
        let mut attributes = Self::default();
        let _ = json::members(object, |key, value| {
            attributes.values.insert(key.to_owned(), json::compact(value));
        });
        attributes
    }

    pub(crate) fn insert(&mut self, key: &str, value: String) {
        self.values.insert(key.to_owned(), value);
    }

    pub(crate) fn raw(&self, names: &[&str]) -> Option<&str> {
        let values = names.iter().filter_map(|name| self.values.get(*name));
        values.map(String::as_str).find(|raw| *raw != "null")
    }

    pub(crate) fn text(&self, names: &[&str]) -> Option<Cow<'_, str>> {
        self.raw(names).and_then(json::word).filter(|text| !text.is_empty())
    }

    pub(crate) fn number(&self, names: &[&str]) -> Option<u64> {
        let text = self.text(names)?;
        text.parse().ok().or_else(|| text.strip_suffix(".0")?.parse().ok())
    }

    /// Removes an attribute and returns it, so that it is not written again with the others.
    pub(crate) fn take(&mut self, names: &[&str]) -> Option<String> {
        let taken: Vec<String> =
            names.iter().filter_map(|name| self.values.remove(*name)).collect();
        taken.into_iter().find(|raw| !antiphon_model::is_blank(raw))
    }

    /// Removes a list that is spread over attributes, `<prefix>.0.role`, `<prefix>.0.content`.
    pub(crate) fn take_list(&mut self, prefix: &str) -> Option<String> {
        let prefix = format!("{prefix}.");
        let is_ours = |key: &String| {
            let rest = key.strip_prefix(&prefix).unwrap_or_default();
            rest.starts_with(|first: char| first.is_ascii_digit())
        };
        let keys: Vec<String> = self.values.keys().filter(|key| is_ours(key)).cloned().collect();
        let mut tree = Branch::default();
        for key in &keys {
            let value = self.values.remove(key).unwrap_or_default();
            tree.insert(key.strip_prefix(&prefix).unwrap_or_default(), value);
        }
        (!keys.is_empty()).then(|| tree.to_json())
    }

    /// All attributes, as an object.
    pub(crate) fn object(&self) -> Option<String> {
        let mut members = Members::default();
        for (key, value) in &self.values {
            members.raw(key, value);
        }
        (!members.is_empty()).then(|| members.object())
    }
}

/// Converts an OTLP value to JSON.
fn any_value(raw: &str, depth: usize) -> String {
    let object = Object::parse(raw).unwrap_or_default();
    let Some((kind, value)) = object.members().next() else { return "null".to_owned() };
    match kind {
        // OTLP JSON has 64-bit numbers as strings.
        "intValue" => json::word(value)
            .filter(|number| number.parse::<i64>().is_ok())
            .map_or_else(|| json::compact(value), Cow::into_owned),
        "arrayValue" if depth > 0 => {
            let list = json::member(value, "values").unwrap_or("[]");
            let values: Vec<String> =
                elements(list).into_iter().map(|it| any_value(it, depth - 1)).collect();
            format!("[{}]", values.join(","))
        }
        "kvlistValue" if depth > 0 => {
            let mut members = Members::default();
            for pair in elements(json::member(value, "values").unwrap_or("[]")) {
                let pair = Object::parse(pair).unwrap_or_default();
                if let Some((key, value)) = pair.text("key").zip(pair.raw("value")) {
                    members.raw(&key, &any_value(value, depth - 1));
                }
            }
            members.object()
        }
        _ => json::compact(value),
    }
}

/// A tree of dotted names, which become objects, or lists if the names are numbers.
#[derive(Debug, Default)]
struct Branch {
    value: Option<String>,
    below: BTreeMap<(Option<u64>, String), Self>,
}

impl Branch {
    fn insert(&mut self, path: &str, value: String) {
        let mut at = self;
        // These words only name the type of a list's elements.
        let is_said = |step: &&str| !["message", "message_content", "tool_call"].contains(step);
        for step in path.split('.').filter(is_said).take(DEPTH) {
            at = at.below.entry((step.parse().ok(), step.to_owned())).or_default();
        }
        at.value = Some(value);
    }

    /// Recurses at most [`DEPTH`] levels.
    fn to_json(&self) -> String {
        if self.below.is_empty() {
            return self.value.clone().unwrap_or_else(|| "null".to_owned());
        }
        if self.below.keys().all(|(number, _)| number.is_some()) {
            let values: Vec<String> = self.below.values().map(Self::to_json).collect();
            return format!("[{}]", values.join(","));
        }
        let mut members = Members::default();
        for ((_, name), branch) in &self.below {
            members.raw(name, &branch.to_json());
        }
        members.object()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_kind() {
        let list = r#"[{"key":"a","value":{"stringValue":"x"}},{"key":"b","value":{"intValue":"7"}},
            {"key":"c","value":{"arrayValue":{"values":[{"boolValue":true},{"doubleValue":0.5}]}}},
            {"key":"d","value":{"kvlistValue":{"values":[{"key":"e","value":{"intValue":8}}]}}}]"#;
        let all = Attributes::of_list(list).object().unwrap();
        assert_eq!(all, r#"{"a":"x","b":7,"c":[true,0.5],"d":{"e":8}}"#);
    }

    #[test]
    fn a_list_that_is_spread_is_one_again() {
        let mut attributes = Attributes::default();
        for (key, value) in [
            ("m.10.message.role", "\"user\""),
            ("m.2.message.role", "\"system\""),
            ("m.2.message.contents.0.message_content.text", "\"a\""),
            ("m.2.message.tool_calls.0.tool_call.function.name", "\"f\""),
            ("meaning", "1"),
        ] {
            attributes.insert(key, value.to_owned());
        }
        let list = attributes.take_list("m").unwrap();
        let first = r#"{"contents":[{"text":"a"}],"role":"system","tool_calls":[{"function":{"name":"f"}}]}"#;
        assert_eq!(list, format!(r#"[{first},{{"role":"user"}}]"#));
        assert_eq!(attributes.object().unwrap(), r#"{"meaning":1}"#);
    }
}
