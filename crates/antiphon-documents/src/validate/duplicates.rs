//! Ids that must be unique: those of calls within a session or sub-session; those of sub-sessions,
//! messages and annotations within the document.

use std::collections::BTreeMap;

use super::at::{At, quoted};
use super::document::Document;
use super::{Code, Findings};

pub(super) fn check(document: &Document<'_>, findings: &mut Findings) {
    let root = &document.root;
    for session in &document.sessions {
        unique(&session.calls, "call_id", "a call of this session", findings);
    }
    unique(&root.list("sub_sessions"), "sub_session_id", "a sub-session", findings);
    unique(&root.list("messages"), "message_id", "a message", findings);
    unique(&root.list("phase_annotations"), "annotation_id", "an annotation", findings);
    for (_, session) in document.sub_sessions() {
        if session.id.is_some() && session.id == root.text("session_id") {
            let message = "the sub-session has the id of the session itself";
            findings.error(Code::DuplicateId, session.at.path_of("sub_session_id"), message);
        }
    }
}

fn unique(items: &[At<'_>], key: &str, what: &str, findings: &mut Findings) {
    let mut seen = BTreeMap::new();
    for item in items {
        let Some(id) = item.text(key) else {
            continue;
        };
        if let Some(first) = seen.get(id) {
            let message = format!("{} is already the id of {what}, at {first}", quoted(id));
            findings.error(Code::DuplicateId, item.path_of(key), message);
        } else {
            seen.insert(id, &item.path);
        }
    }
}
