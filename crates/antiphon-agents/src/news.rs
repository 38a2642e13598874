//! What a session tells whoever listens while it runs.

use std::time::Duration;

use crate::transcript::Answer;

/// Something that happened.
#[derive(Debug, Clone, Copy)]
pub enum News<'a> {
    /// Words of an answer, as they arrive.
    Words { who: Who<'a>, words: &'a str },
    /// An answer is complete, and in the log.
    Answered { who: Who<'a>, answer: &'a Answer },
    /// What came of a call.
    Result { who: Who<'a>, tool: &'a str, text: &'a str, is_error: bool },
    /// A request failed and is repeated.
    Retry { who: Who<'a>, error: &'a str, after: Duration },
    /// Something that the person should know.
    Note(&'a str),
}

/// An agent, as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Who<'a> {
    pub name: &'a str,
    /// The root is 0.
    pub depth: usize,
}
