//! STD-001: the session of one agent. The calls are the record; phases are a later interpretation
//! of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// A session. `S` is the type of its summary, which STD-008 extends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Session<S = SessionSummary> {
    /// By convention, the name of the file: date, sequence number, task.
    pub session_id: String,
    pub task_title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_description: Option<String>,
    /// What the user asked for, verbatim.
    pub user_prompt: String,
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub updated_at: Option<String>,
    /// Absent while the session is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub completed_at: Option<String>,
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["success", "failed", "in_progress"])))
    )]
    pub status: String,
    pub agent: AgentInfo,
    /// Every call of the agent, in order.
    pub tool_calls: Vec<ToolCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_annotations: Option<Vec<PhaseAnnotation>>,
    /// The phases of version 2, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<Vec<Value>>,
    pub summary: S,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentInfo {
    pub model_id: String,
    /// The date of the list of capabilities that applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability_snapshot: Option<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// The summary of the whole session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionSummary {
    pub total_duration_ms: Number,
    /// The calls of the main session, without those of sub-sessions.
    pub tool_calls_count: u64,
    pub files_created: Vec<String>,
    pub files_modified: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors_encountered: Option<u64>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCall {
    /// Unique within the session.
    pub call_id: String,
    pub tool_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["perception", "action", "interaction", "planning", "task_management"])))
    )]
    pub tool_category: Option<String>,
    /// Calls are listed in order; when they were made is not always known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub ended_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Number>,
    pub input: CallInput,
    pub output: CallOutput,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_contribution: Option<ContextContribution>,
    /// Present if the call started another agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_info: Option<SubagentInfo>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallInput {
    /// The arguments of the tool.
    pub params: BTreeMap<String, Value>,
    /// A description for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The call as a terminal shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_command: Option<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallOutput {
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["success", "failed"])))
    )]
    pub status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<CallResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// The tool's result: any members, and a line for people.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallResult {
    /// A short text, such as "Read 736 lines".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// What a call added to the agent's context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextContribution {
    #[serde(rename = "type")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["file_content", "search_result", "command_output", "knowledge"])))
    )]
    pub kind: String,
    pub summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_content: Option<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// What is known about the agent that a call started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubagentInfo {
    pub subagent_type: String,
    /// The sub-session that records it (STD-008 only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_session_id: Option<String>,
    /// How many calls the agent made, according to the call's result.
    pub tool_uses: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_used: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_breakdown: Option<Vec<ToolCount>>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCount {
    pub tool_name: String,
    pub count: u64,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// An interpretation of a sequence of calls, made afterwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseAnnotation {
    pub annotation_id: String,
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["understand", "explore", "plan", "execute", "verify", "mixed", "unclassified"])))
    )]
    pub phase_type: String,
    pub tool_call_range: ToolCallRange,
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["agent", "human", "auto"])))
    )]
    pub annotated_by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub annotated_at: Option<String>,
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["high", "medium", "low"])))
    )]
    pub confidence: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisions: Option<Vec<Decision>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_used: Option<Vec<ContextReference>>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// A range of calls, from the first to the last inclusive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCallRange {
    pub start_call_id: String,
    pub end_call_id: String,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// Knowledge that was available and used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextReference {
    #[serde(rename = "type")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["claude_md", "rule", "standard", "skill", "spec", "file", "user_message", "tool_result", "capability"])))
    )]
    pub kind: String,
    /// The path of a file, or another source.
    pub source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["high", "medium", "low"])))
    )]
    pub relevance: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quoted_content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["read", "modified", "read_then_modified"])))
    )]
    pub usage_mode: Option<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decision {
    pub decision_id: String,
    #[serde(rename = "type")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["tool_selection", "approach", "error_handling", "skip", "retry"])))
    )]
    pub kind: String,
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternatives_considered: Option<Vec<String>>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}
