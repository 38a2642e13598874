//! From a path to a session, in any known format, and back to a log.

mod bundle;
mod collector;
mod export;
mod file;
mod open;
mod redacted;

pub use bundle::{Bundle, is_outdated};
pub use collector::{CollectorError, CompleteSpan, SpanCollector, StartSpan};
pub use export::{Exported, export_log};
pub use file::{PACKED, read_text};
pub use open::{Error, LOG_FORMAT, Opened, open, open_usage};
pub use redacted::redact_log;
