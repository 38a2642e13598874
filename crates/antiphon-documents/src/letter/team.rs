//! STD-008, version 1.0: `MultiAgentSession` and what it is made of.

use super::Shape::{Any, Either, Flag, List, Map, Number, Object, Text};
use super::single::{CALL, DEGREE, SESSION as SINGLE, STATUS};
use super::{Member, Shape, Words};

pub(super) const SESSION: Shape = Shape::All(&[
    SINGLE,
    Object(&[
        Member::must("collaboration", COLLABORATION),
        Member::must("sub_sessions", List(&SUB_SESSION)),
        Member::must("messages", List(&MESSAGE)),
        Member::must("summary", SUMMARY),
    ]),
]);

const COLLABORATION: Shape = Object(&[
    Member::must("mode", Shape::Words(&Words { listed: &["multi_agent"], nearest: |_| None })),
    Member::must("pattern", PATTERN),
    Member::must("orchestrator", IDENTIFIER),
    Member::must("participants", List(&IDENTIFIER)),
]);

const PATTERN: Shape = Shape::Words(&Words {
    listed: &["master_worker", "peer_to_peer", "pipeline"],
    nearest: |_| Some("peer_to_peer"),
});

const IDENTIFIER: Shape = Object(&[
    Member::must("agent_id", Text),
    Member::must("agent_type", ROLE),
    Member::may("instance_id", Text),
]);

const ROLE: Shape = Shape::Words(&Words {
    listed: &["architect", "developer", "reviewer"],
    nearest: |word| Some(nearest_role(word)),
});

/// Who looks at the work of others reviews; everybody else who is sent develops.
pub(crate) fn nearest_role(role: &str) -> &'static str {
    let role = role.to_lowercase();
    match role.as_str() {
        "architect" | "orchestrator" => "architect",
        role if role.contains("review") => "reviewer",
        _ => "developer",
    }
}

pub(super) const SUB_SESSION: Shape = Object(&[
    Member::must("sub_session_id", Text),
    Member::must("parent_session_id", Text),
    Member::must("agent", IDENTIFIER),
    Member::must("triggered_by_call_id", Text),
    Member::must(
        "task",
        Object(&[
            Member::must("task_id", Text),
            Member::must("description", Text),
            Member::must("priority", DEGREE),
        ]),
    ),
    Member::must("started_at", Text),
    Member::may("completed_at", Text),
    Member::must("status", STATUS),
    Member::must("tool_calls", List(&CALL)),
    Member::may("output", OUTPUT),
]);

pub(super) const MESSAGE: Shape = Object(&[
    Member::must("message_id", Text),
    Member::must("timestamp", Text),
    Member::must("sequence_number", Number),
    Member::must("from_agent", IDENTIFIER),
    Member::must("to_agent", IDENTIFIER),
    Member::must("message_type", MESSAGE_TYPE),
    Member::must("payload", Any),
    Member::may("correlation_id", Text),
    Member::may("reply_to", Text),
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
    Member::must("task_id", Text),
    Member::must(
        "status",
        Shape::Words(&Words { listed: &["completed", "partial", "failed"], nearest: |_| None }),
    ),
    Member::must(
        "changes",
        Object(&[
            Member::must("files_created", List(&FILE)),
            Member::must("files_modified", List(&FILE)),
            Member::must("files_deleted", List(&Text)),
        ]),
    ),
    Member::must("summary", Text),
    Member::may("implementation_notes", Text),
    Member::may(
        "self_review",
        Object(&[
            Member::must("tests_run", Flag),
            Member::must("tests_passed", Flag),
            Member::must("type_check_passed", Flag),
        ]),
    ),
    Member::may("blockers", List(&Text)),
]);

const FILE: Shape = Object(&[
    Member::must("path", Text),
    Member::may("lines_added", Number),
    Member::may("lines_removed", Number),
    Member::may("description", Text),
]);

const REVIEWER: Shape = Object(&[
    Member::must("review_id", Text),
    Member::must("task_id", Text),
    Member::must(
        "verdict",
        Shape::Words(&Words {
            listed: &["approved", "changes_requested", "rejected"],
            nearest: |_| None,
        }),
    ),
    Member::must("findings", List(&FINDING)),
    Member::must(
        "verification",
        Object(&[
            Member::must("tests_passed", Flag).later("tests"),
            Member::must("type_check_passed", Flag).later("type_check"),
            Member::may("custom_checks", Map(&Flag)),
        ]),
    ),
    Member::must("summary", Text),
    Member::may(
        "required_changes",
        List(&Object(&[
            Member::must("change_id", Text),
            Member::must(
                "priority",
                Shape::Words(&Words {
                    listed: &["must_fix", "should_fix", "consider"],
                    nearest: |_| Some("should_fix"),
                }),
            ),
            Member::must("related_findings", List(&Text)),
            Member::must("description", Text),
        ])),
    ),
]);

const FINDING: Shape = Object(&[
    Member::must("finding_id", Text),
    Member::must(
        "severity",
        Shape::Words(&Words {
            listed: &["critical", "major", "minor", "suggestion"],
            nearest: |_| None,
        }),
    ),
    Member::must(
        "category",
        Shape::Words(&Words {
            listed: &["bug", "security", "performance", "style", "logic"],
            nearest: |_| Some("logic"),
        }),
    ),
    Member::must("file", Text).later("location"),
    Member::may("line", Number),
    Member::must("description", Text),
    Member::may("suggestion", Text),
]);

const SUMMARY: Shape = Object(&[
    Member::must("agents", AGENTS),
    Member::must(
        "tasks",
        Object(&[
            Member::must("total", Number),
            Member::must("completed", Number),
            Member::must("failed", Number),
        ]),
    ),
    Member::must("review_iterations", Number),
    Member::may(
        "final_verdict",
        Shape::Words(&Words { listed: &["approved", "rejected"], nearest: |_| None }),
    ),
]);

pub(super) const AGENTS: Shape = Object(&[
    Member::must("architect", AGENT),
    Member::must("developers", List(&AGENT)),
    Member::may("reviewer", AGENT),
]);

const AGENT: Shape = Object(&[
    Member::must("agent_id", Text),
    Member::must("agent_type", Text),
    Member::must("tool_calls_count", Number),
    Member::must("duration_ms", Number),
    Member::must(
        "status",
        Shape::Words(&Words {
            listed: &["completed", "failed", "in_progress"],
            nearest: |word| Some(if word == "success" { "completed" } else { "failed" }),
        }),
    ),
]);
