use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("opencode", case)
}

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(check("minimal"), [10, 5, 2, 100, 20]);
}

#[test]
fn a_part_of_every_kind() {
    assert_eq!(check("full"), [100 + 15, 28 + 3 + 13, 8 + 9, 0, 0]);
}

#[test]
fn what_was_taken_back_was_spent() {
    assert_eq!(check("reverted"), [30, 3, 0, 0, 0]);
}
