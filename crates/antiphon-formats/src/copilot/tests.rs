use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("copilot", case)
}

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(check("minimal"), [30, 5, 2, 60, 10]);
}

#[test]
fn a_line_of_every_kind() {
    assert_eq!(check("full"), [0, 15, 0, 0, 0]);
}

#[test]
fn sub_agents_hang_under_their_calls() {
    assert_eq!(check("sub-agents"), [150 + 40 + 11, 14 + 8 + 2, 0, 80, 20]);
}

#[test]
fn totals_go_on_or_begin_anew() {
    assert_eq!(check("resumed"), [40 + 50 + 40, 13, 0, 160, 0]);
}

#[test]
fn totals_may_be_of_all_models() {
    assert_eq!(check("token-details"), [100, 15, 0, 5, 0]);
}

#[test]
fn without_a_total_at_the_end_only_a_part_of_the_tokens_is_known() {
    let lines = [
        r#"{"type":"session.start","data":{"sessionId":"s"},"id":"1"}"#,
        r#"{"type":"assistant.message","data":{"model":"m","content":"one","outputTokens":7},"id":"2"}"#,
        r#"{"type":"session.shutdown","data":{"modelMetrics":{"m":{"usage":{"inputTokens":90,"outputTokens":7}}}},"id":"3"}"#,
        r#"{"type":"session.resume","data":{},"id":"4"}"#,
        r#"{"type":"assistant.message","data":{"model":"m","content":"two","outputTokens":8},"id":"5"}"#,
    ];
    let text = lines.join("\n");
    let streams = [crate::Stream { name: "s.jsonl", text: &text }];
    let found = fixture::read(&super::FORMAT, &streams);
    let usage_of = |event: &antiphon_model::Event<'_>| {
        let antiphon_model::EventKind::Message(message) = &event.kind else { return None };
        message.usage.map(|usage| (usage.input, usage.output, message.usage_partial))
    };
    let usage: Vec<_> = found.events.iter().filter_map(usage_of).collect();
    assert_eq!(usage, [(90, 7, false), (0, 8, true)]);
}
