//! The names of members and of kinds of events, with all their spellings.

use crate::json;

/// Declares the known keys with all their spellings, and the slot of each.
macro_rules! keys {
    ($($key:ident = $($spelling:literal)|+,)+) => {
        #[derive(Clone, Copy)]
        pub(super) enum Key { $($key,)+ Other }

        impl Key {
            pub(super) const NAMES: &[&'static str] = &[$(keys!(@first $($spelling)|+),)+ "?"];

            fn from_spelling(spelling: &str) -> Self {
                match spelling { $($($spelling)|+ => Self::$key,)+ _ => Self::Other }
            }
        }
    };
    (@first $first:literal $(| $rest:literal)*) => { $first };
}

keys! {
    MessageId = "message_id",
    EventType = "event_type",
    Timestamp = "timestamp" | "ts",
    Agent = "agent_id" | "agent",
    Role = "role",
    Content = "content",
    Record = "record",
    Stream = "stream",
    Times = "times",
    Source = "source",
    // Three of the seed project's dialects use other names.
    UtteranceRef = "utterance_ref" | "content_id" | "substance",
    ToolCalls = "tool_calls",
    ToolCallId = "tool_call_id",
    Name = "name",
    Model = "model",
    RequestId = "request_id",
    Usage = "usage",
    UsagePartial = "usage_partial",
    CostUsd = "cost_usd",
    Reasoning = "reasoning",
    Cause = "cause" | "caused_by",
    PreviousId = "previous_id",
    IsError = "is_error",
    StartedAt = "started_at",
    DurationMs = "duration_ms",
    Result = "result",
    ContextContribution = "context_contribution",
    SubagentInfo = "subagent_info",
    MessageType = "message_type",
    Payload = "payload",
    CorrelationId = "correlation_id",
    ReplyTo = "reply_to",
    LanguageModel = "language_model",
    ParentId = "parent_id" | "parent",
    AgentType = "agent_type",
    AdapterId = "adapter_id",
    Flavor = "flavor",
    InferredBy = "inferred_by",
    Task = "task",
    Status = "status",
    Output = "output",
    Error = "error",
    SessionId = "session_id" | "id",
    Format = "format",
    Title = "title",
    Prompt = "prompt",
    Description = "description",
    Cwd = "cwd",
    Branch = "branch",
    Program = "program",
    Version = "version",
    SpecPaths = "spec_paths",
    Issue = "issue",
    RunId = "run_id",
    TaskId = "task_id",
    Cast = "cast",
    ForkedFrom = "forked_from",
    FeatureBranch = "feature_branch",
    BaseBranch = "base_branch",
    Outcome = "outcome",
    Reason = "reason",
    Declared = "declared",
    Action = "action",
    Kept = "kept",
    Dropped = "dropped",
    SummaryRef = "summary_ref",
    Count = "count",
    Changed = "changed",
    Rewritten = "rewritten",
    Damage = "damage",
    Rest = "rest",
    Raw = "raw",
    Annotation = "annotation",
    Extra = "extra",
    // `transcript_edit` counts the entries that stay in `n`, which is also the seal's line number;
    // a sealed copy has the count in the other field.
    KeptFirst = "kept_first",
    Number = "n",
}

impl Key {
    /// The key between quotes, with or without escapes.
    pub(super) fn of(inner: &str) -> Self {
        let key = Self::from_spelling(inner);
        if matches!(key, Self::Other) && inner.contains('\\') {
            return Self::from_spelling(&json::inner_text(inner));
        }
        key
    }
}

/// The raw values of a line's members, by key.
pub(super) type Slots<'a> = [Option<&'a str>; Key::NAMES.len()];

const _: () = assert!(Key::NAMES.len() <= 128, "there is a bit for each key");

/// The known values of `event_type`.
pub(in crate::event) const KINDS: [&str; 15] = [
    "message",
    "transcript_entry",
    "agent_created",
    "agent_ended",
    "session_started",
    "session_ended",
    "run_status",
    "context_edited",
    "transcript_edit",
    "fragment",
    "piece_of_text",
    "output",
    "annotation",
    "gap",
    "recovered",
];
