//! Open vocabularies: the words that have a meaning here, and all others kept as they were.

use serde::Serialize;

/// Who speaks in a transcript entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Whoever asks: a person, or another agent.
    User,
    /// The agent itself.
    Assistant,
    /// A tool, with its result.
    Tool,
    /// The program that runs the agent.
    System,
    /// A word that is not known; the line still has it.
    Other,
}

impl Role {
    pub fn from_word(word: &str) -> Self {
        match word {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "tool" => Self::Tool,
            "system" => Self::System,
            _ => Self::Other,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
            Self::Other => "other",
        }
    }
}

/// What was done to an agent's context. Nothing is ever deleted from the log by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ContextAction {
    /// Earlier entries were replaced by a summary.
    Compact,
    /// The latest entries were forgotten.
    Truncate,
    /// The conversation went back to an earlier entry.
    Rewind,
    /// The conversation continued elsewhere from an earlier entry.
    Branch,
    /// A word that is not known: shown, and applied to nothing.
    Other,
}

impl ContextAction {
    pub fn from_word(word: &str) -> Self {
        match word {
            "compact" => Self::Compact,
            "truncate" => Self::Truncate,
            "rewind" => Self::Rewind,
            "branch" => Self::Branch,
            _ => Self::Other,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Truncate => "truncate",
            Self::Rewind => "rewind",
            Self::Branch => "branch",
            Self::Other => "other",
        }
    }
}
