use super::*;
use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("codex", case)
}

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(check("minimal"), [60, 10, 4, 40, 0]);
}

#[test]
fn a_line_of_every_kind() {
    assert_eq!(check("full"), [800, 95, 30, 3100, 100]);
}

#[test]
fn what_is_written_twice_is_read_once() {
    assert_eq!(check("twofold"), [20, 5, 0, 10, 0]);
}

#[test]
fn a_count_that_comes_again_adds_nothing() {
    assert_eq!(check("repeated-token-count"), [110, 25, 9, 140, 0]);
}

#[test]
fn a_count_may_be_empty() {
    assert_eq!(check("null-info"), [60, 10, 4, 40, 0]);
}

#[test]
fn totals_may_go_down() {
    assert_eq!(check("reset"), [60 + 30 + 30, 10 + 5 + 3, 4 + 1, 40 + 20, 0]);
}

#[test]
fn tokens_find_an_answer() {
    assert_eq!(check("late-tokens"), [100, 10, 0, 0, 0]);
}

#[test]
fn tokens_without_any_answer_are_kept() {
    assert_eq!(check("tokens-only"), [1211, 182, 128, 10880, 0]);
}

#[test]
fn a_context_is_replaced() {
    assert_eq!(check("compaction"), [140, 20, 4, 60, 0]);
}

#[test]
fn a_turn_is_interrupted() {
    assert_eq!(check("aborted"), [90, 9, 0, 0, 0]);
}

#[test]
fn lines_without_wrapping() {
    assert_eq!(check("legacy"), [0; 5]);
}

#[test]
fn a_turn_is_undone() {
    assert_eq!(check("rolled-back"), [60, 6, 0, 0, 0]);
}

#[test]
fn a_fork_counts_its_own_tokens_only() {
    assert_eq!(check("replayed-prefix"), [100, 10, 2, 600, 0]);
    assert_eq!(check("replayed-by-ordinal"), [100, 10, 0, 400, 0]);
    assert_eq!(check("replayed-elsewhere"), [200, 20, 0, 600, 0]);
}

#[test]
fn children_hang_under_the_calls_that_made_them() {
    let parent = [500, 90, 30, 2000, 0];
    let children = [200 + 300, 30 + 40, 3 + 4, 100 + 100, 0];
    let mut sum = parent;
    sum.iter_mut().zip(children).for_each(|(sum, child)| *sum += child);
    assert_eq!(check("children"), sum);
}

#[test]
fn a_session_is_resumed() {
    assert_eq!(check("resumed"), [30, 3, 0, 0, 0]);
}

#[test]
fn a_rollout_belongs_to_the_thread_that_made_it() {
    let stem = "rollout-2026-05-01T10-00-00-th-1";
    let child = r#"{"type":"session_meta","payload":{"id":"th-2","source":{"subagent":{"thread_spawn":{"parent_thread_id":"th-1"}}}}}"#;
    let newer = r#"{"type":"session_meta","payload":{"id":"th-2","parent_thread_id":"th-1"}}"#;
    let other = r#"{"type":"session_meta","payload":{"id":"th-3","parent_thread_id":"th-9"}}"#;
    let alone = r#"{"type":"session_meta","payload":{"id":"th-3","source":"cli"}}"#;
    let name = "rollout-2026-05-01T10-00-07-th-2.jsonl";
    assert!(belongs(stem, name, child));
    assert!(belongs(stem, name, newer));
    assert!(!belongs(stem, name, other));
    assert!(!belongs(stem, name, alone));
    assert!(!belongs(stem, name, ""));
    assert!(!belongs(stem, "other.jsonl", child));
}

#[test]
fn a_search_of_the_service_is_one_call_with_one_result() {
    check("searches");
}

#[test]
fn calls_that_share_an_id_end_each_in_its_own_way() {
    check("repeated-ids");
}
