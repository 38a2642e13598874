//! `changes`: what the edits of a session say, and what a shell command may have done besides.

use serde_json::{Value, json};

use crate::claude::Claude;
use crate::home::Home;

const USED: [u64; 4] = [10, 50, 1000, 100];

/// A session that made a file, failed to change another one, and ran two commands.
fn session(home: &Home) -> Claude {
    let folder = home.path("shop").display().to_string();
    let mut session = Claude::new(1, &folder, "2026-10-31T17:00:00Z");
    session.prompt("Make notes");
    let new = json!({ "file_path": format!("{folder}/notes.txt"), "content": "one\ntwo\n" });
    session.call("Write", &new, ("File created successfully at: notes.txt", false), 1, USED);
    let old =
        json!({ "file_path": format!("{folder}/old.txt"), "old_string": "a", "new_string": "b" });
    session.call("Edit", &old, ("File has not been read yet.", true), 1, USED);
    session.bash("sed -i s/a/b/ old.txt", ("", false), 1);
    session.bash("grep -c a old.txt", ("1", false), 1);
    session.say("Done.", USED);
    session.save(home);
    session
}

#[test]
fn a_file_that_was_made_is_in_the_diff_and_a_failed_edit_is_not() {
    let home = Home::new();
    let id = session(&home).id().to_owned();
    home.run("sync");
    let done = home.run(&format!("changes {id}"));
    assert_eq!(
        done.out,
        "diff --git a/notes.txt b/notes.txt\nnew file mode 100644\n--- /dev/null\n+++ b/notes.txt\n\
         @@ -0,0 +1,2 @@\n+one\n+two\n"
    );
    assert!(done.err.contains("sed -i"), "{done}");
    assert!(!done.err.contains("grep"), "{done}");
}

#[test]
fn the_document_has_the_files_the_diff_and_the_commands_that_may_have_changed_files() {
    let home = Home::new();
    let id = session(&home).id().to_owned();
    home.run("sync");
    let done = home.run(&format!("changes {id} --json"));
    let document: Value = serde_json::from_str(&done.out).unwrap();
    let file = &document["files"][0];
    let said = [&file["path"], &file["status"], &file["added"], &file["removed"], &file["base"]];
    assert_eq!(json!(said), json!(["notes.txt", "added", 2, 0, "known"]));
    assert_eq!(document["files"].as_array().unwrap().len(), 1, "{document}");
    assert_eq!(document["possible"][0]["command"], "sed -i s/a/b/ old.txt");
    assert_eq!(document["possible"].as_array().unwrap().len(), 1, "{document}");
}
