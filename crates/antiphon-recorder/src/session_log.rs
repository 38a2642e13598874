//! The log of a recording: what was printed, between a beginning and an end.

use std::borrow::Cow;
use std::path::PathBuf;

use antiphon_journal::{Draft, Error, Options, Writer};
use antiphon_model::json::{self, Json, Members};
use antiphon_model::{
    Body, Event, EventKind, Fragment, Place, Printed, RunStatus, SessionEnded, SessionStarted,
    Timestamp,
};

use crate::Assignment;
use crate::batch::Lines;
use crate::frame::{Loss, Source};

/// The maximum length of a recording's title, which is its command.
const TITLE_CHARS: usize = 100;

/// Where the log goes.
pub struct LogTarget {
    /// Creates the folder for the log's segments. The scribe calls it when it writes the first
    /// event, because a disk that hangs must not keep the command from starting.
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
    /// The first reason why something could not be written.
    pub(crate) failure: Option<String>,
    /// Output that could not be written.
    pub(crate) unwritten: Loss,
}

impl SessionLog {
    pub(crate) fn new(target: Option<LogTarget>) -> Self {
        Self { target, writer: None, failure: None, unwritten: Loss::default() }
    }

    /// Writes the session's beginning, and again when the agent has reported its own id.
    pub(crate) fn started(
        &mut self,
        assignment: &Assignment,
        command: &[String],
        session_id: Option<&str>,
        at: Timestamp,
    ) {
        let Assignment { role, issue, spec_paths, run_id, task_id } = assignment;
        let program = command.first().map(|program| program.rsplit('/').next().unwrap_or(program));
        let title: String = command.join(" ").chars().take(TITLE_CHARS).collect();
        let cwd = std::env::current_dir().ok().map(|cwd| cwd.to_string_lossy().into_owned());
        let started = SessionStarted {
            session_id: session_id.map(Into::into),
            title: Some(title.into()),
            cwd: cwd.map(Into::into),
            program: program.map(Into::into),
            role: role.as_deref().map(Into::into),
            spec_paths: spec_paths.iter().map(Into::into).collect(),
            issue: issue.as_deref().map(Into::into),
            run_id: run_id.as_deref().map(Into::into),
            task_id: task_id.as_deref().map(Into::into),
            ..SessionStarted::default()
        };
        let mut extra = Members::default();
        extra.list("command", command.iter().map(String::as_str));
        self.append(started, &extra, at);
        if let Some(run) = assignment.run_id.as_ref().filter(|_| session_id.is_none()) {
            self.run_status(run, "running", at);
        }
    }

    pub(crate) fn run_status(&mut self, run_id: &str, status: &str, at: Timestamp) {
        let (run_id, status) = (Some(run_id.into()), Some(status.into()));
        let status = RunStatus { run_id, status, ..RunStatus::default() };
        self.append(status, &Members::default(), at);
    }

    /// Writes a printed line of JSON as such.
    pub(crate) fn record(&mut self, source: Source, line: &str, at: Timestamp) {
        let record = json::compact(line);
        let printed = Printed { stream: stream(source), times: None, is_record: true };
        // The caller has parsed it.
        let record = Body { json: &record, place: Place::NONE };
        let loss = Loss { lines: 1, bytes: line.len() as u64 + 1 };
        self.append_output(record, printed, at, loss);
    }

    /// Writes lines of anything else as text: `text` is their redacted form.
    pub(crate) fn output(&mut self, lines: &Lines<'_>, text: &str) {
        let text = Json::text(text);
        let printed =
            Printed { stream: stream(lines.source), times: lines.times, is_record: false };
        self.append_output(Body::of(&text), printed, lines.at, lines.loss());
    }

    /// Writes how much output could not be kept, in lines and bytes.
    pub(crate) fn gap(&mut self, loss: Loss, reason: &str, at: Timestamp) {
        let (count, reason) = (Some(loss.lines.max(1)), Some(reason.into()));
        let gap = antiphon_model::Loss { count, reason, ..Default::default() };
        let mut extra = Members::default();
        extra.number("lines", Some(loss.lines));
        extra.number("bytes", Some(loss.bytes));
        self.append(EventKind::Gap(gap), &extra, at);
    }

    /// Writes how the session ended. The log is still open: [`close`](Self::close) makes it
    /// durable.
    pub(crate) fn ended(&mut self, ended: SessionEnded<'_>, extra: &Members, at: Timestamp) {
        self.append(ended, extra, at);
    }

    pub(crate) fn close(&mut self) {
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.close()
        {
            self.fail(&error);
        }
    }

    /// Leaves the log without an end, as if the writer had been killed, so that readers notice.
    pub(crate) fn abandon(&mut self) {
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.abandon()
        {
            self.fail(&error);
        }
    }

    fn append<'a>(&mut self, kind: impl Into<EventKind<'a>>, extra: &Members, at: Timestamp) {
        let extra = (!extra.is_empty()).then(|| extra.to_json());
        let extra = extra.as_ref().map(Body::of);
        self.write(&Event { at: Some(at), extra, ..Event::new(kind) });
    }

    /// Appends output, which is most of a log.
    fn append_output(
        &mut self,
        content: Body<'_>,
        printed: Printed<'_>,
        at: Timestamp,
        loss: Loss,
    ) {
        let printed = Fragment {
            agent: Some("main".into()),
            content: Some(content),
            cause: Vec::new(),
            printed: Some(printed),
        };
        if !self.write(&Event { at: Some(at), ..Event::new(printed) }) {
            self.unwritten.add(loss);
        }
    }

    /// Writes an event, and returns whether it was written.
    fn write(&mut self, event: &Event<'_>) -> bool {
        if self.writer.is_none() && !self.open() {
            return false;
        }
        let Some(writer) = &self.writer else { return false };
        let draft = Draft::from_event(event).map_err(Error::from);
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

    /// Keeps the first failure, which explains the others.
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

fn stream(source: Source) -> Option<Cow<'static, str>> {
    Some(Cow::Borrowed(source.as_str()))
}
