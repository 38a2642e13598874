use crate::tests::fixture;

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(fixture::check("droid-stream", "minimal"), [10, 5, 0, 100, 20]);
}

#[test]
fn a_line_of_every_kind() {
    assert_eq!(fixture::check("droid-stream", "full"), [0; 5]);
}

#[test]
fn every_run_has_its_tokens() {
    let totals = [10 + 20 + 30, 5 + 6 + 7, 0, 100 + 100, 3];
    assert_eq!(fixture::check("droid-stream", "three-runs"), totals);
}
