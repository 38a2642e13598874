//! Events while they happen: a command is run, and what it prints is kept, without its noticing.
//!
//! **Forward first, record second.** What the command prints is passed on by threads that do
//! nothing else; a copy goes through a queue to the scribe, a process of its own, which writes the
//! log, the transcript and the events. What comes faster than it can be written waits in the
//! scribe's memory, and beyond that in an encrypted file without a name. When the command ends the
//! recorder ends too, and the scribe writes the rest. If the disk hangs, the queue fills, what does
//! not fit is counted, and the command goes on.
//!
//! The log keeps what the command printed, as it was printed: those are the facts.
//! What they mean is the reader's business, and a better reader improves old recordings.

mod assignment;
mod backlog;
mod batch;
mod child;
mod command_line;
mod event;
mod frame;
mod leader;
mod lines;
mod link;
mod pump;
mod queue;
mod record;
mod scribe;
mod session_log;
mod signals;
mod spill;
mod terminal;
mod transcript;
mod transcript_file;
mod verdict;

pub use assignment::Assignment;
pub use event::{Figures, Reason, RoleEvent, Stage};
pub use leader::lead;
pub use link::{Sinks, Tell, scribe};
pub use record::{Ended, RecordError, Recorder, end_by, record};
pub use scribe::{Printed, Redact};
pub use session_log::LogTarget;
pub use transcript::{Header, Outcome, Policy, Transcript, export};
