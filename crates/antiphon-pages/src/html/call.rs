//! A call: one line, with the rest folded behind it. Edits are diffs.

use antiphon_model::CallIx;
use antiphon_views::{CallStatus, duration};

use super::head::push_counts;
use crate::call::{FileDiff, ShownCall};
use crate::content::Part;
use crate::text::Clean;

/// A diff of more lines than this is folded.
const OPEN_LINES: usize = 60;

/// Begins a call; [`push_call_end`] ends it, behind the agents that it created.
pub(super) fn push_call(out: &mut String, call: &ShownCall, ix: CallIx, creates: usize) {
    let lines: usize = call.files.iter().map(|file| file.diff.as_str().lines().count()).sum();
    let (class, anchor) = match call.status {
        CallStatus::Failed => (" failed", format!(" id=\"c{}\"", ix.index())),
        CallStatus::Success if !call.files.is_empty() => (" edit", String::new()),
        CallStatus::Success => ("", String::new()),
        CallStatus::Open => (" open", String::new()),
    };
    let open = if (1..=OPEN_LINES).contains(&lines) { " open" } else { "" };
    out.push_str(&format!(
        "<details class=\"call{class}\"{anchor}{open}><summary><span class=\"tool\">"
    ));
    call.tool.push_html(out);
    out.push_str("</span> <code class=\"what\">");
    call.summary.push_html(out);
    out.push_str("</code><span class=\"side\">");
    push_side(out, call);
    out.push_str("</span></summary>\n<div class=\"body\">\n");
    for file in &call.files {
        push_diff(out, file, call.files.len() > 1);
    }
    if creates == 0 {
        push_arguments(out, call);
        push_parts(out, &call.results);
    }
}

pub(super) fn push_call_end(out: &mut String) {
    out.push_str("</div></details>\n");
}

fn push_side(out: &mut String, call: &ShownCall) {
    let (added, removed) = call
        .files
        .iter()
        .fold((0, 0), |(added, removed), file| (added + file.added, removed + file.removed));
    if !call.files.is_empty() {
        push_counts(out, added, removed);
    }
    match call.status {
        CallStatus::Failed => out.push_str(" <b class=\"bad\">failed</b>"),
        CallStatus::Open => out.push_str(" no result"),
        CallStatus::Success => {}
    }
    // What takes no time is not worth a number.
    if let Some(millis) = call.millis.filter(|millis| *millis >= 1000) {
        out.push_str(&format!(" {}", duration(millis)));
    }
}

fn push_diff(out: &mut String, file: &FileDiff, has_name: bool) {
    if has_name {
        out.push_str("<p class=\"file\"><code>");
        file.path.push_html(out);
        out.push_str("</code></p>\n");
    }
    if file.diff.is_empty() {
        return;
    }
    out.push_str("<pre class=\"diff\">");
    for line in file.diff.as_str().split_inclusive('\n') {
        let (start, end) = match line.as_bytes().first() {
            Some(b'+') => ("<ins>", "</ins>"),
            Some(b'-') => ("<del>", "</del>"),
            Some(b'@') => ("<b>", "</b>"),
            Some(_) | None => ("<span>", "</span>"),
        };
        out.push_str(start);
        crate::text::push_html(out, line);
        out.push_str(end);
    }
    out.push_str("</pre>\n");
}

fn push_arguments(out: &mut String, call: &ShownCall) {
    // What the line above says whole is not said again.
    let rest = call.arguments.iter().filter(|(_, value)| *value != call.summary);
    let rest: Vec<&(Clean, Clean)> = rest.collect();
    if rest.is_empty() {
        return;
    }
    out.push_str("<dl class=\"arguments\">\n");
    for (name, value) in rest {
        out.push_str("<dt>");
        name.push_html(out);
        out.push_str("</dt><dd><pre>");
        value.push_html(out);
        out.push_str("</pre></dd>\n");
    }
    out.push_str("</dl>\n");
}

/// Results, or other parts that are not written by the agent.
pub(super) fn push_parts(out: &mut String, parts: &[Part]) {
    for part in parts {
        match part {
            Part::Text(text) => {
                out.push_str("<pre class=\"result\">");
                text.push_html(out);
                out.push_str("</pre>\n");
            }
            Part::Picture(Some(address)) => {
                out.push_str(&format!("<img alt=\"A picture\" src=\"{address}\">\n"));
            }
            Part::Picture(None) => out.push_str("<p class=\"note\">[a picture, left out]</p>\n"),
        }
    }
}
