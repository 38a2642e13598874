//! STD-001, version 3.0: `Session`, `ToolCall`, `PhaseAnnotation` and what they are made of.

use super::Shape::{Any, Flag, List, Map, Number, Object, Text};
use super::{Member, Shape, Words};

pub(super) const SESSION: Shape = Object(&[
    Member::required("session_id", Text),
    Member::required("task_title", Text),
    Member::optional("task_description", Text),
    Member::required("user_prompt", Text),
    Member::required("created_at", Text),
    Member::required("completed_at", Text),
    Member::required("status", STATUS),
    Member::required("agent", AGENT),
    Member::required("tool_calls", List(&CALL)),
    Member::optional("phase_annotations", List(&ANNOTATION)),
    Member::optional("phases", List(&Any)),
    Member::required("summary", SUMMARY),
]);

pub(super) const STATUS: Shape = Shape::Words(&Words {
    listed: &["success", "failed", "in_progress"],
    nearest: |word| {
        Some(match word {
            "completed" => "success",
            "running" | "pending" => "in_progress",
            _ => "failed",
        })
    },
});

const AGENT: Shape =
    Object(&[Member::required("model_id", Text), Member::optional("capability_snapshot", Text)]);

const SUMMARY: Shape = Object(&[
    Member::required("total_duration_ms", Number),
    Member::required("tool_calls_count", Number),
    Member::required("files_created", List(&Text)),
    Member::required("files_modified", List(&Text)),
    Member::optional("errors_encountered", Number),
]);

pub(super) const CALL: Shape = Object(&[
    Member::required("call_id", Text),
    Member::required("tool_name", Text),
    Member::required("tool_category", CATEGORY),
    Member::required("started_at", Text),
    Member::required("ended_at", Text),
    Member::required("duration_ms", Number),
    Member::required(
        "input",
        Object(&[
            Member::required("params", Map(&Any)),
            Member::optional("description", Text),
            Member::optional("raw_command", Text),
        ]),
    ),
    Member::required(
        "output",
        Object(&[
            Member::required("status", CALL_STATUS),
            Member::optional("result", Object(&[Member::optional("display", Text)])),
            Member::optional("error", Text),
            Member::optional("truncated", Flag),
        ]),
    ),
    Member::optional(
        "context_contribution",
        Object(&[
            Member::required("type", CONTRIBUTION),
            Member::required("summary", Text),
            Member::optional("full_content", Text),
        ]),
    ),
    Member::optional("subagent_info", SUBAGENT),
]);

const CATEGORY: Shape = Shape::Words(&Words {
    listed: &["perception", "action", "interaction", "planning", "task_management"],
    // The writer derives the category from the tool, not from the word.
    nearest: |_| None,
});

const CALL_STATUS: Shape = Shape::Words(&Words {
    listed: &["success", "failed"],
    nearest: |word| Some(if word == "completed" { "success" } else { "failed" }),
});

const CONTRIBUTION: Shape = Shape::Words(&Words {
    listed: &["file_content", "search_result", "command_output", "knowledge"],
    nearest: |_| Some("knowledge"),
});

/// Includes the link that STD-008 (section 4.1) adds.
const SUBAGENT: Shape = Object(&[
    Member::required("subagent_type", Text),
    Member::optional("sub_session_id", Text),
    Member::required("tool_uses", Number),
    Member::optional("tokens_used", Number),
    Member::optional(
        "tools_breakdown",
        List(&Object(&[Member::required("tool_name", Text), Member::required("count", Number)])),
    ),
]);

const ANNOTATION: Shape = Object(&[
    Member::required("annotation_id", Text),
    Member::required("phase_type", PHASE),
    Member::required(
        "tool_call_range",
        Object(&[Member::required("start_call_id", Text), Member::required("end_call_id", Text)]),
    ),
    Member::required("annotated_by", ANNOTATOR),
    Member::required("annotated_at", Text),
    Member::required("confidence", DEGREE),
    Member::optional("description", Text),
    Member::optional("decisions", List(&DECISION)),
    Member::optional("context_used", List(&CONTEXT)),
]);

const PHASE: Shape = Shape::Words(&Words {
    listed: &["understand", "explore", "plan", "execute", "verify", "mixed", "unclassified"],
    nearest: |_| Some("unclassified"),
});

const ANNOTATOR: Shape =
    Shape::Words(&Words { listed: &["agent", "human", "auto"], nearest: |_| Some("agent") });

pub(super) const DEGREE: Shape = Shape::Words(&Words {
    listed: &["high", "medium", "low"],
    nearest: |word| {
        Some(match word {
            "urgent" | "critical" => "high",
            _ => "medium",
        })
    },
});

const DECISION: Shape = Object(&[
    Member::required("decision_id", Text),
    Member::required("type", DECISION_KIND),
    Member::required("description", Text),
    Member::optional("reasoning", Text),
    Member::optional("alternatives_considered", List(&Text)),
]);

const DECISION_KIND: Shape = Shape::Words(&Words {
    listed: &["tool_selection", "approach", "error_handling", "skip", "retry"],
    nearest: |_| Some("approach"),
});

const CONTEXT: Shape = Object(&[
    Member::required("type", CONTEXT_KIND),
    Member::required("source", Text),
    Member::required("relevance", DEGREE),
    Member::optional("summary", Text),
    Member::optional("quoted_content", Text),
    Member::optional("usage_mode", USAGE),
]);

const CONTEXT_KIND: Shape = Shape::Words(&Words {
    listed: &[
        "claude_md",
        "rule",
        "standard",
        "skill",
        "spec",
        "file",
        "user_message",
        "tool_result",
        "capability",
    ],
    nearest: |_| Some("file"),
});

const USAGE: Shape =
    Shape::Words(&Words { listed: &["read", "modified", "read_then_modified"], nearest: |_| None });
