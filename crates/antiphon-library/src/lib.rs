//! Many sessions: where they are kept, how they come there, and what is asked of all of them.

mod annotate;
mod annotations;
mod archive;
mod blame;
mod catalogue;
mod collector;
mod config;
mod damaged;
mod digest;
mod doctor;
mod edits;
mod environment;
mod forget;
mod formats;
mod fresh;
mod indexed;
mod keeping;
mod ledger;
mod list;
mod listed;
mod machine;
mod opened;
mod outbox;
mod overview;
mod project;
mod recording;
mod restore;
mod resumption;
mod scan;
mod search;
mod stats;
mod store;
mod stored;
mod sync;
mod texts;
mod usage_now;
mod verified;

pub use annotate::{
    About, AnnotateError, AnnotationFields, NewAnnotation, annotation, append_annotations,
    next_annotation,
};
pub use annotations::{annotations_of, annotations_to_write};
pub use archive::{Copied, Damage, Source};
pub use blame::{BlameError, BlamedFile};
pub use catalogue::{Catalogue, Progress, Refreshed};
pub use collector::{CollectorError, CompleteSpan, SpanCollector, StartRun, StartSpan};
pub use config::{
    CONFIG_FILE, Config, ConfigError, ConfigRow, Library, Logging, Redaction, config_rows,
};
pub use damaged::{LeftOut, with_causes};
pub use digest::DigestReport;
pub use doctor::{DoctorReport, Examination, doctor};
pub use edits::{EditedSessions, root_of};
pub use environment::Environment;
pub use formats::{FormatSupport, formats};
pub use fresh::{Asked, FRESH_WITHIN, Freshened};
pub use ledger::{CostLedger, CountedRequest, DroppedRecord, cost_ledger};
pub use list::{List, Listed, listed_file};
pub use listed::ListedSession;
pub use machine::{Recent, SourceReport, Trouble, recent, source_reports};
pub use opened::{
    damages_of, export_log, find_bundle, live, native, native_files, open, open_all, open_usage,
    open_with, original, stamp,
};
pub use overview::{continue_command, session_overview};
pub use project::{project_query, repository_around};
pub use recording::SessionFolder;
pub use restore::{RestoreError, Restored, restore};
pub use resumption::{NativeFile, Resumption, resumption};
pub use scan::{FoundSecret, ScanReport, scan};
pub use search::{
    Answer, SearchHit, SearchTurn, SearchedSession, add_context, search, search_within,
};
pub use stats::{StatsReport, call_stats_at, stats_at};
pub use store::{Store, StoreError};
pub use stored::{Found, StoredSession};
pub use sync::{SourceFolder, SyncReport, Synced, source_folders};
pub use usage_now::UsageNow;
pub use verified::{VerifiedSession, VerifyFinding, verify_session};

// What agents leave, made for tests: the same as for those of the sources.
#[cfg(test)]
#[path = "../../antiphon-sources/src/database/tests/shop.rs"]
mod shop;
#[cfg(test)]
#[path = "../../antiphon-sources/src/bundle/tree/tests/storage.rs"]
mod storage;
