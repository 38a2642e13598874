use super::*;
use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("claude-code", case)
}

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(check("minimal"), [10, 5, 0, 100, 20]);
}

#[test]
fn thoughts_words_calls_and_results_of_a_plain_session() {
    let input = 10 + 3 + 1;
    assert_eq!(check("full"), [input, 30 + 12 + 7, 0, 100 + 120 + 125, 20 + 5]);
}

#[test]
fn the_last_line_of_a_message_has_its_usage() {
    assert_eq!(check("block-per-line"), [13, 49, 0, 230, 20]);
}

#[test]
fn a_result_may_stand_between_the_calls_of_a_message() {
    assert_eq!(check("parallel-calls"), [15, 36, 0, 7, 8]);
}

#[test]
fn sub_agents_hang_under_their_calls_in_every_layout() {
    assert_eq!(check("subagents-folder"), [40 + 300 + 1000, 60 + 30 + 5, 0, 0, 0]);
    assert_eq!(check("subagents-beside"), [140, 70, 0, 0, 0]);
    assert_eq!(check("sidechain"), [40 + 200, 60 + 20, 0, 0, 0]);
}

#[test]
fn a_sub_agent_whose_file_is_gone_is_named() {
    assert_eq!(check("absent-agents"), [13, 24, 0, 0, 0]);
}

#[test]
fn a_sub_agent_may_run_in_the_background() {
    assert_eq!(check("async-agent"), [33 + 100, 63 + 10, 0, 0, 0]);
}

#[test]
fn a_context_is_compacted() {
    assert_eq!(check("compaction"), [90, 120, 0, 0, 0]);
}

#[test]
fn a_prompt_may_go_back() {
    assert_eq!(check("rewind"), [60, 6, 0, 0, 0]);
}

#[test]
fn a_fork_repeats_its_prefix() {
    assert_eq!(check("fork"), [60, 6, 0, 0, 0]);
}

#[test]
fn an_error_of_the_program_costs_nothing() {
    assert_eq!(check("synthetic-error"), [10, 5, 0, 0, 0]);
}

#[test]
fn the_harness_is_not_the_person() {
    assert_eq!(check("meta"), [10, 5, 0, 0, 0]);
}

#[test]
fn a_prompt_may_wait_in_a_queue() {
    assert_eq!(check("queued-command"), [30, 11, 0, 0, 0]);
}

#[test]
fn results_have_many_shapes() {
    assert_eq!(check("tool-results"), [30, 14, 0, 0, 0]);
}

#[test]
fn a_file_belongs_to_its_session() {
    let beside = r#"{"sessionId":"s","agentId":"a"}"#;
    assert!(belongs("s", "s/subagents/agent-a.jsonl", ""));
    assert!(belongs("s", "s/subagents/agent-a.meta.json", ""));
    assert!(belongs("s", "s/subagents/workflows/r/agent-a.jsonl", ""));
    assert!(!belongs("s", "s/subagents/workflows/r/journal.jsonl", ""));
    assert!(!belongs("s", "t/subagents/agent-a.jsonl", ""));
    assert!(belongs("s", "agent-a.jsonl", beside));
    assert!(!belongs("t", "agent-a.jsonl", beside));
    assert!(!belongs("s", "other.jsonl", beside));
}

#[test]
fn a_file_beside_may_name_more_than_one_session() {
    let head = concat!(
        r#"{"sessionId":"s","message":{"content":"say {\"sessionId\":\"no\"}"}}"#,
        "
",
        r#"{"sessionId":"t","agentId":"a"}"#,
        "
",
        r#"{"sessionId":"s"}"#,
        "
",
        r#"{"sessionId":"cut"#,
    );
    assert_eq!(owners(head), ["s", "t"]);
    assert!(belongs("t", "agent-a.jsonl", head) && !belongs("no", "agent-a.jsonl", head));
}

#[test]
fn lines_of_the_main_agent_report_sub_agents() {
    // Tokens that were reported while an answer was still coming are named, and not counted.
    assert_eq!(check("agent-progress"), [10 + 30, 20 + 40, 0, 0, 0]);
}

#[test]
fn a_sub_agent_that_is_reported_twice_is_counted_once() {
    assert_eq!(check("agent-progress-and-file"), [10 + 100 + 30, 20 + 10 + 40, 0, 0, 0]);
}

/// If only tokens are wanted, the requests are the same.
#[test]
fn reported_sub_agents_are_counted_alike_without_their_words() {
    for case in ["agent-progress", "agent-progress-and-file", "subagents-folder"] {
        let fixture = fixture::Fixture::load(&fixture::root().join("claude-code").join(case));
        let streams = fixture.streams();
        let whole = fixture::read(&FORMAT, &streams).requests();
        assert_eq!(fixture::read_usage(&FORMAT, &streams).requests(), whole, "{case}");
    }
}

#[test]
fn a_call_is_made_when_its_line_was_written() {
    check("call-times");
}

#[test]
fn a_result_may_stand_before_its_call() {
    check("result-first");
}

#[test]
fn records_may_share_a_line() {
    assert_eq!(check("shared-line"), [9, 81, 0, 0, 0]);
}

#[test]
fn a_sub_agent_without_a_call_belongs_to_the_session() {
    assert_eq!(check("own-agents"), [188, 97, 0, 0, 0]);
}
