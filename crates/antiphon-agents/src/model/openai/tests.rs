use super::*;

/// What a stream of these chunks amounts to, and the words that were told.
fn receive(chunks: &[&str]) -> (Result<Reply, ModelError>, String, bool) {
    let mut words = String::new();
    let mut tell = |delta: Delta<'_>| match delta {
        Delta::Words(more) => words.push_str(more),
        Delta::Note(_) => {}
    };
    let mut receiving = Receiving::new(&mut tell);
    let mut failure = None;
    for data in chunks {
        let event = SseEvent { event: String::new(), data: (*data).to_owned() };
        if let Err(error) = receiving.event(&event) {
            failure = Some(error);
            break;
        }
    }
    let is_done = receiving.is_done();
    let reply = match failure {
        Some(error) => Err(error),
        None => Ok(receiving.reply(None)),
    };
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
    assert!(reply.unwrap_err().message.contains("more than 1024 calls"));
}

#[test]
fn an_answer_in_one_piece_is_read_too() {
    let mut ignore = |_: Delta<'_>| {};
    let mut receiving = Receiving::new(&mut ignore);
    let body = r#"{"id":"x","choices":[{"message":{"content":"Done.","tool_calls":null},"finish_reason":"stop"}]}"#;
    receiving.whole(body).unwrap();
    assert!(receiving.is_done());
    let reply = receiving.reply(Some("req_1".to_owned()));
    assert_eq!(
        (&*reply.answer.content.words(), reply.request_id.as_deref()),
        ("Done.", Some("req_1"))
    );
}
