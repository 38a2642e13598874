use std::sync::Arc;

use super::*;
use crate::transcript::{Call, ToolResult};

fn user(words: &str) -> Entry {
    Entry::User(words.into())
}

fn answer(words: &str, calls: &[(&str, &str, &str)]) -> Entry {
    let call = |&(id, name, arguments): &(&str, &str, &str)| Call {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    let calls = calls.iter().map(call).collect();
    Entry::Assistant(Arc::new(Answer { content: words.into(), calls, ..Answer::default() }))
}

fn result(call_id: &str, words: &str, is_error: bool) -> Entry {
    let (call_id, content) = (call_id.to_owned(), words.into());
    Entry::Result(Arc::new(ToolResult { call_id, tool: None, content, is_error }))
}

#[test]
fn each_call_has_one_result_right_behind_it() {
    let transcript = [
        Entry::System("You host.".into()),
        user("Go."),
        answer("", &[("c1", "discuss", "{}"), ("c2", "task", "not json")]),
        user("Somebody interrupts."),
        result("c1", "Hi.", false),
        result("c1", "Hello.", false),
        answer("", &[]),
        result("c9", "An orphan.", false),
    ];
    let body = openai("m", &transcript, &[]);
    let roles: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user", "user"]);
    assert_eq!(body["messages"][3]["content"], "Hi.\nHello.");
    assert_eq!(body["messages"][4]["content"], NO_RESULT);
    assert_eq!(body["messages"][6]["content"], "[Result of a tool]: An orphan.");
    let names: Vec<&str> = body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["discuss", "task"], "what was called is declared");

    let body = anthropic("m", &transcript, &[]);
    assert_eq!(body["system"], "You host.");
    let kinds = |at: usize| -> Vec<String> {
        let blocks = body["messages"][at]["content"].as_array().unwrap().iter();
        blocks.map(|it| it["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(1), ["tool_use", "tool_use"]);
    assert_eq!(kinds(2), ["tool_result", "tool_result", "text", "text"]);
    assert_eq!(body["messages"][1]["content"][1]["input"], json!({}));
}

#[test]
fn ids_and_names_are_made_of_what_services_take() {
    let transcript = [
        answer("", &[("a b", "files.read", "{}")]),
        result("a b", "", true),
        answer("", &[("a b", "files.read", "{}")]),
        result("a b", "Two.", false),
    ];
    let body = anthropic("m", &transcript, &[]);
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[0]["role"], "user", "a conversation begins with the user");
    assert_eq!(messages[1]["content"][0]["id"], "a_b");
    assert_eq!(messages[2]["content"][0]["content"], "(empty)");
    assert_eq!(messages[3]["content"][0]["id"], "a_b_2");
    assert_eq!(messages[4]["content"][0]["content"], "Two.");
    assert_eq!(messages[3]["content"][0]["name"], "files_read");
}

#[test]
fn a_picture_goes_to_both_services_in_their_spelling() {
    let parts = r#"[{"type":"text","text":"See:"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]"#;
    let transcript = [Entry::User(Content::of_json(parts))];
    let body = openai("m", &transcript, &[]);
    let picture = &body["messages"][0]["content"][1];
    assert_eq!(picture["image_url"]["url"], "data:image/png;base64,AAAA");
    let body = anthropic("m", &transcript, &[]);
    assert_eq!(body["messages"][0]["content"][1]["source"]["data"], "AAAA");
}

/// What the services refuse: a call without exactly one result right behind it, and what is empty.
mod any {
    use proptest::prelude::*;

    use super::*;

    fn entry() -> impl Strategy<Value = Entry> {
        let words = prop_oneof![Just(""), Just(" "), Just("Hm."), Just("[{\"type\":\"text\"}]")];
        let ids = || prop_oneof![Just("a"), Just("b"), Just("c d"), Just("")];
        let calls = proptest::collection::vec((ids(), Just("f.g"), Just("{")), 0..3);
        prop_oneof![
            words.clone().prop_map(|words| Entry::System(words.into())),
            words.clone().prop_map(user),
            (words.clone(), calls).prop_map(|(words, calls)| answer(words, &calls)),
            (ids(), words, any::<bool>()).prop_map(|(id, words, bad)| result(id, words, bad)),
        ]
    }

    fn list<'b>(value: &'b Value, key: &str) -> &'b [Value] {
        value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    proptest! {
        #[test]
        fn transcript_becomes_a_body_that_openai_takes(
            transcript in proptest::collection::vec(entry(), 0..12),
        ) {
            let body = Value::Object(openai("m", &transcript, &[]));
            let mut waiting: Vec<Value> = Vec::new();
            let mut seen = BTreeSet::new();
            for message in list(&body, "messages") {
                if message["role"] == "tool" {
                    prop_assert!(waiting.contains(&message["tool_call_id"]), "{body}");
                    waiting.retain(|id| *id != message["tool_call_id"]);
                    continue;
                }
                prop_assert!(waiting.is_empty(), "{body}");
                waiting = list(message, "tool_calls").iter().map(|it| it["id"].clone()).collect();
                for id in &waiting {
                    prop_assert!(seen.insert(id.to_string()), "{body}");
                }
                let has_words = !message["content"].as_str().unwrap_or_default().trim().is_empty();
                prop_assert!(has_words || !waiting.is_empty(), "{body}");
            }
            prop_assert!(waiting.is_empty(), "{body}");
        }

        #[test]
        fn transcript_becomes_a_body_that_anthropic_takes(
            transcript in proptest::collection::vec(entry(), 0..12),
        ) {
            let body = Value::Object(anthropic("m", &transcript, &[]));
            let mut called: Vec<Value> = Vec::new();
            let mut role = Value::from("assistant");
            for message in list(&body, "messages") {
                prop_assert!(message["role"] != role, "roles alternate, the user begins: {body}");
                role = message["role"].clone();
                let blocks = list(message, "content");
                let of = |kind: &str, key: &str| -> Vec<Value> {
                    let blocks = blocks.iter().filter(|it| it["type"] == kind);
                    blocks.map(|it| it[key].clone()).collect()
                };
                prop_assert_eq!(of("tool_result", "tool_use_id"), called, "{}", body);
                let results = of("tool_result", "content").len();
                prop_assert!(blocks.iter().take(results).all(|it| it["type"] == "tool_result"));
                called = of("tool_use", "id");
                let texts = of("text", "text").into_iter().chain(of("tool_result", "content"));
                for text in texts {
                    prop_assert!(!text.as_str().unwrap_or_default().trim().is_empty(), "{body}");
                }
                prop_assert!(!blocks.is_empty());
            }
            prop_assert!(called.is_empty(), "{body}");
        }
    }
}
