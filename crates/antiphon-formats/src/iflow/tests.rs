use crate::tests::fixture;

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(fixture::check("iflow", "minimal"), [10, 5, 0, 0, 0]);
}

#[test]
fn calls_are_made_once() {
    assert_eq!(fixture::check("iflow", "full"), [0; 5]);
}

#[test]
fn results_come_in_any_order() {
    assert_eq!(fixture::check("iflow", "out-of-order"), [10 + 11 + 20, 5 + 1 + 6, 0, 0, 0]);
}
