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

#[test]
fn files_of_messages_and_parts_make_a_session_with_its_children() {
    assert_eq!(check("folders"), [20 + 5 + 7, 6 + 3 + 2, 0, 50, 10]);
}

#[test]
fn the_older_folders_say_the_same() {
    assert_eq!(check("older-folders"), [4, 1, 0, 0, 0]);
}

#[test]
fn a_child_that_was_called_again_speaks_after_each_call() {
    assert_eq!(check("resumed-child"), [1 + 2 + 3 + 4, 4, 0, 0, 0]);
}

#[test]
fn files_that_were_cut_cost_themselves() {
    assert_eq!(check("cut-files"), [3, 2, 0, 0, 0]);
}

#[test]
fn an_aborted_answer_is_no_request() {
    assert_eq!(check("aborted"), [0; 5]);
    let fixture = fixture::Fixture::load(&fixture::root().join("opencode").join("aborted"));
    let requests = fixture::read(fixture.format, &fixture.streams()).requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
}
