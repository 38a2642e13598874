use super::super::Delta;
use super::*;

fn event(data: &str) -> SseEvent {
    SseEvent { event: String::new(), data: data.to_owned() }
}

#[test]
fn thinking_words_and_calls_arrive_in_blocks() {
    let mut words = String::new();
    let mut tell = |delta: Delta<'_>| match delta {
        Delta::Words(more) => words.push_str(more),
        Delta::Note(_) => {}
    };
    let mut receiving = Receiving::new(Keyless::new(None, &mut tell));
    for data in [
        r#"{"type":"message_start","message":{"id":"m1","model":"c","usage":{"input_tokens":100,"cache_read_input_tokens":20,"output_tokens":1}}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Whom?"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Two."}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"task","input":{}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}"#,
        r#"{"type":"something_new","index":7}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":30}}"#,
        r#"{"type":"message_stop"}"#,
    ] {
        receiving.event(&event(data)).unwrap();
    }
    assert_eq!(receiving.progress(), Progress::Over);
    let reply = receiving.reply(None);
    assert_eq!(words, "Two.");
    assert_eq!(reply.answer.reasoning.as_deref(), Some("Whom?"));
    let thinking = reply.answer.thinking.unwrap();
    let thinking: Value = serde_json::from_str(thinking.as_str()).unwrap();
    assert_eq!(thinking, json!([{"type": "thinking", "thinking": "Whom?", "signature": "c2ln"}]));
    assert_eq!(reply.answer.calls[0].arguments, "{\"a\":1}");
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.output), (100, 20, 30));
    assert_eq!(reply.request_id.as_deref(), Some("m1"));
}

#[test]
fn what_is_no_answer_is_said() {
    let mut ignore = |_: Delta<'_>| {};
    let mut receiving = Receiving::new(Keyless::new(None, &mut ignore));
    let failed = receiving.event(&event(r#"{"type":"error","error":{"message":"Overloaded"}}"#));
    assert_eq!(failed.unwrap_err().message, "the service failed: Overloaded");
    let huge = r#"{"type":"content_block_start","index":99999999,"content_block":{}}"#;
    assert!(receiving.event(&event(huge)).unwrap_err().message.contains("more than 1024 blocks"));
    assert!(receiving.event(&event("{\"type\": \"con")).is_err());
    assert_eq!(receiving.progress(), Progress::Coming);
}

#[test]
fn an_answer_that_the_service_ends_too_early_is_said() {
    let mut notes = Vec::new();
    let mut tell = |delta: Delta<'_>| match delta {
        Delta::Words(_) => {}
        Delta::Note(note) => notes.push(note.to_owned()),
    };
    let mut receiving = Receiving::new(Keyless::new(None, &mut tell));
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#;
    receiving.event(&event(end)).unwrap();
    assert_eq!(receiving.progress(), Progress::Complete);
    drop(receiving);
    assert_eq!(notes, [TOO_LONG]);
}

#[test]
fn a_block_may_begin_with_its_first_words() {
    let mut words = String::new();
    let mut tell = |delta: Delta<'_>| match delta {
        Delta::Words(more) => words.push_str(more),
        Delta::Note(_) => {}
    };
    let mut receiving = Receiving::new(Keyless::new(None, &mut tell));
    for data in [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"Who","signature":"c2"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m?"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"ln"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"T"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"wo."}}"#,
    ] {
        receiving.event(&event(data)).unwrap();
    }
    let reply = receiving.reply(None);
    assert_eq!((words.as_str(), &*reply.answer.content.words()), ("Two.", "Two."));
    let thinking = reply.answer.thinking.unwrap();
    let thinking: Value = serde_json::from_str(thinking.as_str()).unwrap();
    assert_eq!(thinking, json!([{"type": "thinking", "thinking": "Whom?", "signature": "c2ln"}]));
}

#[test]
fn an_agent_that_spoke_last_is_asked_to_go_on() {
    let answer = Answer { content: "One. ".into(), ..Answer::default() };
    let transcript =
        [crate::Entry::User("Count.".into()), crate::Entry::Assistant(std::sync::Arc::new(answer))];
    let mut body = request::anthropic("c", &transcript, &[]);
    let_user_speak_last(&mut body);
    let roles: Vec<&str> =
        body["messages"].as_array().unwrap().iter().map(|it| word(it, "role")).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
}

#[test]
fn a_document_that_is_no_answer_is_not_taken_for_an_empty_one() {
    let mut ignore = |_: Delta<'_>| {};
    let mut receiving = Receiving::new(Keyless::new(None, &mut ignore));
    let failed = receiving.whole(r#"{"detail":"sign in first"}"#);
    assert_eq!(failed.unwrap_err().message, "the answer is malformed: it has no content");
}
