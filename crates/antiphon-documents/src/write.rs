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
mod free_ids;
mod items;
mod messages;
mod notes;
mod object;
mod origin;
mod output;
mod pieces;
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
use cast::Cast;
use pieces::Pieces;
pub use pieces::{Take, WriteError};

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

/// A session that can be written as a document, and what to call that. It is composed while it is
/// written, so that a long one takes little memory.
pub struct Document<'r> {
    pub standard: Standard,
    pub name: Name,
    /// The id that the document has brought; if none, it is its name.
    id: Option<String>,
    cast: Cast<'r>,
    phases: PhaseDetail,
}

impl std::fmt::Debug for Document<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Document({})", self.name.stem())
    }
}

impl<'r> Document<'r> {
    pub fn of(reading: &'r Reading<'r>, options: WriteOptions) -> Result<Self, BodyError> {
        let cast = Cast::of(reading)?;
        let standard = match options.standard {
            Some(standard) => standard,
            None if cast.is_team() => Standard::Std008,
            None => Standard::Std001,
        };
        let (name, id) = session::name(&cast, standard)?;
        Ok(Self { standard, name, id, cast, phases: options.phases })
    }

    /// Gives the document its place among others of its day: its number, and the id that goes with
    /// that, unless it has brought one.
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
