//! The codes of findings. Programs rely on them, so they do not change; `docs/documents.md`
//! explains each.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($name:ident = $word:literal,)*) => {
        /// What a finding is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $($name,)*
        }

        impl Code {
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}

codes! {
    // The text.
    TooLarge = "too-large",
    NotUtf8 = "not-utf8",
    NotJson = "not-json",
    NotADocument = "not-a-document",
    DuplicateKey = "duplicate-key",
    // Shapes of earlier versions.
    OldSteps = "old-steps",
    OldPhases = "old-phases",
    OldSummary = "old-summary",
    OldRange = "old-range",
    OldResult = "old-result",
    OldName = "old-name",
    // Structure.
    MissingField = "missing-field",
    WrongType = "wrong-type",
    OutOfRange = "out-of-range",
    UnknownWord = "unknown-word",
    MissingCategory = "missing-category",
    // Ids and links.
    DuplicateId = "duplicate-id",
    UnknownParent = "unknown-parent",
    ParentCircle = "parent-circle",
    UnknownTrigger = "unknown-trigger",
    TriggerNotDelegation = "trigger-not-delegation",
    UnknownSubSession = "unknown-sub-session",
    LinkNotReturned = "link-not-returned",
    NoSubSession = "no-sub-session",
    UnknownAgent = "unknown-agent",
    UnknownReply = "unknown-reply",
    UnknownTask = "unknown-task",
    UnknownCall = "unknown-call",
    ReversedRange = "reversed-range",
    // Time and order.
    BadTime = "bad-time",
    VagueTime = "vague-time",
    MissingEnd = "missing-end",
    EndsBeforeStart = "ends-before-start",
    DurationDiffers = "duration-differs",
    CallsOutOfOrder = "calls-out-of-order",
    MessagesOutOfOrder = "messages-out-of-order",
    // Declared and recorded values.
    CountDiffers = "count-differs",
    FilesDiffer = "files-differ",
    VerdictDiffers = "verdict-differs",
    // The file.
    FileName = "file-name",
    ShortId = "short-id",
    // The report.
    TooMany = "too-many",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Code {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DocumentCode".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let words: Vec<&str> = Self::ALL.iter().map(|code| code.word()).collect();
        schemars::json_schema!({
            "description": "What a finding is about; `docs/documents.md` says what each means.",
            "type": "string",
            "enum": words,
        })
    }
}
