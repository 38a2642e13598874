use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("opencode-run", case)
}

#[test]
fn an_answer_and_its_tokens() {
    assert_eq!(check("minimal"), [10, 5, 0, 100, 0]);
}

#[test]
fn a_line_of_every_kind() {
    assert_eq!(check("full"), [150, 34, 8, 90, 3]);
}

#[test]
fn tokens_find_an_answer() {
    assert_eq!(check("no-words"), [9, 1, 0, 0, 0]);
}
