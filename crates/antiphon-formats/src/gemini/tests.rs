use super::*;
use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("gemini", case)
}

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(check("minimal"), [10, 5, 0, 0, 0]);
}

#[test]
fn an_old_document_is_a_chat_too() {
    assert_eq!(check("document"), [60 + 3 + 10, 17 + 20, 7, 150, 0]);
}

#[test]
fn the_last_version_counts_and_what_was_left_was_spent() {
    assert_eq!(check("full"), [50 + 10 + 10 + 20, 6 + 7 + 8 + 11, 2, 170, 0]);
}

#[test]
fn all_messages_may_be_replaced() {
    assert_eq!(check("replaced"), [45, 6, 0, 0, 0]);
}

#[test]
fn sub_agents_hang_under_their_calls() {
    assert_eq!(check("sub-agents"), [130 + 81 + 50, 13 + 9 + 6, 0, 0, 0]);
}

#[test]
fn a_saved_conversation_has_words_only() {
    assert_eq!(check("saved"), [0; 5]);
}

#[test]
fn a_file_belongs_to_its_chat() {
    let stem = "session-2026-05-01T10-00-5555aaaa";
    assert!(belongs(stem, "5555aaaa-1111-2222/sub.jsonl", ""));
    assert!(belongs(stem, "5555aaaa-1111-2222/", ""));
    assert!(!belongs(stem, "6666aaaa-1111-2222/sub.jsonl", ""));
    assert!(!belongs(stem, "5555aaaa-1111-2222/deep/sub.jsonl", ""));
    assert!(!belongs(stem, "session-2026-05-01T11-00-5555aaaa.jsonl", ""));
}
