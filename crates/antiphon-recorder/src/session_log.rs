//! The log of a recording: what was printed, between a beginning and an end.

use std::path::PathBuf;

use antiphon_journal::{Draft, DraftError, Error, Options, Writer};
use antiphon_model::json::Members;
use antiphon_model::{Timestamp, json};

use crate::Assignment;
use crate::batch::Lines;
use crate::frame::{Loss, Source};

/// A recording is called by its command, as far as that fits on a line.
const TITLE_CHARS: usize = 100;

/// Where the log goes.
pub struct LogTarget {
    /// Makes the folder in which the log's segments lie. It is asked by the scribe, when the first
    /// event is written: a disk that hangs must not keep the command from starting.
    pub folder: Box<dyn FnOnce() -> Result<PathBuf, String> + Send>,
    pub options: Options,
}

impl std::fmt::Debug for LogTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LogTarget({:?})", self.options)
    }
}

#[derive(Debug)]
pub(crate) struct SessionLog {
    target: Option<LogTarget>,
    writer: Option<Writer>,
    /// Why something could not be written, the first time.
    pub(crate) failure: Option<String>,
    /// What was printed and could not be written.
    pub(crate) unwritten: Loss,
}

impl SessionLog {
    pub(crate) fn new(target: Option<LogTarget>) -> Self {
        Self { target, writer: None, failure: None, unwritten: Loss::default() }
    }

    /// Said at the beginning, and again when the agent has told its own id.
    pub(crate) fn started(
        &mut self,
        assignment: &Assignment,
        command: &[String],
        session_id: Option<&str>,
        at: Timestamp,
    ) {
        let mut event = Members::of_event("session_started");
        event.text("session_id", session_id);
        let program = command.first().map(|program| program.rsplit('/').next().unwrap_or(program));
        event.text("program", program);
        let title: String = command.join(" ").chars().take(TITLE_CHARS).collect();
        event.word("title", &title);
        event.text("role", assignment.role.as_deref());
        event.text("issue", assignment.issue.as_deref());
        event.list("spec_paths", assignment.spec_paths.iter().map(String::as_str));
        event.text("run_id", assignment.run_id.as_deref());
        event.text("task_id", assignment.task_id.as_deref());
        let cwd = std::env::current_dir().ok().map(|cwd| cwd.to_string_lossy().into_owned());
        event.text("cwd", cwd.as_deref());
        let mut extra = Members::default();
        extra.list("command", command.iter().map(String::as_str));
        event.members("extra", &extra);
        self.append(event, at);
        if let Some(run) = assignment.run_id.as_ref().filter(|_| session_id.is_none()) {
            self.run_status(run, "running", at);
        }
    }

    pub(crate) fn run_status(&mut self, run_id: &str, status: &str, at: Timestamp) {
        let mut event = Members::of_event("run_status");
        event.word("run_id", run_id);
        event.word("status", status);
        self.append(event, at);
    }

    /// A line of JSON that was printed, as itself.
    pub(crate) fn record(&mut self, source: Source, line: &str, at: Timestamp) {
        let mut event = printed(source);
        event.raw("record", &json::compact(line));
        let loss = Loss { lines: 1, bytes: line.len() as u64 + 1 };
        self.append_output(event, at, loss);
    }

    /// Lines of anything else, as text: `text` is what may be written of them.
    pub(crate) fn output(&mut self, lines: &Lines<'_>, text: &str) {
        let mut event = printed(lines.source);
        event.number("times", lines.times);
        event.word("content", text);
        self.append_output(event, lines.at, lines.loss());
    }

    /// What was printed and could not be kept, in lines and bytes.
    pub(crate) fn gap(&mut self, loss: Loss, reason: &str, at: Timestamp) {
        let mut event = Members::of_event("gap");
        event.number("count", Some(loss.lines.max(1)));
        event.word("reason", reason);
        let mut extra = Members::default();
        extra.number("lines", Some(loss.lines));
        extra.number("bytes", Some(loss.bytes));
        event.members("extra", &extra);
        self.append(event, at);
    }

    /// Says how it ended. The log is still open: [`close`](Self::close) makes it durable.
    pub(crate) fn ended(&mut self, mut event: Members, at: Timestamp) {
        event.word("event_type", "session_ended");
        self.append(event, at);
    }

    pub(crate) fn close(&mut self) {
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.close()
        {
            self.fail(&error);
        }
    }

    /// Leaves the log as a writer does that is killed: it has no end, and says so to readers.
    pub(crate) fn abandon(&mut self) {
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.abandon()
        {
            self.fail(&error);
        }
    }

    fn append(&mut self, mut event: Members, at: Timestamp) {
        event.word("timestamp", &at.to_string());
        self.write(Draft::from_json(&event.object()));
    }

    /// The same, for what is most of a log and was built here: it is not read again.
    fn append_output(&mut self, mut event: Members, at: Timestamp, loss: Loss) {
        event.word("timestamp", &at.to_string());
        if !self.write(Draft::of_event("output", Some("main"), &event)) {
            self.unwritten.add(loss);
        }
    }

    /// Whether it was written.
    fn write(&mut self, draft: Result<Draft, DraftError>) -> bool {
        if self.writer.is_none() && !self.open() {
            return false;
        }
        let Some(writer) = &self.writer else { return false };
        let draft = draft.map(Draft::of_the_past).map_err(Error::from);
        match draft.and_then(|draft| writer.append(&draft)) {
            Ok(_) => true,
            Err(error) => {
                self.fail(&error);
                false
            }
        }
    }

    fn open(&mut self) -> bool {
        let Some(target) = self.target.take() else { return false };
        match (target.folder)() {
            Ok(folder) => match Writer::open(&folder, target.options) {
                Ok(writer) => self.writer = Some(writer),
                Err(error) => self.fail(&error),
            },
            Err(why) => {
                self.failure.get_or_insert(why);
            }
        }
        self.writer.is_some()
    }

    /// The first failure is the one that explains.
    fn fail(&mut self, error: &Error) {
        let mut why = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            why = format!("{why}: {cause}");
            source = cause.source();
        }
        self.failure.get_or_insert(why);
    }
}

/// What every line that was printed has in common.
fn printed(source: Source) -> Members {
    let mut event = Members::of_event("output");
    event.word("agent", "main");
    event.word("stream", source.as_str());
    event
}
