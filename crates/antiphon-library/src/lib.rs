//! Many sessions: where they are kept, how they come there, and what is asked of all of them.

mod annotations;
mod archive;
mod catalogue;
mod collector;
mod config;
mod damaged;
mod environment;
mod forget;
mod indexed;
mod keeping;
mod list;
mod machine;
mod opened;
mod recording;
mod search;
mod store;
mod stored;
mod sync;
mod texts;

pub use annotations::{annotations_of, annotations_to_write};
pub use archive::{Copied, Damage, Source};
pub use catalogue::{Catalogue, Progress, Refreshed};
pub use collector::{CollectorError, CompleteSpan, SpanCollector, StartRun, StartSpan};
pub use config::{CONFIG_FILE, Config, ConfigError, Logging, Redaction};
pub use damaged::{LeftOut, with_causes};
pub use environment::Environment;
pub use list::{List, Listed};
pub use machine::{Recent, SourceReport, Trouble, recent, source_reports, troubles};
pub use opened::{
    damages_of, export_log, find_bundle, native, native_files, open, open_all, open_usage, stamp,
};
pub use recording::SessionFolder;
pub use search::{Answer, Hit, search};
pub use store::{Store, StoreError};
pub use stored::{Found, StoredSession};
pub use sync::{SourceFolder, Synced, source_folders};

// What agents leave, made for tests: the same as for those of the sources.
#[cfg(test)]
#[path = "../../antiphon-sources/src/database/tests/shop.rs"]
mod shop;
#[cfg(test)]
#[path = "../../antiphon-sources/src/bundle/tree/tests/storage.rs"]
mod storage;
