//! STD-008: the session of several agents. It is all of STD-001, and in addition who worked
//! together, what each sub-agent did, and the messages between them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::{AgentOutput, Session, SessionSummary, ToolCall};

/// A session of one agent, extended for several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MultiAgentSession {
    /// The orchestrator's session; it also keeps unknown members.
    #[serde(flatten)]
    pub session: Session<MultiAgentSessionSummary>,
    pub collaboration: Collaboration,
    /// The standard requires at least one, but documents without any have been published.
    #[serde(default)]
    pub sub_sessions: Vec<SubAgentSession>,
    /// The messages between agents; may be empty.
    pub messages: Vec<AgentMessage>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Collaboration {
    /// How the agents worked together; `single` means a session of one agent in this format.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["multi_agent", "single"])))
    )]
    pub mode: String,
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["master_worker", "peer_to_peer", "pipeline"])))
    )]
    pub pattern: String,
    pub orchestrator: AgentIdentifier,
    /// All agents except the orchestrator.
    pub participants: Vec<AgentIdentifier>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentIdentifier {
    pub agent_id: String,
    /// `architect`, `developer`, `reviewer`, or a team's own name for a role.
    pub agent_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// What one sub-agent did, from the call that started it to its output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubAgentSession {
    pub sub_session_id: String,
    /// The session, or the sub-session, whose call started this one.
    pub parent_session_id: String,
    pub agent: AgentIdentifier,
    /// The call in the parent that started it.
    pub triggered_by_call_id: String,
    pub task: Task,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub completed_at: Option<String>,
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["success", "failed", "in_progress"])))
    )]
    pub status: String,
    pub tool_calls: Vec<ToolCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<AgentOutput>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Task {
    /// For a reviewer, the id of the review.
    pub task_id: String,
    pub description: String,
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["high", "medium", "low"])))
    )]
    pub priority: String,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// What one agent said to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentMessage {
    pub message_id: String,
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub timestamp: String,
    pub sequence_number: u64,
    pub from_agent: AgentIdentifier,
    pub to_agent: AgentIdentifier,
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["task_assignment", "task_progress", "task_completion", "review_request", "review_result", "feedback", "abort", "acknowledgment", "status_query", "status_response", "status_update"])))
    )]
    pub message_type: String,
    /// Its type depends on the type of the message: [`crate::Payload`].
    pub payload: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The message that this one answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// The summary of a session of one agent, extended for several. A session of one agent in this
/// format has none of the extensions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MultiAgentSessionSummary {
    #[serde(flatten)]
    pub session: SessionSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<AgentSummaries>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<TaskCounts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review_iterations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["approved", "changes_requested", "rejected"])))
    )]
    pub final_verdict: Option<String>,
}

/// The agents by role, as in the standard, or as a list, for teams of any kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[allow(clippy::large_enum_variant, reason = "a document has one")]
pub enum AgentSummaries {
    ByRole(AgentsByRole),
    List(Vec<AgentSummary>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentsByRole {
    pub architect: AgentSummary,
    pub developers: Vec<AgentSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<AgentSummary>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentSummary {
    pub agent_id: String,
    pub agent_type: String,
    pub tool_calls_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Number>,
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["completed", "failed", "in_progress"])))
    )]
    pub status: String,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// The numbers of tasks, without reviews.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskCounts {
    pub total: u64,
    pub completed: u64,
    pub failed: u64,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

impl TaskCounts {
    /// Counts the tasks of these sub-sessions, without reviews.
    pub(crate) fn of<'s>(sub_sessions: impl IntoIterator<Item = &'s Value>) -> Self {
        let tasks = sub_sessions.into_iter().filter(|sub| !is_review(sub));
        Self::count(tasks.filter_map(|sub| {
            let id = text(sub, &["task", "task_id"])?;
            Some((id, text(sub, &["status"]).unwrap_or_default()))
        }))
    }

    /// Counts tasks by the ids and statuses of their sub-sessions, as the example of STD-008
    /// (section 7.1) does. An agent may work on a task more than once, so ids are counted rather
    /// than sub-sessions; the last attempt decides the status.
    pub(crate) fn count<'s>(tasks: impl Iterator<Item = (&'s str, &'s str)>) -> Self {
        let by_id: BTreeMap<&str, &str> = tasks.collect();
        let mut counts = Self { total: by_id.len() as u64, ..Self::default() };
        for status in by_id.into_values() {
            match status {
                "success" | "completed" => counts.completed += 1,
                "failed" => counts.failed += 1,
                _ => {}
            }
        }
        counts
    }
}

/// Whether a sub-session is a review, judged by its agent or its output.
pub(crate) fn is_review(sub_session: &Value) -> bool {
    text(sub_session, &["agent", "agent_type"]) == Some("reviewer")
        || text(sub_session, &["output", "review_id"]).is_some()
}

fn text<'s>(value: &'s Value, path: &[&str]) -> Option<&'s str> {
    path.iter().try_fold(value, |value, name| value.get(name))?.as_str()
}
