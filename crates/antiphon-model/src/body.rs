//! Bodies: texts and JSON values that stay in the source and are read only when needed.
//!
//! While a line is decoded its bodies are borrowed from it. Once folded only their places are kept,
//! so a session is small however much was said in it.

use serde::Serialize;
use thiserror::Error;

use crate::Json;

/// Where a value is in the decoded stream of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// The position of its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u32,
    /// Which of the session's streams (a log's segments, or a bundle's files).
    pub stream: u32,
}

impl Place {
    /// The place of something that is absent. No JSON value is empty.
    pub const NONE: Self = Self { offset: 0, len: 0, stream: 0 };

    pub fn is_none(self) -> bool {
        self.len == 0
    }
}

/// A raw JSON value, borrowed from its line, with its place.
///
/// Its creator guarantees that it is JSON, because it goes into a log as it is. A reader takes
/// parts of lines that it has parsed, and a program uses a [`Json`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Body<'a> {
    pub json: &'a str,
    pub place: Place,
}

impl<'a> Body<'a> {
    /// The body of a value that has no place yet.
    pub fn of(json: &'a Json) -> Self {
        Self { json: json.as_str(), place: Place::NONE }
    }
}

/// Returns the bytes of a place as text. Implementations replace what is not UTF-8. Several threads
/// may ask at once: a server answers many readers of one session.
pub trait Bodies: Send + Sync {
    fn read(&self, place: Place) -> Result<String, BodyError>;

    /// All bytes of a stream, if they are in memory.
    fn stream(&self, _number: u32) -> Option<&[u8]> {
        None
    }
}

#[derive(Debug, Error)]
pub enum BodyError {
    #[error("the log has no stream {0}")]
    NoStream(u32),
    #[error("bytes {offset}..{end} are no longer there")]
    Gone { offset: u64, end: u64 },
    #[error("cannot read `{path}`")]
    Io {
        path: String,
        #[source]
        source: std::io::Error,
    },
}

/// Streams that are in memory: for tests, samples and what arrives over a pipe.
#[derive(Debug, Default, Clone)]
pub struct MemoryBodies {
    streams: Vec<Vec<u8>>,
}

impl MemoryBodies {
    pub fn new(streams: Vec<Vec<u8>>) -> Self {
        Self { streams }
    }
}

impl Bodies for MemoryBodies {
    fn read(&self, place: Place) -> Result<String, BodyError> {
        let stream =
            self.streams.get(place.stream as usize).ok_or(BodyError::NoStream(place.stream))?;
        let end = place.offset.saturating_add(u64::from(place.len));
        let bytes = usize::try_from(place.offset)
            .ok()
            .zip(usize::try_from(end).ok())
            .and_then(|(start, end)| stream.get(start..end))
            .ok_or(BodyError::Gone { offset: place.offset, end })?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    fn stream(&self, number: u32) -> Option<&[u8]> {
        self.streams.get(number as usize).map(Vec::as_slice)
    }
}
