//! From a path to a session, in any known format, and back to a log.

mod collector;
mod export;
mod open;

pub use collector::{CollectorError, CompleteSpan, SpanCollector, StartSpan};
pub use export::{Exported, export_log};
pub use open::{Bundle, Error, LOG_FORMAT, Opened, open, open_usage};
