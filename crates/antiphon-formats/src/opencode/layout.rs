//! Where the files of a session are, if it is not a single document.
//!
//! ```text
//! session/<project>/<session>.json        session/info/<session>.json
//! message/<session>/<message>.json        session/message/<session>/<message>.json
//! part/<message>/<part>.json              session/part/<session>/<message>/<part>.json
//! ```
//!
//! The older layout is on the right. All sessions of a machine share these folders, whose root is
//! two folders above the session's file. The children of a session from a database are in a folder
//! of its name.

use crate::{Lead, spread};

const ENDING: &str = ".json";

/// How many folders the root is above a session's file.
pub(super) fn above(path: &str) -> usize {
    let mut parts = path.rsplit('/');
    let (_, _, above) = (parts.next(), parts.next(), parts.next());
    if above == Some("session") { 2 } else { 0 }
}

/// The folders of a session's messages and of a message's parts. They are named after its id, and
/// so is its file; if the file has another name, the id counts as well.
pub(super) fn leads(name: &str, head: &mut dyn FnMut() -> String) -> Vec<Lead> {
    let parts: Vec<&str> = name.split('/').collect();
    let (within, file) = match parts.as_slice() {
        ["session", "info", file] => ("session/message".to_owned(), file),
        ["session", "message", session, file] => (format!("session/part/{session}"), file),
        ["session", _, file] => ("message".to_owned(), file),
        ["message", _, file] => ("part".to_owned(), file),
        _ => return Vec::new(),
    };
    let stem = file.strip_suffix(ENDING).unwrap_or(file).to_owned();
    let head = head();
    let members = spread::members(&[&head]);
    let id = members.iter().find(|(key, _)| key == "id").map(|(_, id)| id.trim_matches('"'));
    let other = id.filter(|id| *id != stem).map(str::to_owned);
    let lead = |named| Lead { within: within.clone(), named };
    [Some(stem), other].into_iter().flatten().map(lead).collect()
}

/// Another session belongs here if it names this one as its parent.
pub(super) fn belongs(stem: &str, name: &str, head: &str) -> bool {
    if let Some((folder, file)) = name.split_once('/') {
        let is_session = file.is_empty() || crate::layout::named(file, "ses", ENDING).is_some();
        return folder == stem && stem.starts_with("ses") && is_session && !file.contains('/');
    }
    name.ends_with(ENDING) && made_by(head).is_some_and(|parent| parent == stem)
}

/// The parent of the session whose file begins like this.
pub(super) fn made_by(head: &str) -> Option<String> {
    if !head.contains("\"parentID\"") {
        return None;
    }
    let members = spread::members(&[head]);
    let parent = members.iter().find(|(key, _)| key == "parentID").map(|(_, value)| value);
    parent.map(|parent| parent.trim_matches('"').to_owned())
}

/// The session whose file this is: in a project's folder, or in the folder of all sessions' facts.
pub(super) fn session(path: &str) -> Option<&str> {
    let mut folders = path.rsplit('/').skip(1);
    let project = folders.next();
    let is_session = match (project, folders.next()) {
        (Some(_), Some("session")) => true,
        // An export, a session from a database, or one below the folder of all sessions.
        (_, None) => true,
        _ => false,
    };
    crate::layout::named(path, "ses", ENDING).filter(|_| is_session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_known_by_where_its_file_is() {
        let known = [
            "shop/ses_1.json",
            "info/ses_1.json",
            "shop/storage/session/info/ses_1.json",
            "session/shop/ses_1.json",
            "ses_1.json",
        ];
        for path in known {
            assert_eq!(session(path), Some("ses_1"), "{path}");
        }
        let others = [
            "message/ses_1/msg_1.json",
            "shop/storage/message/ses_1/msg_1.json",
            "shop/storage/session/part/ses_1/msg_1/prt_1.json",
            "shop/storage/session_diff/ses_1.json",
            "shop/ses_1.json.tmp",
        ];
        for path in others {
            assert_eq!(session(path), None, "{path}");
        }
    }

    #[test]
    fn a_file_leads_to_the_folders_that_are_named_after_it_or_by_its_id() {
        let lead = |name: &str, head: &str| -> Vec<String> {
            let leads = leads(name, &mut || head.to_owned());
            leads.iter().map(|it| format!("{}/{}", it.within, it.named)).collect()
        };
        let id = r#"{"id": "other", "ti"#;
        assert_eq!(lead("session/shop/ses_1.json", id), ["message/ses_1", "message/other"]);
        assert_eq!(lead("session/info/ses_1.json", ""), ["session/message/ses_1"]);
        assert_eq!(lead("message/ses_1/msg_1.json", ""), ["part/msg_1"]);
        let older = lead("session/message/ses_1/msg_1.json", "");
        assert_eq!(older, ["session/part/ses_1/msg_1"]);
        let nowhere = leads("part/msg_1/prt_1.json", &mut || panic!("nobody asks a part"));
        assert!(nowhere.is_empty());
    }

    #[test]
    fn the_root_is_two_folders_above_a_sessions_own() {
        assert_eq!(above("/data/storage/session/shop/ses_1.json"), 2);
        assert_eq!(above("/data/storage/session/info/ses_1.json"), 2);
        assert_eq!(above("/data/exports/ses_1.json"), 0);
        assert_eq!(above("ses_1.json"), 0);
    }
}
