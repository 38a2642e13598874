use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("copilot", case)
}

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(check("minimal"), [30, 5, 2, 60, 10]);
}

#[test]
fn a_line_of_every_kind() {
    assert_eq!(check("full"), [0, 15, 0, 0, 0]);
}

#[test]
fn sub_agents_hang_under_their_calls() {
    assert_eq!(check("sub-agents"), [150 + 40 + 11, 14 + 8 + 2, 0, 80, 20]);
}

#[test]
fn totals_go_on_or_begin_anew() {
    assert_eq!(check("resumed"), [40 + 50 + 40, 13, 0, 160, 0]);
}

#[test]
fn totals_may_be_of_all_models() {
    assert_eq!(check("token-details"), [100, 15, 0, 5, 0]);
}
