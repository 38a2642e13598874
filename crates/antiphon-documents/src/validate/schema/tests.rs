use super::*;

/// What `walk` acts on.
const ACTED_ON: &[&str] = &[
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "enum",
    "format",
    "items",
    "minimum",
    "properties",
    "required",
    "type",
];

/// What says nothing about a document's shape.
const PASSED_OVER: &[&str] = &["$defs", "$schema", "default", "description", "title"];

/// The schemas below a schema, and its keywords.
fn keywords<'s>(schema: &'s Value, found: &mut Vec<&'s str>) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        found.push(keyword);
        match keyword.as_str() {
            "$defs" | "properties" => {
                value.as_object().unwrap().values().for_each(|schema| keywords(schema, found));
            }
            "anyOf" => value.as_array().unwrap().iter().for_each(|schema| keywords(schema, found)),
            "items" | "additionalProperties" => keywords(value, found),
            _ => {}
        }
    }
}

#[test]
fn the_walk_knows_every_keyword_of_the_schemas() {
    for standard in [Standard::Std001, Standard::Std008] {
        let mut found = Vec::new();
        keywords(Schema::of(standard).root, &mut found);
        assert!(found.len() > 100, "{standard}: the schema was read");
        for keyword in found {
            assert!(ACTED_ON.contains(&keyword) || PASSED_OVER.contains(&keyword), "{keyword}");
        }
    }
}

#[test]
fn every_reference_of_the_schemas_leads_somewhere() {
    for standard in [Standard::Std001, Standard::Std008] {
        let schema = Schema::of(standard);
        let text = schema.root.to_string();
        for part in text.split("\"$ref\":\"").skip(1) {
            let pointer = part.split('"').next().unwrap();
            let name = pointer.strip_prefix("#/$defs/").unwrap();
            assert!(schema.definition(name).is_some(), "{standard}: {pointer}");
        }
    }
}
