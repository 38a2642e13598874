//! Running a command, and keeping what it prints.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGCONT, SIGKILL, SIGTERM, SIGWINCH};
use thiserror::Error;

use crate::Assignment;
use crate::child::{self, Notice, Running};
use crate::event::RoleEvent;
use crate::queue::queue;
use crate::scribe::{Exit, Finished, Redact, Scribe};
pub use crate::session_log::LogTarget;
use crate::session_log::SessionLog;
use crate::signals;
use crate::transcript::{Policy, Transcript};

/// How long a command that was told to end may take before it is killed.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long what is still printed after the command has ended is waited for: a process that it left
/// behind may hold the pipes for ever.
const AFTERGLOW: Duration = Duration::from_millis(200);
/// How long the scribe may take to finish, beside a fiftieth of the run: a disk that hangs must not
/// be felt.
const FINISHING: Duration = Duration::from_millis(50);
/// Whoever reads the events may take this long.
const EVENTS: Duration = Duration::from_secs(30);

/// Where a recording goes. Nothing of it is needed.
#[derive(Default)]
pub struct Sinks {
    pub log: Option<LogTarget>,
    /// The folder of transcripts.
    pub logs_dir: Option<PathBuf>,
    pub policy: Policy,
    /// Is told every event of the role's run, in order, on a thread of its own.
    pub events: Option<Box<dyn FnMut(&RoleEvent) + Send>>,
    pub redact: Option<Redact>,
}

impl std::fmt::Debug for Sinks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sinks").field("log", &self.log).field("logs_dir", &self.logs_dir).finish()
    }
}

/// A command to be recorded.
#[derive(Debug)]
pub struct Recorder {
    pub command: Vec<OsString>,
    pub assignment: Assignment,
    pub max_duration: Option<Duration>,
    pub sinks: Sinks,
}

/// How the command ended, for whoever stands in its place.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// What went wrong with the recording; the command did not feel it.
    pub warnings: Vec<String>,
}

#[derive(Debug, Error)]
pub enum RecordError {
    #[error("cannot run `{command}`")]
    Start { command: String, source: std::io::Error },
    #[error("cannot watch for signals")]
    Signals(#[source] std::io::Error),
}

/// Runs the command until it ends, and records it.
pub fn record(recorder: Recorder) -> Result<Ended, RecordError> {
    let Recorder { command, assignment, max_duration, sinks } = recorder;
    let (sender, waiting) = queue();
    let (notices, notice) = channel();
    signals::watch(notices.clone()).map_err(RecordError::Signals)?;
    let words: Vec<String> =
        command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (events, teller) = teller(sinks.events);
    let (exits, exit) = channel();
    let (finished, done) = channel();

    let begun = Instant::now();
    let running = child::start(&command, &sender, notices).map_err(|source| {
        let command = words.first().cloned().unwrap_or_default();
        RecordError::Start { command, source }
    })?;
    drop(sender);
    let redact = sinks.redact.unwrap_or_else(|| Box::new(|line, _| line.to_owned()));
    let mut scribe = Scribe::new(assignment, SessionLog::new(sinks.log), redact, events);
    scribe.logs_dir = sinks.logs_dir;
    scribe.formatter = Transcript { policy: sinks.policy };
    std::thread::spawn(move || {
        let outcome = scribe.run(&waiting, &words, &exit);
        let _ = finished.send(outcome);
    });

    let exit = watch(&running, &notice, begun, max_duration);
    let quiet_by = Instant::now() + AFTERGLOW;
    while !running.is_quiet() && Instant::now() < quiet_by {
        std::thread::sleep(Duration::from_millis(1));
    }
    // The terminal is ours again before anything is said.
    drop(running);
    let _ = exits.send(exit);
    let Finished { warnings } = finish(&done, begun, teller);
    Ok(Ended { code: exit.code, signal: exit.signal, warnings })
}

/// A thread that tells events, so that a reader who is slow keeps nobody else waiting.
fn teller(
    told: Option<Box<dyn FnMut(&RoleEvent) + Send>>,
) -> (std::sync::mpsc::Sender<RoleEvent>, JoinHandle<()>) {
    let (sender, events) = channel::<RoleEvent>();
    let handle = std::thread::spawn(move || {
        let mut told = told;
        for event in events {
            if let Some(tell) = &mut told {
                tell(&event);
            }
        }
    });
    (sender, handle)
}

/// Passes signals on and keeps the time, until the command has ended.
fn watch(
    running: &Running,
    notices: &Receiver<Notice>,
    begun: Instant,
    max_duration: Option<Duration>,
) -> Exit {
    let mut exit = Exit { code: None, signal: None, was_cancelled: false, was_too_long: false };
    let mut deadline = max_duration.map(|most| (begun + most, SIGTERM));
    loop {
        let notice = match deadline {
            Some((at, signal)) => {
                match notices.recv_timeout(at.saturating_duration_since(Instant::now())) {
                    Ok(notice) => notice,
                    Err(RecvTimeoutError::Timeout) => {
                        exit.was_too_long = true;
                        running.send(signal);
                        running.send(SIGCONT);
                        deadline =
                            (signal != SIGKILL).then(|| (Instant::now() + PATIENCE, SIGKILL));
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => return exit,
                }
            }
            None => match notices.recv() {
                Ok(notice) => notice,
                Err(_) => return exit,
            },
        };
        match notice {
            Notice::Exited { code, signal } => return Exit { code, signal, ..exit },
            Notice::Stopped => running.stop_with_it(),
            Notice::Signal { signal: SIGWINCH, .. } => running.resize(),
            // It is told to the whole group, or by us when we go on.
            Notice::Signal { signal: SIGCONT, .. } => {}
            Notice::Signal { signal, is_ours_alone } => {
                exit.was_cancelled |= signals::asks_to_stop(signal);
                if is_ours_alone || running.has_terminal() {
                    running.send(signal);
                }
            }
        }
    }
}

/// Waits for what is written, as long as that cannot be felt; then for whoever reads the events.
fn finish(done: &Receiver<Finished>, begun: Instant, teller: JoinHandle<()>) -> Finished {
    let patience = FINISHING.max(begun.elapsed() / 50);
    let Ok(finished) = done.recv_timeout(patience) else {
        let warning = "the recording was left behind: what it writes to does not answer";
        return Finished { warnings: vec![warning.to_owned()] };
    };
    let until = Instant::now() + EVENTS;
    while !teller.is_finished() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    finished
}
