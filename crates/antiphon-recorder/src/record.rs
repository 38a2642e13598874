//! Runs a command and records what it prints.

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

/// How long a command may take to end after a signal, before it is killed.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long further output is waited for after the command has ended: a process that it left behind
/// may keep the pipes open forever.
const AFTERGLOW: Duration = Duration::from_millis(40);
/// This much output is written quickly unless the machine is very busy; then it is waited for, but
/// no longer than this.
const SHORT_BYTES: u64 = 4 << 20;
const SHORT_PATIENCE: Duration = Duration::from_secs(2);
/// How often the time is checked.
const LOOK: Duration = Duration::from_millis(50);

/// A command to be recorded.
#[derive(Debug)]
pub struct Recorder {
    pub command: Vec<OsString>,
    /// The command line, without the command, of a process that calls [`lead`](crate::lead).
    /// Without it a command in a terminal cannot be stopped from the keyboard.
    pub leader: Vec<OsString>,
    /// The command line of a process that calls [`scribe`](crate::scribe()) with the same sinks.
    /// Without it a thread of this process writes, and is waited for.
    pub scribe: Vec<OsString>,
    pub assignment: Assignment,
    pub max_duration: Option<Duration>,
    pub sinks: Sinks,
    /// Wait until everything is written, however long that takes.
    pub wait: bool,
}

/// How the command ended, so that the caller can end in the same way.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// What went wrong with the recording; the command was not affected.
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
    // The terminal is restored before anything is printed.
    drop(running);
    let warnings = finish(link, &queue, exit, wait);
    Ok(Ended { code: exit.code, signal: exit.signal, warnings })
}

/// Passes on the rest of the output, and leaves the scribe to it. Returns the warnings so far.
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

/// Ends this process by the signal that ended the command.
pub fn end_by(signal: i32) {
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    if signal == SIGKILL {
        let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
    }
}

/// Forwards signals and enforces the time limit, until the command has ended.
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
            // The whole group gets it, or we send it when we are continued.
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
