//! The kind of an event of the timeline, as one word.

use antiphon_model::{Entry, EntryKind, Role};
use serde::Serialize;

/// The kind of an event. `said` and `called` are more specific than the role `assistant`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimelineKind {
    /// An agent said something.
    Said,
    /// An agent called one or more tools.
    Called,
    /// An agent was told something.
    Heard,
    /// An agent received the result of a call.
    Received,
    /// The program that runs the agent told it something.
    System,
    /// A message with a role that is not known.
    Other,
    /// An agent was created.
    AgentCreated,
    /// An agent is finished.
    AgentEnded,
    /// The session began.
    SessionStarted,
    /// The session is over.
    SessionEnded,
    /// The state of a run.
    RunStatus,
    /// What an agent has in its context was changed.
    ContextEdited,
    /// A part of a message, while it is being written.
    Fragment,
    /// A phase or a note about what was recorded.
    Annotation,
    /// Events that were lost while recording.
    Gap,
    /// Damage that was repaired when the log was opened.
    Recovered,
    /// An event of a kind that is not known.
    Unknown,
}

impl TimelineKind {
    pub const ALL: [Self; 17] = [
        Self::Said,
        Self::Called,
        Self::Heard,
        Self::Received,
        Self::System,
        Self::Other,
        Self::AgentCreated,
        Self::AgentEnded,
        Self::SessionStarted,
        Self::SessionEnded,
        Self::RunStatus,
        Self::ContextEdited,
        Self::Fragment,
        Self::Annotation,
        Self::Gap,
        Self::Recovered,
        Self::Unknown,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Said => "said",
            Self::Called => "called",
            Self::Heard => "heard",
            Self::Received => "received",
            Self::System => "system",
            Self::Other => "other",
            Self::AgentCreated => "agent_created",
            Self::AgentEnded => "agent_ended",
            Self::SessionStarted => "session_started",
            Self::SessionEnded => "session_ended",
            Self::RunStatus => "run_status",
            Self::ContextEdited => "context_edited",
            Self::Fragment => "fragment",
            Self::Annotation => "annotation",
            Self::Gap => "gap",
            Self::Recovered => "recovered",
            Self::Unknown => "unknown",
        }
    }

    /// The kind of that name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    pub(crate) fn of(entry: Entry<'_>) -> Self {
        match entry.kind() {
            EntryKind::Message(Role::Assistant) if entry.makes_calls() => Self::Called,
            EntryKind::Message(Role::Assistant) => Self::Said,
            EntryKind::Message(Role::User) => Self::Heard,
            EntryKind::Message(Role::Tool) => Self::Received,
            EntryKind::Message(Role::System) => Self::System,
            EntryKind::Message(Role::Other) => Self::Other,
            EntryKind::AgentCreated => Self::AgentCreated,
            EntryKind::AgentEnded => Self::AgentEnded,
            EntryKind::SessionStarted => Self::SessionStarted,
            EntryKind::SessionEnded => Self::SessionEnded,
            EntryKind::RunStatus => Self::RunStatus,
            EntryKind::ContextEdited => Self::ContextEdited,
            EntryKind::Fragment => Self::Fragment,
            EntryKind::Annotation => Self::Annotation,
            EntryKind::Gap => Self::Gap,
            EntryKind::Recovered => Self::Recovered,
            EntryKind::Unknown => Self::Unknown,
        }
    }
}
