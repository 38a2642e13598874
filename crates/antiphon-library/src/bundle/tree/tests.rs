use std::fs;

use crate::archive::Source;
use crate::{Bundle, Key, Store, open};

use super::*;

/// A machine's OpenCode folders, of a session with a child and of one that has nothing to do with
/// them.
pub(crate) fn storage(root: &Path, is_old: bool) -> PathBuf {
    let session = |id: &str, parent: &str| {
        let folder = if is_old { "session/info" } else { "session/shop" };
        let parent =
            if parent.is_empty() { String::new() } else { format!(r#""parentID": "{parent}","#) };
        let text = format!(
            r#"{{"id": "{id}", "projectID": "shop", {parent} "title": "T", "version": "0.9",
              "time": {{"created": 1759300000000, "updated": 1759300000001}}}}"#
        );
        write(root, &format!("{folder}/{id}.json"), &text)
    };
    let said = |session: &str, id: &str, role: &str, part: &str| {
        let (messages, parts) = match is_old {
            true => (format!("session/message/{session}"), format!("session/part/{session}/{id}")),
            false => (format!("message/{session}"), format!("part/{id}")),
        };
        let tokens = r#""tokens": {"input": 3, "output": 2}, "modelID": "m""#;
        let text = format!(
            r#"{{"id": "{id}", "sessionID": "{session}", "role": "{role}", {tokens},
              "time": {{"created": 1759300000002}}}}"#
        );
        write(root, &format!("{messages}/{id}.json"), &text);
        write(root, &format!("{parts}/prt_{id}.json"), part);
    };
    session("ses_other", "");
    said("ses_other", "msg_other", "user", r#"{"type": "text", "text": "Not mine"}"#);
    session("ses_child", "ses_main");
    said("ses_child", "msg_c", "assistant", r#"{"type": "text", "text": "Done"}"#);
    said("ses_main", "msg_a", "user", r#"{"type": "text", "text": "Do it"}"#);
    let task = r#"{"type": "tool", "callID": "c1", "tool": "task", "state": {"status": "completed",
      "input": {"description": "Do"}, "output": "Done", "metadata": {"sessionId": "ses_child"}}}"#;
    said("ses_main", "msg_b", "assistant", task);
    session("ses_main", "")
}

fn write(root: &Path, name: &str, text: &str) -> PathBuf {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn check(main: &Path) {
    let opened = open(main).unwrap();
    assert_eq!((opened.format, opened.name.as_str()), ("opencode", "ses_main"));
    assert!(opened.session.problems().is_empty());
    let session = &opened.session;
    let said: Vec<&str> = session.entries().map(|entry| entry.id()).collect();
    assert!(said.contains(&"msg_a") && said.contains(&"msg_c") && !said.contains(&"msg_other"));
    let agents: Vec<_> = session.agents().map(|(ix, _)| session.agent_id(ix)).collect();
    assert_eq!(agents, ["main", "ses_child"]);
    let (_, child) = session.agents().nth(1).unwrap();
    assert!(child.parent.agent().is_some());
}

#[test]
fn a_session_is_found_in_the_folders_that_all_share() {
    for is_old in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        check(&storage(&folder.path().join("storage"), is_old));
    }
}

#[test]
fn names_are_below_the_root_and_a_copy_is_the_same_session() {
    for is_old in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let file = storage(&folder.path().join("storage"), is_old);
        let (format, members) = Bundle::members(&file, Beside::All).unwrap().unwrap();
        assert_eq!((format, members.len()), ("opencode", 2 + 3 + 3));
        assert!(members.iter().all(|member| !member.name.contains("..")));
        assert!(!members[0].name.starts_with('/') && members[0].name.ends_with("/ses_main.json"));
        let store = Store::at(folder.path().join("store"));
        let source = Source::new("opencode", "ses_main".to_owned(), file);
        store.archive(&source, None).unwrap();
        let kept = store.archive_folder("opencode", &Key::of("opencode", "ses_main"));
        fs::remove_dir_all(folder.path().join("storage")).unwrap();
        check(&crate::archive::main_file(&kept).unwrap());
    }
}

#[test]
fn what_a_file_says_is_never_a_way_out_of_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("a/storage");
    let main = storage(&root, false);
    write(&folder.path().join("a"), "secret/x.json", r#"{"role": "user", "id": "x"}"#);
    let text = fs::read_to_string(&main).unwrap().replace("\"ses_main\"", "\"../../secret\"");
    fs::write(&main, text).unwrap();
    let (_, members) = Bundle::members(&main, Beside::All).unwrap().unwrap();
    let root = root.canonicalize().unwrap();
    assert!(members.iter().all(|it| it.path.canonicalize().unwrap().starts_with(&root)));
}
