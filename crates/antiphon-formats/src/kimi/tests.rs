use super::*;
use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("kimi", case)
}

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(check("minimal"), [10, 5, 0, 100, 20]);
}

#[test]
fn a_line_of_every_kind() {
    assert_eq!(check("full"), [30 + 7, 12 + 9, 0, 50, 0]);
}

#[test]
fn each_agent_has_a_file() {
    assert_eq!(check("sub-agents"), [20 + 11, 6 + 4, 0, 0, 2]);
}

#[test]
fn the_older_program_has_one_file() {
    assert_eq!(check("old"), [40 + 3, 8 + 2, 0, 5, 0]);
}

#[test]
fn a_session_is_named_by_its_folder() {
    assert_eq!(session("wd_shop_01/session_11/state.json"), Some("session_11"));
    assert_eq!(session("wd_shop_01/session_11/agents/main/wire.jsonl"), None);
    assert_eq!(session("0123abcd/1111-2222/wire.jsonl"), Some("1111-2222"));
    assert_eq!(session("0123abcd/1111-2222/state.json"), None);
    assert_eq!(session("0123abcd/1111-2222/subagents/a/wire.jsonl"), None);
}

#[test]
fn agents_are_beside_the_file_that_describes_the_session() {
    assert!(belongs("state", "agents/", ""));
    assert!(belongs("state", "agents/agent-0/wire.jsonl", ""));
    assert!(!belongs("state", "agents/agent-0/plans/x.md", ""));
    assert!(!belongs("state", "agents/agent-0/old/wire.jsonl", ""));
    assert!(!belongs("wire", "agents/agent-0/wire.jsonl", ""));
}
