//! The connection between the recorder, which passes output on, and the scribe, which writes it.
//!
//! The scribe is a separate process. The output goes to it over a pipe; the exit status, and
//! warnings about the recording, over a socket. When the command has ended the recorder exits, and
//! the scribe writes the rest.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::Assignment;
use crate::backlog::{Outlet, backlog};
use crate::event::RoleEvent;
use crate::frame::{Exit, Frame};
use crate::queue::Queue;
use crate::scribe::{Redact, Scribe};
use crate::session_log::{LogTarget, SessionLog};
use crate::transcript::{Policy, Transcript};

/// How long the recorder stays after the command has ended, to report warnings. The scribe writes
/// the rest alone.
pub(crate) const FAREWELL: Duration = Duration::from_millis(70);
/// How long a scribe may take to begin; until then the session cannot be found.
const BEGINNING: Duration = Duration::from_secs(1);
/// How long a scribe that is a thread may make no progress before it is abandoned.
const STANDSTILL: Duration = Duration::from_secs(2);
/// How long the reader of events may take.
const EVENTS: Duration = Duration::from_secs(30);

/// Receives an event, or returns why it could not be delivered.
pub type OnEvent = Box<dyn FnMut(&RoleEvent) -> Result<(), String> + Send>;

/// Where a recording goes. All of it is optional.
#[derive(Default)]
pub struct Sinks {
    pub log: Option<LogTarget>,
    /// The folder of transcripts.
    pub logs_dir: Option<PathBuf>,
    pub policy: Policy,
    /// Receives every event of the role's run, in order, on a thread of its own.
    pub events: Option<OnEvent>,
    pub redact: Option<Redact>,
    /// The folder for a file with output that waits to be written and does not fit into memory; by
    /// default the system's folder of temporary files.
    pub spill_dir: Option<PathBuf>,
}

impl std::fmt::Debug for Sinks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sinks").field("log", &self.log).field("logs_dir", &self.logs_dir).finish()
    }
}

impl Sinks {
    fn spill_dir(&self) -> PathBuf {
        self.spill_dir.clone().unwrap_or_else(std::env::temp_dir)
    }
}

/// A message of the scribe to the recorder, each on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The session can be found by others.
    Begun,
    /// All output has been written, and so has the footer.
    Written,
    /// Something went wrong with the recording.
    Warning(String),
}

impl Notice {
    fn to_line(&self) -> String {
        match self {
            Self::Begun => "begun\n".to_owned(),
            Self::Written => "written\n".to_owned(),
            Self::Warning(warning) => format!("warning {}\n", warning.replace('\n', " ")),
        }
    }

    fn from_line(line: &str) -> Option<Self> {
        match line {
            "begun" => Some(Self::Begun),
            "written" => Some(Self::Written),
            line => line.strip_prefix("warning ").map(|it| Self::Warning(it.to_owned())),
        }
    }
}

/// The recorder's end of the connection.
pub(crate) struct Link {
    control: Option<UnixStream>,
    notices: Receiver<Notice>,
    /// Counts the progress of a scribe that is a thread, which would end with our process.
    progress: Option<Arc<AtomicU64>>,
}

impl Link {
    /// Starts a scribe and feeds it from a queue. `words` is the command line of a process that
    /// calls [`scribe`]; if it cannot be started, a thread is used.
    pub(crate) fn open(
        words: &[OsString],
        queue: Queue,
        (assignment, command, sinks): (Assignment, Vec<String>, Sinks),
    ) -> io::Result<Self> {
        if let Ok((data, control)) = start(words) {
            return Self::new(data, control, queue, None);
        }
        let (data, from) = UnixStream::pair()?;
        let (control, theirs) = UnixStream::pair()?;
        let (inlet, outlet) = backlog(sinks.spill_dir());
        let progress = outlet.asked();
        std::thread::spawn(move || inlet.fill(from));
        std::thread::spawn(move || write_down(outlet, &theirs, assignment, &command, sinks));
        Self::new(data, control, queue, Some(progress))
    }

    fn new(
        data: impl Write + Send + 'static,
        control: UnixStream,
        queue: Queue,
        progress: Option<Arc<AtomicU64>>,
    ) -> io::Result<Self> {
        std::thread::spawn(move || feed(data, &queue));
        let (sender, notices) = channel();
        let lines = BufReader::new(control.try_clone()?).lines();
        std::thread::spawn(move || {
            for notice in lines.map_while(Result::ok).filter_map(|line| Notice::from_line(&line)) {
                let _ = sender.send(notice);
            }
        });
        Ok(Self { control: Some(control), notices, progress })
    }

    /// Reports how the command ended, and waits for the scribe: until it ends if `wait` is set or
    /// the scribe is a thread; otherwise for `patience` until everything is written, and for
    /// [`FAREWELL`] after that. Returns the warnings.
    pub(crate) fn finish(mut self, exit: Exit, wait: bool, patience: Duration) -> Vec<String> {
        if let Some(mut control) = self.control.take() {
            let _ = control.write_all(exit.to_line().as_bytes());
        }
        let is_bound = !wait && self.progress.is_none();
        let ended = Instant::now();
        let mut until = ended + patience.max(BEGINNING);
        let mut warnings = Vec::new();
        let (mut done, mut moved) = (0, Instant::now());
        let mut is_written = false;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.notices.recv_timeout(if is_bound { left } else { STANDSTILL / 10 }) {
                Ok(Notice::Begun) => until = ended + patience,
                Ok(Notice::Written) => {
                    is_written = true;
                    until = (ended + FAREWELL).max(Instant::now() + FAREWELL / 2);
                }
                Ok(Notice::Warning(warning)) => warnings.push(warning),
                Err(RecvTimeoutError::Disconnected) => {
                    // The content of the pipe is lost with the scribe, and was not counted.
                    let why = "the recording is incomplete: the process that writes it ended early";
                    warnings.extend((!is_written).then(|| why.to_owned()));
                    return warnings;
                }
                Err(RecvTimeoutError::Timeout) if is_bound => return warnings,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let Some(progress) = self.progress.as_ref().filter(|_| !wait) else { continue };
            let now = progress.load(Ordering::Relaxed);
            if now != done {
                (done, moved) = (now, Instant::now());
            }
            if moved.elapsed() > STANDSTILL {
                let why = "the recording was abandoned: the disk it writes to does not respond";
                warnings.push(why.to_owned());
                return warnings;
            }
        }
    }
}

/// Starts the scribe in a process group of its own, so that it gets no signals of the terminal.
fn start(words: &[OsString]) -> io::Result<(impl Write + Send + 'static, UnixStream)> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let (ours, theirs) = UnixStream::pair()?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(OwnedFd::from(theirs))
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let data = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(&data, 1 << 20);
    // If we go on living, the child has to be reaped.
    std::thread::spawn(move || child.wait());
    Ok((data, ours))
}

/// Sends the content of the queue, until all pumps are done or the scribe is gone.
fn feed(mut to: impl Write, queue: &Queue) {
    while let Some(chunk) = queue.take() {
        let mut bytes = Vec::with_capacity(chunk.bytes.len() + 64);
        if !chunk.lost.is_none() {
            bytes.extend(Frame::Gap { at: chunk.at, loss: chunk.lost }.to_bytes());
        }
        let printed = Frame::Printed { source: chunk.source, at: chunk.at, bytes: &chunk.bytes };
        bytes.extend(printed.to_bytes());
        if to.write_all(&bytes).is_err() {
            return queue.close();
        }
    }
}

/// The main function of a scribe's process: its input is the output of the command, its own output
/// a socket to the recorder. It ends when everything is written, even if the recorder is gone.
pub fn scribe(assignment: Assignment, command: &[String], sinks: Sinks) -> io::Result<()> {
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        // It ends with its input; until then there is something to write.
        signal_hook::flag::register(signal, Arc::default())?;
    }
    let control = UnixStream::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (inlet, outlet) = backlog(sinks.spill_dir());
    std::thread::spawn(move || inlet.fill(io::stdin()));
    write_down(outlet, &control, assignment, command, sinks);
    Ok(())
}

fn write_down(
    mut backlog: Outlet,
    control: &UnixStream,
    assignment: Assignment,
    command: &[String],
    sinks: Sinks,
) {
    let (recorder, notices) = channel();
    let (events, delivery) = deliver_events(sinks.events, recorder.clone());
    let Ok(to_recorder) = control.try_clone() else { return };
    let notifier = std::thread::spawn(move || send_notices(&notices, to_recorder));
    let redact = sinks.redact.unwrap_or_else(|| Box::new(|text, _| text.into()));
    let log = SessionLog::new(sinks.log);
    let mut scribe = Scribe::new(assignment, log, redact, events, recorder);
    scribe.logs_dir = sinks.logs_dir;
    scribe.formatter = Transcript { policy: sinks.policy };
    scribe.run(&mut backlog, command, || {
        let mut line = String::new();
        BufReader::new(control).read_line(&mut line).ok()?;
        Exit::from_line(&line)
    });
    let until = Instant::now() + EVENTS;
    while !(delivery.is_finished() && notifier.is_finished()) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Starts a thread that delivers events, so that a slow receiver delays nothing else.
fn deliver_events(
    on_event: Option<OnEvent>,
    recorder: Sender<Notice>,
) -> (Sender<RoleEvent>, JoinHandle<()>) {
    let (sender, events) = channel::<RoleEvent>();
    let handle = std::thread::spawn(move || {
        let Some(mut on_event) = on_event else { return };
        for event in events {
            if let Err(why) = on_event(&event) {
                let _ = recorder.send(Notice::Warning(why));
                return;
            }
        }
    });
    (sender, handle)
}

/// Sends notices, which fail once the recorder is gone.
fn send_notices(notices: &Receiver<Notice>, mut to: UnixStream) {
    for notice in notices {
        let _ = to.write_all(notice.to_line().as_bytes());
    }
}
