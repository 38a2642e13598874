use super::*;
use crate::fixture::{call, calls, read, result};

/// What some successful calls changed.
fn changed(log: &[String]) -> Changes {
    read(log, |reading| {
        let mut edits = EditLog::default();
        edits.add(reading, "s", Some("/shop")).unwrap();
        changes(edits, None)
    })
}

fn file(changes: &Changes) -> (&str, FileStatus, usize, usize, Base) {
    let [file] = changes.files.as_slice() else { panic!("{changes:?}") };
    (&file.path, file.status, file.added, file.removed, file.base)
}

/// Claude Code's edit of a file whose content it knows.
fn edit(id: &str, before: &str, old: &str, new: &str) -> [String; 2] {
    let arguments = serde_json::json!({
        "file_path": "/shop/a.py", "old_string": old, "new_string": new,
    });
    let before = serde_json::json!({ "originalFile": before });
    [
        call("main", id, "Edit", &arguments.to_string(), ""),
        result("main", id, &format!(r#","result":{before}"#)),
    ]
}

#[test]
fn edits_of_a_file_add_up_to_one_difference() {
    let first = edit("c1", "one\ntwo\n", "two", "2");
    let second = edit("c2", "one\n2\n", "2\n", "zwei\ndrei\n");
    let changes = changed(&[first, second].concat());
    assert_eq!(file(&changes), ("a.py", FileStatus::Modified, 2, 1, Base::Known));
    let wanted = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n one\n-two\n+zwei\n+drei\n";
    assert_eq!(changes.diff, wanted);
}

#[test]
fn what_was_changed_and_changed_back_is_no_change() {
    let first = edit("c1", "one\ntwo\n", "two", "2");
    let second = edit("c2", "one\n2\n", "2", "two");
    assert!(changed(&[first, second].concat()).files.is_empty());
}

#[test]
fn what_others_changed_in_between_is_not_in_the_difference_and_is_said() {
    let first = edit("c1", "one\ntwo\n", "two", "2");
    // A person has added a line at the top.
    let second = edit("c2", "zero\none\n2\n", "one", "1");
    let changes = changed(&[first, second].concat());
    assert_eq!(file(&changes), ("a.py", FileStatus::Modified, 2, 2, Base::Known));
    assert!(changes.files.iter().all(|file| file.changed_by_others), "{changes:?}");
    assert!(!changes.diff.contains("+zero"), "{}", changes.diff);
}

#[test]
fn a_patch_of_a_file_that_is_not_known_shows_its_lines_and_says_so() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@ fn main() {\n     let a = 1;\n-    b();\n+    c();\n*** Update File: src/a.rs\n@@\n-    c();\n+    d();\n*** End Patch";
    let changes = changed(&calls("main", &[("apply_patch", patch)]));
    assert_eq!(file(&changes), ("src/a.rs", FileStatus::Modified, 1, 1, Base::Unknown));
    assert!(changes.diff.contains("-    b();\n+    d();\n"), "{}", changes.diff);
}

#[test]
fn a_patch_renames_adds_and_deletes() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n-x\n+y\n*** Add File: n.txt\n+new\n*** Delete File: old.txt\n*** End Patch";
    let changes = changed(&calls("main", &[("apply_patch", patch)]));
    let rows: Vec<_> = changes.files.iter().map(|it| (it.path.as_str(), it.status)).collect();
    let wanted = [
        ("b.rs", FileStatus::Renamed),
        ("n.txt", FileStatus::Added),
        ("old.txt", FileStatus::Deleted),
    ];
    assert_eq!(rows, wanted);
    assert!(changes.diff.contains("rename from a.rs\nrename to b.rs\n"), "{}", changes.diff);
    assert!(changes.diff.contains("--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+new\n"));
}

#[test]
fn a_file_that_was_written_and_deleted_again_is_no_change() {
    let patch = "*** Begin Patch\n*** Add File: n.txt\n+new\n*** Delete File: n.txt\n*** End Patch";
    assert!(changed(&calls("main", &[("apply_patch", patch)])).files.is_empty());
}

#[test]
fn a_missing_line_end_is_kept() {
    let log = edit("c1", "one\ntwo", "two", "2").to_vec();
    let no_end = "\\ No newline at end of file\n";
    let wanted = format!("@@ -1,2 +1,2 @@\n one\n-two\n{no_end}+2\n{no_end}");
    assert!(changed(&log).diff.ends_with(&wanted));
}

#[test]
fn tools_of_other_agents_are_understood() {
    let replace = r#"{"file_path":"/shop/a.py","old_string":"x\n","new_string":"y\n"}"#;
    let editor = r#"{"command":"str_replace","path":"/shop/a.py","old_str":"x\n","new_str":"y\n"}"#;
    let blocks = r#"{"path":"a.py","diff":"------- SEARCH\nx\n=======\ny\n+++++++ REPLACE\n"}"#;
    let kimi = r#"{"path":"/shop/a.py","edit":{"old":"x\n","new":"y\n"}}"#;
    for (tool, arguments) in [
        ("replace", replace),
        ("str_replace_editor", editor),
        ("replace_in_file", blocks),
        ("StrReplaceFile", kimi),
    ] {
        let changes = changed(&calls("main", &[(tool, arguments)]));
        assert_eq!(file(&changes), ("a.py", FileStatus::Modified, 1, 1, Base::Unknown), "{tool}");
    }
}

#[test]
fn hostile_paths_stay_on_their_line() {
    let arguments = serde_json::json!({ "path": "a\nb\".py", "content": "x\n" }).to_string();
    let changes = changed(&calls("main", &[("write_file", &arguments)]));
    assert!(changes.diff.starts_with("diff --git \"a/a\\nb\\\".py\" \"b/a\\nb\\\".py\"\n"));
}
