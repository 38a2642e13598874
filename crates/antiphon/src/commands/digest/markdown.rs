//! A digest as Markdown, to be pasted into a chat or a page.

use std::fmt::Write as _;

use antiphon_model::{Span, TimeRange, Zone};
use antiphon_pages::{code_span, escape_markdown};
use antiphon_views::{Digest, DigestedSession};

use super::text::{first_line, money, project_name, totals};
use crate::terminal::{clip, duration};

/// The widest line of a prompt, a command or an answer.
const WIDTH: usize = 160;

/// So many files, commits and failures of a session are named.
const SHOWN: usize = 20;

pub(super) fn write(digest: &Digest, zone: &Zone, range: &TimeRange) -> String {
    let since = range.since.and_then(|since| zone.span_name(since, Span::Day));
    let mut out = match since {
        Some(day) => format!("# Digest since {day}\n"),
        None => "# Digest\n".to_owned(),
    };
    for project in &digest.projects {
        let _ = write!(out, "\n## {}\n\n", escape_markdown(project_name(project)));
        project.sessions.iter().for_each(|session| push_session(&mut out, session));
    }
    let _ = writeln!(out, "\nTotal: {}", totals(digest));
    out
}

fn push_session(out: &mut String, session: &DigestedSession) {
    let line = |text: &str| escape_markdown(&clip(first_line(text), WIDTH));
    let prompt = session.prompt.as_deref().map_or_else(|| "(no prompt)".to_owned(), line);
    let took = session.wall_ms.map(|millis| format!(", {}", duration(millis))).unwrap_or_default();
    let status = session.status.as_str();
    let _ = writeln!(out, "- **{prompt}** ({status}{took}, {})", money(&session.cost));
    for file in session.files.iter().take(SHOWN) {
        let path = code_span(&file.path);
        let _ = writeln!(out, "  - {path} +{} -{}", file.added, file.removed);
    }
    push_more(out, session.files.len(), "files");
    for commit in session.commits.iter().take(SHOWN) {
        let _ = writeln!(out, "  - commit {} {}", code_span(&commit.sha), line(&commit.subject));
    }
    push_more(out, session.commits.len(), "commits");
    for failure in session.failures.iter().take(SHOWN) {
        let text = clip(first_line(&failure.text), WIDTH);
        let _ = writeln!(out, "  - failed: {}", code_span(&text));
    }
    push_more(out, session.failures.len(), "failed calls");
    if let Some(answer) = &session.last_answer {
        let _ = writeln!(out, "  - “{}”", line(&answer.text));
    }
}

fn push_more(out: &mut String, all: usize, nouns: &str) {
    if let Some(left) = all.checked_sub(SHOWN).filter(|left| *left > 0) {
        let _ = writeln!(out, "  - … and {left} more {nouns}");
    }
}
