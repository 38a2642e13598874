use crate::tests::fixture;

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(fixture::check("amp", "minimal"), [10, 5, 0, 100, 20]);
}

#[test]
fn tools_run_and_fail_and_still_run() {
    assert_eq!(fixture::check("amp", "full"), [40, 9, 0, 60, 0]);
}

#[test]
fn results_come_in_any_order() {
    let totals = [7 + 53 + 1, 30 + 2 + 1, 0, 200, 200 + 9];
    assert_eq!(fixture::check("amp", "out-of-order"), totals);
}
