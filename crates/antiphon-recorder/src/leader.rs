//! The leader of the session in which a command has a terminal of its own.
//!
//! A command that leads its session cannot be stopped from the keyboard: the system passes over
//! Ctrl-Z where nobody of the same session is there to continue what was stopped. So a process of
//! ours leads. It starts the command as a group of its own, gives that group the terminal, and
//! tells the recorder over a pipe what becomes of it.

use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, waitpid};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use crate::child::Notice;

/// What the leader tells, a line each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Started(i32),
    /// The system's number for why not.
    NotStarted(i32),
    Stopped,
    Exited(i32),
    Killed(i32),
}

impl Word {
    fn tell(self) {
        let line = match self {
            Self::Started(pid) => format!("started {pid}\n"),
            Self::NotStarted(error) => format!("not-started {error}\n"),
            Self::Stopped => "stopped 0\n".to_owned(),
            Self::Exited(code) => format!("exited {code}\n"),
            Self::Killed(signal) => format!("killed {signal}\n"),
        };
        // A recorder that is gone is told by the terminal's hangup.
        let _ = io::stdout().write_all(line.as_bytes());
    }

    fn parse(line: &str) -> Option<Self> {
        let (word, number) = line.trim_end().split_once(' ')?;
        let number = number.parse().ok()?;
        match word {
            "started" => Some(Self::Started(number)),
            "not-started" => Some(Self::NotStarted(number)),
            "stopped" => Some(Self::Stopped),
            "exited" => Some(Self::Exited(number)),
            "killed" => Some(Self::Killed(number)),
            _ => None,
        }
    }
}

/// What a process that was started to lead does: its input and its errors are the terminal, its
/// output is the recorder's.
pub fn lead(command: &[OsString]) {
    let child = match start(command) {
        Ok(child) => child,
        Err(error) => return Word::NotStarted(error.raw_os_error().unwrap_or_default()).tell(),
    };
    // We are in front, so we may give that away.
    let _ = tcsetpgrp(io::stdin(), child);
    Word::Started(child.as_raw_nonzero().get()).tell();
    loop {
        let status = match waitpid(Some(child), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) => status,
            Ok(None) | Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        };
        if let Some(code) = status.exit_status() {
            return Word::Exited(code).tell();
        }
        if let Some(signal) = status.terminating_signal() {
            return Word::Killed(signal).tell();
        }
        if is_too_early(status, child) {
            let _ = kill_process_group(child, Signal::CONT);
        } else {
            Word::Stopped.tell();
        }
    }
}

fn start(command: &[OsString]) -> io::Result<Pid> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let terminal = io::stderr().as_fd().try_clone_to_owned()?;
    let child = Command::new(program)
        .args(arguments)
        .stdout(Stdio::from(terminal))
        .process_group(0)
        .spawn()?;
    crate::child::pid_of(&child)
}

/// Whether it was stopped because it used the terminal before that was its own.
fn is_too_early(status: WaitStatus, child: Pid) -> bool {
    let for_terminal = [Signal::TTIN.as_raw(), Signal::TTOU.as_raw()];
    status.stopping_signal().is_some_and(|signal| for_terminal.contains(&signal))
        && tcgetpgrp(io::stdin()).is_ok_and(|front| front == child)
}

/// The first thing that a leader tells: the command's process, or why there is none.
pub(crate) fn started(words: &mut impl BufRead) -> io::Result<Pid> {
    match next(words) {
        Some(Word::Started(pid)) => Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidData.into()),
        Some(Word::NotStarted(error)) => Err(io::Error::from_raw_os_error(error)),
        Some(Word::Stopped | Word::Exited(_) | Word::Killed(_)) | None => {
            Err(io::Error::other("the process that leads its session has ended"))
        }
    }
}

/// What it tells next. One that tells nothing more has been killed.
pub(crate) fn notice(words: &mut impl BufRead) -> Notice {
    match next(words) {
        Some(Word::Stopped) => Notice::Stopped,
        Some(Word::Exited(code)) => Notice::Exited { code: Some(code), signal: None },
        Some(Word::Killed(signal)) => Notice::Exited { code: None, signal: Some(signal) },
        Some(Word::Started(_) | Word::NotStarted(_)) | None => {
            Notice::Exited { code: None, signal: None }
        }
    }
}

fn next(words: &mut impl BufRead) -> Option<Word> {
    let mut line = String::new();
    words.read_line(&mut line).ok()?;
    Word::parse(&line)
}
