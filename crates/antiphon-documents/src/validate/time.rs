//! Starts, ends and durations. Times are often rounded to seconds and durations to milliseconds, so
//! a difference of a second means nothing.

use super::at::At;
use super::document::Document;
use super::{Code, Findings};

const ROUNDING_MS: i64 = 1000;

pub(super) fn check(document: &Document<'_>, findings: &mut Findings) {
    let root = &document.root;
    if is_terminal(root.text("status")) && root.member("completed_at").is_none() {
        let mut message = "the session has ended but does not say when".to_owned();
        if root.member("updated_at").is_some() {
            message.push_str("; `antiphon migrate` takes it from the `updated_at` of version 2");
        }
        findings.error(Code::MissingEnd, root.path_of("completed_at"), message);
    }
    let whole = interval(root, "created_at", "completed_at", findings);
    if let Some(summary) = root.member("summary") {
        duration(&summary, "total_duration_ms", whole, findings);
    }
    for (_, sub) in document.sub_sessions() {
        if is_terminal(sub.at.text("status")) && sub.at.member("completed_at").is_none() {
            let message = "the sub-session has ended but does not say when";
            findings.warning(Code::MissingEnd, sub.at.path_of("completed_at"), message);
        }
        interval(&sub.at, "started_at", "completed_at", findings);
    }
    for (_, call) in document.calls() {
        let output = call.member("output");
        let status = output.as_ref().and_then(|output| output.text("status"));
        if is_terminal(status)
            && call.member("ended_at").is_none()
            && call.member("duration_ms").is_none()
        {
            let message = "the call has ended but says neither when nor how long it took";
            findings.warning(Code::MissingEnd, call.path_of("ended_at"), message);
        }
        let took = interval(call, "started_at", "ended_at", findings);
        duration(call, "duration_ms", took, findings);
    }
}

/// The standards' words for a finished state, and the words that are used instead of them.
fn is_terminal(status: Option<&str>) -> bool {
    matches!(
        status,
        Some("success" | "failed" | "completed" | "error" | "partial" | "cancelled" | "aborted")
    )
}

/// The time from start to end, if both are known and in order.
fn interval(at: &At<'_>, start: &str, end: &str, findings: &mut Findings) -> Option<i64> {
    let took = at.time(end)?.since(at.time(start)?);
    if took >= 0 {
        return Some(took);
    }
    let path = at.path_of(end);
    let message = format!("`{end}` is {} before `{start}`", in_words(took.saturating_neg()));
    // A clock may be set back during a recording; the order of calls does not depend on it.
    findings.warning(Code::EndsBeforeStart, path, message);
    None
}

fn duration(at: &At<'_>, key: &str, took: Option<i64>, findings: &mut Findings) {
    let Some(declared) = at.millis(key) else {
        return;
    };
    let path = at.path_of(key);
    if declared < 0 {
        findings.error(Code::OutOfRange, path, format!("`{key}` is below 0"));
    } else if let Some(took) = took
        && declared.saturating_sub(took).saturating_abs() > ROUNDING_MS
    {
        let (declared, took) = (in_words(declared), in_words(took));
        let message = format!("`{key}` is {declared}, but start to end is {took}");
        findings.warning(Code::DurationDiffers, path, message);
    }
}

fn in_words(millis: i64) -> String {
    match millis {
        0..1000 => format!("{millis} ms"),
        _ if millis % 1000 == 0 => format!("{} s", millis / 1000),
        _ => format!("{}.{:03} s", millis / 1000, millis % 1000),
    }
}
