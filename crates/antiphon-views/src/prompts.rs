//! What the person said.

use antiphon_model::{BodyError, EntryKind, EventIx, Role, Source, Timestamp};
use serde::Serialize;

use crate::Reading;

/// What the person said to the main agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prompt {
    /// The id of the message.
    pub message_id: String,
    /// The words.
    pub text: String,
    /// When they were said.
    pub timestamp: Option<Timestamp>,
    /// The event of the message.
    #[serde(skip)]
    pub event: EventIx,
}

impl Prompt {
    /// The event of the message.
    pub fn event(&self) -> EventIx {
        self.event
    }
}

/// Everything that the person said, in order. What a program says in the person's name is left out.
pub fn prompts(reading: &Reading<'_>) -> Result<Vec<Prompt>, BodyError> {
    let session = reading.session;
    let mut prompts = Vec::new();
    for entry in session.entries() {
        let is_root =
            entry.agent().is_some_and(|agent| session.agent(agent).parent.agent().is_none());
        let is_outside = match entry.source() {
            Source::External | Source::Own => true,
            Source::System | Source::Agent(_) => false,
        };
        if entry.kind() != EntryKind::Message(Role::User) || !is_root || !is_outside {
            continue;
        }
        let text = reading.text(entry)?;
        if text.trim().is_empty() {
            continue;
        }
        prompts.push(Prompt {
            message_id: entry.id().to_owned(),
            text,
            timestamp: entry.at(),
            event: entry.ix(),
        });
    }
    Ok(prompts)
}
