//! What is known of every session, in a form that answers at once: a list, sums, words.
//!
//! All of it is derived. A session stands in the catalogue in the state in which it was read
//! ([`Stamp`]); one that has changed since, or that a newer reader would read otherwise, is read
//! again and replaced as a whole. Nothing is lost with the catalogue: it is made again from what is
//! kept.
//!
//! [`Catalog`] is what a backend has to do; [`Sqlite`] does it in one file. Every backend passes
//! the same tests (`conformance.rs`).

mod blocks;
mod filter;
mod index;
mod key;
mod parts;
mod searched;
mod sqlite;
mod sum;
mod summary;
mod texts;

use std::path::PathBuf;

use antiphon_model::{Status, Timestamp, Usage};
use antiphon_views::{Prices, Totals, Usd};
use thiserror::Error;

pub use blocks::{LINE_BYTES_MAX, blocks, each_block};
pub use filter::{Filter, Pieces};
pub(crate) use filter::{FilterMaker, SEGMENTS, may_hold};
pub use index::{Index, Subject};
pub use key::Key;
pub use searched::{SHORT_BYTES, names, places, says_more};
pub use sqlite::Sqlite;
pub use summary::Summary;
pub use texts::{Block, Text, Texts};

/// The state of a session when it was read, and what read it. Two that are equal are the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(String);

impl Stamp {
    /// Of words that are others when the session is in another state, or a reader is another.
    pub fn new(words: String) -> Self {
        Self(words)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How a session came to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// By being recorded: a log of our own.
    Recorded,
    /// By being copied: the files of another program.
    Archived,
}

/// All that the catalogue holds of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub row: Row,
    /// Every event, in the session's order.
    pub events: Vec<EventRow>,
    pub requests: Vec<RequestRow>,
    pub files: Vec<FileBlocks>,
}

/// What a list says of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub key: Key,
    pub origin: Origin,
    pub stamp: Stamp,
    /// What the session calls itself, or else its key.
    pub session_id: String,
    /// The format's name in the registry.
    pub format: String,
    /// The program that ran it.
    pub agent: Option<String>,
    pub title: Option<String>,
    pub prompt: Option<String>,
    pub project: Option<String>,
    pub role: Option<String>,
    pub issue: Option<String>,
    pub run_id: Option<String>,
    pub started_at: Option<Timestamp>,
    pub last_event_at: Option<Timestamp>,
    /// How it ended, if it says so.
    pub end: Option<Status>,
    /// Whether its last message is an answer.
    pub is_answered: bool,
    pub outcome: Option<String>,
    pub events: u64,
    pub agents: u64,
    pub calls: u64,
    pub problems: u64,
    /// Its main file, where a session that made others may hold their files.
    pub main: Option<MainFile>,
    /// The main files of those others that are among its own.
    pub parts: Vec<MainFile>,
    /// Whether another session holds it, so that it does not count by itself. The catalogue says so
    /// of what it has; whoever puts a session in need not know.
    pub is_part: bool,
}

/// The main file of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MainFile {
    /// What the agent calls the session.
    pub session: String,
    pub len: u64,
}

/// An event. It is known by its session and its id; where it stands is derived, and may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    pub id: String,
    /// Where it stands in the session's files, if it does.
    pub line: Option<LineAt>,
    pub agent: Option<String>,
    pub at: Option<Timestamp>,
    /// The role of a message, the event type of the others.
    pub kind: &'static str,
    pub tool: Option<String>,
    pub is_error: bool,
    /// What was said or thought, if it was words: these are found by relevance.
    pub prose: Option<String>,
}

/// A line of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineAt {
    /// The number of its file among the session's.
    pub stream: u32,
    /// Where it begins there.
    pub offset: u64,
}

/// An event that was found by its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventAt {
    pub line: LineAt,
    /// Where it stands in the session.
    pub position: u64,
    pub id: String,
    pub agent: Option<String>,
    pub at: Option<Timestamp>,
    pub kind: String,
    pub tool: Option<String>,
}

/// A request: tokens that were spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRow {
    /// The same in every session that holds the request.
    pub id: RequestId,
    pub at: Option<Timestamp>,
    pub model: Option<String>,
    /// The name of the sub-agent that made it; nothing, for the session's own.
    pub sub_agent: Option<String>,
    pub usage: Usage,
    /// What the source itself says that it cost.
    pub declared: Option<Usd>,
    /// Whether the source tells only a part of its tokens.
    pub is_partial: bool,
}

/// A hash of what a request is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId(pub(crate) [u8; 16]);

/// A file of a session, and the filters of the parts of its blocks, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBlocks {
    /// Its name within what is kept of the session.
    pub name: String,
    pub blocks: Vec<Vec<Filter>>,
}

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

#[cfg(test)]
mod conformance;
