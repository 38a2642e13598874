use crate::tests::fixture;

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(fixture::check("amp", "minimal"), [10, 5, 0, 100, 20]);
}

#[test]
fn tools_run_and_fail_and_still_run() {
    assert_eq!(fixture::check("amp", "full"), [40, 9, 0, 60, 0]);
}
