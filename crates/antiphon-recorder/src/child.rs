//! The command: started with pipes or in a terminal of its own, and waited for.

use std::ffi::OsString;
use std::io::{BufReader, stdin, stdout};
use std::os::fd::AsFd;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::Sender as NoticeSender;
use std::thread::JoinHandle;

use pty_process::blocking::{Command as PtyCommand, Pty};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::frame::Source;
use crate::leader;
use crate::pump;
use crate::queue::Sender;
use crate::terminal::{self, Raw};

/// What happens while a command runs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Notice {
    Signal {
        signal: i32,
        is_ours_alone: bool,
    },
    /// It was stopped, and may be continued.
    Stopped,
    Exited {
        code: Option<i32>,
        signal: Option<i32>,
    },
}

/// A running command.
pub(crate) struct Running {
    pid: Pid,
    /// The leader's reports about the command, if it is not our own child.
    leader: Option<BufReader<ChildStdout>>,
    pumps: Vec<JoinHandle<()>>,
    terminal: Option<(Arc<Pty>, Option<Raw>)>,
}

/// Starts the command: in a terminal of its own if we have one, else with pipes. `leader` is the
/// command line of a process that leads the session of such a terminal.
pub(crate) fn start(
    command: &[OsString],
    leader: &[OsString],
    queue: &Sender,
    notices: NoticeSender<Notice>,
) -> std::io::Result<Running> {
    let has_terminal =
        rustix::termios::isatty(stdin().as_fd()) && rustix::termios::isatty(stdout().as_fd());
    let mut running = match has_terminal {
        true => under_a_terminal(command, leader, queue)?,
        false => with_pipes(command, queue)?,
    };
    let (pid, leader) = (running.pid, running.leader.take());
    std::thread::spawn(move || match leader {
        Some(mut words) => wait(|| leader::notice(&mut words), &notices),
        None => wait(|| become_of(pid), &notices),
    });
    Ok(running)
}

fn with_pipes(command: &[OsString], queue: &Sender) -> std::io::Result<Running> {
    let (program, arguments) = words(command)?;
    // It inherits our standard input directly.
    let mut child = Command::new(program)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut pumps = Vec::new();
    if let Some(from) = child.stdout.take() {
        pumps.push(pump::start(from, stdout(), Source::Stdout, queue.clone()));
    }
    if let Some(from) = child.stderr.take() {
        pumps.push(pump::start(from, std::io::stderr(), Source::Stderr, queue.clone()));
    }
    Ok(Running { pid: pid_of(&child)?, leader: None, pumps, terminal: None })
}

fn words(command: &[OsString]) -> std::io::Result<(&OsString, &[OsString])> {
    command.split_first().ok_or(std::io::ErrorKind::InvalidInput.into())
}

fn under_a_terminal(
    command: &[OsString],
    leader: &[OsString],
    queue: &Sender,
) -> std::io::Result<Running> {
    let words = [leader, command].concat();
    let (program, arguments) = self::words(&words)?;
    let (pty, pts) = pty_process::blocking::open().map_err(std::io::Error::other)?;
    if let Some(size) = terminal::size() {
        let _ = pty.resize(size);
    }
    let mut child = PtyCommand::new(program).args(arguments);
    if !leader.is_empty() {
        child = child.stdout(Stdio::piped());
    }
    let mut child = child.spawn(pts).map_err(|error| match error {
        pty_process::Error::Io(error) => error,
        other => std::io::Error::other(other),
    })?;
    let mut leader = child.stdout.take().map(BufReader::new);
    let pid = match &mut leader {
        Some(words) => leader::started(words)?,
        None => pid_of(&child)?,
    };
    let pty = Arc::new(pty);
    let raw = Raw::enter();
    let pumps = vec![pump::start(End(Arc::clone(&pty)), stdout(), Source::Stdout, queue.clone())];
    // Passes on what is typed. The thread may be blocked in a read when the command ends; it ends
    // with us.
    let to = End(Arc::clone(&pty));
    std::thread::spawn(move || copy(stdin(), to));
    Ok(Running { pid, leader, pumps, terminal: Some((pty, raw)) })
}

/// One end of a terminal, for reading or writing.
struct End(Arc<Pty>);

impl std::io::Read for End {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

impl std::io::Write for End {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn copy(mut from: impl std::io::Read, mut to: impl std::io::Write) {
    let mut buffer = [0; 4096];
    while let Ok(count) = from.read(&mut buffer) {
        if count == 0 || to.write_all(buffer.get(..count).unwrap_or_default()).is_err() {
            return;
        }
    }
}

pub(crate) fn pid_of(child: &std::process::Child) -> std::io::Result<Pid> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| std::io::ErrorKind::InvalidData.into())
}

/// Waits for the next change of state of our child.
fn become_of(pid: Pid) -> Notice {
    loop {
        return match waitpid(Some(pid), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) if status.stopped() => Notice::Stopped,
            Ok(Some((_, status))) => {
                Notice::Exited { code: status.exit_status(), signal: status.terminating_signal() }
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => continue,
            Err(_) => Notice::Exited { code: None, signal: None },
        };
    }
}

fn wait(mut next: impl FnMut() -> Notice, notices: &NoticeSender<Notice>) {
    loop {
        let notice = next();
        if notices.send(notice).is_err() || matches!(notice, Notice::Exited { .. }) {
            return;
        }
    }
}

impl Running {
    pub(crate) fn send(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal) {
            let _ = kill_process(self.pid, signal);
        }
    }

    /// Whether the command has a terminal of its own, so that ours sends it no signals.
    pub(crate) fn has_terminal(&self) -> bool {
        self.terminal.is_some()
    }

    pub(crate) fn resize(&self) {
        if let (Some((pty, _)), Some(size)) = (&self.terminal, terminal::size()) {
            let _ = pty.resize(size);
        }
    }

    /// The command in our terminal was stopped: stops us too, until we are continued.
    pub(crate) fn stop_with_it(&self) {
        let Some((_, raw)) = &self.terminal else { return };
        raw.iter().for_each(Raw::leave);
        let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
        raw.iter().for_each(Raw::again);
        self.resize();
        let _ = rustix::process::kill_process_group(self.pid, Signal::CONT);
    }

    /// Whether everything that was printed has been passed on.
    pub(crate) fn is_quiet(&self) -> bool {
        self.pumps.iter().all(JoinHandle::is_finished)
    }
}
