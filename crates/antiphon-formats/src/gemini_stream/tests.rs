use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("gemini-stream", case)
}

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(check("minimal"), [10, 5, 0, 0, 0]);
}

#[test]
fn a_line_of_every_kind() {
    assert_eq!(check("full"), [40, 27, 7, 60, 0]);
}

#[test]
fn a_run_that_fails_has_spent_its_tokens() {
    assert_eq!(check("failed"), [50, 4, 0, 0, 0]);
}
