use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("codex-exec", case)
}

#[test]
fn a_turn_with_one_answer() {
    assert_eq!(check("minimal"), [60, 10, 0, 40, 0]);
}

#[test]
fn an_item_of_every_kind() {
    assert_eq!(check("full"), [400, 50, 20, 600, 0]);
}

#[test]
fn a_turns_tokens_are_the_total_so_far() {
    assert_eq!(check("two-turns"), [110, 25, 0, 140, 0]);
}

#[test]
fn a_turn_fails() {
    assert_eq!(check("failed"), [0; 5]);
}
