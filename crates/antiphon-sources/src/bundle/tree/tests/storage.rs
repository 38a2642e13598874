//! Sessions that share folders, for tests.

use std::fs;
use std::path::{Path, PathBuf};

use antiphon_model::Session;

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

pub(crate) fn write(root: &Path, name: &str, text: &str) -> PathBuf {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

/// Checks that a session is the main one of [`storage`], with its sub-agent and nothing else.
pub(crate) fn check_session(format_and_name: (&str, &str), session: &Session) {
    assert_eq!(format_and_name, ("opencode", "ses_main"));
    assert!(session.problems().is_empty());
    let said: Vec<&str> = session.entries().map(|entry| entry.id()).collect();
    assert!(said.contains(&"msg_a") && said.contains(&"msg_c") && !said.contains(&"msg_other"));
    let agents: Vec<_> = session.agents().map(|(ix, _)| session.agent_id(ix)).collect();
    assert_eq!(agents, ["main", "ses_child"]);
    let (_, child) = session.agents().nth(1).unwrap();
    assert!(child.parent.agent().is_some());
}
