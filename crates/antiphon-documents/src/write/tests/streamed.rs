//! A document that is written a piece at a time is the one that would have been composed whole.

use serde_json::{Value, json};

use super::{call, result, value, written};
use crate::write::WriteOptions;
use crate::{MultiAgentSession, Standard};

/// An agent that sends `subs` others, each of which makes `calls` calls whose input is no object.
fn team(subs: usize, calls: usize) -> Vec<Value> {
    let mut events = Vec::new();
    for sub in 0..subs {
        let (agent, sent) = (format!("s{sub}"), format!("sent{sub}"));
        events.push(call("a", &sent, "Task", &json!({"prompt": "Do it."})));
        events.push(json!({"event_type": "agent_created", "agent_id": agent, "parent_id": "a",
            "tool_call_id": sent}));
        for n in 0..calls {
            let id = format!("c{n}");
            events.push(call(&agent, &id, "Bash", &json!(format!("ls {n}"))));
            events.push(result(&agent, &id, &"x".repeat(1000)));
        }
        events.push(result("a", &sent, "done"));
    }
    events
}

fn pointers(document: &Value, member: &str) -> Vec<String> {
    match &document["x_antiphon"][member] {
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::Object(members) => members.keys().cloned().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[test]
fn a_long_document_comes_in_short_pieces() {
    let written = written(&team(3, 400), WriteOptions::default());
    assert!(written.text.len() > 2_000_000);
    let longest = written.pieces.iter().max().unwrap();
    assert!(*longest < 100_000, "a piece of {longest} bytes");
}

#[test]
fn it_is_laid_out_as_a_whole_value_is() {
    let written = written(&team(12, 12), WriteOptions::default());
    assert_eq!(written.standard, Standard::Std008);
    let whole: MultiAgentSession = serde_json::from_str(&written.text).unwrap();
    let whole = serde_json::to_string_pretty(&whole).unwrap();
    let differs = whole.lines().zip(written.text.lines()).find(|(whole, ours)| whole != ours);
    assert_eq!(differs, None);
    assert_eq!(whole.len(), written.text.len());
}

#[test]
fn pointers_into_lists_are_in_order_and_none_is_missing() {
    let document = value(&written(&team(12, 12), WriteOptions::default()));
    let derived = pointers(&document, "derived");
    assert!(derived.is_sorted(), "{derived:#?}");
    assert!(derived.iter().all(|pointer| document.pointer(pointer).is_some()));
    for sub in 0..12 {
        for call in 0..12 {
            let at = format!("/sub_sessions/{sub}/tool_calls/{call}");
            assert!(derived.contains(&format!("{at}/tool_category")), "{at}");
            let kept = &document["x_antiphon"]["original"][format!("{at}/input/params")];
            assert_eq!(*kept, json!(format!("ls {call}")), "{at}");
        }
    }
    assert_eq!(pointers(&document, "original").len(), 12 * 12);
}

#[test]
fn whoever_wants_no_more_gets_no_more() {
    let events = team(3, 400);
    let mut taken = 0;
    super::with_document(&events, WriteOptions::default(), |document| {
        let stopped = document.write(&mut |_| {
            taken += 1;
            taken < 2
        });
        assert!(matches!(stopped, Err(crate::WriteError::Stopped)));
    });
    assert_eq!(taken, 2);
}
