use super::*;
use crate::tests::fixture;

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(fixture::check("droid", "minimal"), [10, 5, 2, 100, 20]);
}

#[test]
fn an_entry_of_every_kind() {
    assert_eq!(fixture::check("droid", "full"), [0; 5]);
}

#[test]
fn a_session_may_stop_before_an_answer() {
    assert_eq!(fixture::check("droid", "stopped"), [30, 4, 0, 0, 50]);
}

#[test]
fn settings_belong_to_their_session() {
    assert!((FORMAT.layout.belongs)("d1", "d1.settings.json", ""));
    assert!(!(FORMAT.layout.belongs)("d1", "d2.settings.json", ""));
    assert!(!(FORMAT.layout.belongs)("d1", "d2.jsonl", ""));
}

/// Reasoning tokens are at most the output tokens.
#[test]
fn a_session_may_be_resumed() {
    assert_eq!(fixture::check("droid", "resumed"), [40, 9, 9, 300, 7]);
}
