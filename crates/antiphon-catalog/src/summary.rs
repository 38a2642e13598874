//! A session as a list shows it.

use antiphon_model::{Status, Timestamp};

use crate::{Key, Origin, Row};

/// What a list shows of a stored session: what the catalogue knows, or the little that can be known
/// without it.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The session's own id, or else its key.
    pub session_id: String,
    pub key: Key,
    pub origin: Origin,
    /// The program that ran it (`claude-code`, `codex` …).
    pub agent: Option<String>,
    pub title: Option<String>,
    pub prompt: Option<String>,
    /// The folder that the agent worked in.
    pub project: Option<String>,
    pub role: Option<String>,
    pub issue: Option<String>,
    pub run_id: Option<String>,
    pub started_at: Option<Timestamp>,
    pub last_event_at: Option<Timestamp>,
    /// When something was last added, according to the file.
    pub changed_at: Timestamp,
    pub ended: bool,
    /// How it ended, if that was recorded.
    pub end: Option<Status>,
    /// Whether its last message is an answer.
    pub is_answered: bool,
    pub outcome: Option<String>,
    /// The number of events, if the last line of the log or the catalogue says so.
    pub events: Option<u64>,
    /// Known only from the catalogue.
    pub agents: Option<u64>,
    pub calls: Option<u64>,
    /// The number of problems in its files, if the catalogue knows it.
    pub problems: u64,
    /// Whether another session contains it among its files, according to the catalogue.
    pub is_part: bool,
}

impl Summary {
    /// The summary of a session in the catalogue; `None` if it has no events yet.
    pub fn of_row(row: Row) -> Option<Self> {
        (row.events > 0).then(|| Self {
            session_id: row.session_id,
            key: row.key,
            origin: row.origin,
            agent: row.agent,
            title: row.title,
            prompt: row.prompt,
            project: row.project,
            role: row.role,
            issue: row.issue,
            run_id: row.run_id,
            started_at: row.started_at,
            last_event_at: row.last_event_at,
            changed_at: row.changed_at,
            ended: row.end.is_some(),
            end: row.end,
            is_answered: row.is_answered,
            outcome: row.outcome,
            events: Some(row.events),
            agents: Some(row.agents),
            calls: Some(row.calls),
            problems: row.problems,
            is_part: row.is_part,
        })
    }

    /// When something last happened: the stored copy may be much younger.
    pub fn at(&self) -> Timestamp {
        self.last_event_at.unwrap_or(self.changed_at)
    }

    /// Adds what the recording of the same session knows.
    pub fn add_recording(&mut self, recorded: Self) {
        self.role = self.role.take().or(recorded.role);
        self.issue = self.issue.take().or(recorded.issue);
        self.run_id = self.run_id.take().or(recorded.run_id);
        self.outcome = recorded.outcome.or_else(|| self.outcome.take());
        self.ended |= recorded.ended;
        self.end = recorded.end.or(self.end);
        self.is_answered |= recorded.is_answered;
        self.changed_at = self.changed_at.max(recorded.changed_at);
    }
}
