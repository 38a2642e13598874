//! From any session to a document: STD-001 for one agent, STD-008 for several.
//!
//! What was recorded is written as it was recorded; a spelling that only the document had (`extra`)
//! is used as long as it says the same as the log. What the standards want and nobody recorded is
//! worked out from what was, and listed by JSON Pointer in `x_antiphon.derived`: no verdict, no
//! review and no acknowledgment is ever among it. What was recorded in a shape that the standards
//! do not have stands in `x_antiphon.original`, under the pointer where it would be.

#![expect(clippy::indexing_slicing, reason = "a `Value` gives null for a member that it has not")]

mod agents;
mod annotations;
mod call;
mod cast;
mod contribution;
mod display;
mod messages;
mod object;
mod output;
mod session;
mod sub_session;
mod summary;
mod task;
mod tool_kind;

use antiphon_model::BodyError;
use antiphon_views::Reading;
use serde_json::Value;

use crate::name::Name;
use crate::{MultiAgentSession, Session, Standard};
use cast::Cast;

/// How to write.
#[derive(Debug, Clone, Copy, Default)]
pub struct WriteOptions {
    /// Which standard; none means the one that fits.
    pub standard: Option<Standard>,
    pub phases: PhaseDetail,
}

/// Which phases a document has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PhaseDetail {
    /// As STD-001 advises: none worked out for fewer than five calls, those that are certain for up
    /// to twenty, and all beyond. Recorded ones are always there.
    #[default]
    Advised,
    Always,
    Never,
}

/// A document, and what to call it.
#[derive(Debug)]
pub struct Written {
    pub standard: Standard,
    pub name: Name,
    /// Whether the document's own id is the name; if not, it was chosen here.
    is_named: bool,
    document: Value,
}

/// Writes the session as a document.
pub fn write(reading: &Reading<'_>, options: WriteOptions) -> Result<Written, BodyError> {
    let cast = Cast::of(reading)?;
    let standard = match options.standard {
        Some(standard) => standard,
        None if cast.is_team() => Standard::Std008,
        None => Standard::Std001,
    };
    session::write(reading, &cast, standard, options.phases)
}

impl Written {
    /// Gives the document its place among others of its day: its number, and the id that goes with
    /// that, unless it has brought one.
    pub fn number(&mut self, sequence: u32) {
        self.name.sequence = sequence;
        if self.is_named {
            return;
        }
        let (stem, Some(document)) = (self.name.stem(), self.document.as_object_mut()) else {
            return;
        };
        let before = document.insert("session_id".to_owned(), stem.as_str().into());
        let subs = document.get_mut("sub_sessions").and_then(Value::as_array_mut);
        for sub in subs.into_iter().flatten().filter_map(Value::as_object_mut) {
            if sub.get("parent_session_id") == before.as_ref() {
                sub.insert("parent_session_id".to_owned(), stem.as_str().into());
            }
        }
    }

    /// The document, its members in the order of the standard.
    pub fn to_json(&self) -> String {
        let text = match self.standard {
            Standard::Std001 => in_order::<Session>(&self.document),
            Standard::Std008 => in_order::<MultiAgentSession>(&self.document),
        };
        text.or_else(|| serde_json::to_string_pretty(&self.document).ok()).unwrap_or_default()
    }
}

fn in_order<T: serde::Serialize + serde::de::DeserializeOwned>(document: &Value) -> Option<String> {
    let typed: T = serde_json::from_value(document.clone()).ok()?;
    serde_json::to_string_pretty(&typed).ok()
}

#[cfg(test)]
mod tests;
