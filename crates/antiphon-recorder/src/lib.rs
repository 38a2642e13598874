//! Events while they happen: a command is run, and what it prints is kept, without its noticing.
//!
//! **Forward first, record second.** What the command prints is passed on by threads that do
//! nothing else; a copy goes into a queue that never waits. One thread, the scribe,
//! takes from it and writes the log, the transcript and the events. If the disk hangs, the queue
//! fills, what does not fit is counted, and the command goes on.
//!
//! The log keeps what the command printed, line by line, as it was printed: those are the facts.
//! What they mean is the reader's business, and a better reader improves old recordings.

mod assignment;
mod child;
mod event;
mod leader;
mod lines;
mod pump;
mod queue;
mod record;
mod scribe;
mod session_log;
mod signals;
mod terminal;
mod transcript;
mod transcript_file;

pub use assignment::Assignment;
pub use event::{Figures, Reason, RoleEvent, Stage};
pub use leader::lead;
pub use record::{Ended, LogTarget, RecordError, Recorder, Sinks, Tell, end_by, record};
pub use scribe::Redact;
pub use transcript::{Header, Outcome, Policy, Transcript, export};
