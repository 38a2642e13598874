//! Documents of our own, each changed in one place.

use std::collections::BTreeSet;

use antiphon_documents::Standard;
use serde_json::{Value, json};

use crate::run::workspace;

pub(super) struct Mutation {
    /// The document, and what was done to it.
    pub(super) name: String,
    pub(super) standard: Standard,
    pub(super) document: Value,
}

const BEES: (&str, Standard) = ("2026-03-02-001-count-the-bees", Standard::Std001);
const GATE: (&str, Standard) = ("2026-03-02-002-paint-the-gate", Standard::Std001);
const SUNDIAL: (&str, Standard) = ("2026-03-03-001-build-a-sundial-multi", Standard::Std008);

fn example(name: &str) -> Value {
    let path = workspace().join(format!("crates/antiphon-documents/fixtures/{name}.json"));
    let mut document: Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    if name == SUNDIAL.0 {
        // It has later forms of a review and another name for a tool; here it has none.
        document["tool_calls"][2]["tool_name"] = json!("Task");
        let review = &mut document["sub_sessions"][1]["output"];
        review["findings"][1]["category"] = json!("logic");
        review["findings"][1]["file"] = json!("dial.md");
        review["verification"]["type_check_passed"] = json!(true);
    }
    document
}

/// All of them, in an order that stays.
pub(super) fn all() -> Vec<Mutation> {
    let mut made = Vec::new();
    for (file, standard) in [BEES, GATE, SUNDIAL] {
        let whole = example(file);
        let add = |made: &mut Vec<Mutation>, what: String, document: Value| {
            made.push(Mutation { name: format!("{file} {what}"), standard, document });
        };
        add(&mut made, "as it is".to_owned(), whole.clone());
        // Of many objects that are alike one is changed.
        let mut seen = BTreeSet::new();
        for pointer in pointers(&whole) {
            let kind: Vec<&str> =
                pointer.split('/').map(|it| if is_number(it) { "*" } else { it }).collect();
            if pointer.is_empty() || !seen.insert(kind.join("/")) {
                continue;
            }
            for (what, change) in changes(&whole, &pointer) {
                let mut document = whole.clone();
                change(&mut document, &pointer);
                add(&mut made, format!("{what} {pointer}"), document);
            }
        }
    }
    for (what, (file, standard), change) in SPECIAL {
        let mut document = example(file);
        change(&mut document);
        made.push(Mutation { name: format!("{file} {what}"), standard: *standard, document });
    }
    made
}

fn is_number(step: &str) -> bool {
    !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit())
}

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
                open.extend(items.map(|(at, value)| (format!("{path}/{at}"), value)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        found.push(path);
    }
    found.sort();
    found
}

type Change = fn(&mut Value, &str);

/// What can be done to a value.
fn changes(whole: &Value, pointer: &str) -> Vec<(&'static str, Change)> {
    let mut changes: Vec<(&'static str, Change)> =
        vec![("null", |d, at| put(d, at, Value::Null)), ("list", |d, at| put(d, at, json!([])))];
    if !is_number(pointer.rsplit('/').next().unwrap_or_default()) {
        changes.push(("without", without));
    }
    match whole.pointer(pointer).unwrap() {
        Value::String(_) => {
            changes.push(("number", |d, at| put(d, at, json!(42))));
            changes.push(("odd word", |d, at| put(d, at, json!("odd word"))));
        }
        Value::Number(_) => {
            changes.push(("text", |d, at| put(d, at, json!("42"))));
            changes.push(("fraction", |d, at| put(d, at, json!(1.5))));
            changes.push(("below zero", |d, at| put(d, at, json!(-1))));
        }
        Value::Bool(_) => changes.push(("text", |d, at| put(d, at, json!("true")))),
        Value::Array(_) => changes.push(("object", |d, at| put(d, at, json!({})))),
        Value::Object(_) => {
            changes.push(("text", |d, at| put(d, at, json!("x"))));
            changes.push(("empty", |d, at| put(d, at, json!({}))));
        }
        Value::Null => {}
    }
    changes
}

fn put(document: &mut Value, pointer: &str, with: Value) {
    *document.pointer_mut(pointer).unwrap() = with;
}

fn without(document: &mut Value, pointer: &str) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    document.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name);
}

type Special = (&'static str, (&'static str, Standard), fn(&mut Value));

/// What touches more than one place, or words that mean something.
const SPECIAL: &[Special] = &[
    ("two calls of one id", GATE, |d| d["tool_calls"][1]["call_id"] = json!("tool-001")),
    ("a status of other documents", GATE, |d| d["status"] = json!("completed")),
    ("goes on without an end", GATE, |d| {
        d["status"] = json!("in_progress");
        without(d, "/completed_at");
    }),
    ("goes on, with an end", GATE, |d| d["status"] = json!("in_progress")),
    ("a range that ends nowhere", GATE, |d| {
        d["phase_annotations"][0]["tool_call_range"]["end_call_id"] = json!("nope");
    }),
    ("a range that is a list", GATE, |d| {
        d["phase_annotations"][0]["tool_call_range"] = json!(["tool-001", "tool-002"]);
    }),
    ("a result that is a text", GATE, |d| d["tool_calls"][0]["output"]["result"] = json!("ok")),
    ("phases in place of calls", GATE, |d| {
        d["phases"] = json!([{ "phase_type": "explore", "tool_call_ids": [] }]);
        without(d, "/tool_calls");
    }),
    ("phases beside calls", GATE, |d| d["phases"] = json!([{ "phase_type": "explore" }, 3])),
    ("steps", GATE, |d| *d = json!({ "session_id": "x", "steps": [] })),
    ("members that nobody knows", GATE, |d| {
        d["x_more"] = json!({ "a": null });
        d["tool_calls"][0]["x_more"] = Value::Null;
        d["agent"]["x_more"] = json!([1]);
    }),
    ("a sub-session that a Read triggers", SUNDIAL, |d| {
        d["sub_sessions"][0]["triggered_by_call_id"] = json!("tool-001");
    }),
    ("a sub-session that nothing triggers", SUNDIAL, |d| {
        d["sub_sessions"][0]["triggered_by_call_id"] = json!("nope");
    }),
    ("a trigger that is called Agent", SUNDIAL, |d| {
        d["tool_calls"][1]["tool_name"] = json!("Agent");
    }),
    ("a trigger that is called spawn_agent", SUNDIAL, |d| {
        d["tool_calls"][1]["tool_name"] = json!("spawn_agent");
    }),
    ("a trigger in another sub-session", SUNDIAL, |d| {
        let call = d["tool_calls"][2].clone();
        d["sub_sessions"][0]["tool_calls"].as_array_mut().unwrap().push(call);
        d["tool_calls"].as_array_mut().unwrap().remove(2);
        d["sub_sessions"][1]["parent_session_id"] = json!("sub-001");
    }),
    ("a call that names no such sub-session", SUNDIAL, |d| {
        d["tool_calls"][1]["subagent_info"]["sub_session_id"] = json!("sub-009");
    }),
    ("a call that names no sub-session", SUNDIAL, |d| {
        without(d, "/tool_calls/1/subagent_info/sub_session_id");
    }),
    ("a message from a stranger", SUNDIAL, |d| {
        d["messages"][1]["from_agent"]["agent_id"] = json!("stranger");
    }),
    ("a message to a stranger", SUNDIAL, |d| {
        d["messages"][1]["to_agent"]["agent_id"] = json!("stranger");
    }),
    ("an answer to nothing", SUNDIAL, |d| d["messages"][1]["reply_to"] = json!("nope")),
    ("two messages of one id", SUNDIAL, |d| d["messages"][1]["message_id"] = json!("msg-001")),
    ("two sub-sessions of one id", SUNDIAL, |d| {
        d["sub_sessions"][1]["sub_session_id"] = json!("sub-001");
    }),
    ("a parent that is not there", SUNDIAL, |d| {
        d["sub_sessions"][0]["parent_session_id"] = json!("nope");
    }),
    ("one agent in the form of several", SUNDIAL, |d| d["collaboration"]["mode"] = json!("single")),
    ("another role", SUNDIAL, |d| {
        d["collaboration"]["participants"][0]["agent_type"] = json!("product_owner");
    }),
    ("a list of agents in the summary", SUNDIAL, |d| d["summary"]["agents"] = json!([])),
    ("a final verdict that is none", SUNDIAL, |d| {
        d["summary"]["final_verdict"] = json!("changes_requested");
    }),
    ("no sub-sessions and no messages", SUNDIAL, |d| {
        d["sub_sessions"] = json!([]);
        d["messages"] = json!([]);
        without(d, "/tool_calls/1/subagent_info/sub_session_id");
        without(d, "/tool_calls/2/subagent_info/sub_session_id");
    }),
    ("half a self-review", SUNDIAL, |d| {
        d["sub_sessions"][0]["output"]["self_review"] = json!({ "tests_run": true });
    }),
    ("checks in words", SUNDIAL, |d| {
        d["sub_sessions"][1]["output"]["verification"]["custom_checks"] = json!({ "lint": "ok" });
    }),
    ("an output of another kind", SUNDIAL, |d| {
        d["sub_sessions"][0]["output"] = json!({ "output_type": "generic", "data": 3 });
    }),
    ("an output of both kinds", SUNDIAL, |d| {
        let review = d["sub_sessions"][1]["output"].as_object().unwrap().clone();
        d["sub_sessions"][0]["output"].as_object_mut().unwrap().extend(review);
    }),
    ("a payload that is a text", SUNDIAL, |d| d["messages"][0]["payload"] = json!("x")),
];
