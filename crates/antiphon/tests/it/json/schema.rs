//! Holding a document against a JSON Schema.
//!
//! As much of the language as our schemas use; any other keyword is refused, so that nothing is
//! left unchecked. Stricter than the schema in one way: a member that it does not name is wrong
//! here, because nobody but us writes these documents.

use std::collections::BTreeSet;

use antiphon_model::Timestamp;
use serde_json::{Map, Value};

pub(super) struct Schema {
    root: Value,
}

impl Schema {
    pub(super) fn parse(text: &str) -> Self {
        Self { root: serde_json::from_str(text).unwrap() }
    }

    /// Where a document does not fit, and how.
    pub(super) fn problems(&self, document: &Value) -> Vec<String> {
        let mut problems = Vec::new();
        let fit = self.fit(&self.root, document, "", &mut problems);
        fit.unnamed(document, "", &mut problems);
        problems
    }

    fn fits(&self, schema: &Value, value: &Value) -> Option<Named> {
        let mut problems = Vec::new();
        let named = self.fit(schema, value, "", &mut problems);
        problems.is_empty().then_some(named)
    }

    /// Adds where `value` does not fit, and says which of its members the schema names.
    fn fit(&self, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) -> Named {
        let Value::Object(keywords) = schema else {
            assert_eq!(schema, &Value::Bool(true), "{at}: not a schema");
            return Named::All;
        };
        let wrong = keywords.iter().filter_map(|(keyword, rule)| wrong(keyword, rule, value));
        problems.extend(wrong.map(|what| format!("`{at}`: {what}")));
        let mut named = Named::These(BTreeSet::new());
        if let Some(target) = keywords.get("$ref") {
            let pointer = target.as_str().unwrap().trim_start_matches('#');
            named.add(self.fit(self.root.pointer(pointer).unwrap(), value, at, problems));
        }
        for (kind, most) in [("anyOf", usize::MAX), ("oneOf", 1)] {
            let Some(parts) = keywords.get(kind).and_then(Value::as_array) else { continue };
            let fitting: Vec<Named> =
                parts.iter().filter_map(|part| self.fits(part, value)).collect();
            if !(1..=most).contains(&fitting.len()) {
                problems.push(format!("`{at}`: {value} fits {} of {kind}", fitting.len()));
            }
            fitting.into_iter().for_each(|it| named.add(it));
        }
        named.add(self.fit_parts(keywords, value, at, problems));
        // An object of which nothing is said is anybody's.
        let says = ["properties", "anyOf", "oneOf", "$ref"];
        if says.iter().any(|it| keywords.contains_key(*it)) { named } else { Named::All }
    }

    /// The same for the members of an object, and the items of a list.
    fn fit_parts(
        &self,
        keywords: &Map<String, Value>,
        value: &Value,
        at: &str,
        problems: &mut Vec<String>,
    ) -> Named {
        let mut parts = Vec::new();
        let members = keywords.get("properties").and_then(Value::as_object);
        for (name, schema) in members.into_iter().flatten() {
            parts.extend(value.get(name).map(|value| (schema, value, format!("{at}/{name}"))));
        }
        let others = keywords.get("additionalProperties");
        for (name, value) in value.as_object().into_iter().flatten() {
            if members.is_none_or(|members| !members.contains_key(name)) {
                parts.extend(others.map(|schema| (schema, value, format!("{at}/{name}"))));
            }
        }
        if let Some(schema) = keywords.get("items") {
            let items = value.as_array().into_iter().flatten().enumerate();
            parts.extend(items.map(|(n, item)| (schema, item, format!("{at}/{n}"))));
        }
        for (schema, value, at) in parts {
            self.fit(schema, value, &at, problems).unnamed(value, &at, problems);
        }
        match others {
            Some(_) => Named::All,
            None => Named::These(members.into_iter().flatten().map(|it| it.0.clone()).collect()),
        }
    }
}

/// What a keyword finds wrong with a value by itself.
fn wrong(keyword: &str, rule: &Value, value: &Value) -> Option<String> {
    let (fits, what) = match keyword {
        // These say nothing, or are looked at where they lead.
        "$defs" | "$schema" | "description" | "title" => return None,
        "$ref" | "anyOf" | "oneOf" | "properties" | "additionalProperties" | "items" => {
            return None;
        }
        "type" => (is_of_type(value, rule), format!("{value} is not of type {rule}")),
        "const" => (value == rule, format!("{value} is not {rule}")),
        "enum" => (rule.as_array()?.contains(value), format!("{value} is not one of {rule}")),
        "minimum" => (
            value.as_f64().is_none_or(|it| it >= rule.as_f64().unwrap()),
            format!("{value} < {rule}"),
        ),
        "maximum" => (
            value.as_f64().is_none_or(|it| it <= rule.as_f64().unwrap()),
            format!("{value} > {rule}"),
        ),
        "format" => {
            (is_of_form(value, rule.as_str()?), format!("{value} is not of the form {rule}"))
        }
        "required" => {
            let mut names = rule.as_array()?.iter().filter(|_| value.is_object());
            let missing = names.find(|name| value.get(name.as_str().unwrap()).is_none())?;
            (false, format!("{missing} is missing"))
        }
        "uniqueItems" => {
            let items = value.as_array()?;
            let is_repeated = (1..items.len()).any(|n| items[..n].contains(&items[n]));
            (!is_repeated, "an item is repeated".to_owned())
        }
        _ => (false, "the schema has a keyword that is not understood".to_owned()),
    };
    (!fits).then_some(what)
}

/// Which members of an object a schema names.
enum Named {
    All,
    These(BTreeSet<String>),
}

impl Named {
    fn add(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::These(names), Self::These(more)) => names.extend(more),
            (_, Self::All) => *self = Self::All,
            (Self::All, _) => {}
        }
    }

    fn unnamed(&self, value: &Value, at: &str, problems: &mut Vec<String>) {
        let Self::These(names) = self else { return };
        for name in value.as_object().into_iter().flatten().map(|(name, _)| name) {
            if !names.contains(name) {
                problems.push(format!("`{at}/{name}` is not in the schema"));
            }
        }
    }
}

fn is_of_type(value: &Value, rule: &Value) -> bool {
    let is = |word: &str| match word {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    };
    let several = rule.as_array().into_iter().flatten();
    several.chain([rule]).filter_map(Value::as_str).any(is)
}

fn is_of_form(value: &Value, form: &str) -> bool {
    match form {
        "date-time" => value.as_str().is_none_or(|text| Timestamp::parse(text).is_some()),
        "uint" | "uint32" | "uint64" => !value.is_number() || value.is_u64(),
        "int64" => !value.is_number() || value.is_i64(),
        "double" => true,
        _ => false,
    }
}

#[test]
fn what_does_not_fit_is_found() {
    let schema = Schema::parse(
        r##"{
            "$defs": { "Kind": { "oneOf": [{ "const": "a" }, { "const": "b" }] } },
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": { "$ref": "#/$defs/Kind" },
                    "at": { "type": ["string", "null"], "format": "date-time" },
                    "extra": { "type": "object" }
                },
                "required": ["kind"],
                "anyOf": [
                    { "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] },
                    { "type": "object", "properties": { "m": { "type": "string" } }, "required": ["m"] }
                ]
            }
        }"##,
    );
    let check = |text: &str, wanted: &[&str]| {
        let problems = schema.problems(&serde_json::from_str(text).unwrap());
        assert_eq!(problems, wanted, "{text}");
    };
    check(r#"[{"kind":"a","n":1,"at":null,"extra":{"any":1}}, {"kind":"b","m":"x"}]"#, &[]);
    check(r#"{}"#, &["``: {} is not of type \"array\""]);
    check(r#"[{"kind":"c","n":1}]"#, &["`/0/kind`: \"c\" fits 0 of oneOf"]);
    check(r#"[{"n":1}]"#, &["`/0`: \"kind\" is missing"]);
    check(
        r#"[{"kind":"a","n":1.5}]"#,
        &["`/0`: {\"kind\":\"a\",\"n\":1.5} fits 0 of anyOf", "`/0/n` is not in the schema"],
    );
    check(
        r#"[{"kind":"a","n":1,"at":"noon"}]"#,
        &["`/0/at`: \"noon\" is not of the form \"date-time\""],
    );
    check(r#"[{"kind":"a","n":1,"more":1}]"#, &["`/0/more` is not in the schema"]);
}
