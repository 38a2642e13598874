//! Words in everything that was said and done: what is looked for, and what was found.

pub(crate) mod entry;
mod query;

use antiphon_model::Timestamp;

use crate::{Key, Summary};
pub use query::{Query, day_or_time};

/// What is looked for, and where.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    pub query: &'a Query,
    pub sort: Sort,
    pub limit: usize,
    /// The sessions, in the order in which they are looked through.
    pub sessions: &'a [&'a Summary],
}

/// A place that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub session: Key,
    pub message_id: String,
    pub agent_id: Option<String>,
    pub role: &'static str,
    pub tool: Option<String>,
    pub timestamp: Option<Timestamp>,
    pub snippet: String,
}

/// In which order places are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// The newest sessions first, in each the latest first.
    Newest,
    /// What fits best first. Only what was said and thought is ranked.
    Relevance,
}

/// How many of the words a message must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matching {
    All,
    /// One is enough.
    Any,
}

impl Matching {
    /// Whether that many are there, by whether each word is.
    pub(crate) fn holds(self, mut has: impl Iterator<Item = bool>) -> bool {
        match self {
            Self::All => has.all(|it| it),
            Self::Any => has.any(|it| it),
        }
    }
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    pub hits: Vec<Hit>,
    /// Nothing had all words; these have some, what fits best first.
    pub is_partial: bool,
}
