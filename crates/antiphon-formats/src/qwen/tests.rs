use super::*;
use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("qwen", case)
}

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(check("minimal"), [6, 5, 0, 4, 0]);
}

#[test]
fn a_line_of_every_kind() {
    assert_eq!(check("full"), [60 + 50 + 63, 20 + 15 + 7, 14, 40, 0]);
}

#[test]
fn a_chat_goes_back_and_is_compressed() {
    assert_eq!(check("rewind"), [65, 10, 0, 0, 0]);
}

#[test]
fn sub_agents_speak_for_themselves() {
    assert_eq!(check("sub-agents"), [30 + 40 + 7, 3 + 4 + 1, 0, 0, 0]);
}

#[test]
fn records_are_taken_apart() {
    let text = "{\"a\":\"}{\"}{\"b\":{}} {\"c\":1}\n{\"d\":1}\n{\"torn\"";
    let apart = lines::apart(text).text;
    assert_eq!(apart, "{\"a\":\"}{\"}\n{\"b\":{}}\n {\"c\":1}\n{\"d\":1}\n{\"torn\"");
}
