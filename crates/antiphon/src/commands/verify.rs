//! `antiphon verify`: is every line what was written, and is none missing?
//!
//! A log of ours has hashes that answer this. Another program's session has none ([`foreign`]):
//! there only what can be read is checked, and it is said that this is all.

mod foreign;

use std::path::Path;

use antiphon_journal::{Against, Damage, Hash, Head, Log, Report, verify};
use antiphon_model::Severity;
use serde::Serialize;

use crate::cli;
use crate::failure::{Outcome, UserError};
use crate::opened::find;
use crate::terminal::{self, Page, Style, count};

pub(crate) fn run(args: &cli::Verify) -> anyhow::Result<Outcome> {
    let head = args.head.as_deref().map(parse_head).transpose()?;
    if head.is_some() && args.sessions.len() > 1 {
        return Err(UserError::usage("--head takes exactly one session").into());
    }
    let mut rows = Vec::new();
    for path in &args.sessions {
        let foreign = foreign::check(path)?;
        if let (Some(row), Some(_)) = (&foreign, head) {
            let what = format!("{} sessions have no hashes, so there is no head", row.format);
            return Err(UserError::usage(what).into());
        }
        rows.push(match foreign {
            Some(row) => row,
            None => {
                let log = find(path)?;
                row(path, &log, &verify(&log, head)?)
            }
        });
    }
    if args.json {
        terminal::json(&rows)?;
    } else {
        let mut page = Page::new();
        rows.iter().try_for_each(|row| print(&mut page, row))?;
        page.finish()?;
    }
    Ok(if rows.iter().all(|row| row.valid) { Outcome::Done } else { Outcome::No })
}

fn parse_head(text: &str) -> anyhow::Result<Head> {
    let parsed = text.split_once(':').and_then(|(n, hash)| {
        Some(Head { n: n.parse().ok()?, hash: Hash::parse(hash.as_bytes())? })
    });
    parsed.ok_or_else(|| {
        UserError::usage(format!("`{text}` is not a head"))
            .hint("a head has the form `n:hash`, as printed by `antiphon verify`")
            .into()
    })
}

#[derive(Debug, Serialize)]
struct Row {
    file: String,
    format: &'static str,
    valid: bool,
    /// `n:hash` of the last line.
    head: Option<String>,
    against_head: Option<String>,
    lines: u64,
    sealed: u64,
    unsealed: u64,
    ended: bool,
    findings: Vec<Finding>,
}

#[derive(Debug, Serialize)]
struct Finding {
    severity: Severity,
    code: &'static str,
    /// The segment, where the log has several.
    file: String,
    line: u64,
    offset: u64,
    len: u64,
    message: String,
}

fn row(path: &Path, log: &Log, report: &Report) -> Row {
    let file = |damage: &Damage| segment_name(log, damage);
    Row {
        file: path.display().to_string(),
        format: antiphon_sources::LOG_FORMAT,
        valid: report.is_valid(),
        head: report.summary.head.map(head_text),
        against_head: report.against.map(against_text),
        lines: report.summary.lines,
        sealed: report.summary.sealed,
        unsealed: report.summary.unsealed,
        ended: report.ended,
        findings: report
            .findings
            .iter()
            .map(|damage| Finding {
                severity: damage.kind.severity(),
                code: damage.kind.code(),
                file: file(damage),
                line: damage.line,
                offset: damage.offset,
                len: damage.len,
                message: damage.message(),
            })
            .collect(),
    }
}

fn print(page: &mut Page, row: &Row) -> anyhow::Result<()> {
    let lines = usize::try_from(row.lines).unwrap_or(usize::MAX);
    let (style, word) =
        if row.valid { (Style::Good, "ok      ") } else { (Style::Bad, "damaged ") };
    page.add(style, word).plain(&row.file);
    page.faint(&format!("  {}", count(lines, "line")));
    if row.format != antiphon_sources::LOG_FORMAT {
        let format = row.format;
        page.faint(&format!(
            " in {format} format (without a chain of hashes: unreadable lines are listed, but \
             changes cannot be detected)"
        ));
    } else if row.sealed == 0 && row.unsealed > 0 {
        page.faint(" (not sealed: only the syntax can be checked)");
    }
    if !row.ended {
        page.faint(", open");
    }
    page.end()?;
    for finding in &row.findings {
        let style = match finding.severity {
            Severity::Error => Style::Bad,
            Severity::Warning => Style::Faint,
        };
        let place = format!("{}:{}", finding.file, finding.line);
        page.plain("  ").add(style, &format!("{:<13}", finding.code)).plain(&place);
        page.plain(": ").plain(&finding.message).end()?;
    }
    if let Some(against) = &row.against_head {
        page.plain("  ").plain(against).end()?;
    }
    if let Some(head) = &row.head {
        page.faint("  head ").plain(head).end()?;
    }
    Ok(())
}

fn segment_name(log: &Log, damage: &Damage) -> String {
    let path = log.segments().nth(damage.stream as usize);
    let path = path.unwrap_or_else(|| log.path().to_owned());
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn head_text(head: Head) -> String {
    format!("{}:{}", head.n, head.hash)
}

fn against_text(against: Against) -> String {
    match against {
        Against::Matches { newer: 0 } => "the head matches".to_owned(),
        Against::Matches { newer } => {
            format!("the head matches; {newer} lines have been added since")
        }
        Against::Cut { missing } => {
            format!("truncated: the last {missing} lines up to the head are missing")
        }
        Against::Differs => "the head does not match: the log was rewritten".to_owned(),
    }
}
