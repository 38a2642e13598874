//! The text of a document, written a piece at a time.
//!
//! It is laid out as `serde_json` lays out a whole value. What is small is composed whole, as a
//! frame: an object some members of which are left open, and are filled in when their turn comes.

use antiphon_model::BodyError;
use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

/// Takes pieces of text in order; false, if no more are wanted. No string of the JSON is cut.
pub type Take<'t> = dyn FnMut(&str) -> bool + 't;

#[derive(Debug, Error)]
pub enum WriteError {
    #[error(transparent)]
    Body(#[from] BodyError),
    /// Whoever takes the pieces wants no more, and knows why.
    #[error("the rest was not wanted")]
    Stopped,
}

/// A piece has at least so many bytes, but for the last.
const PIECE_BYTES: usize = 64 << 10;

pub(super) struct Pieces<'t> {
    take: &'t mut Take<'t>,
    text: String,
}

/// A list or an object on its way. Its first bracket is written with what comes first in it.
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

    /// Whatever comes next stands in `open`, on a line of its own.
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

    /// A value, in the layout of the place in which it stands.
    pub(super) fn value(&mut self, value: &impl Serialize, depth: usize) {
        // What was made here can be written: it has no keys but texts.
        self.lines(&serde_json::to_string_pretty(value).unwrap_or_default(), depth);
    }

    /// The end of the text.
    pub(super) fn finish(&mut self) -> Result<(), WriteError> {
        self.give()
    }

    /// A member of a frame, as it is.
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

    /// The name of a member, whose value comes next.
    pub(super) fn name(&mut self, name: &str, open: &mut Open) -> Result<(), WriteError> {
        self.next(open)?;
        self.value(&name, 0);
        self.text.push_str(": ");
        Ok(())
    }

    /// An item of a list that was laid out as a value of its own.
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

/// A member of an object that is laid out as text.
pub(super) struct Member<'f> {
    /// As it is written between the quotes.
    pub(super) name: &'f str,
    /// All of it but the first quote.
    text: &'f str,
}

impl<'f> Member<'f> {
    /// The members of an object, in their order.
    pub(super) fn all(object: &'f str) -> impl Iterator<Item = Self> + 'f {
        // A string has no line breaks, so that a line which begins with two blanks and a quote is
        // the beginning of a member.
        object.split("\n  \"").skip(1).map(|text| {
            let text = text.strip_suffix("\n}").unwrap_or(text);
            let text = text.strip_suffix(',').unwrap_or(text);
            let name = text.split_once('"').map_or(text, |(name, _)| name);
            Self { name, text }
        })
    }
}

/// A value as text, its members in the order of `T`; as they are, if it is no `T`.
pub(super) fn in_order<T: Serialize + serde::de::DeserializeOwned>(value: &Value) -> String {
    let typed = T::deserialize(value).ok();
    let text = typed.and_then(|typed| serde_json::to_string_pretty(&typed).ok());
    text.or_else(|| serde_json::to_string_pretty(value).ok()).unwrap_or_default()
}
