//! The log of a recording: what was printed, line by line, between a beginning and an end.

use std::path::PathBuf;

use antiphon_journal::{Draft, Error, Options, Writer};
use antiphon_model::json::Members;
use antiphon_model::{Timestamp, json};

use crate::Assignment;
use crate::queue::Source;

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
    is_wanted: bool,
    writer: Option<Writer>,
    /// What could not be written.
    pub(crate) lost: u64,
    pub(crate) failure: Option<String>,
}

impl SessionLog {
    pub(crate) fn new(target: Option<LogTarget>) -> Self {
        let is_wanted = target.is_some();
        Self { target, is_wanted, writer: None, lost: 0, failure: None }
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

    /// A line that was printed: JSON as itself, anything else as text.
    pub(crate) fn output(&mut self, source: Source, line: &str, is_json: bool, at: Timestamp) {
        let mut event = Members::of_event("output");
        event.word("agent", "main");
        event.word("stream", source.as_str());
        match is_json {
            true => event.raw("record", &json::compact(line)),
            false => event.word("content", line),
        }
        self.append(event, at);
    }

    pub(crate) fn gap(&mut self, chunks: usize, at: Timestamp) {
        let mut event = Members::of_event("gap");
        event.number("count", Some(chunks));
        event.word("reason", "the recorder could not keep up");
        self.append(event, at);
    }

    pub(crate) fn ended(&mut self, mut event: Members, at: Timestamp) {
        event.word("event_type", "session_ended");
        self.append(event, at);
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.close()
        {
            self.fail(&error);
        }
    }

    fn append(&mut self, mut event: Members, at: Timestamp) {
        if self.writer.is_none() && !self.open() {
            self.lost += u64::from(self.is_wanted);
            return;
        }
        event.word("timestamp", &at.to_string());
        let Some(writer) = &self.writer else { return };
        let appended = Draft::from_json(&event.object())
            .map_err(Error::from)
            .and_then(|draft| writer.append(&draft.of_the_past()));
        if let Err(error) = appended {
            self.lost += 1;
            self.fail(&error);
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
