//! `validate`: session documents against their standards.

use serde_json::{Value, json};

use crate::run::{Done, antiphon, file, folder, run_with, workspace};

const EXAMPLES: &str = "crates/antiphon-documents/fixtures";
const SUNDIAL: &str = "2026-03-03-001-build-a-sundial-multi.json";

fn example(name: &str) -> Value {
    let text = std::fs::read_to_string(workspace().join(EXAMPLES).join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn steady(done: &Done, folder: &tempfile::TempDir) -> String {
    done.to_string().replace(folder.path().to_str().unwrap(), "FOLDER")
}

/// A multi-agent document in which much is wrong.
fn broken() -> Value {
    let mut document = example(SUNDIAL);
    document["status"] = json!("completed");
    document["tool_calls"][0]["started_at"] = json!("soon");
    document["tool_calls"][1]["subagent_info"]["sub_session_id"] = json!("sub-009");
    document["sub_sessions"][0]["tool_calls"][1]["duration_ms"] = json!("long");
    document["messages"][2]["to_agent"]["agent_id"] = json!("a \u{1b}[31mstranger");
    document["messages"][3]["from_agent"]["agent_id"] = json!("a \u{1b}[31mstranger");
    document["summary"]["tool_calls_count"] = json!(12);
    document
}

#[test]
fn a_folder_of_documents_in_which_all_is_well() {
    insta::assert_snapshot!(antiphon(&format!("validate {EXAMPLES}")));
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let folder = folder();
    file(&folder, SUNDIAL, broken().to_string());
    file(&folder, "b-torn.json", "{\n  \"session_id\": \"b\",\n  \"prompt\": \"say \"yes\"\"\n}");
    file(&folder, "c-other.json", "[1, 2]");
    file(&folder, "d-steps.json", "{\"session_id\": \"d-steps\", \"steps\": [{}, {}]}");
    file(&folder, "e-notes.txt", "no document, and not looked at");
    std::fs::create_dir(folder.path().join("below")).unwrap();
    let name = "2026-03-02-001-count-the-bees.json";
    file(&folder, &format!("below/{name}"), example(name).to_string());
    let place = folder.path().to_str().unwrap();
    insta::assert_snapshot!(steady(&run_with(&["validate", place], b""), &folder));
}

#[test]
fn the_same_as_json() {
    let folder = folder();
    let path = file(&folder, SUNDIAL, broken().to_string());
    let torn = file(&folder, "torn.json", "{\"session_id\": ");
    let done = run_with(&["validate", &path, &torn, "--json"], b"");
    assert_eq!((done.exit, done.err.as_str()), (1, ""), "{done}");
    let rows: Value = serde_json::from_str(&done.out).unwrap();
    let rows = format!("{rows:#}").replace(folder.path().to_str().unwrap(), "FOLDER");
    insta::assert_snapshot!(rows);
}

#[test]
fn strictly_means_the_letter_and_warnings_do_not_count() {
    let folder = folder();
    let name = "2026-03-02-002-paint-the-gate.json";
    let exits = |document: &Value| {
        let path = file(&folder, name, document.to_string());
        let usual = run_with(&["validate", &path], b"").exit;
        (usual, run_with(&["validate", &path, "--strict"], b"").exit)
    };
    let mut document = example(name);
    document["summary"]["tool_calls_count"] = json!(12);
    assert_eq!(exits(&document), (0, 0), "a count that differs");
    document["tool_calls"][0]["tool_category"] = json!("collaboration");
    assert_eq!(exits(&document), (0, 1), "a word that is not listed");
}

#[test]
fn a_path_that_is_not_there_is_an_error() {
    let folder = folder();
    let missing = folder.path().join("missing.json");
    let done = run_with(&["validate", missing.to_str().unwrap()], b"");
    assert_eq!((done.exit, done.out.as_str()), (4, ""), "{done}");
    assert!(done.err.contains("there is no file"), "{done}");
    let empty = run_with(&["validate", folder.path().to_str().unwrap()], b"");
    assert_eq!(empty.exit, 1, "{empty}");
    assert_eq!(antiphon("validate").exit, 2);
}

#[test]
fn files_that_hold_anything_else_get_a_clear_answer() {
    let folder = folder();
    let deep = "[".repeat(1 << 20);
    let texts: [&[u8]; 9] = [
        b"",
        b"[]",
        b"null",
        b"{}",
        b"\x00\x01",
        b"\xff\xfe\x00",
        b"{\"session_id\": 3}",
        b"{\"session_id\": \"x\", \"tool_calls\": [}",
        deep.as_bytes(),
    ];
    for text in texts {
        let path = file(&folder, "odd.json", text);
        let done = run_with(&["validate", &path], b"");
        assert_eq!((done.exit, done.err.as_str()), (1, ""), "{done}");
        assert!(done.out.contains("  error    "), "{done}");
    }
}
