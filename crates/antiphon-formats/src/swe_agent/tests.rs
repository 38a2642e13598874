use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("swe-agent", case)
}

#[test]
fn an_action_gives_something_back() {
    assert_eq!(check("minimal"), [100, 20, 0, 0, 0]);
}

#[test]
fn a_history_with_calls() {
    assert_eq!(check("calls"), [0; 5]);
}

#[test]
fn the_answers_of_the_service_are_kept() {
    assert_eq!(check("mini"), [40, 5, 0, 10, 0]);
}
