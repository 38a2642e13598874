//! The log on disk.
//!
//! One JSON object per line, one `write` per line, nothing ever rewritten. Each line carries a
//! [seal](Seal) by which damage is found and located; after any crash the log opens by itself.
//! `docs/format.md` draws the format to the byte.
//!
//! To record a session, see [`Session`]; to read one, [`Log`].

mod ahead;
mod bodies;
mod chain;
mod checkpoint;
mod clock;
mod damage;
mod disk;
mod draft;
mod durability;
mod error;
mod follow;
mod ids;
mod lines;
mod lock;
mod log;
mod recovery;
pub mod regular;
mod salvage;
mod scanner;
mod seal;
mod session;
mod state;
mod sync;
mod takeover;
mod verify;
mod weld;
mod writer;

pub use bodies::LogBodies;
pub use clock::{Clock, SystemClock};
pub use damage::{Damage, DamageKind};
pub use disk::{Creation, Disk, LogFile, OsDisk};
pub use draft::{Draft, DraftError};
pub use durability::Level;
pub use error::Error;
pub use follow::{Followed, Follower};
pub use lines::{LINE_BYTES_MAX, Lines, RawLine};
pub use log::{Fold, Head, Log, LogSummary, read_bytes};
pub use salvage::{Salvaged, salvage};
pub use scanner::Sink;
pub use seal::{Hash, Seal};
pub use session::{Call, Message, NewAgent, Session};
pub use verify::{HeadComparison, Report, verify};
pub use writer::{Ack, Options, Writer};
