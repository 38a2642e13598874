//! The calls of each session: whether each has a category, and whether they are in the order in
//! which they began.

use super::at::{counted, quoted};
use super::document::{Document, Part};
use super::{Code, Findings};

pub(super) fn check(document: &Document<'_>, findings: &mut Findings) {
    for session in &document.sessions {
        for call in &session.calls {
            if call.member("tool_category").is_none() {
                let message = "`tool_category` is missing; readers must guess it from the tool";
                findings.warning(Code::MissingCategory, call.path_of("tool_category"), message);
            }
        }
        order(session, findings);
    }
}

/// At most one finding per session: where one call is out of order, many are.
fn order(session: &Part<'_>, findings: &mut Findings) {
    let mut latest = None;
    let mut first = None;
    let mut count = 0;
    for call in &session.calls {
        let Some(started) = call.time("started_at") else {
            continue;
        };
        if latest.is_some_and(|latest| started < latest) {
            count += 1;
            first = first.or(Some(call));
        }
        latest = latest.max(Some(started));
    }
    let Some(first) = first else {
        return;
    };
    let id = quoted(first.text("call_id").unwrap_or("?"));
    let mut message = format!("{id} began before a call that is listed before it");
    if count > 1 {
        message = format!(
            "{} began before a call that is listed before them; the first is {id}",
            counted(count, "call")
        );
    }
    findings.warning(Code::CallsOutOfOrder, first.path_of("started_at"), message);
}
