//! From a path to a session, in any known format, and back to a log; and where sessions are kept.

mod activity;
mod all;
mod annotations;
mod archive;
mod blocks;
mod bundle;
mod catalog;
mod collector;
mod config;
mod damaged;
mod database;
mod environment;
mod export;
mod file;
mod forget;
mod list;
mod machine;
mod memory;
mod name;
mod open;
mod opened;
mod recorded;
mod redacted;
mod redacted_bodies;
mod search;
mod stats;
mod store;
mod sync;
mod zip;

pub use antiphon_journal::regular;

pub use all::All;
pub use annotations::annotations_of;
pub use archive::{Copied, Damage, Source};
pub use bundle::{Bundle, is_outdated};
pub use catalog::{
    Candidate, Catalog, CatalogError, Catalogue, Change, EventQuery, EventRow, FileBlocks, Filter,
    MainFile, Pieces, Progress, Ranked, Record, Refreshed, RequestId, RequestRow, RollUp, Row,
    Sqlite, Stamp,
};
pub use collector::{CollectorError, CompleteSpan, SpanCollector, StartRun, StartSpan};
pub use config::{CONFIG_FILE, Config, ConfigError, Logging, Redaction};
pub use damaged::{LeftOut, with_causes};
pub use database::DatabaseError;
pub use environment::Environment;
pub use export::{Exported, Redacting};
pub use file::{PACKED, Piece, each_piece, read_bytes, read_text};
pub use list::{List, Listed, SessionQuery, SessionSort};
pub use machine::{Recent, SourceReport, Trouble, recent, source_reports, troubles};
pub use memory::{MEMORY_BYTES, allow_memory};
pub use open::{Error, LOG_FORMAT, Opened};
pub use opened::{damages_of, export_log, find_bundle, native_files, open, open_all, open_usage};
pub use recorded::{Printed, printed};
pub use redacted::redact_log;
pub use search::{Answer, Hit, Query, Sort, day_or_time, search};
pub use store::{Found, Key, Origin, SessionFolder, Store, StoreError, StoredSession};
pub use sync::{SourceFolder, Synced, source_folders};
