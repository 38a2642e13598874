//! What some sessions did in a time: by project, each session in a few facts.

use std::collections::BTreeSet;

use antiphon_model::{BodyError, Status, TimeRange, Timestamp};
use serde::Serialize;

use crate::{
    ChangedFile, Commit, CostFigures, EditLog, FailedCall, LastAnswer, Reading, Totals, changes,
    commits, failures, last_answer, prompts,
};

/// What sessions did, by project.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Digest {
    /// The projects, the one with the latest session first.
    pub projects: Vec<DigestedProject>,
    /// The sums over all of them.
    pub totals: DigestTotals,
}

/// What was done in a project.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DigestedProject {
    /// The folder of the project; null if sessions do not say where they worked.
    pub project: Option<String>,
    /// Its sessions, the earliest first.
    pub sessions: Vec<DigestedSession>,
}

/// What a session did in the time that was asked for.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DigestedSession {
    /// The id of the session.
    pub id: String,
    /// The program that ran it.
    pub agent: Option<String>,
    /// What the person said first; null if they said nothing.
    pub prompt: Option<String>,
    /// How many prompts there were.
    pub prompts: usize,
    /// When it began, or the first event in that time.
    pub started_at: Option<Timestamp>,
    /// How it stands.
    pub status: Status,
    /// The files that edits changed, in the order of the first change.
    pub files: Vec<ChangedFile>,
    /// The commits that it made.
    pub commits: Vec<Commit>,
    /// The calls that failed.
    pub failures: Vec<FailedCall>,
    /// What the main agent said last; null if it said nothing.
    pub last_answer: Option<LastAnswer>,
    /// The time from the first event to the last, in milliseconds; null if events have no times.
    pub wall_ms: Option<i64>,
    #[serde(flatten)]
    pub cost: CostFigures,
}

/// All sessions together.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DigestTotals {
    /// The number of sessions.
    pub sessions: usize,
    /// The number of files that were changed, each counted once.
    pub files: usize,
    /// The number of lines that were added.
    pub added: usize,
    /// The number of lines that were removed.
    pub removed: usize,
    /// The number of commits.
    pub commits: usize,
    /// The number of calls that failed.
    pub failures: usize,
    #[serde(flatten)]
    pub cost: CostFigures,
}

/// What only the code that opened a session knows about it.
#[derive(Debug, Clone, Copy)]
pub struct DigestSubject<'a> {
    pub session_id: &'a str,
    pub agent: Option<&'a str>,
    /// The folder of its project, which paths are relative to.
    pub root: Option<&'a str>,
    pub status: Status,
    /// What its requests in that time cost.
    pub totals: Totals,
}

/// What a session did in a time; `None` if nothing happened in it.
pub fn digest_session(
    reading: &Reading<'_>,
    subject: &DigestSubject<'_>,
    range: &TimeRange,
) -> Result<Option<DigestedSession>, BodyError> {
    let session = reading.session;
    let has_times = session.time_span().is_some();
    // What has no time at all cannot be left out.
    let is_in = |at: Option<Timestamp>| !has_times || range.contains(at);
    let times = session.entries().filter_map(|entry| entry.at()).filter(|at| is_in(Some(*at)));
    let span = times.fold(None, |span: Option<(Timestamp, Timestamp)>, at| {
        Some(span.map_or((at, at), |(first, last)| (first.min(at), last.max(at))))
    });
    if has_times && span.is_none() {
        return Ok(None);
    }
    let mut edits = EditLog::default();
    edits.add(reading, subject.session_id, subject.root)?;
    if has_times {
        edits.keep_between(range.since, range.until);
    }
    let mut said = prompts(reading)?;
    said.retain(|prompt| is_in(prompt.timestamp));
    let mut failures = failures(reading)?;
    failures.retain(|failure| is_in(failure.timestamp));
    let mut commits = commits(reading)?;
    commits.retain(|commit| is_in(commit.timestamp));
    Ok(Some(DigestedSession {
        id: subject.session_id.to_owned(),
        agent: subject.agent.map(str::to_owned),
        prompts: said.len(),
        prompt: said.into_iter().next().map(|prompt| prompt.text),
        started_at: span.map(|(first, _)| first),
        status: subject.status,
        files: changes(edits, None).files,
        commits,
        failures,
        last_answer: last_answer(reading)?.filter(|answer| is_in(answer.timestamp)),
        wall_ms: span.map(|(first, last)| last.since(first)),
        cost: subject.totals.into(),
    }))
}

impl Digest {
    /// Puts sessions together by their projects; each comes with what it cost.
    pub fn of(sessions: Vec<(Option<String>, DigestedSession, Totals)>) -> Self {
        let mut digest = Self::default();
        let mut totals = Totals::default();
        let mut files = BTreeSet::new();
        for (project, session, cost) in sessions {
            totals += cost;
            let all = &mut digest.totals;
            all.sessions += 1;
            all.commits += session.commits.len();
            all.failures += session.failures.len();
            for file in &session.files {
                all.added += file.added;
                all.removed += file.removed;
                files.insert((project.clone(), file.path.clone()));
            }
            match digest.projects.iter_mut().find(|it| it.project == project) {
                Some(known) => known.sessions.push(session),
                None => digest.projects.push(DigestedProject { project, sessions: vec![session] }),
            }
        }
        digest.totals.files = files.len();
        digest.totals.cost = totals.into();
        for project in &mut digest.projects {
            project.sessions.sort_by_key(|session| session.started_at);
        }
        let latest = |it: &DigestedProject| it.sessions.last().and_then(|last| last.started_at);
        digest.projects.sort_by_key(|it| std::cmp::Reverse(latest(it)));
        digest
    }
}
