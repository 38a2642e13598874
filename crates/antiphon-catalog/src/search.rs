//! Words in everything that was said and done: the query and its results.

pub(crate) mod entry;
mod needs;
mod pattern;
mod query;
mod snippet;

use antiphon_model::Timestamp;

use crate::{Key, Summary};
pub(crate) use needs::Need;
pub use pattern::Pattern;
pub use query::Query;
pub(crate) use snippet::Snippet;

/// What to search for, and where.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    pub query: &'a Query,
    pub sort: Sort,
    pub limit: usize,
    /// The sessions to search, in order.
    pub sessions: &'a [&'a Summary],
}

/// A match in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub session: Key,
    pub message_id: String,
    pub agent_id: Option<String>,
    pub role: &'static str,
    pub tool: Option<String>,
    pub timestamp: Option<Timestamp>,
    pub snippet: String,
    /// Where the words and patterns are in the snippet, in characters, in order.
    pub marks: Vec<(usize, usize)>,
}

/// The order of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// The newest sessions first, and in each the latest first.
    Newest,
    /// The best match first. Only what was said and thought is ranked.
    Relevance,
}

/// How many of the words an entry must contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matching {
    All,
    /// At least one.
    Any,
}

impl Matching {
    /// Whether enough words are there, given whether each is.
    pub(crate) fn holds(self, mut has: impl Iterator<Item = bool>) -> bool {
        match self {
            Self::All => has.all(|it| it),
            Self::Any => has.any(|it| it),
        }
    }
}

/// The results of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    pub hits: Vec<Hit>,
    /// Whether nothing contained all words; then these contain some, the best match first.
    pub is_partial: bool,
}
