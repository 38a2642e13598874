//! What was wrong with the input. Reading never fails as a whole: a bad line is skipped, and
//! becomes a problem with its place.

use serde::Serialize;
use thiserror::Error;

use crate::Place;

/// Something in the input that could not be taken as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// What kind of problem it is, in a fixed word such as `not-json`.
    pub code: &'static str,
    /// The line's number in its stream, from 1.
    pub line: u64,
    /// What is wrong, in a sentence.
    pub message: String,
    /// Where the bytes are, so that nothing is out of reach.
    pub place: Place,
}

/// How bad a problem or a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is lost.
    Warning,
    /// Something cannot be read, or is not as it should be.
    Error,
}

/// The problems that decoding and folding find. (Damage to a log on disk is reported by the
/// journal.)
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProblemKind {
    #[error("not JSON: {0}")]
    NotJson(String),
    #[error("the last line is incomplete: still being written, or cut off")]
    Torn,
    #[error("not a JSON object")]
    NotAnObject,
    #[error("a message without an agent")]
    NoAgent,
    #[error("`{field}` has the wrong type")]
    WrongType { field: &'static str },
    #[error("`usage` has neither `input` nor `output`: its tokens are not counted")]
    UnknownUsage,
    #[error(
        "the file of sub-agent `{agent}` is missing: what it did is unknown, and its tokens are \
         not counted{}", .tokens.map(|it| format!(" (it reported {it})")).unwrap_or_default()
    )]
    AbsentSubAgent { agent: String, tokens: Option<u64> },
    #[error(
        "requests of the sub-agent `{agent}` that only progress lines mention: {requests}; their \
         tokens ({tokens} so far) are not final and are not counted"
    )]
    ToldSubAgent { agent: String, requests: usize, tokens: u64 },
    #[error(
        "the id `{0}` also occurs on an earlier line; references point to the nearest earlier one"
    )]
    DuplicateId(String),
    #[error("several records are on one line; each was read")]
    SharedLine,
    #[error("bytes that are not valid UTF-8")]
    NotUtf8,
    #[error("the streams' order is circular here; the file's own order is kept")]
    Circle,
    #[error("the session is full: it holds at most 2^30 events")]
    Full,
}

impl ProblemKind {
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotJson(_) => "not-json",
            Self::Torn => "torn",
            Self::NotAnObject => "not-an-object",
            Self::NoAgent => "no-agent",
            Self::WrongType { .. } => "wrong-type",
            Self::UnknownUsage => "unknown-usage",
            Self::AbsentSubAgent { .. } => "absent-sub-agent",
            Self::ToldSubAgent { .. } => "told-sub-agent",
            Self::DuplicateId(_) => "duplicate-id",
            Self::SharedLine => "shared-line",
            Self::NotUtf8 => "not-utf8",
            Self::Circle => "circle",
            Self::Full => "full",
        }
    }

    fn severity(&self) -> Severity {
        match self {
            Self::NotJson(_) | Self::NotAnObject | Self::NoAgent | Self::Full => Severity::Error,
            Self::Torn
            | Self::WrongType { .. }
            | Self::UnknownUsage
            | Self::AbsentSubAgent { .. }
            | Self::ToldSubAgent { .. }
            | Self::DuplicateId(_)
            | Self::SharedLine
            | Self::NotUtf8
            | Self::Circle => Severity::Warning,
        }
    }

    pub fn at(&self, line: u64, place: Place) -> Problem {
        let (severity, code) = (self.severity(), self.code());
        Problem { severity, code, line, message: self.to_string(), place }
    }
}
