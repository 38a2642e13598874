use super::super::Delta;
use super::*;

/// What a stream of these chunks amounts to, and the words that were told.
fn receive(chunks: &[&str]) -> (Result<Reply, ModelError>, String, bool) {
    let mut words = String::new();
    let mut tell = |delta: Delta<'_>| match delta {
        Delta::Words(more) => words.push_str(more),
        Delta::Note(_) => {}
    };
    let mut receiving = Receiving::new(Keyless::new(None, &mut tell));
    let mut failure = None;
    for data in chunks {
        let event = SseEvent { event: String::new(), data: (*data).to_owned() };
        if let Err(error) = receiving.event(&event) {
            failure = Some(error);
            break;
        }
    }
    let is_done = receiving.progress() != Progress::Coming;
    let reply = receiving.reply(None);
    let reply = failure.map_or(Ok(reply), Err);
    (reply, words, is_done)
}

#[test]
fn words_and_parallel_calls_arrive_in_pieces() {
    let (reply, words, is_done) = receive(&[
        r#"{"id":"x","model":"m","choices":[{"delta":{"role":"assistant","content":""}}]}"#,
        r#"{"choices":[{"delta":{"content":"Two"}}]}"#,
        r#"{"choices":[{"delta":{"content":"."}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"task","arguments":""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"fly","arguments":"{\"to\":"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":20},"cost":0.5}}"#,
        "[DONE]",
    ]);
    let reply = reply.unwrap();
    assert!(is_done);
    assert_eq!((words.as_str(), &*reply.answer.content.words()), ("Two.", "Two."));
    let calls: Vec<_> =
        reply.answer.calls.iter().map(|it| (&*it.id, &*it.name, &*it.arguments)).collect();
    assert_eq!(calls, [("a", "fly", "{\"to\":1}"), ("b", "task", "")]);
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.output), (100, 20, 30));
    assert_eq!((reply.model.as_deref(), reply.cost_usd), (Some("m"), Some(0.5)));
}

#[test]
fn a_stream_without_its_end_is_not_done_and_nonsense_is_malformed() {
    let (_, _, is_done) = receive(&[r#"{"choices":[{"delta":{"content":"Lost"}}]}"#]);
    assert!(!is_done);
    let (reply, _, _) = receive(&[r#"{"choices": [{"delta": {"con"#]);
    assert!(reply.unwrap_err().message.starts_with("the answer is malformed"));
    let (reply, _, _) = receive(&[r#"{"error":{"message":"overloaded"}}"#]);
    assert_eq!(reply.unwrap_err().message, "the service failed: overloaded");
    let (reply, _, _) =
        receive(&[r#"{"choices":[{"delta":{"tool_calls":[{"index":99999999,"id":"a"}]}}]}"#]);
    assert_eq!(reply.unwrap().answer.calls.len(), 1);
    let part = |id| format!("{{\"index\":0,\"id\":\"{id}\"}}");
    let parts: Vec<String> = (0..=CALLS_MAX).map(part).collect();
    let many = format!("{{\"choices\":[{{\"delta\":{{\"tool_calls\":[{}]}}}}]}}", parts.join(","));
    let (reply, _, _) = receive(&[&many]);
    assert!(reply.unwrap_err().message.contains("more than 1024 calls"));
}

#[test]
fn an_answer_in_one_piece_is_read_too() {
    let mut ignore = |_: Delta<'_>| {};
    let mut receiving = Receiving::new(Keyless::new(None, &mut ignore));
    let body = r#"{"id":"x","choices":[{"message":{"content":"Done.","tool_calls":null},"finish_reason":"stop"}]}"#;
    receiving.whole(body).unwrap();
    assert_eq!(receiving.progress(), Progress::Over);
    let reply = receiving.reply(Some("req_1".to_owned()));
    assert_eq!(
        (&*reply.answer.content.words(), reply.request_id.as_deref()),
        ("Done.", Some("req_1"))
    );
}

/// The names and arguments of the calls that a stream of these parts makes.
fn calls(parts: &[&str]) -> Vec<(String, String)> {
    let chunk = |part| format!("{{\"choices\":[{{\"delta\":{{\"tool_calls\":[{part}]}}}}]}}");
    let chunks: Vec<String> = parts.iter().map(chunk).collect();
    let (reply, _, _) = receive(&chunks.iter().map(String::as_str).collect::<Vec<_>>());
    let calls = reply.unwrap().answer.calls.into_iter();
    calls.map(|call| (call.name, call.arguments)).collect()
}

#[test]
fn calls_are_told_apart_however_a_service_numbers_them() {
    let wanted = [("fly".to_owned(), "{}".to_owned()), ("task".to_owned(), "{\"a\":1}".to_owned())];
    let all_of_them_0 = [
        r#"{"index":0,"id":"a","function":{"name":"fly","arguments":"{}"}}"#,
        r#"{"index":0,"id":"b","function":{"name":"task","arguments":"{\"a\":"}}"#,
        r#"{"index":0,"function":{"arguments":"1}"}}"#,
    ];
    let from_1 = [
        r#"{"index":1,"id":"a","function":{"name":"fly","arguments":"{}"}}"#,
        r#"{"index":2,"id":"b","function":{"name":"task","arguments":"{\"a\":1}"}}"#,
    ];
    let not_at_all = [
        r#"{"id":"a","function":{"name":"fly","arguments":"{}"}}"#,
        r#"{"id":"b","function":{"name":"task"}}"#,
        r#"{"function":{"arguments":{"a":1}}}"#,
    ];
    assert_eq!(calls(&all_of_them_0), wanted, "all of them 0");
    assert_eq!(calls(&from_1), wanted, "from 1");
    assert_eq!(calls(&not_at_all), wanted, "not at all, and arguments as an object");
}

#[test]
fn what_services_add_and_leave_out_is_no_reason_to_fail() {
    let (reply, words, is_done) = receive(&[
        r#"{"choices":[{"delta":{"reasoning":"Hm.","reasoning_content":"Hm."},"message":null}]}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"Yes."}]}}]}"#,
        r#"{"choices":[{"delta":{"content":null},"finish_reason":"stop"}]}"#,
        r#"{"choices":null,"usage":{"prompt_tokens":null,"completion_tokens":3}}"#,
    ]);
    let reply = reply.unwrap();
    assert!(is_done);
    assert_eq!(reply.answer.reasoning.as_deref(), Some("Hm."));
    assert_eq!((words.as_str(), reply.usage.unwrap().output), ("Yes.", 3));
}

#[test]
fn a_document_that_is_no_answer_is_not_taken_for_an_empty_one() {
    let mut ignore = |_: Delta<'_>| {};
    let mut receiving = Receiving::new(Keyless::new(None, &mut ignore));
    let failed = receiving.whole(r#"{"detail":"sign in first"}"#);
    assert_eq!(failed.unwrap_err().message, "the answer is malformed: it has no choices");
}
