//! Runs a command and records what it prints, without disturbing it.
//!
//! **Forward first, record second.** Threads that do nothing else pass on what the command prints;
//! a copy goes through a queue to the scribe, a separate process, which writes the log, the
//! transcript and the events. Output that arrives faster than it can be written waits in the
//! scribe's memory, and beyond that in an encrypted file without a name. When the command ends, so
//! does the recorder, and the scribe writes the rest. If the disk hangs, the queue fills, what does
//! not fit is counted, and the command goes on.
//!
//! The log keeps the output as it was printed, because that is the fact. Interpreting it is left to
//! readers, so a better reader improves old recordings.

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
pub use link::{OnEvent, OnEvent as Tell, Sinks, scribe};
pub use record::{Ended, RecordError, Recorder, end_by, record};
pub use scribe::{Printed, Redact};
pub use session_log::LogTarget;
pub use transcript::{ExportError, Header, Outcome, Policy, Transcript, export};
