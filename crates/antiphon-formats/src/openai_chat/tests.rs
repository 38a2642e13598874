use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("openai-chat", case)
}

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(check("minimal"), [0; 5]);
}

#[test]
fn a_message_of_every_kind() {
    assert_eq!(check("full"), [40, 20, 5, 60, 0]);
}

#[test]
fn a_bare_list() {
    assert_eq!(check("list"), [0; 5]);
}
