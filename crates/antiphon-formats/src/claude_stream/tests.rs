use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("claude-stream", case)
}

#[test]
fn a_turn_and_its_result() {
    assert_eq!(check("minimal"), [10, 8, 0, 100, 20]);
}

#[test]
fn lines_of_every_kind() {
    assert_eq!(check("full"), [13 + 400, 50 + 9, 0, 230, 20]);
}

#[test]
fn the_last_result_counts() {
    assert_eq!(check("second-init"), [30, 11, 0, 10, 0]);
}

#[test]
fn results_may_be_empty_or_start_again() {
    assert_eq!(check("several-results"), [37, 13, 0, 0, 0]);
}

#[test]
fn sub_agents_are_named_by_their_calls() {
    assert_eq!(check("sub-agent"), [40 + 1300, 60 + 35, 0, 0, 0]);
}

#[test]
fn a_run_without_a_result() {
    assert_eq!(check("no-result"), [30, 5, 0, 0, 0]);
}

#[test]
fn a_result_may_tell_its_turn_only() {
    assert_eq!(check("old-usage"), [70, 19, 0, 0, 0]);
}

#[test]
fn the_result_is_the_truth() {
    assert_eq!(check("told-more"), [20, 9, 0, 0, 0]);
}

#[test]
fn pieces_are_the_whole_again() {
    assert_eq!(check("pieces"), [10, 1, 0, 0, 0]);
}

#[test]
fn a_message_may_replace_another() {
    assert_eq!(check("superseded"), [20, 8, 0, 0, 0]);
}
