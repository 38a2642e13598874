//! The output of a sub-agent: a developer's changes, a reviewer's verdict, or anything else.
//!
//! Reviews exist in two forms, and both are read: a finding has `file` and `line`, or a `location`;
//! a check is a boolean, or an object that says whether it passed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The output of an agent. Its members identify its kind, because none of them names it; the first
/// that fits is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[allow(clippy::large_enum_variant, reason = "a document has few of them")]
pub enum AgentOutput {
    Developer(DeveloperOutput),
    Reviewer(ReviewerOutput),
    Generic(GenericOutput),
    /// An output of no known kind, kept unchanged; the schemas do not allow it.
    #[cfg_attr(feature = "schema", schemars(skip))]
    Other(Value),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeveloperOutput {
    pub task_id: String,
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["completed", "partial", "failed"])))
    )]
    pub status: String,
    pub changes: Changes,
    pub summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub implementation_notes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_review: Option<SelfReview>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blockers: Option<Vec<String>>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changes {
    pub files_created: Vec<FileChange>,
    pub files_modified: Vec<FileChange>,
    pub files_deleted: Vec<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileChange {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_added: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_removed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SelfReview {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests_run: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests_passed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_check_passed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_issues: Option<Vec<String>>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReviewerOutput {
    pub review_id: String,
    /// The task that was reviewed.
    pub task_id: String,
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["approved", "changes_requested", "rejected"])))
    )]
    pub verdict: String,
    pub findings: Vec<ReviewFinding>,
    pub verification: Verification,
    pub summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_changes: Option<Vec<RequiredChange>>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// A finding of a review, with either `file` or `location`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(extend("anyOf" = crate::schema::either(["file", "location"])))
)]
pub struct ReviewFinding {
    pub finding_id: String,
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["critical", "major", "minor", "suggestion"])))
    )]
    pub severity: String,
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["bug", "security", "performance", "style", "logic", "test"])))
    )]
    pub category: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Location {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_snippet: Option<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// The checks of a review. The first three members are from the standard, the others from its later
/// version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(extend("anyOf" = crate::schema::either(["tests_passed", "tests"])))
)]
pub struct Verification {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests_passed: Option<Check>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_check_passed: Option<Check>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_checks: Option<BTreeMap<String, Check>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<Check>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_check: Option<Check>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lint: Option<Check>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom: Option<BTreeMap<String, Check>>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Check {
    Passed(bool),
    Detail(CheckDetail),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckDetail {
    pub passed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequiredChange {
    pub change_id: String,
    #[cfg_attr(
        feature = "schema",
        schemars(extend("anyOf" = crate::schema::words(&["must_fix", "should_fix", "consider"])))
    )]
    pub priority: String,
    pub related_findings: Vec<String>,
    pub description: String,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// The output of an agent that is neither developer nor reviewer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GenericOutput {
    /// Always `generic`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "generic")))]
    pub output_type: String,
    pub data: Value,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}
