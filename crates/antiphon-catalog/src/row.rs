//! What the catalogue contains about a session.

use antiphon_model::{Status, Timestamp, Usage};
use antiphon_views::Usd;
use serde::Serialize;

use crate::Key;
use crate::fields::Fields;
use crate::filter::Filter;

/// The state of a session when it was read, and the version of its reader. Equal stamps mean that
/// nothing has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub(crate) u64);

impl Stamp {
    /// The stamp of a string that describes the state of the session and the version of its reader.
    pub fn new(words: &str) -> Self {
        Self(first_long(&blake3::hash(words.as_bytes())))
    }

    /// The hash of that string.
    pub fn as_u64(self) -> u64 {
        self.0
    }
}

/// The first 64 bits of a hash: enough against accidental collisions.
pub(crate) fn first_long(hash: &blake3::Hash) -> u64 {
    hash.as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}

/// How a session came into the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// It was recorded: it is an Antiphon log.
    Recorded,
    /// It was copied: it consists of the files of another program.
    Archived,
}

/// All that the catalogue contains about a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub row: Row,
    /// Every event, in the session's order.
    pub events: Vec<EventRow>,
    pub requests: Vec<RequestRow>,
    /// Every tool call, in the session's order.
    pub tool_calls: Vec<ToolCallRow>,
    pub(crate) files: Vec<FileBlocks>,
    pub(crate) fields: Fields,
}

/// What a list shows of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub key: Key,
    pub origin: Origin,
    pub stamp: Stamp,
    /// The session's own id; else the agent's name for it; else its key.
    pub session_id: String,
    /// The format's name in the registry.
    pub format: String,
    /// The program that ran it.
    pub agent: Option<String>,
    pub title: Option<String>,
    /// The first prompt, as much as a list shows.
    pub prompt: Option<String>,
    pub project: Option<String>,
    pub role: Option<String>,
    pub issue: Option<String>,
    pub run_id: Option<String>,
    /// When something was last added to the stored files.
    pub changed_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub last_event_at: Option<Timestamp>,
    /// How it ended, if that was recorded.
    pub end: Option<Status>,
    /// Whether its last message is an answer.
    pub is_answered: bool,
    pub outcome: Option<String>,
    pub events: u64,
    pub agents: u64,
    pub calls: u64,
    pub problems: u64,
    /// Its main file, if other sessions of its format may have it among their files.
    pub main: Option<MainFile>,
    /// The main files of other sessions among its own files.
    pub parts: Vec<MainFile>,
    /// Whether it is part of another session and does not count by itself. The catalogue works this
    /// out; the value in a record that is written is ignored.
    pub is_part: bool,
}

/// The main file of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MainFile {
    /// The agent's id of the session.
    pub session: String,
    pub len: u64,
}

/// An event. Its session and its id identify it; its position is derived and may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    pub id: String,
    /// Where it is in the session's files, if it is on a line.
    pub line: Option<LineAt>,
    pub agent: Option<String>,
    pub at: Option<Timestamp>,
    /// The role of a message, or the event type.
    pub kind: &'static str,
    pub tool: Option<String>,
    pub is_error: bool,
    /// What was said or thought, if it was text: a search can rank it.
    pub prose: Option<String>,
}

/// A line of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineAt {
    /// The index of its file among the session's files.
    pub stream: u32,
    /// Where it begins there.
    pub offset: u64,
}

/// A request to a model: tokens that were spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRow {
    /// The same in every session that contains the request.
    pub id: RequestId,
    pub at: Option<Timestamp>,
    pub model: Option<String>,
    /// The name of the sub-agent that made it; `None` for the main agent.
    pub sub_agent: Option<String>,
    pub usage: Usage,
    /// The cost that the source itself states.
    pub declared: Option<Usd>,
    /// Whether the source states only a part of its tokens.
    pub is_partial: bool,
}

/// A tool call, as it is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCallRow {
    /// The same in every session that contains the call.
    pub id: RequestId,
    pub at: Option<Timestamp>,
    pub tool: String,
    /// The program that a shell ran.
    pub command: Option<String>,
    pub model: Option<String>,
    /// The group of its failure, if it failed.
    pub error: Option<String>,
    pub duration_ms: Option<u64>,
    pub output_tokens: u64,
}

/// A hash of what identifies a request or a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub(crate) u64);

/// A file of a session, and the filters of the parts of its blocks, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileBlocks {
    /// Its name among the session's stored files.
    pub(crate) name: String,
    pub(crate) blocks: Vec<Vec<Filter>>,
}
