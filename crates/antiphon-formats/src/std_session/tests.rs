use std::fmt::Write as _;

use crate::tests::fixture::{Fixture, root};

/// Checks the lines that a document becomes, and what was odd about it.
fn check(case: &str) {
    let fixture = Fixture::load(&root().join("std-session").join(case));
    let mut text = fixture.files[0].1.clone();
    for problem in &fixture.problems {
        writeln!(text, "{}: {}", problem.code, problem.message).unwrap();
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&fixture.folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("lines", text));
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
fn what_has_drifted_is_read_and_told() {
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
