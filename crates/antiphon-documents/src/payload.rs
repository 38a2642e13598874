//! The payloads of messages, by type. The standard leaves payloads open and its examples omit
//! members, so nearly everything is optional here; a completion and a review carry the outputs of
//! their agents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{DeveloperOutput, ReviewerOutput};

/// A payload to be written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant, reason = "a document has few of them")]
pub enum Payload {
    TaskAssignment(TaskAssignment),
    TaskProgress(TaskProgress),
    TaskCompletion(DeveloperOutput),
    ReviewRequest(ReviewRequest),
    ReviewResult(ReviewerOutput),
    Feedback(Feedback),
    Abort(Abort),
    Acknowledgment(Acknowledgment),
}

impl Payload {
    /// The type of the message that carries this payload.
    pub fn message_type(&self) -> &'static str {
        match self {
            Self::TaskAssignment(_) => "task_assignment",
            Self::TaskProgress(_) => "task_progress",
            Self::TaskCompletion(_) => "task_completion",
            Self::ReviewRequest(_) => "review_request",
            Self::ReviewResult(_) => "review_result",
            Self::Feedback(_) => "feedback",
            Self::Abort(_) => "abort",
            Self::Acknowledgment(_) => "acknowledgment",
        }
    }
}

macro_rules! payload {
    ($(
        $(#[$about:meta])*
        $name:ident { $($(#[$field_about:meta])* $field:ident: $type:ty,)* }
    )*) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            pub struct $name {
                $(
                    $(#[$field_about])*
                    #[serde(skip_serializing_if = "Option::is_none")]
                    pub $field: Option<$type>,
                )*
                #[serde(flatten)]
                pub extra: BTreeMap<String, Value>,
            }
        )*
    };
}

// Every member is optional, and every type keeps unknown members.
payload! {
    TaskAssignment {
        task: DeveloperInput,
        priority: String,
        #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
        deadline: String,
        /// The default is 3.
        max_iterations: u64,
    }

    /// What a developer is given.
    DeveloperInput {
        task_id: String,
        task_description: String,
        context: InputContext,
        constraints: InputConstraints,
        acceptance_criteria: Vec<String>,
    }

    InputContext {
        specs: Vec<String>,
        reference_files: Vec<ReferenceFile>,
        previous_attempts: Vec<PreviousAttempt>,
    }

    ReferenceFile {
        path: String,
        reason: String,
        sections: Vec<String>,
    }

    PreviousAttempt {
        attempt_number: u64,
        outcome: String,
        feedback: String,
    }

    InputConstraints {
        /// Patterns of the files that may be changed.
        scope: Vec<String>,
        testing_required: bool,
        must_not_break: Vec<String>,
        style_guide: String,
    }

    TaskProgress {
        task_id: String,
        progress_percent: serde_json::Number,
        current_step: String,
        files_modified_so_far: Vec<String>,
        estimated_remaining: Value,
        blockers: Vec<String>,
    }

    /// What a reviewer is given.
    ReviewRequest {
        review_id: String,
        task_id: String,
        scope: ReviewScope,
        criteria: ReviewCriteria,
        context: ReviewerContext,
    }

    ReviewScope {
        files: Vec<String>,
        focus_areas: Vec<String>,
        ignore_patterns: Vec<String>,
    }

    ReviewCriteria {
        must_pass_tests: bool,
        must_pass_type_check: bool,
        must_pass_lint: bool,
        custom_checks: Vec<CustomCheck>,
    }

    CustomCheck {
        name: String,
        command: String,
        expected_exit_code: i64,
    }

    ReviewerContext {
        previous_reviews: Vec<Value>,
    }

    Feedback {
        #[cfg_attr(
            feature = "schema",
            schemars(extend("anyOf" = crate::schema::words(&["clarification", "correction", "guidance", "question"])))
        )]
        feedback_type: String,
        subject: String,
        content: String,
        action_required: bool,
        related_task_id: String,
    }

    Abort {
        #[cfg_attr(
            feature = "schema",
            schemars(extend("anyOf" = crate::schema::words(&["task", "session"])))
        )]
        scope: String,
        target_id: String,
        reason: String,
        cleanup_required: bool,
    }

    /// The message has been received.
    Acknowledgment {
        task_id: String,
    }
}
