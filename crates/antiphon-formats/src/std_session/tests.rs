use crate::tests::fixture::check_lines;

fn check(case: &str) {
    check_lines("std-session", case);
}

#[test]
fn a_call_and_its_result() {
    check("minimal");
}

#[test]
fn several_agents_and_what_nobody_knows() {
    check("full");
}

#[test]
fn phases_with_calls_are_annotations() {
    check("phases");
}

#[test]
fn calls_may_stand_in_phases() {
    check("nested-phases");
}

#[test]
fn steps_are_calls() {
    check("steps");
}

#[test]
fn deviations_are_read_and_reported() {
    check("drift");
}

#[test]
fn what_hands_write_is_read_as_far_as_it_goes() {
    check("twice");
}

#[test]
fn what_was_derived_stays_marked() {
    check("derived");
}

#[test]
fn a_syntax_error_has_its_line_and_column() {
    let lines = super::document::lines("{\n\"session_id\": \"a\"b\"}");
    assert_eq!(lines.text, "");
    assert_eq!(lines.problems[0].line, 2);
    assert_eq!(lines.problems[0].message, "not JSON, line 2, column 18: expected `,` or `}`");
}
