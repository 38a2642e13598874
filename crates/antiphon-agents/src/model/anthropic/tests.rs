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
    let mut receiving = Receiving::new(&mut tell);
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
    assert!(receiving.is_done());
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
    let mut receiving = Receiving::new(&mut ignore);
    let failed = receiving.event(&event(r#"{"type":"error","error":{"message":"Overloaded"}}"#));
    assert_eq!(failed.unwrap_err().message, "the service failed: Overloaded");
    let huge = r#"{"type":"content_block_start","index":99999999,"content_block":{}}"#;
    assert!(receiving.event(&event(huge)).unwrap_err().message.contains("more than 1024 blocks"));
    assert!(receiving.event(&event("{\"type\": \"con")).is_err());
    assert!(!receiving.is_done());
}

#[test]
fn an_answer_that_the_service_ends_too_early_is_said() {
    let mut notes = Vec::new();
    let mut tell = |delta: Delta<'_>| match delta {
        Delta::Words(_) => {}
        Delta::Note(note) => notes.push(note.to_owned()),
    };
    let mut receiving = Receiving::new(&mut tell);
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#;
    receiving.event(&event(end)).unwrap();
    assert!(receiving.is_done());
    assert_eq!(notes, [TOO_LONG]);
}
