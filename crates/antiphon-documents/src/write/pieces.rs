//! The text of a document, written in pieces.
//!
//! The layout is that of `serde_json`'s pretty printer. Small parts are composed as a whole, as a
//! frame: an object with empty lists that are filled in later, item by item.

use antiphon_model::BodyError;
use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

/// Receives pieces of text in order; returns false to stop. A JSON string is never split.
pub type Take<'t> = dyn FnMut(&str) -> bool + 't;

#[derive(Debug, Error)]
pub enum WriteError {
    #[error(transparent)]
    Body(#[from] BodyError),
    /// The receiver of the pieces asked to stop, and knows why.
    #[error("the rest was not wanted")]
    Stopped,
}

/// The minimum size of a piece, except the last.
const PIECE_BYTES: usize = 64 << 10;

pub(super) struct Pieces<'t> {
    take: &'t mut Take<'t>,
    text: String,
}

/// A list or an object that is being written. Its opening bracket is written together with its
/// first item.
pub(super) struct Open {
    depth: usize,
    brackets: [&'static str; 2],
    pub(super) is_empty: bool,
}

impl Open {
    pub(super) fn list(depth: usize) -> Self {
        Self { depth, brackets: ["[", "]"], is_empty: true }
    }

    pub(super) fn object(depth: usize) -> Self {
        Self { depth, brackets: ["{", "}"], is_empty: true }
    }
}

impl<'t> Pieces<'t> {
    pub(super) fn new(take: &'t mut Take<'t>) -> Self {
        Self { take, text: String::new() }
    }

    /// Begins the next item of `open`, on a line of its own.
    pub(super) fn next(&mut self, open: &mut Open) -> Result<(), WriteError> {
        let [first, _] = open.brackets;
        self.text.push_str(if open.is_empty { first } else { "," });
        open.is_empty = false;
        self.line(open.depth + 1);
        if self.text.len() >= PIECE_BYTES { self.give() } else { Ok(()) }
    }

    pub(super) fn close(&mut self, open: &Open) {
        let [first, last] = open.brackets;
        match open.is_empty {
            true => self.text.push_str(first),
            false => self.line(open.depth),
        }
        self.text.push_str(last);
    }

    /// Writes a value, indented for its depth.
    pub(super) fn value(&mut self, value: &impl Serialize, depth: usize) {
        // This cannot fail: all keys are strings.
        self.lines(&serde_json::to_string_pretty(value).unwrap_or_default(), depth);
    }

    /// Passes on the rest of the text.
    pub(super) fn finish(&mut self) -> Result<(), WriteError> {
        self.give()
    }

    /// Writes a member of a frame unchanged.
    pub(super) fn member(
        &mut self,
        member: &Member<'_>,
        open: &mut Open,
    ) -> Result<(), WriteError> {
        self.next(open)?;
        self.text.push('"');
        self.lines(member.text, open.depth);
        Ok(())
    }

    /// Writes the name of a member; its value must follow.
    pub(super) fn name(&mut self, name: &str, open: &mut Open) -> Result<(), WriteError> {
        self.next(open)?;
        self.value(&name, 0);
        self.text.push_str(": ");
        Ok(())
    }

    /// Writes an item of a list, given its text at depth 0.
    pub(super) fn item(&mut self, text: &str, list: &mut Open) -> Result<(), WriteError> {
        self.next(list)?;
        self.lines(text, list.depth + 1);
        Ok(())
    }

    fn line(&mut self, depth: usize) {
        self.text.push('\n');
        (0..depth).for_each(|_| self.text.push_str("  "));
    }

    fn lines(&mut self, text: &str, depth: usize) {
        let mut lines = text.split('\n');
        self.text.push_str(lines.next().unwrap_or_default());
        for line in lines {
            self.line(depth);
            self.text.push_str(line);
        }
    }

    fn give(&mut self) -> Result<(), WriteError> {
        let is_wanted = self.text.is_empty() || (self.take)(&self.text);
        self.text.clear();
        if is_wanted { Ok(()) } else { Err(WriteError::Stopped) }
    }
}

/// A member of an object in its text form.
pub(super) struct Member<'f> {
    /// As it is written between the quotes.
    pub(super) name: &'f str,
    /// The text of the member without its first quote.
    text: &'f str,
}

impl<'f> Member<'f> {
    /// The members of an object, in their order.
    pub(super) fn all(object: &'f str) -> impl Iterator<Item = Self> + 'f {
        // A JSON string contains no line breaks, so a line that begins with two spaces and a quote
        // is the beginning of a member.
        object.split("\n  \"").skip(1).map(|text| {
            let text = text.strip_suffix("\n}").unwrap_or(text);
            let text = text.strip_suffix(',').unwrap_or(text);
            let name = text.split_once('"').map_or(text, |(name, _)| name);
            Self { name, text }
        })
    }
}

/// A value as text, with its members in the order of `T`; in their own order if it is not a `T`.
pub(super) fn in_order<T: Serialize + serde::de::DeserializeOwned>(value: &Value) -> String {
    let typed = T::deserialize(value).ok();
    let text = typed.and_then(|typed| serde_json::to_string_pretty(&typed).ok());
    text.or_else(|| serde_json::to_string_pretty(value).ok()).unwrap_or_default()
}
