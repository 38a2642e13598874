//! Running a command, and keeping what it prints.

use std::ffi::OsString;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use signal_hook::consts::{SIGCONT, SIGKILL, SIGTERM, SIGWINCH};
use thiserror::Error;

use crate::Assignment;
use crate::child::{self, Notice, Running};
use crate::frame::Exit;
use crate::link::{FAREWELL, Link, Sinks};
use crate::queue::{Queue, queue};
use crate::signals;

/// How long a command that was told to end may take before it is killed.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long what is still printed after the command has ended is waited for: a process that it left
/// behind may hold the pipes for ever.
const AFTERGLOW: Duration = Duration::from_millis(40);
/// So much is written in a moment, unless the machine is very busy; then it is waited for all the
/// same, but no longer than this.
const SHORT_BYTES: u64 = 4 << 20;
const SHORT_PATIENCE: Duration = Duration::from_secs(2);
/// How often the time is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// A command to be recorded.
#[derive(Debug)]
pub struct Recorder {
    pub command: Vec<OsString>,
    /// The words before a command with which a process is started that calls [`lead`](crate::lead).
    /// Without them a command in a terminal cannot be stopped from the keyboard.
    pub leader: Vec<OsString>,
    /// The words with which a process is started that calls [`scribe`](crate::scribe()) with the
    /// same sinks. Without them a thread of this process writes, and is waited for.
    pub scribe: Vec<OsString>,
    pub assignment: Assignment,
    pub max_duration: Option<Duration>,
    pub sinks: Sinks,
    /// Wait until everything is written, however long that takes.
    pub wait: bool,
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
    #[error("cannot start recording")]
    Scribe(#[source] std::io::Error),
}

/// Runs the command until it ends, and records it.
pub fn record(recorder: Recorder) -> Result<Ended, RecordError> {
    let Recorder { command, leader, scribe, assignment, max_duration, sinks, wait } = recorder;
    let (sender, queue) = queue();
    let (notices, notice) = channel();
    signals::watch(notices.clone()).map_err(RecordError::Signals)?;
    let words: Vec<String> =
        command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let link = Link::open(&scribe, queue.clone(), (assignment, words.clone(), sinks));
    let link = link.map_err(RecordError::Scribe)?;

    let begun = Instant::now();
    let running = match child::start(&command, &leader, &sender, notices) {
        Ok(running) => running,
        Err(source) => {
            drop(sender);
            finish(link, &queue, Exit::not_started(&source), wait);
            let command = words.into_iter().next().unwrap_or_default();
            return Err(RecordError::Start { command, source });
        }
    };
    drop(sender);
    let exit = watch(&running, &notice, begun, max_duration);
    let quiet_by = Instant::now() + AFTERGLOW;
    while !running.is_quiet() && Instant::now() < quiet_by {
        std::thread::sleep(Duration::from_millis(1));
    }
    // The terminal is ours again before anything is said.
    drop(running);
    let warnings = finish(link, &queue, exit, wait);
    Ok(Ended { code: exit.code, signal: exit.signal, warnings })
}

/// Hands over what is left, and leaves the scribe to it. Gives what went wrong so far.
fn finish(link: Link, queue: &Queue, exit: Exit, wait: bool) -> Vec<String> {
    let exit = Exit { loss: queue.finish(), ..exit };
    let is_short = queue.printed() <= SHORT_BYTES;
    let patience = if is_short { SHORT_PATIENCE } else { FAREWELL };
    let mut warnings = link.finish(exit, wait, patience);
    let lost = queue.lost_in_all();
    if !lost.is_none() {
        warnings.push(format!("the recording is incomplete: {lost} could not be saved"));
    }
    warnings
}

/// Ends this process by a signal, as the command was ended.
pub fn end_by(signal: i32) {
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    if signal == SIGKILL {
        let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
    }
}

/// Passes signals on and keeps the time, until the command has ended.
fn watch(
    running: &Running,
    notices: &Receiver<Notice>,
    begun: Instant,
    max_duration: Option<Duration>,
) -> Exit {
    let mut exit = Exit::default();
    let mut deadline = max_duration.map(|most| (begun + most, SIGTERM));
    loop {
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
