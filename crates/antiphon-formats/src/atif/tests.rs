use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("atif", case)
}

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(check("minimal"), [6, 5, 0, 4, 0]);
}

#[test]
fn a_step_of_every_kind() {
    assert_eq!(check("full"), [40 + 30 + 7, 20 + 3 + 1, 0, 60, 0]);
}

#[test]
fn tokens_as_totals_alone() {
    assert_eq!(check("totals"), [30, 6, 0, 20, 0]);
}
