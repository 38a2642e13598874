use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("inspect", case)
}

#[test]
fn a_document_with_one_sample() {
    assert_eq!(check("minimal"), [8, 1, 0, 0, 0]);
}

#[test]
fn pooled_messages_attachments_agents_and_a_scorer() {
    assert_eq!(check("full"), [30 + 3 + 40 + 6, 12 + 3 + 4 + 1, 4, 20 + 2, 0]);
}

#[test]
fn a_run_that_was_stopped() {
    assert_eq!(check("unfinished"), [2 + 1, 1 + 1, 0, 0, 0]);
}

#[test]
fn numbers_that_json_does_not_know() {
    assert_eq!(check("nan"), [4, 2, 0, 0, 0]);
}
