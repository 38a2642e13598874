//! What a backend does, and in what words it is asked.

use std::path::PathBuf;

use antiphon_model::Timestamp;
use antiphon_views::{Prices, Totals};
use thiserror::Error;

use crate::{EventAt, Key, LineAt, Pieces, Record, Row};

/// A change of the catalogue.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    Replace(Box<Record>),
    Remove(Key),
}

/// The requests of a session that have the same day, model and agent, added up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollUp {
    pub session: Key,
    /// Days since 1970, in UTC.
    pub day: Option<i64>,
    pub model: Option<String>,
    pub sub_agent: Option<String>,
    pub totals: Totals,
}

/// A session's words, by relevance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranked {
    pub session: Key,
    pub event_id: String,
}

/// Which events are wanted; what is not said does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// In small letters.
    pub tool: Option<String>,
    pub kind: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub is_error: bool,
}

#[derive(Debug, Error)]
pub enum CatalogError {
    /// It says something that cannot be, or its checksum is wrong.
    #[error("the catalogue is damaged: {0}")]
    Damaged(String),
    /// It cannot be read or written just now.
    #[error("the catalogue cannot be used: {0}")]
    Unusable(String),
    #[error("cannot write `{path}`")]
    Write { path: PathBuf, source: std::io::Error },
}

/// What a backend does.
///
/// A request that several sessions hold counts for one of them: for the one in which it has the
/// earliest time, then for the one whose id comes first. A recording does not count beside the
/// agent's own file of the same session, and a session that another one holds among its files
/// does not count beside that one.
pub trait Catalog {
    /// Every session that it holds.
    fn rows(&self) -> Result<Vec<Row>, CatalogError>;

    /// Makes these changes, all or none, in this order.
    fn write(&mut self, changes: &[Change]) -> Result<(), CatalogError>;

    /// Puts what is now known of a session in the place of what was.
    fn replace_session(&mut self, record: Record) -> Result<(), CatalogError> {
        self.write(&[Change::Replace(Box::new(record))])
    }

    /// What every session spent, by its own prices.
    fn roll_up(&self) -> Result<Vec<RollUp>, CatalogError>;

    /// The same by other prices: each request is priced anew.
    fn roll_up_by(&self, prices: &Prices) -> Result<Vec<RollUp>, CatalogError>;

    /// The sessions that may hold all of these words, or any.
    fn candidates(&self, words: &[Pieces], all: bool) -> Result<Vec<Candidate>, CatalogError>;

    /// The events whose words fit best, the best first; with all of the words, or with any.
    fn ranked(
        &self,
        words: &[String],
        all: bool,
        limit: usize,
    ) -> Result<Vec<Ranked>, CatalogError>;

    /// The events of a session that begin with one of these lines, in its order.
    fn events_at(&self, session: &Key, lines: &[LineAt]) -> Result<Vec<EventAt>, CatalogError>;

    /// The sessions that hold such events, with how many.
    fn sessions_with(&self, query: &EventQuery) -> Result<Vec<(Key, u64)>, CatalogError>;
}

/// A session that may hold what is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub session: Key,
    /// The word that the fewest blocks may hold, by its place, if all words are wanted.
    pub word: Option<usize>,
    /// Those blocks.
    pub files: Vec<Held>,
}

/// A file that may hold what is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Its number among the session's files.
    pub stream: u32,
    pub name: String,
    /// The numbers of the blocks that may.
    pub blocks: Vec<u32>,
}
