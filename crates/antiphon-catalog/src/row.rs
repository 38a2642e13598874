//! What the catalogue holds of a session.

use antiphon_model::{Status, Timestamp, Usage};
use antiphon_views::Usd;
use serde::Serialize;

use crate::Key;
use crate::fields::Fields;
use crate::filter::Filter;

/// The state of a session when it was read, and what read it. Two that are equal are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub(crate) u64);

impl Stamp {
    /// Of words that are others when the session is in another state, or a reader is another.
    pub fn new(words: &str) -> Self {
        Self(first_long(&blake3::hash(words.as_bytes())))
    }

    /// The hash of the words: another one for other words.
    pub fn as_u64(self) -> u64 {
        self.0
    }
}

/// The beginning of a hash: enough to tell things apart that nobody has made to look alike.
pub(crate) fn first_long(hash: &blake3::Hash) -> u64 {
    hash.as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}

/// How a session came to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// It was recorded: it is an Antiphon log.
    Recorded,
    /// It was copied: it consists of the files of another program.
    Archived,
}

/// All that the catalogue holds of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub row: Row,
    /// Every event, in the session's order.
    pub events: Vec<EventRow>,
    pub requests: Vec<RequestRow>,
    pub(crate) files: Vec<FileBlocks>,
    pub(crate) fields: Fields,
}

/// What a list says of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub key: Key,
    pub origin: Origin,
    pub stamp: Stamp,
    /// What the session calls itself; else what its agent calls it; else its key.
    pub session_id: String,
    /// The format's name in the registry.
    pub format: String,
    /// The program that ran it.
    pub agent: Option<String>,
    pub title: Option<String>,
    /// How it began, as far as a list shows it.
    pub prompt: Option<String>,
    pub project: Option<String>,
    pub role: Option<String>,
    pub issue: Option<String>,
    pub run_id: Option<String>,
    /// When something was last added to what is kept of it.
    pub changed_at: Timestamp,
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
pub struct RequestId(pub(crate) u64);

/// A file of a session, and the filters of the parts of its blocks, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileBlocks {
    /// Its name within what is kept of the session.
    pub(crate) name: String,
    pub(crate) blocks: Vec<Vec<Filter>>,
}
