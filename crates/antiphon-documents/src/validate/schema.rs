//! The schemas in `docs/schema/`, and a validator for the subset of JSON Schema that they use.
//!
//! It knows only the keywords that occur there, which a test checks. It differs from a standard
//! validator in two ways: a member that is `null` counts as missing, and in an `anyOf` of a list of
//! words and a branch that accepts every string, other words give a warning.

use std::cmp::Reverse;
use std::sync::LazyLock;

use serde_json::Value;

use super::at::{At, Moment, quoted};
use super::{Code, Findings, Standard};

static STD_001: LazyLock<Value> =
    LazyLock::new(|| read(include_str!("../../../../docs/schema/std-001.json")));
static STD_008: LazyLock<Value> =
    LazyLock::new(|| read(include_str!("../../../../docs/schema/std-008.json")));

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// A schema with its definitions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schema {
    pub(super) root: &'static Value,
}

impl Schema {
    pub(super) fn of(standard: Standard) -> Self {
        let root = match standard {
            Standard::Std001 => &*STD_001,
            Standard::Std008 => &*STD_008,
        };
        Self { root }
    }

    /// One of the schema's definitions, by name.
    pub(super) fn definition(self, name: &str) -> Option<&'static Value> {
        self.root.get("$defs")?.get(name)
    }

    /// Reports where `at` differs from `schema`. The recursion follows the schema, which is finite,
    /// rather than the document.
    pub(super) fn walk(self, schema: &'static Value, at: &At<'_>, findings: &mut Findings) {
        let Some(keywords) = schema.as_object() else {
            return;
        };
        if let Some(target) = self.target(schema) {
            return self.walk(target, at, findings);
        }
        if let Some(types) = keywords.get("type")
            && !has_type(at.value, types)
        {
            return wrong_type(at, types, findings);
        }
        if let Some(wanted) = keywords.get("const")
            && wanted != at.value
        {
            let message = format!("{} should be {wanted}", name_of(at));
            findings.error(Code::WrongType, &at.path, message);
        }
        if keywords.get("format").is_some_and(|format| format == "date-time") {
            time(at, findings);
        }
        if let (Some(minimum), Some(number)) =
            (keywords.get("minimum").and_then(Value::as_f64), at.value.as_f64())
            && number < minimum
        {
            let message = format!("{} is {number}, but cannot be below {minimum}", name_of(at));
            findings.error(Code::OutOfRange, &at.path, message);
        }
        self.members(schema, at, findings);
        if let Some(items) = keywords.get("items") {
            at.items().for_each(|item| self.walk(items, &item, findings));
        }
        if let Some(Value::Array(branches)) = keywords.get("anyOf") {
            self.any_of(branches, at, findings);
        }
    }

    fn members(self, schema: &'static Value, at: &At<'_>, findings: &mut Findings) {
        let Some(object) = at.value.as_object() else {
            return;
        };
        let required = required(schema);
        for &name in &required {
            if !object.contains_key(name) {
                let message = format!("`{name}` is missing");
                findings.error(Code::MissingField, at.path_of(name), message);
            }
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        for (name, value) in object {
            let known = properties.and_then(|properties| properties.get(name));
            let Some(schema) = known.or(others) else {
                continue;
            };
            if !value.is_null() || required.contains(&name.as_str()) {
                self.walk(schema, &At { value, path: at.path_of(name) }, findings);
            }
        }
    }

    fn any_of(self, branches: &'static [Value], at: &At<'_>, findings: &mut Findings) {
        if let Some(Value::Array(words)) = branches.iter().find_map(|branch| branch.get("enum")) {
            return word(words, at, findings);
        }
        // A `null` value does not get here.
        let is_null = |branch: &&Value| branch.get("type").is_some_and(|name| name == "null");
        let branches: Vec<_> = branches.iter().filter(|branch| !is_null(branch)).collect();
        if let &[branch] = branches.as_slice() {
            return self.walk(branch, at, findings);
        }
        let mut tried = Vec::new();
        for branch in branches {
            let mut found = Findings::default();
            self.walk(branch, at, &mut found);
            if !found.has_error {
                return findings.append(found);
            }
            let errors = found.kept.iter().filter(|finding| finding.is_error()).count();
            // The intended shape is the one of which most members are present.
            let branch = self.target(branch).unwrap_or(branch);
            let there = required(branch).iter().filter(|name| at.member(name).is_some()).count();
            let is_other = |finding: &super::DocumentFinding| {
                finding.code == Code::WrongType && finding.path == at.path
            };
            let is_other_type = found.kept.iter().any(is_other);
            tried.push(((is_other_type, Reverse(there), errors), found));
        }
        let best = tried.into_iter().min_by_key(|(key, _)| *key);
        if let Some((_, found)) = best {
            findings.append(found);
        }
    }

    /// What a `$ref` points at.
    fn target(self, schema: &Value) -> Option<&'static Value> {
        self.definition(schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?)
    }
}

fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// `types` is a name or a list of names.
fn has_type(value: &Value, types: &Value) -> bool {
    type_names(types).any(|name| match name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => value.is_null(),
    })
}

fn type_names(types: &Value) -> impl Iterator<Item = &str> {
    let many = types.as_array().into_iter().flatten().filter_map(Value::as_str);
    types.as_str().into_iter().chain(many)
}

fn wrong_type(at: &At<'_>, types: &Value, findings: &mut Findings) {
    let wanted: Vec<_> = type_names(types).filter(|&name| name != "null").map(in_words).collect();
    let is = match at.value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) if types_want_whole(types) => "a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    let message = format!("{} should be {}, but is {is}", name_of(at), wanted.join(" or "));
    findings.error(Code::WrongType, &at.path, message);
}

fn types_want_whole(types: &Value) -> bool {
    type_names(types).any(|name| name == "integer")
}

fn in_words(type_name: &str) -> &str {
    match type_name {
        "string" => "a string",
        "number" => "a number",
        "integer" => "a whole number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        other => other,
    }
}

/// How a message names a value: by its key, or by the key of its list and its position there.
fn name_of(at: &At<'_>) -> String {
    let mut steps = at.path.rsplit('/');
    let (last, before) = (steps.next().unwrap_or_default(), steps.next().unwrap_or_default());
    match last.parse::<usize>() {
        Ok(ix) => format!("item {} of {}", ix.saturating_add(1), quoted(before)),
        Err(_) => quoted(last),
    }
}

fn word(words: &[Value], at: &At<'_>, findings: &mut Findings) {
    let Some(text) = at.value.as_str() else {
        return;
    };
    if words.iter().all(|word| word != text) {
        let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
        let (text, name) = (quoted(text), name_of(at));
        let message =
            format!("{text} is not one of the standard's values for {name}: {}", words.join(", "));
        findings.warning(Code::UnknownWord, &at.path, message);
    }
}

fn time(at: &At<'_>, findings: &mut Findings) {
    let Some(text) = at.value.as_str() else {
        return;
    };
    let moment = Moment::of(text);
    let (text, name) = (quoted(text), name_of(at));
    match moment {
        Moment::Exact(_) => {}
        Moment::Vague(_) => {
            let message = format!("{name} is {text}, without a time or a time zone; read as UTC");
            findings.warning(Code::VagueTime, &at.path, message);
        }
        Moment::Bad => {
            let message = format!("{name} is {text}, which is not an ISO 8601 time");
            findings.error(Code::BadTime, &at.path, message);
        }
    }
}

#[cfg(test)]
mod tests;
