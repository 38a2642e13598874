//! A session as a list shows it.

use antiphon_model::{Status, Timestamp};

use crate::{Key, Origin, Row};

/// What a list says of a session that is kept: what the catalogue knows of it, or what little can
/// be told without.
#[derive(Debug, Clone)]
pub struct Summary {
    /// What the session calls itself, or else its key.
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
    /// When something was last added, by the file.
    pub changed_at: Timestamp,
    pub ended: bool,
    /// How it ended, if it says so.
    pub end: Option<Status>,
    /// Whether its last message is an answer.
    pub is_answered: bool,
    pub outcome: Option<String>,
    /// How many events it has, where the log's last line or the catalogue says so.
    pub events: Option<u64>,
    /// What only the catalogue knows.
    pub agents: Option<u64>,
    pub calls: Option<u64>,
    /// How many problems its files have, as far as the catalogue knows.
    pub problems: u64,
    /// Whether another session holds it among its files, by the catalogue.
    pub is_part: bool,
}

impl Summary {
    /// Of a session as the catalogue has it; nothing, if nothing was said in it yet.
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

    /// When something happened last: a copy may be much younger.
    pub fn at(&self) -> Timestamp {
        self.last_event_at.unwrap_or(self.changed_at)
    }

    /// Takes in what the recording of the same session knows.
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
