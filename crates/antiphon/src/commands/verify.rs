//! `antiphon verify`: is every line what was written, and is none missing?

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
        return Err(UserError::usage("`--head` belongs to one session").into());
    }
    let mut reports = Vec::new();
    for path in &args.sessions {
        let log = find(path)?;
        let report = verify(&log, head)?;
        reports.push((path, log, report));
    }
    let valid = reports.iter().all(|(_, _, report)| report.is_valid());
    if args.json {
        let rows: Vec<_> = reports.iter().map(|(path, log, r)| row(path, log, r)).collect();
        terminal::json(&rows)?;
    } else {
        let mut page = Page::new();
        for (path, log, report) in &reports {
            print(&mut page, path, log, report)?;
        }
        page.finish()?;
    }
    Ok(if valid { Outcome::Done } else { Outcome::No })
}

fn parse_head(text: &str) -> anyhow::Result<Head> {
    let parsed = text.split_once(':').and_then(|(n, hash)| {
        Some(Head { n: n.parse().ok()?, hash: Hash::parse(hash.as_bytes())? })
    });
    parsed.ok_or_else(|| {
        UserError::usage(format!("`{text}` is no head"))
            .hint("a head is `n:hash` as `antiphon verify` prints it")
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
        format: antiphon_library::LOG_FORMAT,
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

fn print(page: &mut Page, path: &Path, log: &Log, report: &Report) -> anyhow::Result<()> {
    let lines = usize::try_from(report.summary.lines).unwrap_or(usize::MAX);
    let (style, word) =
        if report.is_valid() { (Style::Good, "ok      ") } else { (Style::Bad, "damaged ") };
    page.add(style, word).plain(&path.display().to_string());
    page.faint(&format!("  {}", count(lines, "line")));
    if report.summary.sealed == 0 && report.summary.unsealed > 0 {
        page.faint(", without seals: only its syntax can be checked");
    }
    if !report.ended {
        page.faint(", open");
    }
    page.end()?;
    for damage in &report.findings {
        let style = match damage.kind.severity() {
            Severity::Error => Style::Bad,
            Severity::Warning => Style::Faint,
        };
        let place = format!("{}:{}", segment_name(log, damage), damage.line);
        page.plain("  ").add(style, &format!("{:<13}", damage.kind.code())).plain(&place);
        page.plain(": ").plain(&damage.message()).end()?;
    }
    if let Some(against) = report.against {
        page.plain("  ").plain(&against_text(against)).end()?;
    }
    if let Some(head) = report.summary.head {
        page.faint("  head ").plain(&head_text(head)).end()?;
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
            format!("the head matches; {newer} lines were added since")
        }
        Against::Cut { missing } => {
            format!("cut: the last {missing} lines before the head are gone")
        }
        Against::Differs => "the head does not match: the log was written anew".to_owned(),
    }
}
