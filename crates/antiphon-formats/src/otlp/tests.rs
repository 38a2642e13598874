use crate::tests::fixture;

fn check(case: &str) -> [u64; 5] {
    fixture::check("otlp", case)
}

#[test]
fn a_request_and_its_answer() {
    assert_eq!(check("minimal"), [10, 4, 0, 0, 0]);
}

#[test]
fn an_agent_its_tools_and_a_helper_in_any_order() {
    assert_eq!(check("full"), [30 + 40 + 7, 20 + 9 + 2, 5, 60 + 110, 10]);
}

#[test]
fn turns_of_which_only_the_tools_are_recorded() {
    assert_eq!(check("turns"), [30 + 5, 3 + 1, 0, 0, 0]);
}

#[test]
fn lists_that_are_spread_over_attributes() {
    assert_eq!(check("openinference"), [10 + 50, 8 + 3, 2, 30, 0]);
}

#[test]
fn messages_as_events_and_a_request_around_a_request() {
    assert_eq!(check("legacy"), [11 + 15 + 6, 3 + 2 + 1, 0, 0, 0]);
}

#[test]
fn one_document_with_log_records() {
    assert_eq!(check("document"), [3, 1, 0, 0, 0]);
}

/// A truncated document has everything before the cut.
#[test]
fn a_document_may_stop_anywhere() {
    let text = std::fs::read_to_string(fixture::root().join("otlp/document/input.json")).unwrap();
    let whole = super::lines(&text).text.lines().count();
    let mut most = 0;
    for cut in (0..text.len()).step_by(7).filter(|cut| text.is_char_boundary(*cut)) {
        let lines = super::lines(&text[..cut]);
        assert!(lines.text.lines().count() <= whole + 1);
        most = most.max(lines.text.lines().count());
    }
    assert!(most + 3 >= whole);
}
