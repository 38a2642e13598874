use std::collections::BTreeSet;

use serde_json::Value;

use super::documents::definitions;
use super::*;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn the_files_are_those_of_the_types() {
    let wanted = generated().unwrap();
    for (path, text) in &wanted {
        let committed = fs::read_to_string(root().join(path)).unwrap_or_default();
        assert!(committed == *text, "{path} is out of date: run `cargo xtask schemas`");
    }
    let there = fs::read_dir(root().join(FOLDER)).unwrap();
    let there = there.map(|file| file.unwrap().file_name().into_string().unwrap());
    let stray = there.map(|name| format!("{FOLDER}/{name}")).find(|it| !wanted.contains_key(it));
    assert_eq!(stray, None, "a file that nothing generates");
}

#[test]
fn every_type_has_a_name_of_its_own() {
    let (types, _) = definitions(DOCUMENTS);
    // A second type of the same name would be numbered.
    let numbered: Vec<_> = types.keys().filter(|it| it.ends_with(char::is_numeric)).collect();
    assert!(numbered.is_empty(), "{numbered:?}");
}

#[test]
fn every_type_and_every_field_is_described() {
    let (types, _) = definitions(DOCUMENTS);
    let mut missing = BTreeSet::new();
    for (name, schema) in &types {
        let mut waiting = vec![(name.clone(), schema)];
        while let Some((path, schema)) = waiting.pop() {
            // A type that is referred to has a description of its own.
            let is_root = path == *name;
            let is_field = path.rsplit('.').next() != Some("anyOf") && !is_root;
            if (is_root || is_field) && schema.get("description").is_none() {
                missing.insert(path.clone());
            }
            let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
            waiting.extend(fields.map(|(field, schema)| (format!("{path}.{field}"), schema)));
            let parts = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
            waiting.extend(parts.map(|part| (format!("{path}.anyOf"), part)));
        }
    }
    assert!(missing.is_empty(), "without a doc comment: {missing:#?}");
}
