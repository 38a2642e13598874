use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("claude-stream", case)
}

#[test]
fn a_turn_and_its_result() {
    assert_eq!(check("minimal"), [10, 8, 0, 100, 20]);
}

#[test]
fn lines_of_every_kind() {
    assert_eq!(check("full"), [13 + 400, 50 + 9, 0, 230, 20]);
}

#[test]
fn the_last_result_counts() {
    assert_eq!(check("second-init"), [30, 11, 0, 10, 0]);
}

#[test]
fn results_may_be_empty_or_start_again() {
    assert_eq!(check("several-results"), [37, 13, 0, 0, 0]);
}

#[test]
fn sub_agents_are_named_by_their_calls() {
    assert_eq!(check("sub-agent"), [40 + 1300, 60 + 35, 0, 0, 0]);
}

#[test]
fn a_run_without_a_result() {
    assert_eq!(check("no-result"), [30, 5, 0, 0, 0]);
}

#[test]
fn a_result_may_report_its_turn_only() {
    assert_eq!(check("old-usage"), [70, 19, 0, 0, 0]);
}

#[test]
fn the_result_is_the_truth() {
    assert_eq!(check("told-more"), [20, 9, 0, 0, 0]);
}

#[test]
fn pieces_are_the_whole_again() {
    assert_eq!(check("pieces"), [10, 1, 0, 0, 0]);
}

#[test]
fn a_message_may_replace_another() {
    assert_eq!(check("superseded"), [20, 8, 0, 0, 0]);
}

/// The costs that messages declare, in the order of the log.
fn declared(lines: &[&str]) -> Vec<Option<f64>> {
    let text = lines.join("\n");
    let streams = [crate::Stream { name: "s.jsonl", text: &text }];
    let found = fixture::read(&super::FORMAT, &streams);
    let cost = |event: &antiphon_model::Event<'_>| {
        let antiphon_model::EventKind::Message(message) = &event.kind else { return None };
        Some(message.cost_usd)
    };
    found.events.iter().filter_map(cost).collect()
}

#[test]
fn what_a_result_declares_is_on_the_last_message_of_the_model_and_counts_once() {
    let said = |id: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","role":"assistant","model":"m","content":[{{"type":"text","text":"x"}}],"usage":{{"input_tokens":10,"output_tokens":1}}}},"parent_tool_use_id":null,"session_id":"s","uuid":"u-{id}"}}"#
        )
    };
    let (one, two) = (said("1"), said("2"));
    let result = |more: &str| {
        format!(r#"{{"type":"result","session_id":"s","uuid":"r","is_error":false{more}}}"#)
    };
    let models = r#","modelUsage":{"m":{"inputTokens":20,"outputTokens":9,"costUSD":0.15},"n":{"inputTokens":1,"outputTokens":1,"costUSD":0.05}}"#;
    let by_model = result(&format!(r#","total_cost_usd":0.2{models}"#));
    assert_eq!(declared(&[&one, &two, &by_model]), [Some(0.0), Some(0.15), Some(0.05)]);
    let in_all = result(r#","total_cost_usd":0.2"#);
    assert_eq!(declared(&[&one, &two, &in_all]), [Some(0.0), Some(0.2)]);
    assert_eq!(declared(&[&one, &two]), [None, None]);
    let of_sub_agent =
        said("3").replace(r#""parent_tool_use_id":null"#, r#""parent_tool_use_id":"t""#);
    let costs = declared(&[&one, &of_sub_agent, &in_all]);
    assert_eq!(costs, [Some(0.2), Some(0.0)], "the whole is the main agent's");
    let nothing_said = declared(&[&in_all]);
    assert_eq!(nothing_said, [Some(0.2)]);
    // Totals continue from one result to the next, until they are reset.
    let less = in_all.replace("0.2", "0.1").replace(r#""r""#, r#""r2""#);
    let sum: f64 = declared(&[&one, &in_all, &two, &less]).into_iter().flatten().sum();
    assert!((sum - 0.3).abs() < 1e-9, "{sum}");
}
