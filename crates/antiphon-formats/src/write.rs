//! Writes a session in another program's format, a piece at a time, because a session may be larger
//! than memory.
//!
//! Whatever the format has a place for is written there, in its own terms. Writing what our own
//! reader read from a written document gives the same document.

use antiphon_model::{BodyError, Reading};
use serde::Serialize;
use thiserror::Error;

/// A piece of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'p> {
    /// What joins values: brackets, commas, names of members.
    Frame(&'p str),
    /// A complete JSON value. Everything that was recorded is in one of these.
    Value(&'p str),
}

/// Writes a session; nothing, if no agent in it says anything. The text is the session's name, if
/// the session has none itself.
pub type Writer = for<'t> fn(&Reading<'_>, &str, &'t mut Take<'t>) -> Result<(), WriteError>;

/// Takes the pieces in order; returns `false` if no more are wanted.
pub type Take<'t> = dyn FnMut(Piece<'_>) -> bool + 't;

#[derive(Debug, Error)]
pub enum WriteError {
    #[error(transparent)]
    Body(#[from] BodyError),
    /// The receiver of the pieces wants no more, and knows why.
    #[error("the rest was not wanted")]
    Stopped,
}

/// Where pieces go.
pub(crate) struct Output<'t> {
    take: &'t mut Take<'t>,
    /// Whether values are formatted over several lines, for people.
    is_pretty: bool,
}

impl std::fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Output(pretty: {})", self.is_pretty)
    }
}

impl<'t> Output<'t> {
    pub(crate) fn plain(take: &'t mut Take<'t>) -> Self {
        Self { take, is_pretty: false }
    }

    pub(crate) fn pretty(take: &'t mut Take<'t>) -> Self {
        Self { take, is_pretty: true }
    }

    fn give(&mut self, piece: Piece<'_>) -> Result<(), WriteError> {
        if (self.take)(piece) { Ok(()) } else { Err(WriteError::Stopped) }
    }

    pub(crate) fn frame(&mut self, text: &str) -> Result<(), WriteError> {
        self.give(Piece::Frame(text))
    }

    /// Writes a value that is this many levels deep.
    pub(crate) fn value(&mut self, value: &impl Serialize, depth: usize) -> Result<(), WriteError> {
        // Serialising cannot fail: all keys are texts.
        let text = match self.is_pretty {
            true => {
                let text = serde_json::to_string_pretty(value).unwrap_or_default();
                text.replace('\n', &line(depth))
            }
            false => serde_json::to_string(value).unwrap_or_default(),
        };
        self.give(Piece::Value(&text))
    }

    /// Begins an element of a list or a member of an object, each on its own line.
    pub(crate) fn next(&mut self, is_first: &mut bool, depth: usize) -> Result<(), WriteError> {
        let comma = if std::mem::take(is_first) { "" } else { "," };
        match self.is_pretty {
            true => self.frame(&format!("{comma}{}", line(depth))),
            false => self.frame(comma),
        }
    }

    /// Writes a member of an object.
    pub(crate) fn member(
        &mut self,
        name: &str,
        value: &impl Serialize,
        is_first: &mut bool,
        depth: usize,
    ) -> Result<(), WriteError> {
        self.next(is_first, depth)?;
        self.frame(&self.key(name))?;
        self.value(value, depth)
    }

    pub(crate) fn key(&self, name: &str) -> String {
        if self.is_pretty { format!("\"{name}\": ") } else { format!("\"{name}\":") }
    }

    /// Ends a list or an object that is not empty.
    pub(crate) fn close(&mut self, bracket: &str, depth: usize) -> Result<(), WriteError> {
        match self.is_pretty {
            true => self.frame(&format!("{}{bracket}", line(depth))),
            false => self.frame(bracket),
        }
    }
}

/// An end of line, and the indentation of the next line.
fn line(depth: usize) -> String {
    format!("\n{}", "  ".repeat(depth))
}

/// All pieces in one text.
pub fn whole(
    write: impl FnOnce(&mut Take<'_>) -> Result<(), WriteError>,
) -> Result<String, WriteError> {
    let mut text = String::new();
    write(&mut |piece| {
        let (Piece::Frame(part) | Piece::Value(part)) = piece;
        text.push_str(part);
        true
    })?;
    Ok(text)
}

#[cfg(test)]
mod tests;
