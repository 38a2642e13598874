//! From a path to a session, in any known format, and back to a log; and where sessions are kept.

mod archive;
mod bundle;
mod collector;
mod config;
mod environment;
mod export;
mod file;
mod forget;
mod open;
mod recorded;
mod redacted;
mod search;
mod store;
mod sync;
mod zip;

pub use archive::{Copied, Source};
pub use bundle::{Bundle, is_outdated};
pub use collector::{CollectorError, CompleteSpan, SpanCollector, StartSpan};
pub use config::{CONFIG_FILE, Config, ConfigError, Logging, Redaction};
pub use environment::Environment;
pub use export::{Exported, export_log};
pub use file::{PACKED, read_bytes, read_text};
pub use open::{Error, LOG_FORMAT, Opened, open, open_usage};
pub use recorded::{Printed, printed};
pub use redacted::redact_log;
pub use search::{Answer, Hit, Query, search};
pub use store::{Found, Key, Origin, SessionFolder, Store, StoreError, StoredSession};
pub use sync::{SourceFolder, Synced, main_files, source_folders};
