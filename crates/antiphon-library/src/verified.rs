//! Checking whether a session is what was written.
//!
//! An Antiphon log has hashes for that. Another program's session has none, so only its readability
//! is checked.

use std::path::Path;

use antiphon_formats::{Duplicate, Sink};
use antiphon_journal::{Damage, Head, HeadComparison, Log, Report, regular, verify};
use antiphon_model::{Event, Problem, Session, Severity};
use antiphon_sources::{Bundle, Error, LOG_FORMAT};
use serde::Serialize;

use crate::{Store, find_bundle, native};

/// A session that was checked.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerifiedSession {
    /// The session, as it was named.
    pub file: String,
    /// The name of its format, as listed by `antiphon formats`.
    pub format: &'static str,
    /// Whether it is as it was written; for another program's session, whether every line can be
    /// read, and an agent's own file still has everything that was copied from it.
    pub valid: bool,
    /// The number and the hash of the last line, as `n:hash`; null for another program's session.
    pub head: Option<String>,
    /// How the log compares with the head that was given, in words.
    pub against_head: Option<String>,
    /// The number of lines.
    pub lines: u64,
    /// The number of lines with a hash.
    pub sealed: u64,
    /// The number of lines without a hash.
    pub unsealed: u64,
    /// Whether the end of the session is recorded.
    pub ended: bool,
    /// What is wrong.
    pub findings: Vec<VerifyFinding>,
}

/// A place at which a session is not as it should be.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerifyFinding {
    /// How bad it is.
    pub severity: Severity,
    /// What kind of damage it is, in a fixed word such as `torn-line`.
    pub code: &'static str,
    /// The name of the file: a log may have several segments, another session several files.
    pub file: String,
    /// The line in that file, from 1.
    pub line: u64,
    /// The position of the first byte in that file.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
    /// What is wrong, in a sentence.
    pub message: String,
}

/// Checks every line of the session at `path`, which the user named `named`; a log also against a
/// head that was stored elsewhere, and an agent's own file against the copy that `store` has of it.
pub fn verify_session(
    named: &Path,
    path: &Path,
    head: Option<Head>,
    store: Option<&Store>,
) -> Result<VerifiedSession, Error> {
    let file = named.display().to_string();
    if let Some(bundle) = find_bundle(path)? {
        let mut verified = of_bundle(file, &bundle);
        if let Some(lost) = store.and_then(|store| lost_since_copied(path, store)) {
            verified.valid = false;
            verified.findings.push(lost);
        }
        return Ok(verified);
    }
    let log = Log::find(path)?;
    Ok(of_log(file, &log, &verify(&log, head)?))
}

fn of_log(file: String, log: &Log, report: &Report) -> VerifiedSession {
    let finding = |damage: &Damage| VerifyFinding {
        severity: damage.kind.severity(),
        code: damage.kind.code(),
        file: segment_name(log, damage),
        line: damage.line,
        offset: damage.offset,
        len: damage.len,
        message: damage.message(),
    };
    VerifiedSession {
        file,
        format: LOG_FORMAT,
        valid: report.is_valid(),
        head: report.summary.head.map(|Head { n, hash }| format!("{n}:{hash}")),
        against_head: report.against.map(in_words),
        lines: report.summary.lines,
        sealed: report.summary.sealed,
        unsealed: report.summary.unsealed,
        ended: report.ended,
        findings: report.findings.iter().map(finding).collect(),
    }
}

fn of_bundle(file: String, bundle: &Bundle) -> VerifiedSession {
    let mut check = Check::default();
    bundle.events(&mut check);
    let files: Vec<String> = bundle.files().map(file_name).collect();
    let lines: usize = bundle.texts().map(|text| text.lines().count()).sum();
    let finding = |problem: Problem| VerifyFinding {
        severity: problem.severity,
        code: problem.code,
        file: files.get(problem.place.stream as usize).cloned().unwrap_or_default(),
        line: problem.line,
        offset: problem.place.offset,
        len: u64::from(problem.place.len),
        message: problem.message,
    };
    VerifiedSession {
        file,
        format: bundle.format(),
        valid: check.problems.iter().all(|problem| problem.severity < Severity::Error),
        head: None,
        against_head: None,
        lines: lines as u64,
        sealed: 0,
        unsealed: lines as u64,
        ended: check.session.info().ended,
        findings: check.problems.into_iter().map(finding).collect(),
    }
}

/// What an agent's own file lacks of what was copied from it. A file only grows, so it begins with
/// its copy; one that does not was truncated or rewritten.
fn lost_since_copied(path: &Path, store: &Store) -> Option<VerifyFinding> {
    let copy = find_bundle(&store.copy_of(path)?).ok()??;
    if !copy.is_stream() {
        return None;
    }
    let (own, copied) = (regular::read(path).ok()?, native(&copy).ok()?);
    if own.starts_with(&copied) {
        return None;
    }
    let offset = own.iter().zip(&copied).take_while(|(own, copied)| own == copied).count();
    let same = own.get(..offset).unwrap_or_default();
    let line = same.iter().filter(|&&byte| byte == b'\n').count() + 1;
    Some(VerifyFinding {
        severity: Severity::Error,
        code: "differs-from-copy",
        file: file_name(path),
        line: line as u64,
        offset: offset as u64,
        len: (copied.len() - offset) as u64,
        message:
            "from here on, the file no longer has what was copied from it; the copy still does"
                .to_owned(),
    })
}

fn segment_name(log: &Log, damage: &Damage) -> String {
    let path = log.segments().nth(damage.stream as usize);
    file_name(&path.unwrap_or_else(|| log.path().to_owned()))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn in_words(against: HeadComparison) -> String {
    match against {
        HeadComparison::Matches { newer: 0 } => "the head matches".to_owned(),
        HeadComparison::Matches { newer } => {
            format!("the head matches; {newer} lines have been added since")
        }
        HeadComparison::Cut { missing } => {
            format!("truncated: the last {missing} lines up to the head are missing")
        }
        HeadComparison::Differs => "the head does not match: the log was rewritten".to_owned(),
    }
}

/// Collects the problems of a session.
#[derive(Default)]
struct Check {
    session: Session,
    problems: Vec<Problem>,
}

impl<'a> Sink<'a> for Check {
    fn event(&mut self, event: Event<'a>) {
        self.session.apply(&event);
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn duplicate(&mut self, _: Duplicate) {}
}
