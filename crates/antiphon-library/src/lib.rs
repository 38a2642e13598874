//! From a path to a session, in any known format, and back to a log.

mod export;
mod open;

pub use export::{Exported, export_log};
pub use open::{Bundle, Error, LOG_FORMAT, Opened, open};
