use antiphon_model::Timestamp;
use serde_json::json;

use super::{Header, Outcome, Policy, Transcript, footer};
use crate::Assignment;

fn at() -> Timestamp {
    Timestamp::parse("2026-02-08T19:21:39.000Z").unwrap()
}

fn text(policy: Policy, message: &serde_json::Value) -> String {
    Transcript { policy }.message(message, &message.to_string(), at())
}

#[test]
fn the_seeds_example_to_the_letter() {
    let assignment = Assignment {
        role: Some("planner".to_owned()),
        spec_paths: vec!["docs/specs/tui.md".to_owned()],
        ..Assignment::default()
    };
    let header = Header { assignment: &assignment, session_id: "abc-123", started: at() };
    assert_eq!(
        header.to_text(),
        "=== Agent Session ===\nType:       planner\nSession ID: abc-123\nSpec Paths: docs/specs/tui.md\nStarted:    2026-02-08T19:21:39.000Z\n\n=== Messages ===\n\n"
    );
    assert_eq!(
        footer(Outcome::Completed, None, at()),
        "=== Session End ===\nOutcome:  completed\nFinished: 2026-02-08T19:21:39.000Z\n"
    );
}

#[test]
fn one_record_for_each_block() {
    let message = json!({"type": "assistant", "message": {"content": [
        {"type": "text", "text": "one\n\ntwo"},
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "secret.md"}},
        {"type": "thinking", "thinking": "hmm"},
    ]}});
    assert_eq!(
        text(Policy::Seed, &message),
        "[19:21:39] ASSISTANT\n  one\n  \n  two\n\n[19:21:39] ASSISTANT\n  [tool_use] Read\n\n[19:21:39] UNKNOWN thinking\n  {\"thinking\":\"hmm\",\"type\":\"thinking\"}\n\n"
    );
}

#[test]
fn one_rule_for_inputs_and_outputs() {
    let call = json!({"type": "assistant", "message": {"content": [
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.md"}},
    ]}});
    let result = json!({"type": "user", "message": {"content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "line one\nline two"},
    ]}});
    let both = |policy| text(policy, &call) + &text(policy, &result);
    assert!(!both(Policy::Names).contains("a.md") && !both(Policy::Names).contains("line one"));
    let summary = both(Policy::Summary);
    assert!(summary.contains("a.md") && summary.contains("line one …"), "{summary}");
    assert!(!summary.contains("line two"));
    assert!(both(Policy::Full).contains("  line one\n  line two\n"));
}

#[test]
fn small_costs_are_not_nothing() {
    let result = |cost: f64| {
        text(Policy::Seed, &json!({"type": "result", "subtype": "success", "total_cost_usd": cost}))
    };
    assert!(result(0.004).contains("Cost:     $0.0040\n"));
    assert!(result(0.15).contains("Cost:     $0.15\n"));
}

#[test]
fn what_a_terminal_would_act_on_is_written_as_an_escape() {
    let message = json!({"type": "assistant", "message": {"content": [
        {"type": "text", "text": "\u{1b}[2Jgone\ttab"},
    ]}});
    assert!(text(Policy::Seed, &message).contains("  \\u{1b}[2Jgone\ttab\n"));
}
