//! Documents that were damaged at random.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// All pointers into a value.
fn pointers(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Object(members) => {
                open.extend(members.iter().map(|(name, value)| (format!("{path}/{name}"), value)));
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                open.extend(items.map(|(ix, value)| (format!("{path}/{ix}"), value)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        found.push(path);
    }
    found.sort();
    found
}

/// Takes a member away, or puts something else in its place.
fn mutate(value: &mut Value, pointer: &str, with: Option<Value>) {
    if let Some(with) = with {
        *value.pointer_mut(pointer).unwrap() = with;
        return;
    }
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    match value.pointer_mut(parent).unwrap() {
        Value::Object(members) => drop(members.remove(name)),
        Value::Array(items) => drop(items.remove(name.parse().unwrap())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => panic!("{pointer}"),
    }
}

fn anything() -> impl Strategy<Value = Option<Value>> {
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("tool-001"),
        json!("sub-001"),
        json!("9999-99-99T99:99:99Z"),
        json!("a/~b\u{1b}[31m"),
        json!([]),
        json!([[], {}, null, "x", 3]),
        json!({}),
        json!({"": {"~/": 0}, "agent_id": [], "tool_calls": {}}),
    ];
    prop_oneof![Just(None), prop::sample::select(values.to_vec()).prop_map(Some)]
}

proptest! {
    #[test]
    fn validate_never_fails_and_each_finding_has_a_place(
        name in prop::sample::select(ALL.to_vec()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), anything()), 1..6),
    ) {
        let mut value = example(name);
        for (ix, with) in changes {
            let mut pointers = pointers(&value);
            // Keys with odd characters stand only in what was put in.
            pointers.retain(|path| !path.contains('~'));
            let pointer: &String = ix.get(&pointers);
            mutate(&mut value, pointer, with);
        }
        let report = report(&value, name);
        for finding in &report.findings {
            let above = finding.path.rsplit_once('/').map_or("", |(above, _)| above);
            let there = value.pointer(&finding.path).or_else(|| value.pointer(above));
            prop_assert!(there.is_some(), "{finding:?} points nowhere");
            prop_assert!(!finding.message.is_empty());
        }
        // What is valid can be read; the types are those of version 3.
        if report.valid && value["tool_calls"].is_array() {
            let text = value.to_string();
            let read = match report.format.unwrap() {
                Standard::Std001 => serde_json::from_str::<Session>(&text).map(drop),
                Standard::Std008 => serde_json::from_str::<MultiAgentSession>(&text).map(drop),
            };
            prop_assert!(read.is_ok(), "{read:?}");
        }
    }

    #[test]
    fn no_text_makes_validate_fail(text in "\\PC*", cut in any::<prop::sample::Index>()) {
        let _ = validate(&text, Some(&text), Rules::Usual);
        let whole = example(SUNDIAL).to_string();
        let cut = cut.index(whole.len());
        let report = validate_bytes(&whole.as_bytes()[..cut], None, Rules::Usual);
        prop_assert!(!report.valid);
    }
}
