use super::*;
use crate::fixture::{call, calls, read, result};

/// The changes of files, a line each: `created a.rs +2 -0`.
fn changes(log: &[String], agent: Option<&str>) -> String {
    let changes = read(log, |reading| {
        let agent = agent.map(|agent| reading.session.find_agent(agent).unwrap());
        file_changes(reading, agent).unwrap()
    });
    let mut lines = Vec::new();
    let kinds = [
        ("created", &changes.created),
        ("modified", &changes.modified),
        ("deleted", &changes.deleted),
    ];
    for (kind, changes) in kinds {
        for change in changes {
            let lines_of = |lines: Option<u64>| lines.map_or("?".to_owned(), |n| n.to_string());
            let (added, removed) = (lines_of(change.lines_added), lines_of(change.lines_removed));
            lines.push(format!("{kind} {} +{added} -{removed}", change.path));
        }
    }
    lines.extend(changes.read.iter().map(|path| format!("read {path}")));
    lines.join("\n")
}

#[test]
fn a_write_creates_unless_the_file_was_touched_before() {
    let log = calls(
        "a",
        &[
            ("Write", r#"{"file_path":"new.rs","content":"1\n2\n"}"#),
            ("Read", r#"{"file_path":"old.rs"}"#),
            ("Write", r#"{"file_path":"old.rs","content":"1"}"#),
            ("Edit", r#"{"file_path":"b.rs","old_string":"x\ny","new_string":"x\nz\nw"}"#),
            ("Edit", r#"{"file_path":"new.rs","old_string":"1","new_string":"3"}"#),
            ("NotebookEdit", r#"{"notebook_path":"n.ipynb","new_source":"1"}"#),
        ],
    );
    insta::assert_snapshot!(changes(&log, None), @r"
    created new.rs +3 -1
    modified old.rs +1 -?
    modified b.rs +2 -1
    modified n.ipynb +? -?
    read old.rs
    ");
}

#[test]
fn the_result_knows_whether_the_file_was_there() {
    let write = |id: &str| call("a", id, "Write", r#"{"file_path":"x","content":"1\n2"}"#, "");
    let updated = r#","result":{"type":"update","structuredPatch":[{"lines":[" a","-b","+c","+d"]},{"lines":["+e"]}]}"#;
    insta::assert_snapshot!(changes(&[write("1"), result("a", "1", updated)], None), @"modified x +3 -1");
    let created = r#","result":{"type":"create","structuredPatch":[]}"#;
    let log = [
        call("a", "0", "Read", r#"{"file_path":"x"}"#, ""),
        result("a", "0", ""),
        write("1"),
        result("a", "1", created),
    ];
    insta::assert_snapshot!(changes(&log, None), @r"
    created x +2 -?
    read x
    ");
}

#[test]
fn what_failed_or_has_not_ended_did_nothing() {
    let log = [
        call("a", "1", "Read", r#"{"file_path":"x"}"#, ""),
        result("a", "1", r#","is_error":true"#),
        call("a", "2", "Write", r#"{"file_path":"x","content":""}"#, ""),
        result("a", "2", ""),
        call("a", "3", "Write", r#"{"file_path":"y","content":""}"#, ""),
    ];
    insta::assert_snapshot!(changes(&log, None), @"created x +0 -?");
}

#[test]
fn a_shell_is_never_guessed_at() {
    let log = calls("a", &[("Bash", r#"{"command":"rm x; cat y > z"}"#)]);
    assert_eq!(changes(&log, None), "");
}

#[test]
fn patches_in_all_their_forms() {
    let patch = "*** Begin Patch\n*** Add File: a\n+1\n+2\n*** Update File: b\n@@\n-x\n+y\n z\n*** Delete File: c\n*** Update File: d\n*** Move to: e\n@@\n+1\n*** End Patch";
    let wrapped = serde_json::json!({ "input": patch }).to_string();
    let expected =
        "created a +2 -0\ncreated e +? -?\nmodified b +1 -1\ndeleted c +? -?\ndeleted d +? -?";
    assert_eq!(changes(&calls("a", &[("apply_patch", patch)]), None), expected);
    assert_eq!(changes(&calls("a", &[("apply_patch", &wrapped)]), None), expected);
    let listed = r#"[{"path":"a","kind":"add"},{"path":"c","kind":"delete"},{"path":"?"}]"#;
    let listed = changes(&calls("a", &[("apply_patch", listed)]), None);
    assert_eq!(listed, "created a +? -?\ndeleted c +? -?");
    let by_path = r#"{"a":{"add":{"content":"1\n2"}},"b":{"type":"update","unified_diff":""}}"#;
    let by_path = changes(&calls("a", &[("apply_patch", by_path)]), None);
    assert_eq!(by_path, "created a +2 -?\nmodified b +? -?");
}

#[test]
fn what_came_and_went_is_no_change() {
    let write = ("Write", r#"{"file_path":"x","content":"1"}"#);
    let delete = ("apply_patch", "*** Delete File: x");
    assert_eq!(changes(&calls("a", &[write, delete]), None), "");
    assert_eq!(changes(&calls("a", &[write, delete, write]), None), "created x +2 -?");
    assert_eq!(changes(&calls("a", &[delete]), None), "deleted x +? -?");
    assert_eq!(changes(&calls("a", &[delete, write]), None), "modified x +1 -?");
}

#[test]
fn each_agent_has_its_own_changes_and_all_know_the_same_files() {
    let mut log = calls("a", &[("Write", r#"{"file_path":"x","content":"1"}"#)]);
    log.extend(calls("b", &[("Write", r#"{"file_path":"x","content":"1"}"#)]));
    assert_eq!(changes(&log, Some("a")), "created x +1 -?");
    assert_eq!(changes(&log, Some("b")), "modified x +1 -?");
    assert_eq!(changes(&log, None), "created x +2 -?");
}

#[test]
fn several_edits_in_one_call_are_summed() {
    let edits = r#"{"file_path":"x","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c\nd","new_string":"c"}]}"#;
    assert_eq!(changes(&calls("a", &[("MultiEdit", edits)]), None), "modified x +1 -2");
}
