//! The status of a session: one word, and the rule that chose it.
//!
//! Few programs record that a session is over. Everything that shows a status uses this module, so
//! that a list, a page, a tree of spans and an export cannot disagree.

use serde::Serialize;

use crate::{Session, SessionEnded};

/// How a session, or a part of it, stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It is not finished, and more is expected.
    Running,
    /// It is finished.
    Completed,
    /// It ended with an error.
    Failed,
    /// It was stopped because it took too long.
    TimedOut,
    /// Somebody stopped it.
    Cancelled,
    /// It stopped in the middle, and nobody said why.
    Interrupted,
}

impl Status {
    /// The status for a log's own word for how something ended.
    pub fn from_word(word: &str) -> Self {
        match word {
            "failed" | "error" | "errored" => Self::Failed,
            "timed-out" | "timed_out" | "timeout" => Self::TimedOut,
            "cancelled" | "canceled" | "aborted" => Self::Cancelled,
            "interrupted" => Self::Interrupted,
            "running" | "in_progress" => Self::Running,
            _ => Self::Completed,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Which rule chose a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StatusRule {
    /// The session says how it ended.
    RecordedEnd,
    /// A process holds the log's lock.
    BeingWritten,
    /// The process that wrote the log died without ending it.
    WriterGone,
    /// The last message is an answer, and nothing is asked any more.
    LastAnswer,
    /// Something is unfinished, and nothing was added for some time.
    Quiet,
    /// Something is unfinished, and more may come.
    Unfinished,
}

impl StatusRule {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RecordedEnd => "recorded-end",
            Self::BeingWritten => "being-written",
            Self::WriterGone => "writer-gone",
            Self::LastAnswer => "last-answer",
            Self::Quiet => "quiet",
            Self::Unfinished => "unfinished",
        }
    }
}

/// A status, and the rule that chose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub status: Status,
    pub rule: StatusRule,
}

/// Whether the session is still being written, which only the code that opens it can find out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Activity {
    #[default]
    Unknown,
    /// A process holds its lock.
    Writing,
    /// Its writer died.
    Gone,
    /// Nothing was added for so long that nothing more is expected.
    Quiet,
}

/// The facts that determine a session's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusFacts {
    /// How it ended, if that is recorded.
    pub end: Option<Status>,
    /// Whether its last message is an answer.
    pub is_answered: bool,
    pub activity: Activity,
}

impl StatusFacts {
    pub fn standing(self) -> Standing {
        let (status, rule) = match (self.end, self.activity) {
            (Some(end), _) => (end, StatusRule::RecordedEnd),
            (None, Activity::Writing) => (Status::Running, StatusRule::BeingWritten),
            (None, Activity::Gone) => (Status::Interrupted, StatusRule::WriterGone),
            (None, _) if self.is_answered => (Status::Completed, StatusRule::LastAnswer),
            (None, Activity::Quiet) => (Status::Interrupted, StatusRule::Quiet),
            (None, Activity::Unknown) => (Status::Running, StatusRule::Unfinished),
        };
        Standing { status, rule }
    }
}

impl SessionEnded<'_> {
    /// How the session ended. One that was stopped because it took too long timed out.
    pub(crate) fn status(&self) -> Status {
        let status = self.outcome.as_deref().map_or(Status::Completed, Status::from_word);
        match (status, self.reason.as_deref().map(Status::from_word)) {
            (Status::Cancelled | Status::Failed, Some(Status::TimedOut)) => Status::TimedOut,
            _ => status,
        }
    }
}

impl Session {
    /// Sets what is known about the session's writer.
    pub fn set_activity(&mut self, activity: Activity) {
        self.activity = activity;
    }

    /// Notes how the session ended, if another record of it says so and this one does not.
    pub fn note_end(&mut self, end: Status) {
        self.info.end = self.info.end.or(Some(end));
    }

    pub fn activity(&self) -> Activity {
        self.activity
    }

    /// The status of the session.
    pub fn standing(&self) -> Standing {
        self.status_facts().standing()
    }

    pub fn status_facts(&self) -> StatusFacts {
        StatusFacts {
            end: self.info().end,
            is_answered: self.is_answered(),
            activity: self.activity,
        }
    }

    /// Whether the last message of the root agents is an answer. Sub-agents that go on in the
    /// background do not count.
    fn is_answered(&self) -> bool {
        let is_root = |agent| self.agent(agent).parent.agent().is_none();
        let mut messages = self.entries().rev().filter(|entry| entry.role().is_some());
        messages
            .find(|entry| entry.agent().is_some_and(is_root))
            .is_some_and(|it| it.is_utterance())
    }
}

#[cfg(test)]
mod tests;
