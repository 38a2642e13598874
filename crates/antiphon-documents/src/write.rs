//! Writes any session as a document: STD-001 for one agent, STD-008 for several.
//!
//! Recorded values are written as they were recorded; a spelling that only the document had
//! (`extra`) is used as long as it agrees with the log. What the standards require and was not
//! recorded is derived, and listed by JSON Pointer in `x_antiphon.derived`; a verdict, a review or
//! an acknowledgment is never derived. A value that was recorded in a form that the standards do
//! not have is put into `x_antiphon.original`, under the pointer where it would be.

#![expect(clippy::indexing_slicing, reason = "a `Value` gives null for a member that it has not")]

mod agents;
mod annotations;
mod call;
mod contribution;
mod display;
mod free_ids;
mod items;
mod messages;
mod notes;
mod object;
mod origin;
mod output;
mod pieces;
mod roles;
mod session;
mod sub_session;
mod summary;
mod task;
mod text;
mod tool_kind;
mod x_antiphon;

use antiphon_model::BodyError;
use antiphon_views::Reading;

use crate::Standard;
use crate::name::Name;
use pieces::Pieces;
pub use pieces::{Take, WriteError};
use roles::Roles;

/// How to write.
#[derive(Debug, Clone, Copy, Default)]
pub struct WriteOptions {
    /// The standard to follow; `None` means the one that fits the session.
    pub standard: Option<Standard>,
    pub phases: PhaseDetail,
}

/// Which phases a document has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PhaseDetail {
    /// As STD-001 advises: none are derived for fewer than five calls, only those of high
    /// confidence for up to twenty, and all beyond that. Recorded phases are always written.
    #[default]
    Advised,
    Always,
    Never,
}

/// A session that can be written as a document, and the document's name. The document is composed
/// while it is written, so a long one takes little memory.
pub struct Document<'r> {
    pub standard: Standard,
    pub name: Name,
    /// The id of the document that this session was read from; if there is none, the id is the
    /// name.
    id: Option<String>,
    roles: Roles<'r>,
    phases: PhaseDetail,
}

impl std::fmt::Debug for Document<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Document({})", self.name.stem())
    }
}

impl<'r> Document<'r> {
    pub fn of(reading: &'r Reading<'r>, options: WriteOptions) -> Result<Self, BodyError> {
        let roles = Roles::of(reading)?;
        let standard = match options.standard {
            Some(standard) => standard,
            None if roles.is_team() => Standard::Std008,
            None => Standard::Std001,
        };
        let (name, id) = session::name(&roles, standard)?;
        Ok(Self { standard, name, id, roles, phases: options.phases })
    }

    /// Sets the document's sequence number among those of its day, and its id, unless it already
    /// has one.
    pub fn number(&mut self, sequence: u32) {
        self.name.sequence = sequence;
    }

    /// Writes the document, its members in the order of the standard.
    pub fn write<'t>(&self, take: &'t mut Take<'t>) -> Result<(), WriteError> {
        let mut pieces = Pieces::new(take);
        session::write(self, &mut pieces)?;
        pieces.finish()
    }

    /// The whole text.
    pub fn to_json(&self) -> Result<String, BodyError> {
        let mut text = String::new();
        let written = self.write(&mut |piece| {
            text.push_str(piece);
            true
        });
        match written {
            Ok(()) | Err(WriteError::Stopped) => Ok(text),
            Err(WriteError::Body(error)) => Err(error),
        }
    }

    fn own_id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

#[cfg(test)]
mod tests;
