//! STD-008, version 1.0: `MultiAgentSession` and what it is made of.

use super::Shape::{Any, Either, Flag, List, Map, Number, Object, Text};
use super::single::{CALL, DEGREE, SESSION as SINGLE, STATUS};
use super::{Member, Shape, Words};

pub(super) const SESSION: Shape = Shape::All(&[
    SINGLE,
    Object(&[
        Member::required("collaboration", COLLABORATION),
        Member::required("sub_sessions", List(&SUB_SESSION)),
        Member::required("messages", List(&MESSAGE)),
        Member::required("summary", SUMMARY),
    ]),
]);

const COLLABORATION: Shape = Object(&[
    Member::required("mode", Shape::Words(&Words { listed: &["multi_agent"], nearest: |_| None })),
    Member::required("pattern", PATTERN),
    Member::required("orchestrator", IDENTIFIER),
    Member::required("participants", List(&IDENTIFIER)),
]);

const PATTERN: Shape = Shape::Words(&Words {
    listed: &["master_worker", "peer_to_peer", "pipeline"],
    nearest: |_| Some("peer_to_peer"),
});

const IDENTIFIER: Shape = Object(&[
    Member::required("agent_id", Text),
    Member::required("agent_type", ROLE),
    Member::optional("instance_id", Text),
]);

const ROLE: Shape = Shape::Words(&Words {
    listed: &["architect", "developer", "reviewer"],
    nearest: |word| Some(nearest_role(word)),
});

/// An agent that examines the work of others is a reviewer; any other is a developer.
pub(crate) fn nearest_role(role: &str) -> &'static str {
    let role = role.to_lowercase();
    match role.as_str() {
        "architect" | "orchestrator" => "architect",
        role if role.contains("review") => "reviewer",
        _ => "developer",
    }
}

pub(super) const SUB_SESSION: Shape = Object(&[
    Member::required("sub_session_id", Text),
    Member::required("parent_session_id", Text),
    Member::required("agent", IDENTIFIER),
    Member::required("triggered_by_call_id", Text),
    Member::required(
        "task",
        Object(&[
            Member::required("task_id", Text),
            Member::required("description", Text),
            Member::required("priority", DEGREE),
        ]),
    ),
    Member::required("started_at", Text),
    Member::optional("completed_at", Text),
    Member::required("status", STATUS),
    Member::required("tool_calls", List(&CALL)),
    Member::optional("output", OUTPUT),
]);

pub(super) const MESSAGE: Shape = Object(&[
    Member::required("message_id", Text),
    Member::required("timestamp", Text),
    Member::required("sequence_number", Number),
    Member::required("from_agent", IDENTIFIER),
    Member::required("to_agent", IDENTIFIER),
    Member::required("message_type", MESSAGE_TYPE),
    Member::required("payload", Any),
    Member::optional("correlation_id", Text),
    Member::optional("reply_to", Text),
]);

const MESSAGE_TYPE: Shape = Shape::Words(&Words {
    listed: &[
        "task_assignment",
        "task_progress",
        "task_completion",
        "review_request",
        "review_result",
        "feedback",
        "abort",
        "acknowledgment",
    ],
    nearest: |word| {
        Some(match word {
            "status_response" | "status_update" => "task_progress",
            _ => "feedback",
        })
    },
});

pub(super) const OUTPUT: Shape = Either(&[DEVELOPER, REVIEWER]);

const DEVELOPER: Shape = Object(&[
    Member::required("task_id", Text),
    Member::required(
        "status",
        Shape::Words(&Words { listed: &["completed", "partial", "failed"], nearest: |_| None }),
    ),
    Member::required(
        "changes",
        Object(&[
            Member::required("files_created", List(&FILE)),
            Member::required("files_modified", List(&FILE)),
            Member::required("files_deleted", List(&Text)),
        ]),
    ),
    Member::required("summary", Text),
    Member::optional("implementation_notes", Text),
    Member::optional(
        "self_review",
        Object(&[
            Member::required("tests_run", Flag),
            Member::required("tests_passed", Flag),
            Member::required("type_check_passed", Flag),
        ]),
    ),
    Member::optional("blockers", List(&Text)),
]);

const FILE: Shape = Object(&[
    Member::required("path", Text),
    Member::optional("lines_added", Number),
    Member::optional("lines_removed", Number),
    Member::optional("description", Text),
]);

const REVIEWER: Shape = Object(&[
    Member::required("review_id", Text),
    Member::required("task_id", Text),
    Member::required(
        "verdict",
        Shape::Words(&Words {
            listed: &["approved", "changes_requested", "rejected"],
            nearest: |_| None,
        }),
    ),
    Member::required("findings", List(&FINDING)),
    Member::required(
        "verification",
        Object(&[
            Member::required("tests_passed", Flag).later("tests"),
            Member::required("type_check_passed", Flag).later("type_check"),
            Member::optional("custom_checks", Map(&Flag)),
        ]),
    ),
    Member::required("summary", Text),
    Member::optional(
        "required_changes",
        List(&Object(&[
            Member::required("change_id", Text),
            Member::required(
                "priority",
                Shape::Words(&Words {
                    listed: &["must_fix", "should_fix", "consider"],
                    nearest: |_| Some("should_fix"),
                }),
            ),
            Member::required("related_findings", List(&Text)),
            Member::required("description", Text),
        ])),
    ),
]);

const FINDING: Shape = Object(&[
    Member::required("finding_id", Text),
    Member::required(
        "severity",
        Shape::Words(&Words {
            listed: &["critical", "major", "minor", "suggestion"],
            nearest: |_| None,
        }),
    ),
    Member::required(
        "category",
        Shape::Words(&Words {
            listed: &["bug", "security", "performance", "style", "logic"],
            nearest: |_| Some("logic"),
        }),
    ),
    Member::required("file", Text).later("location"),
    Member::optional("line", Number),
    Member::required("description", Text),
    Member::optional("suggestion", Text),
]);

const SUMMARY: Shape = Object(&[
    Member::required("agents", AGENTS),
    Member::required(
        "tasks",
        Object(&[
            Member::required("total", Number),
            Member::required("completed", Number),
            Member::required("failed", Number),
        ]),
    ),
    Member::required("review_iterations", Number),
    Member::optional(
        "final_verdict",
        Shape::Words(&Words { listed: &["approved", "rejected"], nearest: |_| None }),
    ),
]);

pub(super) const AGENTS: Shape = Object(&[
    Member::required("architect", AGENT),
    Member::required("developers", List(&AGENT)),
    Member::optional("reviewer", AGENT),
]);

const AGENT: Shape = Object(&[
    Member::required("agent_id", Text),
    Member::required("agent_type", Text),
    Member::required("tool_calls_count", Number),
    Member::required("duration_ms", Number),
    Member::required(
        "status",
        Shape::Words(&Words {
            listed: &["completed", "failed", "in_progress"],
            nearest: |word| Some(if word == "success" { "completed" } else { "failed" }),
        }),
    ),
]);
