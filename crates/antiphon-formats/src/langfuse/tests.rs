use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("langfuse", case)
}

#[test]
fn one_generation() {
    assert_eq!(check("minimal"), [9, 3, 0, 0, 0]);
}

#[test]
fn an_agent_a_tool_and_a_generation_around_another() {
    assert_eq!(check("full"), [10 + 20 + 8, 7 + 4 + 2, 2, 40 + 30, 0]);
}

#[test]
fn a_batch_that_creates_and_updates() {
    assert_eq!(check("batch"), [5, 2, 0, 0, 0]);
}

#[test]
fn events_one_on_each_line() {
    assert_eq!(check("lines"), [0, 0, 0, 0, 0]);
}
