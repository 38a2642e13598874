//! STD-001, version 3.0: `Session`, `ToolCall`, `PhaseAnnotation` and what they are made of.

use super::Shape::{Any, Flag, List, Map, Number, Object, Text};
use super::{Member, Shape, Words};

pub(super) const SESSION: Shape = Object(&[
    Member::must("session_id", Text),
    Member::must("task_title", Text),
    Member::may("task_description", Text),
    Member::must("user_prompt", Text),
    Member::must("created_at", Text),
    Member::must("completed_at", Text),
    Member::must("status", STATUS),
    Member::must("agent", AGENT),
    Member::must("tool_calls", List(&CALL)),
    Member::may("phase_annotations", List(&ANNOTATION)),
    Member::may("phases", List(&Any)),
    Member::must("summary", SUMMARY),
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
    Object(&[Member::must("model_id", Text), Member::may("capability_snapshot", Text)]);

const SUMMARY: Shape = Object(&[
    Member::must("total_duration_ms", Number),
    Member::must("tool_calls_count", Number),
    Member::must("files_created", List(&Text)),
    Member::must("files_modified", List(&Text)),
    Member::may("errors_encountered", Number),
]);

pub(super) const CALL: Shape = Object(&[
    Member::must("call_id", Text),
    Member::must("tool_name", Text),
    Member::must("tool_category", CATEGORY),
    Member::must("started_at", Text),
    Member::must("ended_at", Text),
    Member::must("duration_ms", Number),
    Member::must(
        "input",
        Object(&[
            Member::must("params", Map(&Any)),
            Member::may("description", Text),
            Member::may("raw_command", Text),
        ]),
    ),
    Member::must(
        "output",
        Object(&[
            Member::must("status", CALL_STATUS),
            Member::may("result", Object(&[Member::may("display", Text)])),
            Member::may("error", Text),
            Member::may("truncated", Flag),
        ]),
    ),
    Member::may(
        "context_contribution",
        Object(&[
            Member::must("type", CONTRIBUTION),
            Member::must("summary", Text),
            Member::may("full_content", Text),
        ]),
    ),
    Member::may("subagent_info", SUBAGENT),
]);

const CATEGORY: Shape = Shape::Words(&Words {
    listed: &["perception", "action", "interaction", "planning", "task_management"],
    // The writer knows the tool, and works the category out from that.
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

/// With the link that STD-008 (section 4.1) adds to it.
const SUBAGENT: Shape = Object(&[
    Member::must("subagent_type", Text),
    Member::may("sub_session_id", Text),
    Member::must("tool_uses", Number),
    Member::may("tokens_used", Number),
    Member::may(
        "tools_breakdown",
        List(&Object(&[Member::must("tool_name", Text), Member::must("count", Number)])),
    ),
]);

const ANNOTATION: Shape = Object(&[
    Member::must("annotation_id", Text),
    Member::must("phase_type", PHASE),
    Member::must(
        "tool_call_range",
        Object(&[Member::must("start_call_id", Text), Member::must("end_call_id", Text)]),
    ),
    Member::must("annotated_by", ANNOTATOR),
    Member::must("annotated_at", Text),
    Member::must("confidence", DEGREE),
    Member::may("description", Text),
    Member::may("decisions", List(&DECISION)),
    Member::may("context_used", List(&CONTEXT)),
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
    Member::must("decision_id", Text),
    Member::must("type", DECISION_KIND),
    Member::must("description", Text),
    Member::may("reasoning", Text),
    Member::may("alternatives_considered", List(&Text)),
]);

const DECISION_KIND: Shape = Shape::Words(&Words {
    listed: &["tool_selection", "approach", "error_handling", "skip", "retry"],
    nearest: |_| Some("approach"),
});

const CONTEXT: Shape = Object(&[
    Member::must("type", CONTEXT_KIND),
    Member::must("source", Text),
    Member::must("relevance", DEGREE),
    Member::may("summary", Text),
    Member::may("quoted_content", Text),
    Member::may("usage_mode", USAGE),
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
