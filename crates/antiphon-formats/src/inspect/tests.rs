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

/// A truncated sample has everything before the cut.
#[test]
fn a_log_may_stop_anywhere() {
    for case in ["full/input.jsonl", "minimal/input.json"] {
        let text = std::fs::read_to_string(fixture::root().join("inspect").join(case)).unwrap();
        let mut before = 0;
        for cut in (0..text.len()).step_by(7).filter(|cut| text.is_char_boundary(*cut)) {
            let lines = super::lines(&text[..cut]).text;
            let spans = lines.lines().filter(|line| line.starts_with("{\"span\":")).count();
            assert!(spans >= before, "{case}: {spans} of {before} at {cut}");
            before = spans;
        }
        assert!(before > 2);
    }
}
