//! The scribe: receives the output, and writes the log, the transcript and the events.

#![expect(clippy::indexing_slicing, reason = "a `Value` gives null for a member that it has not")]

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::Duration;

use antiphon_journal::{Clock, SystemClock};
use antiphon_model::json::Members;
use antiphon_model::{SessionEnded, Timestamp};
use serde_json::Value;

use crate::Assignment;
use crate::backlog::{Outlet, Taken};
use crate::batch::{self, Batch};
use crate::command_line;
use crate::event::{Reason, RoleEvent, Stage};
use crate::frame::{Exit, Frame, Frames, Source};
use crate::lines::Lines;
use crate::link::Notice;
use crate::session_log::SessionLog;
use crate::transcript::{self, Header, Transcript};
use crate::transcript_file::TranscriptFile;
use crate::verdict::{figures, verdict};

/// How many messages are kept before the agent identifies itself, when the transcript file begins.
const MOST_EARLY: usize = 1000;
/// How long to wait for output before anything else is checked.
const IDLE: Duration = Duration::from_secs(1);

/// Why output is missing that the scribe never received.
const TOO_FAST: &str = "the recorder could not keep up with the output";

/// Redacts everything before it is written.
pub type Redact = Box<dyn for<'t> FnMut(&'t str, Printed) -> Cow<'t, str> + Send>;

/// The kind of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    /// A line of JSON.
    Json,
    /// Complete lines of anything else.
    Text,
}

pub(crate) struct Scribe {
    pub(crate) assignment: Assignment,
    pub(crate) log: SessionLog,
    pub(crate) logs_dir: Option<PathBuf>,
    pub(crate) formatter: Transcript,
    pub(crate) redact: Redact,
    pub(crate) events: Sender<RoleEvent>,
    /// Receives the beginning and the warnings.
    pub(crate) recorder: Sender<Notice>,
    command: Vec<String>,
    batch: Batch,
    file: Option<TranscriptFile>,
    early: Vec<String>,
    session_id: Option<String>,
    /// The agent's own final result.
    result: Option<Value>,
    has_warned: bool,
}

impl Scribe {
    pub(crate) fn new(
        assignment: Assignment,
        log: SessionLog,
        redact: Redact,
        events: Sender<RoleEvent>,
        recorder: Sender<Notice>,
    ) -> Self {
        Self {
            assignment,
            log,
            logs_dir: None,
            formatter: Transcript::default(),
            redact,
            events,
            recorder,
            command: Vec::new(),
            batch: Batch::default(),
            file: None,
            early: Vec::new(),
            session_id: None,
            result: None,
            has_warned: false,
        }
    }

    /// Writes all output. At its end `exit` returns how the command ended; if that is not known,
    /// the recording has no end.
    pub(crate) fn run(
        mut self,
        backlog: &mut Outlet,
        command: &[String],
        exit: impl FnOnce() -> Option<Exit>,
    ) {
        let begun = SystemClock.now();
        self.send_event(Stage::Requested, begun);
        self.command = command_line::redacted(command, &mut self.redact);
        self.log.started(&self.assignment, &self.command, None, begun);
        self.warn_of_log();
        let _ = self.recorder.send(Notice::Begun);
        self.listen(backlog);
        match exit() {
            Some(exit) => self.finish(exit, begun),
            None => self.log.abandon(),
        }
    }

    fn listen(&mut self, backlog: &mut Outlet) {
        let mut frames = Frames::default();
        let (mut stdout, mut stderr) = (Lines::default(), Lines::default());
        loop {
            let wait = if self.batch.is_empty() { IDLE } else { batch::WINDOW };
            match backlog.take(wait) {
                Ok(Taken::Bytes(piece)) => frames.push(&piece),
                Ok(Taken::Nothing) => self.flush(),
                Ok(Taken::End) => break,
                Err(error) => {
                    self.warn(format!(
                        "output that was waiting to be recorded cannot be read: {error}"
                    ));
                    break;
                }
            }
            while let Some(frame) = frames.next() {
                self.frame(&frame, &mut stdout, &mut stderr);
            }
            // If more is waiting, the batch may as well be filled first.
            if backlog.is_empty() && self.batch.is_due(SystemClock.now()) {
                self.flush();
            }
        }
        if let Some(frame) = frames.rest() {
            self.frame(&frame, &mut stdout, &mut stderr);
        }
        let now = SystemClock.now();
        stdout.finish(|line| self.line(Source::Stdout, line, now));
        stderr.finish(|line| self.line(Source::Stderr, line, now));
        self.flush();
    }

    fn frame(&mut self, frame: &Frame<'_>, stdout: &mut Lines, stderr: &mut Lines) {
        match *frame {
            Frame::Printed { source, at, bytes } => {
                let lines = if source == Source::Stdout { stdout } else { stderr };
                lines.push(bytes, |line| self.line(source, line, at));
            }
            Frame::Gap { at, loss } => {
                // An incomplete last line is kept.
                stdout.finish(|line| self.line(Source::Stdout, line, at));
                stderr.finish(|line| self.line(Source::Stderr, line, at));
                self.flush();
                self.log.gap(loss, TOO_FAST, at);
            }
        }
    }

    fn line(&mut self, source: Source, line: &[u8], at: Timestamp) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let may_be_json = source == Source::Stdout && line.trim_ascii_start().starts_with(b"{");
        if may_be_json {
            let text = String::from_utf8_lossy(line);
            if antiphon_model::json::check(&text).is_ok() {
                self.flush();
                return self.message(source, &text, at);
            }
        }
        let mut batch = std::mem::take(&mut self.batch);
        batch.add(source, at, line, |lines| self.write_lines(&lines));
        self.batch = batch;
    }

    /// Writes the lines that wait to share an event.
    fn flush(&mut self) {
        if !self.batch.is_empty() {
            let mut batch = std::mem::take(&mut self.batch);
            batch.flush(|lines| self.write_lines(&lines));
            self.batch = batch;
        }
    }

    fn write_lines(&mut self, lines: &batch::Lines<'_>) {
        let text = String::from_utf8_lossy(lines.text);
        let text = (self.redact)(&text, Printed::Text);
        self.log.output(lines, &text);
        self.warn_of_log();
    }

    /// A line of JSON, which may be an agent's message.
    fn message(&mut self, source: Source, line: &str, at: Timestamp) {
        let text = (self.redact)(line, Printed::Json).into_owned();
        self.log.record(source, &text, at);
        self.warn_of_log();
        // The agent's id and its result are needed for every session; the rest is for transcripts.
        let is_known = self.session_id.is_some() && self.file.is_none();
        if is_known && !text.contains("\"result\"") {
            return;
        }
        let Ok(message) = serde_json::from_str::<Value>(&text) else { return };
        if message["type"] == "result" {
            self.result = Some(message.clone());
        }
        let record = match self.logs_dir {
            Some(_) => self.formatter.message(&message, text.trim(), at),
            None => String::new(),
        };
        if self.session_id.is_none() {
            match transcript::session_id(&message) {
                Some(id) => self.begin(id.to_owned(), at),
                None if self.early.len() < MOST_EARLY => return self.early.push(record),
                None => return,
            }
        }
        self.write(&record);
    }

    /// The agent has identified itself.
    fn begin(&mut self, session_id: String, at: Timestamp) {
        if let Some(folder) = &self.logs_dir {
            match TranscriptFile::create(folder, &self.assignment, at) {
                Ok(file) => self.file = Some(file),
                Err(error) => {
                    let folder = folder.display();
                    self.warn(format!(
                        "cannot create the log of this session in `{folder}`: {error}"
                    ));
                }
            }
        }
        let header = Header { assignment: &self.assignment, session_id: &session_id, started: at };
        let header = header.to_text();
        self.log.started(&self.assignment, &self.command, Some(&session_id), at);
        self.session_id = Some(session_id);
        self.write(&header);
        for record in std::mem::take(&mut self.early) {
            self.write(&record);
        }
        self.send_event(Stage::Started, at);
    }

    fn write(&mut self, text: &str) {
        if let Some(file) = &mut self.file
            && let Err(error) = file.write(text)
        {
            let path = file.path().display();
            let warning = format!("the log of this session, `{path}`, is incomplete: {error}");
            self.warn(warning);
        }
    }

    fn send_event(&mut self, stage: Stage, at: Timestamp) {
        let path = self.file.as_ref().map(|file| file.path().to_string_lossy().into_owned());
        let _ = self.events.send(RoleEvent {
            at,
            assignment: self.assignment.clone(),
            session_id: self.session_id.clone(),
            stage,
            log_file_path: path,
        });
    }

    fn warn(&self, warning: String) {
        let _ = self.recorder.send(Notice::Warning(warning));
    }

    /// Warns at once if the log cannot be written: later the recorder may be gone.
    fn warn_of_log(&mut self) {
        if let Some(failure) = self.log.failure.as_ref().filter(|_| !self.has_warned) {
            self.has_warned = true;
            self.warn(format!("the recording is incomplete: {failure}"));
        }
    }

    /// Writes the log first, then the footer, then the final event. Only then waits for the disk.
    fn finish(mut self, exit: Exit, begun: Timestamp) {
        let now = SystemClock.now();
        if !exit.loss.is_none() {
            self.log.gap(exit.loss, TOO_FAST, now);
        }
        let unwritten = self.log.unwritten;
        if !unwritten.is_none() {
            self.log.gap(unwritten, "the log could not be written", now);
            self.warn(format!("the recording is incomplete: {unwritten} could not be written"));
        }
        let result = self.result.take();
        let verdict = verdict(exit, result.as_ref());
        let reason = verdict.reason.filter(|it| *it != Reason::Error).map(Reason::as_str);
        let end = SessionEnded {
            outcome: Some(verdict.outcome.as_str().into()),
            reason: reason.map(Into::into),
            error: verdict.error.as_deref().map(Into::into),
            declared: None,
        };
        let mut extra = Members::default();
        extra.number("exit_code", exit.code);
        extra.number("signal", exit.signal);
        if let Some(run) = self.assignment.run_id.clone() {
            self.log.run_status(&run, verdict.outcome.as_str(), now);
        }
        self.log.ended(end, &extra, now);
        let why = verdict.reason.filter(|it| *it == Reason::Timeout).map(Reason::as_str);
        let footer = transcript::footer(verdict.outcome, why, now);
        self.write(&footer);
        let figures = figures(exit, result.as_ref(), (begun, now));
        let stage = match verdict.reason {
            None => Stage::Completed(figures),
            Some(reason) => Stage::Failed { reason, error: verdict.error, figures },
        };
        self.send_event(stage, now);
        let _ = self.recorder.send(Notice::Written);
        self.log.close();
        self.warn_of_log();
    }
}

#[cfg(test)]
mod tests;
