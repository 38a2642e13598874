use crate::tests::fixture;

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(fixture::check("aider", "minimal"), [130, 5, 0, 0, 0]);
}

#[test]
fn every_run_is_an_agents() {
    let totals = [3000 + 12_000 + 7, 202 + 1 + 3, 0, 300, 1200];
    assert_eq!(fixture::check("aider", "full"), totals);
}
