use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("goose", case)
}

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(check("minimal"), [40, 5, 0, 0, 0]);
}

#[test]
fn a_block_of_every_kind() {
    assert_eq!(check("full"), [70, 10, 0, 0, 0]);
}

#[test]
fn rows_of_the_database() {
    assert_eq!(check("database"), [40, 10, 0, 60, 20]);
}
