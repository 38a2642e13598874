use super::*;
use crate::tests::fixture;

#[test]
fn a_question_and_an_answer() {
    assert_eq!(fixture::check("cursor", "minimal"), [0; 5]);
}

#[test]
fn a_block_of_every_kind() {
    assert_eq!(fixture::check("cursor", "full"), [0; 5]);
}

#[test]
fn sub_agents_are_found_by_their_prompts() {
    assert_eq!(fixture::check("cursor", "sub-agents"), [0; 5]);
}

#[test]
fn text_is_a_transcript_too() {
    assert_eq!(fixture::check("cursor", "text"), [0; 5]);
}

#[test]
fn a_session_is_named_by_its_file() {
    assert_eq!(session("srv-shop/agent-transcripts/1111/1111.jsonl"), Some("1111"));
    assert_eq!(session("srv-shop/agent-transcripts/1111.txt"), Some("1111"));
    assert_eq!(session("srv-shop/agent-transcripts/1111/subagents/2222.jsonl"), None);
    assert_eq!(session("srv-shop/terminals/1.txt"), None);
}

#[test]
fn sub_agents_lie_in_a_folder() {
    assert!(belongs("1111", "subagents/", ""));
    assert!(belongs("1111", "subagents/2222.jsonl", ""));
    assert!(belongs("1111", "1111/subagents/2222.jsonl", ""));
    assert!(!belongs("1111", "3333/subagents/2222.jsonl", ""));
    assert!(!belongs("1111", "2222.jsonl", ""));
}
