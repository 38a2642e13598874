//! The range of an annotation: from an existing call to a later one. Annotations may overlap, leave
//! calls out, and extend into sub-sessions.

use super::at::{At, quoted};
use super::document::{CallPlace, Document};
use super::{Code, Findings};

pub(super) fn check(document: &Document<'_>, findings: &mut Findings) {
    for annotation in document.root.list("phase_annotations") {
        let Some(range) = annotation.member("tool_call_range") else {
            continue;
        };
        let sub = annotation.text("sub_session_id").and_then(|id| document.sub_session(id));
        let start = end_of(document, sub, &range, "start_call_id", findings);
        let end = end_of(document, sub, &range, "end_call_id", findings);
        if let (Some(start), Some(end)) = (start, end)
            && start.session == end.session
            && start.call > end.call
        {
            let message = "the range ends before it starts: its last call comes before its first";
            findings.error(Code::ReversedRange, range.path, message);
        }
    }
}

/// The call that one end of the range names: in the sub-session that the annotation names,
/// otherwise in the main session, otherwise in any sub-session.
fn end_of(
    document: &Document<'_>,
    sub: Option<usize>,
    range: &At<'_>,
    key: &str,
    findings: &mut Findings,
) -> Option<CallPlace> {
    let id = range.text(key)?;
    let call = match sub {
        Some(sub) => document.call_in(sub, id),
        None => document.call_anywhere(id),
    };
    if call.is_none() {
        let message = format!("there is no call {}", quoted(id));
        findings.error(Code::UnknownCall, range.path_of(key), message);
    }
    call
}
