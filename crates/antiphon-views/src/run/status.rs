//! The state of a run.

use antiphon_model::Status;
use serde::Serialize;

/// Where the status of a run comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RunStatusRule {
    /// It is the last state that was recorded, or the first that is final.
    Recorded,
    /// It follows from the statuses of the sessions.
    Sessions,
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// It was accepted, and has not begun.
    Accepted,
    /// Its task is being divided.
    Decomposing,
    /// Its sessions are at work.
    Executing,
    /// Their results are being merged.
    Merging,
    /// It can be proposed as a pull request.
    ReadyForPr,
    /// It is finished.
    Done,
    /// It ended with an error.
    Failed,
    /// Somebody stopped it.
    Cancelled,
    /// It stopped in the middle, and nobody said why.
    Interrupted,
}

impl RunStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Decomposing => "decomposing",
            Self::Executing => "executing",
            Self::Merging => "merging",
            Self::ReadyForPr => "ready-for-pr",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }

    /// The state of that name, in any spelling: `ReadyForPr`, `ready_for_pr`, `ready-for-pr`.
    pub fn from_word(word: &str) -> Option<Self> {
        let letters = |word: &str| {
            word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let wanted: String = letters(word);
        let states = [
            Self::Accepted,
            Self::Decomposing,
            Self::Executing,
            Self::Merging,
            Self::ReadyForPr,
            Self::Done,
            Self::Failed,
            Self::Cancelled,
            Self::Interrupted,
        ];
        states.into_iter().find(|state| letters(state.as_str()) == wanted).or(
            match wanted.as_str() {
                "running" | "started" => Some(Self::Executing),
                "completed" | "success" => Some(Self::Done),
                "error" | "timedout" | "timeout" => Some(Self::Failed),
                "canceled" | "aborted" => Some(Self::Cancelled),
                _ => None,
            },
        )
    }

    /// Whether no other state follows it.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled | Self::Interrupted)
    }

    pub(super) fn of_session(status: Status) -> Self {
        match status {
            Status::Running => Self::Executing,
            Status::Completed => Self::Done,
            Status::Failed | Status::TimedOut => Self::Failed,
            Status::Cancelled => Self::Cancelled,
            Status::Interrupted => Self::Interrupted,
        }
    }
}
