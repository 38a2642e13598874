use super::*;
use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("cline", case)
}

#[test]
fn a_task_and_an_answer() {
    assert_eq!(check("minimal"), [10, 5, 0, 100, 20]);
}

#[test]
fn tags_and_calls_and_tries() {
    assert_eq!(check("full"), [3 + 30 + 40 + 30 + 4, 1 + 6 + 7 + 8 + 2, 0, 9 + 20, 2]);
}

#[test]
fn answers_are_found_by_the_clock() {
    assert_eq!(check("roo"), [10 + 7, 5 + 6, 0, 100 + 100, 20]);
}

#[test]
fn a_conversation_may_stand_alone() {
    assert_eq!(check("alone"), [30, 4, 0, 60, 0]);
}

#[test]
fn a_list_of_messages_is_another_format() {
    let head = [r#"[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"}]"#];
    assert!(!detect(&head));
    let cut = [r#"[{"role":"user","content":[{"type":"text","text":"<task>\nLong"#];
    assert!(detect(&cut));
}

#[test]
fn a_task_is_named_by_its_folder() {
    let session = FORMAT.layout.kept.unwrap().session;
    assert_eq!(session("1770000000000/api_conversation_history.json"), Some("1770000000000"));
    assert_eq!(session("1770000000000/ui_messages.json"), Some("1770000000000"));
    assert_eq!(session("1770000000000/task_metadata.json"), None);
    assert!(belongs("api_conversation_history", "ui_messages.json", ""));
    assert!(belongs("ui_messages", "task_metadata.json", ""));
    assert!(!belongs("ui_messages", "ui_messages.json", ""));
}

#[test]
fn every_call_of_an_answer_gets_its_own_result() {
    check("parallel");
}

#[test]
fn what_the_screen_showed_may_stand_alone() {
    assert_eq!(check("screen"), [30, 11, 0, 0, 0]);
    let cut = [r#"[{"ts":1770000000000,"type":"say","say":"task","text":"Lo"#];
    assert!(detect(&cut));
}
