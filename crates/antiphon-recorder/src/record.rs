//! Running a command, and keeping what it prints.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::Signal;
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
/// How long a scribe that was stuck before the command ended is waited for: a disk that hangs must
/// not be felt.
const STUCK: Duration = Duration::from_millis(40);
/// How long one that was well may stand still before it is given up.
const STANDSTILL: Duration = Duration::from_secs(2);
/// How often the time and the scribe are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Whoever reads the events may take this long.
const EVENTS: Duration = Duration::from_secs(30);

/// Is told an event.
pub type Tell = Box<dyn FnMut(&RoleEvent) + Send>;

/// Where a recording goes. Nothing of it is needed.
#[derive(Default)]
pub struct Sinks {
    pub log: Option<LogTarget>,
    /// The folder of transcripts.
    pub logs_dir: Option<PathBuf>,
    pub policy: Policy,
    /// Is told every event of the role's run, in order, on a thread of its own.
    pub events: Option<Tell>,
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
    /// The words before a command with which a process is started that calls [`lead`](crate::lead).
    /// Without them a command in a terminal cannot be stopped from the keyboard.
    pub leader: Vec<OsString>,
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
    let Recorder { command, leader, assignment, max_duration, sinks } = recorder;
    let (sender, waiting) = queue();
    let (notices, notice) = channel();
    signals::watch(notices.clone()).map_err(RecordError::Signals)?;
    let words: Vec<String> =
        command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (events, teller) = teller(sinks.events);
    let (exits, exit) = channel();
    let (finished, done) = channel();

    let redact = sinks.redact.unwrap_or_else(|| Box::new(|line, _| line.to_owned()));
    let mut scribe = Scribe::new(assignment, SessionLog::new(sinks.log), redact, events);
    scribe.logs_dir = sinks.logs_dir;
    scribe.formatter = Transcript { policy: sinks.policy };
    let progress = Arc::clone(&scribe.progress);
    let for_scribe = words.clone();
    std::thread::spawn(move || {
        let outcome = scribe.run(&waiting, &for_scribe, &exit);
        let _ = finished.send(outcome);
    });

    let begun = Instant::now();
    let running = match child::start(&command, &leader, &sender, notices) {
        Ok(running) => running,
        Err(source) => {
            drop(sender);
            let _ = exits.send(Exit::not_started(&source));
            finish(&done, &Pace::new(progress), &teller);
            let command = words.into_iter().next().unwrap_or_default();
            return Err(RecordError::Start { command, source });
        }
    };
    drop(sender);
    let mut pace = Pace::new(progress);
    let exit = watch(&running, &notice, begun, max_duration, &mut pace);
    let quiet_by = Instant::now() + AFTERGLOW;
    while !running.is_quiet() && Instant::now() < quiet_by {
        std::thread::sleep(Duration::from_millis(1));
    }
    // The terminal is ours again before anything is said.
    drop(running);
    let _ = exits.send(exit);
    pace.look();
    let Finished { warnings } = finish(&done, &pace, &teller);
    Ok(Ended { code: exit.code, signal: exit.signal, warnings })
}

/// Ends this process by a signal, as the command was ended.
pub fn end_by(signal: i32) {
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    if signal == SIGKILL {
        let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
    }
}

/// A thread that tells events, so that a reader who is slow keeps nobody else waiting.
fn teller(told: Option<Tell>) -> (std::sync::mpsc::Sender<RoleEvent>, JoinHandle<()>) {
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
    pace: &mut Pace,
) -> Exit {
    let mut exit = Exit::default();
    let mut deadline = max_duration.map(|most| (begun + most, SIGTERM));
    loop {
        pace.look();
        let notice = match notices.recv_timeout(LOOK) {
            Ok(notice) => notice,
            Err(RecvTimeoutError::Disconnected) => return exit,
            Err(RecvTimeoutError::Timeout) => {
                if let Some((at, signal)) = deadline.filter(|(at, _)| *at <= Instant::now()) {
                    exit.was_too_long = true;
                    running.send(signal);
                    running.send(SIGCONT);
                    deadline = (signal != SIGKILL).then_some((at + PATIENCE, SIGKILL));
                }
                continue;
            }
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

/// Whether the scribe moves.
struct Pace {
    progress: Arc<AtomicU64>,
    seen: u64,
    moved_at: Instant,
}

impl Pace {
    fn new(progress: Arc<AtomicU64>) -> Self {
        Self { progress, seen: 0, moved_at: Instant::now() }
    }

    fn look(&mut self) {
        let now = self.progress.load(Ordering::Relaxed);
        if now != self.seen {
            self.seen = now;
            self.moved_at = Instant::now();
        }
    }
}

/// Waits for what is written, as long as it is; then for whoever reads the events.
fn finish(done: &Receiver<Finished>, pace: &Pace, teller: &JoinHandle<()>) -> Finished {
    let was_stuck = pace.moved_at.elapsed() > LOOK * 4;
    let patience = if was_stuck { STUCK } else { STANDSTILL };
    let mut pace = Pace { progress: Arc::clone(&pace.progress), ..Pace::new(Arc::default()) };
    let finished = loop {
        match done.recv_timeout(Duration::from_millis(5)) {
            Ok(finished) => break finished,
            Err(RecvTimeoutError::Timeout) => pace.look(),
            Err(RecvTimeoutError::Disconnected) => break Finished::default(),
        }
        if pace.moved_at.elapsed() > patience {
            let warning = "the recording was left behind: what it writes to does not answer";
            return Finished { warnings: vec![warning.to_owned()] };
        }
    };
    let until = Instant::now() + EVENTS;
    while !teller.is_finished() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    finished
}
