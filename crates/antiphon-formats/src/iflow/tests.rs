use crate::tests::fixture;

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(fixture::check("iflow", "minimal"), [10, 5, 0, 0, 0]);
}

#[test]
fn calls_are_made_once() {
    assert_eq!(fixture::check("iflow", "full"), [0; 5]);
}
