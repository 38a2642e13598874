//! Open vocabularies: the words that we act on, and everything else kept as it was.

/// Who speaks in a transcript entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    User,
    Assistant,
    Tool,
    System,
    /// A word that we do not know; the line still has it.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContextAction {
    /// Earlier entries were replaced by a summary.
    Compact,
    /// The latest entries were forgotten.
    Truncate,
    /// The conversation went back to an earlier entry.
    Rewind,
    /// The conversation continued elsewhere from an earlier entry.
    Branch,
    /// A word that we do not know: shown, and applied to nothing.
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
