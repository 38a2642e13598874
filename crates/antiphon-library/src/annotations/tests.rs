use antiphon_journal::{Draft, Options, Writer};

use super::*;

/// A copy of a session with one call, as the archive keeps it.
fn copy(root: &Path) -> PathBuf {
    let folder = root.join("archive/claude-code/0011223344556677/000002");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.parent().unwrap().join(crate::archive::STATE_FILE), "{}").unwrap();
    let file = folder.join("s.jsonl");
    let call = r#"{"type":"assistant","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T10:00:00Z","cwd":"/srv","version":"2.0.0","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c1","name":"Read","input":{"file_path":"a.rs"}}]}}"#;
    std::fs::write(&file, format!("{call}\n")).unwrap();
    file
}

fn annotate(copy: &Path, annotation: &str) {
    let writer = Writer::open(&annotations_of(copy).unwrap(), Options::default()).unwrap();
    let event = format!(r#"{{"event_type":"annotation","annotation":{annotation}}}"#);
    writer.append(&Draft::from_json(&event).unwrap()).unwrap();
}

#[test]
fn annotations_are_read_with_the_copy_that_they_lie_beside() {
    let root = tempfile::tempdir().unwrap();
    let copy = copy(root.path());
    let before = crate::open(&copy).unwrap();
    assert_eq!(before.session.annotations().count(), 0);
    annotate(&copy, r#"{"phase_type":"explore","tool_call_range":["c1"]}"#);
    annotate(&copy, r#"{"note":"odd"}"#);
    let opened = crate::open(&copy).unwrap();
    assert_eq!(opened.session.len(), before.session.len() + 2);
    let notes = opened.session.annotations().map(|(_, place)| opened.bodies.read(place).unwrap());
    assert_eq!(notes.last().unwrap(), r#"{"note":"odd"}"#);
    let call = opened.session.calls().next().unwrap().1;
    assert_eq!(opened.bodies.read(call.arguments).unwrap(), r#"{"file_path":"a.rs"}"#);
    assert_eq!(opened.files.len(), 2);
}

#[test]
fn only_annotations_are_taken_from_their_log() {
    let root = tempfile::tempdir().unwrap();
    let copy = copy(root.path());
    let path = annotations_of(&copy).unwrap();
    std::fs::write(
        &path,
        "{\"message_id\":\"x\",\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"Hi\"}\nbroken\n",
    )
    .unwrap();
    let before = crate::open_usage(&copy).unwrap();
    let opened = crate::open(&copy).unwrap();
    assert_eq!(opened.session.len(), before.session.len());
    assert!(!opened.session.problems().is_empty(), "what is broken is told");
}

#[test]
fn a_file_that_is_no_copy_has_none() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(annotations_of(&folder.path().join("000001/s.jsonl")), None);
    assert_eq!(annotations_of(&folder.path().join("s.jsonl")), None);
}
