use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("pi", case)
}

#[test]
fn a_prompt_and_an_answer() {
    assert_eq!(check("minimal"), [10, 5, 0, 100, 20]);
}

#[test]
fn an_entry_of_every_kind() {
    assert_eq!(check("full"), [13, 122, 0, 2500, 2557]);
}

#[test]
fn branches_are_left_behind() {
    assert_eq!(check("tree"), [100, 10, 0, 0, 0]);
}

#[test]
fn a_context_is_compacted() {
    assert_eq!(check("compaction"), [50, 10, 0, 0, 0]);
}

#[test]
fn the_first_version_is_a_list() {
    assert_eq!(check("list"), [3, 4, 0, 0, 0]);
}
