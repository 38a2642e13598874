//! The leader of the session in which a command has a terminal of its own.
//!
//! A command that leads its session cannot be stopped from the keyboard: the system ignores Ctrl-Z
//! if no other process of the same session could continue what was stopped. So a process of ours
//! leads the session. It starts the command in its own process group, gives that group the
//! terminal, and reports the command's state to the recorder over a pipe.

use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, waitpid};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use crate::child::Notice;

/// A report of the leader, each on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Report {
    Started(i32),
    /// The error number of the failure.
    NotStarted(i32),
    Stopped,
    Exited(i32),
    Killed(i32),
}

impl Report {
    fn send(self) {
        let line = match self {
            Self::Started(pid) => format!("started {pid}\n"),
            Self::NotStarted(error) => format!("not-started {error}\n"),
            Self::Stopped => "stopped 0\n".to_owned(),
            Self::Exited(code) => format!("exited {code}\n"),
            Self::Killed(signal) => format!("killed {signal}\n"),
        };
        // If the recorder is gone, the terminal's hangup ends the command.
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

/// The main function of a session leader: its input and its errors are the terminal, its output
/// goes to the recorder.
pub fn lead(command: &[OsString]) {
    let child = match start(command) {
        Ok(child) => child,
        Err(error) => return Report::NotStarted(error.raw_os_error().unwrap_or_default()).send(),
    };
    // We are the foreground process group, so we may change it.
    let _ = tcsetpgrp(io::stdin(), child);
    Report::Started(child.as_raw_nonzero().get()).send();
    loop {
        let status = match waitpid(Some(child), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) => status,
            Ok(None) | Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        };
        if let Some(code) = status.exit_status() {
            return Report::Exited(code).send();
        }
        if let Some(signal) = status.terminating_signal() {
            return Report::Killed(signal).send();
        }
        if is_too_early(status, child) {
            let _ = kill_process_group(child, Signal::CONT);
        } else {
            Report::Stopped.send();
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

/// Whether the command was stopped because it used the terminal before it was in the foreground.
fn is_too_early(status: WaitStatus, child: Pid) -> bool {
    let for_terminal = [Signal::TTIN.as_raw(), Signal::TTOU.as_raw()];
    status.stopping_signal().is_some_and(|signal| for_terminal.contains(&signal))
        && tcgetpgrp(io::stdin()).is_ok_and(|front| front == child)
}

/// Reads the first report of a leader: the command's process, or why there is none.
pub(crate) fn started(words: &mut impl BufRead) -> io::Result<Pid> {
    match next(words) {
        Some(Report::Started(pid)) => Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidData.into()),
        Some(Report::NotStarted(error)) => Err(io::Error::from_raw_os_error(error)),
        Some(Report::Stopped | Report::Exited(_) | Report::Killed(_)) | None => {
            Err(io::Error::other("the process that leads its session has ended"))
        }
    }
}

/// Reads the next report. If there is none, the leader was killed.
pub(crate) fn notice(words: &mut impl BufRead) -> Notice {
    match next(words) {
        Some(Report::Stopped) => Notice::Stopped,
        Some(Report::Exited(code)) => Notice::Exited { code: Some(code), signal: None },
        Some(Report::Killed(signal)) => Notice::Exited { code: None, signal: Some(signal) },
        Some(Report::Started(_) | Report::NotStarted(_)) | None => {
            Notice::Exited { code: None, signal: None }
        }
    }
}

fn next(words: &mut impl BufRead) -> Option<Report> {
    let mut line = String::new();
    words.read_line(&mut line).ok()?;
    Report::parse(&line)
}
