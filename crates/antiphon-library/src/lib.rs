//! From a path to a session, in any known format.

mod open;

pub use open::{Error, LOG_FORMAT, Opened, open};
