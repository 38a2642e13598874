//! Events about a role's run: requested, started, completed, failed.

use antiphon_model::{Timestamp, json};

use crate::Assignment;

/// The stage that a run has reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Stage {
    Requested,
    /// The agent has identified itself.
    Started,
    Completed(Figures),
    Failed {
        reason: Reason,
        error: Option<String>,
        figures: Figures,
    },
}

impl Stage {
    /// Whether no other stage follows.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Requested | Self::Started => false,
            Self::Completed(_) | Self::Failed { .. } => true,
        }
    }
}

/// Why a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Error,
    Timeout,
    Cancelled,
}

impl Reason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The figures of a run, as far as the agent reported them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    pub exit_code: Option<i32>,
    pub duration_ms: Option<u64>,
    pub cost_usd: Option<f64>,
    pub turns: Option<u64>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
}

/// One event of a role's run.
#[derive(Debug, Clone, PartialEq)]
pub struct RoleEvent {
    pub at: Timestamp,
    pub assignment: Assignment,
    /// The agent's own session id, once it is known.
    pub session_id: Option<String>,
    pub stage: Stage,
    /// The transcript, as an absolute path, if there is one.
    pub log_file_path: Option<String>,
}

impl RoleEvent {
    /// The event's name, such as `PlannerCompleted`.
    pub fn kind(&self) -> String {
        let stage = match self.stage {
            Stage::Requested => "Requested",
            Stage::Started => "Started",
            Stage::Completed(_) => "Completed",
            Stage::Failed { .. } => "Failed",
        };
        self.assignment.event_prefix() + stage
    }

    /// The event as one line of JSON.
    pub fn to_json(&self) -> String {
        let mut out = json::Members::default();
        out.word("type", &self.kind());
        out.word("timestamp", &self.at.to_string());
        out.text("sessionID", self.session_id.as_deref());
        out.text("role", self.assignment.role.as_deref());
        out.text("issue", self.assignment.issue.as_deref());
        out.list("specPaths", self.assignment.spec_paths.iter().map(String::as_str));
        out.text("runID", self.assignment.run_id.as_deref());
        out.text("taskID", self.assignment.task_id.as_deref());
        let figures = match &self.stage {
            Stage::Requested | Stage::Started => None,
            Stage::Completed(figures) => Some(figures),
            Stage::Failed { reason, error, figures } => {
                out.word("reason", reason.as_str());
                out.text("error", error.as_deref());
                Some(figures)
            }
        };
        if let Some(figures) = figures {
            out.number("exitCode", figures.exit_code);
            out.number("durationMs", figures.duration_ms);
            out.number("costUsd", figures.cost_usd);
            out.number("turns", figures.turns);
            out.number("inputTokens", figures.input_tokens);
            out.number("outputTokens", figures.output_tokens);
        }
        out.text("logFilePath", self.log_file_path.as_deref());
        out.object()
    }
}
