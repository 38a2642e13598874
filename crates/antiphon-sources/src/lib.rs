//! From a path to a session, in any known format, and back to a log.

pub mod activity;
mod all;
mod bundle;
mod database;
mod error;
mod export;
mod file;
mod live;
mod member;
mod memory;
pub mod name;
mod open;
mod recorded;
mod redacted;
mod redacted_bodies;
mod redacted_text;
mod utf8;
mod zip;

use antiphon_journal::regular;

pub use all::{AllSessions, open_all};
pub use bundle::{
    Bundle, FolderListing, FolderListings, OnFile, Siblings, format_of, is_outdated, list,
    relative, tree,
};
pub use database::{Database, DatabaseError};
pub use error::Error;
pub use export::{Exported, Redacting, copy_log, export_bundle};
pub use file::{COMPRESSED_SUFFIX, Chunk, each_chunk, head, read_bytes, read_bytes_of, read_text};
pub use live::{Each, FileSizes, Finder, Live, News};
pub use member::Member;
pub use memory::{PLAIN_BYTES_MAX, allow_memory};
pub use open::{Fold, LOG_FORMAT, Opened, Wanted, open, open_foreign, open_usage, open_with_files};
pub use recorded::{Printed, printed};
pub use redacted::redact_log;
pub use redacted_text::redact_text;

// The fixtures of the formats: live sessions are tested with the same ones.
#[cfg(test)]
#[path = "../../antiphon-formats/src/tests/cases.rs"]
mod cases;
