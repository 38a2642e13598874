use super::*;
use crate::ProblemKind;

/// Decodes one line; a problem is returned as its message.
fn check(text: &str) -> Result<Event<'_>, String> {
    let len = u32::try_from(text.len()).unwrap();
    let place = Place { offset: 1000, len, stream: 2 };
    decode(&Line::new(text, 7, place)).map_err(|problem| problem.message)
}

fn message(text: &str) -> Message<'_> {
    let kind = check(text).unwrap().kind;
    let EventKind::Message(message) = kind else { panic!("no message: {kind:?}") };
    message
}

#[test]
fn a_line_without_an_event_type_is_a_message() {
    let line = r#"{"message_id":"m1","agent_id":"jill","role":"assistant","content":"Hi","source":"jack","utterance_ref":"m0"}"#;
    let event = check(line).unwrap();
    assert_eq!(event.message_id.as_deref(), Some("m1"));
    let message = message(line);
    assert_eq!((&*message.agent, message.role), ("jill", Role::Assistant));
    assert_eq!(message.source.as_deref(), Some("jack"));
    assert_eq!(message.utterance_ref.as_deref(), Some("m0"));
}

#[test]
fn a_body_knows_where_it_stands() {
    let line = r#"{"agent_id":"a","role":"user","content":"Hi"}"#;
    let body = message(line).content.unwrap();
    assert_eq!(body.json, r#""Hi""#);
    let start = usize::try_from(body.place.offset - 1000).unwrap();
    assert_eq!(&line[start..start + body.place.len as usize], r#""Hi""#);
    assert_eq!(body.place.stream, 2);
}

#[test]
fn the_dialects_of_the_seeds_project_say_the_same() {
    for spelling in ["utterance_ref", "content_id", "substance"] {
        let line = format!(r#"{{"agent":"a","role":"user","{spelling}":"m0"}}"#);
        assert_eq!(message(&line).utterance_ref.as_deref(), Some("m0"), "{spelling}");
    }
    for spelling in ["cause", "caused_by"] {
        let line = format!(r#"{{"agent":"a","role":"user","{spelling}":["m0","m1"]}}"#);
        assert_eq!(message(&line).cause, ["m0", "m1"], "{spelling}");
        let line = format!(r#"{{"agent":"a","role":"user","{spelling}":"m0"}}"#);
        assert_eq!(message(&line).cause, ["m0"], "{spelling}");
    }
    let entry = r#"{"event_type":"transcript_entry","agent":"a","role":"system","content":"x"}"#;
    assert_eq!(message(entry).role, Role::System);
    let fragment =
        check(r#"{"event_type":"piece_of_text","content":"x","caused_by":"m"}"#).unwrap();
    assert!(matches!(fragment.kind, EventKind::Fragment(Fragment { agent: None, .. })));
    let edit = check(r#"{"event_type":"transcript_edit","agent":"a","action":"truncate","n":3}"#);
    let EventKind::ContextEdited(edit) = edit.unwrap().kind else { panic!() };
    assert_eq!((edit.action, edit.kept_first), (ContextAction::Truncate, Some(3)));
}

#[test]
fn tool_calls_keep_their_arguments_raw() {
    let line = r#"{"agent_id":"a","role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"task","arguments":"{\"name\": \"Jack\"}"}},{"id":2,"name":"Read","arguments":{"path":"x"}},{"name":"without an id"},"no object"]}"#;
    let message = message(line);
    assert!(message.content.is_none(), "null is no content");
    let calls: Vec<_> = message
        .tool_calls
        .iter()
        .map(|call| (&*call.id, &*call.name, call.arguments.unwrap().json))
        .collect();
    let wanted = [("c1", "task", r#""{\"name\": \"Jack\"}""#), ("2", "Read", r#"{"path":"x"}"#)];
    assert_eq!(calls, wanted);
}

#[test]
fn what_is_not_an_event_says_why() {
    let why = |text: &str| check(text).unwrap_err();
    insta::assert_snapshot!(why("{\"message_id\":"), @"not JSON: EOF while parsing a value, after 14 bytes");
    insta::assert_snapshot!(why("{\"tool_calls\": [...]}"), @"not JSON: expected value at byte 17");
    insta::assert_snapshot!(why("[1]"), @"not a JSON object");
    insta::assert_snapshot!(why("{\"role\":\"user\"}"), @"a message without an agent");
    insta::assert_snapshot!(why("{\"agent_id\":\"a\"} x"), @"not JSON: trailing characters at byte 18");
}

#[test]
fn a_value_of_the_wrong_type_costs_only_itself() {
    let line = r#"{"message_id":["x"],"agent_id":"a","role":"user","timestamp":"soon","usage":7,"is_error":"no","content":{"odd":true}}"#;
    let event = check(line).unwrap();
    assert!(event.message_id.is_none());
    let fields: Vec<_> = event.problems.iter().map(|problem| problem.message.as_str()).collect();
    let wrong = |field| ProblemKind::WrongType { field }.to_string();
    let wanted = ["message_id", "timestamp", "usage", "is_error"].map(wrong);
    assert_eq!(fields, wanted);
    assert_eq!(message(line).content.unwrap().json, r#"{"odd":true}"#);
}

#[test]
fn tokens_under_other_names_are_not_zero_in_silence() {
    let line = r#"{"agent_id":"a","role":"user","usage":{"input_tokens":7}}"#;
    let event = check(line).unwrap();
    let problems: Vec<_> = event.problems.iter().map(|problem| problem.code).collect();
    assert_eq!(problems, ["unknown-usage"]);
    assert!(check(r#"{"agent_id":"a","role":"user","usage":{}}"#).unwrap().problems.is_empty());
}

#[test]
fn hostile_values_are_read() {
    // Lone surrogates in a value, in an id and in a key; a number that no type can represent;
    // repeated keys, of which the last counts; nesting beyond any stack.
    let lone = r#"{"agent_id":"\ud800","role":"user","\udc00":1,"content":"\ud800"}"#;
    assert_eq!(message(lone).agent, "\u{fffd}");
    let huge = r#"{"agent_id":1e999,"message_id":123456789012345678901234567890,"role":"user"}"#;
    assert_eq!(check(huge).unwrap().message_id.unwrap(), "123456789012345678901234567890");
    let twice = r#"{"agent_id":"a","agent_id":"b","role":"user"}"#;
    assert_eq!(message(twice).agent, "b");
    let deep = format!(
        r#"{{"agent_id":"a","role":"user","x":{}{},"content":"here"}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    assert_eq!(message(&deep).content.unwrap().json, r#""here""#);
}

#[test]
fn what_others_call_by_a_word_of_ours_stays_unknown() {
    for kind in wire::KINDS {
        let ours = format!(r#"{{"event_type":"{kind}"}}"#);
        let is_unknown =
            |event: Event<'_>| matches!(event.kind, EventKind::Unknown(_)).then_some(event.line);
        assert_eq!(check(&ours).ok().and_then(is_unknown), None, "{kind}");
        let mut event = check(r#"{"event_type":"their_word","agent":"a"}"#).unwrap();
        let event_type = std::borrow::Cow::Borrowed(kind);
        event.kind = EventKind::Unknown(Unknown { event_type, agent: None, raw: None });
        let written = event.to_json();
        assert!(check(&written).ok().and_then(is_unknown).is_some(), "{written}");
    }
}
