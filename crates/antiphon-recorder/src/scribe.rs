//! The scribe: takes what was printed, and writes the log, the transcript and the events.

#![expect(clippy::indexing_slicing, reason = "a `Value` gives null for a member that it has not")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender as EventSender};
use std::time::Duration;

use antiphon_journal::{Clock, SystemClock};
use antiphon_model::Timestamp;
use antiphon_model::json::Members;
use serde_json::Value;

use crate::Assignment;
use crate::event::{Figures, Reason, RoleEvent, Stage};
use crate::lines::Lines;
use crate::queue::{Chunk, Queue, Source};
use crate::session_log::SessionLog;
use crate::transcript::{self, Header, Outcome, Transcript};
use crate::transcript_file::TranscriptFile;

/// So many messages before an agent says who it is are kept; the seed has a file only then.
const MOST_EARLY: usize = 1000;

/// How a command ended, as far as its parent sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Exit {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) was_cancelled: bool,
    pub(crate) was_too_long: bool,
}

impl Exit {
    /// A command that could not be run ends as a shell has it.
    pub(crate) fn not_started(error: &std::io::Error) -> Self {
        let code = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
        Self { code: Some(code), ..Self::default() }
    }
}

/// Cleans a line before it is written anywhere: the line, and whether it is JSON.
pub type Redact = Box<dyn FnMut(&str, bool) -> String + Send>;

pub(crate) struct Scribe {
    pub(crate) assignment: Assignment,
    pub(crate) log: SessionLog,
    pub(crate) logs_dir: Option<PathBuf>,
    pub(crate) formatter: Transcript,
    pub(crate) redact: Redact,
    pub(crate) events: EventSender<RoleEvent>,
    command: Vec<String>,
    file: Option<TranscriptFile>,
    early: Vec<String>,
    session_id: Option<String>,
    /// The agent's own last word on how it went.
    result: Option<Value>,
    pub(crate) warnings: Vec<String>,
    /// Counts what was done, so that others see whether it still moves.
    pub(crate) progress: Arc<AtomicU64>,
}

impl Scribe {
    pub(crate) fn new(
        assignment: Assignment,
        log: SessionLog,
        redact: Redact,
        events: EventSender<RoleEvent>,
    ) -> Self {
        Self {
            assignment,
            log,
            logs_dir: None,
            formatter: Transcript::default(),
            redact,
            events,
            command: Vec::new(),
            file: None,
            early: Vec::new(),
            session_id: None,
            result: None,
            warnings: Vec::new(),
            progress: Arc::default(),
        }
    }

    fn move_on(&self) {
        self.progress.fetch_add(1, Ordering::Relaxed);
    }

    /// Writes down everything that comes, until `exit` has it that the command is done and nothing
    /// waits any more. Gives how it went.
    pub(crate) fn run(
        mut self,
        queue: &Queue,
        command: &[String],
        exit: &std::sync::mpsc::Receiver<Exit>,
    ) -> Finished {
        let begun = SystemClock.now();
        self.tell(Stage::Requested, begun);
        let command: Vec<String> = command.iter().map(|word| (self.redact)(word, false)).collect();
        self.log.started(&self.assignment, &command, None, begun);
        self.command = command;
        let (mut stdout, mut stderr) = (Lines::default(), Lines::default());
        let mut ended = None;
        loop {
            match queue.take(Duration::from_millis(20)) {
                Ok(chunk) => {
                    if chunk.lost > 0 {
                        stdout.forget();
                        stderr.forget();
                        self.log.gap(chunk.lost, chunk.at);
                    }
                    let lines = match chunk.source {
                        Source::Stdout => &mut stdout,
                        Source::Stderr => &mut stderr,
                    };
                    let Chunk { source, at, bytes, .. } = chunk;
                    lines.push(&bytes, |line| self.line(source, line, at));
                }
                Err(RecvTimeoutError::Timeout) => {
                    // It has nothing to do, which is not the same as being stuck.
                    self.move_on();
                    ended = ended.or_else(|| exit.try_recv().ok());
                    if ended.is_some() {
                        break;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let ended = ended.or_else(|| exit.recv().ok());
        let now = SystemClock.now();
        stdout.finish(|line| self.line(Source::Stdout, line, now));
        stderr.finish(|line| self.line(Source::Stderr, line, now));
        if queue.lost() > 0 {
            self.log.gap(queue.lost(), now);
        }
        self.finish(ended, begun)
    }

    fn line(&mut self, source: Source, line: &[u8], at: Timestamp) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = String::from_utf8_lossy(line);
        let is_json = source == Source::Stdout
            && text.trim_start().starts_with('{')
            && antiphon_model::json::check(&text).is_ok();
        let text = (self.redact)(&text, is_json);
        self.log.output(source, &text, is_json, at);
        self.move_on();
        if !is_json {
            return;
        }
        let Ok(message) = serde_json::from_str::<Value>(&text) else { return };
        if message["type"] == "result" {
            self.result = Some(message.clone());
        }
        let record = self.formatter.message(&message, text.trim(), at);
        if self.session_id.is_none() {
            match transcript::session_id(&message) {
                Some(id) => self.begin(id.to_owned(), at),
                None if self.early.len() < MOST_EARLY => return self.early.push(record),
                None => return,
            }
        }
        self.write(&record);
    }

    /// The agent has said who it is.
    fn begin(&mut self, session_id: String, at: Timestamp) {
        if let Some(folder) = &self.logs_dir {
            match TranscriptFile::create(folder, &self.assignment, at) {
                Ok(file) => self.file = Some(file),
                Err(error) => {
                    let folder = folder.display();
                    self.warnings.push(format!("no log of this session in `{folder}`: {error}"));
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
        self.tell(Stage::Started, at);
    }

    fn write(&mut self, text: &str) {
        if let Some(file) = &mut self.file
            && let Err(error) = file.write(text)
        {
            let path = file.path().display();
            self.warnings.push(format!("the log of this session `{path}` stops short: {error}"));
        }
    }

    fn tell(&mut self, stage: Stage, at: Timestamp) {
        let path = self.file.as_ref().map(|file| file.path().to_string_lossy().into_owned());
        let _ = self.events.send(RoleEvent {
            at,
            assignment: self.assignment.clone(),
            session_id: self.session_id.clone(),
            stage,
            log_file_path: path,
        });
    }

    /// The log first, then the footer, then the terminal event.
    fn finish(mut self, exit: Option<Exit>, begun: Timestamp) -> Finished {
        let now = SystemClock.now();
        let verdict = self.verdict(exit);
        let mut end = Members::default();
        end.word("outcome", verdict.outcome.as_str());
        end.text("reason", verdict.reason.filter(|it| *it != Reason::Error).map(Reason::as_str));
        end.text("error", verdict.error.as_deref());
        let mut extra = Members::default();
        extra.number("exit_code", exit.and_then(|exit| exit.code));
        extra.number("signal", exit.and_then(|exit| exit.signal));
        end.members("extra", &extra);
        if let Some(run) = self.assignment.run_id.clone() {
            self.log.run_status(&run, verdict.outcome.as_str(), now);
        }
        self.log.ended(end, now);
        self.move_on();
        let why = verdict.reason.filter(|it| *it == Reason::Timeout).map(Reason::as_str);
        let footer = transcript::footer(verdict.outcome, why, now);
        self.write(&footer);
        let figures = self.figures(exit, begun, now);
        let stage = match verdict.reason {
            None => Stage::Completed(figures),
            Some(reason) => Stage::Failed { reason, error: verdict.error, figures },
        };
        self.tell(stage, now);
        if let Some(failure) = &self.log.failure {
            let lost = self.log.lost;
            self.warnings
                .push(format!("the recording is not whole ({lost} events lost): {failure}"));
        }
        Finished { warnings: self.warnings }
    }

    fn verdict(&self, exit: Option<Exit>) -> Verdict {
        let is_well = exit.is_some_and(|exit| exit.code == Some(0));
        let told = self.result.as_ref();
        let says_error = told.is_some_and(|result| {
            let subtype = result["subtype"].as_str().unwrap_or_default();
            result["is_error"] == true || subtype.starts_with("error")
        });
        if is_well && !says_error {
            return Verdict { outcome: Outcome::Completed, reason: None, error: None };
        }
        let (outcome, reason) = match exit {
            Some(exit) if exit.was_too_long => (Outcome::Cancelled, Reason::Timeout),
            Some(exit) if exit.was_cancelled => (Outcome::Cancelled, Reason::Cancelled),
            _ => (Outcome::Failed, Reason::Error),
        };
        let own_words = told.filter(|_| says_error).and_then(|result| {
            let first = result["errors"][0].as_str().or(result["result"].as_str());
            first.or(result["subtype"].as_str()).map(str::to_owned)
        });
        let by_exit = || match (exit?.code, exit?.signal) {
            (Some(code), _) => Some(format!("the command ended with status {code}")),
            (None, Some(signal)) => Some(format!("the command was ended by signal {signal}")),
            (None, None) => None,
        };
        Verdict { outcome, reason: Some(reason), error: own_words.or_else(by_exit) }
    }

    fn figures(&self, exit: Option<Exit>, begun: Timestamp, now: Timestamp) -> Figures {
        let told = self.result.clone().unwrap_or_default();
        let took = u64::try_from(now.since(begun)).ok();
        Figures {
            exit_code: exit.and_then(|exit| exit.code),
            duration_ms: told["duration_ms"].as_u64().or(took),
            cost_usd: told["total_cost_usd"].as_f64(),
            turns: told["num_turns"].as_u64(),
            input_tokens: told["usage"]["input_tokens"].as_u64(),
            output_tokens: told["usage"]["output_tokens"].as_u64(),
        }
    }
}

struct Verdict {
    outcome: Outcome,
    reason: Option<Reason>,
    error: Option<String>,
}

/// What is left to say when all is written.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    pub(crate) warnings: Vec<String>,
}
