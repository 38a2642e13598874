//! Writing a session of any format as a log.

use std::path::Path;

use antiphon_formats::{Duplicate, Sink};
use antiphon_journal::{Draft, Log, Options, Writer, salvage};
use antiphon_model::{Event, Problem, Severity};
use antiphon_redact::{Counts, Redactor};

use crate::redacted::redact_log;
use crate::{Bundle, Error};

/// The result of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exported {
    pub events: u64,
    /// The number of lines of the source that could not be read.
    pub problems: u64,
}

/// The redactor to use, and the counts of what it removed.
pub type Redacting<'a> = (&'a Redactor, &'a mut Counts);

/// Copies a log, event by event, to a new log at `to`; with a redactor, without secrets.
pub fn copy_log(
    log: &Log,
    to: &Path,
    options: Options,
    redaction: Option<Redacting<'_>>,
) -> Result<Exported, Error> {
    let options = named(log.name(), options);
    let copied = match redaction {
        Some((redactor, counts)) => redact_log(log, to, options, redactor, counts)?,
        None => salvage(log, to, options)?,
    };
    Ok(Exported { events: copied.events, problems: copied.lost + copied.changed })
}

/// Writes a session of another format to a new log at `to`: every event with the ids, times and
/// usage of its source, followed by `more` events that are already in the log's format. With a
/// redactor, secrets are removed.
pub fn export_bundle(
    bundle: &Bundle,
    more: &[String],
    to: &Path,
    options: Options,
    redaction: Option<Redacting<'_>>,
) -> Result<Exported, Error> {
    if to.exists() {
        return Err(antiphon_journal::Error::Exists { path: to.to_owned() }.into());
    }
    let writer = Writer::open(to, named(bundle.name().to_owned(), options))?;
    let done = Exported::default();
    let mut export = Export { writer: &writer, redaction, done, failure: None };
    bundle.events(&mut export);
    for event in more {
        export.write_text(event);
    }
    let Export { done, failure, .. } = export;
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    writer.close()?;
    Ok(done)
}

/// A session without an id is named after its file, in the new log as everywhere else.
fn named(name: String, options: Options) -> Options {
    Options { session_id: Some(name), ..options }
}

struct Export<'b> {
    writer: &'b Writer,
    redaction: Option<Redacting<'b>>,
    done: Exported,
    failure: Option<antiphon_journal::Error>,
}

impl<'a> Sink<'a> for Export<'_> {
    fn event(&mut self, event: Event<'a>) {
        // Written as text, which is checked again: another program's file may contain invalid JSON.
        self.write_text(&event.to_json());
    }

    fn problem(&mut self, problem: Problem) {
        match problem.severity {
            Severity::Error => self.done.problems += 1,
            // A warning does not mean that something was left out.
            Severity::Warning => {}
        }
    }

    // A duplicate is written once.
    fn duplicate(&mut self, _: Duplicate) {}
}

impl Export<'_> {
    /// Writes an event; secrets in its text are redacted.
    fn write_text(&mut self, json: &str) {
        if self.failure.is_some() {
            return;
        }
        let json = match &mut self.redaction {
            Some((redactor, counts)) => redactor.redact_json(json, counts),
            None => json.into(),
        };
        let draft = Draft::from_json(&json).map_err(Into::into);
        let written = draft.and_then(|draft| self.writer.append(&draft.of_the_past()));
        match written {
            Ok(_) => self.done.events += 1,
            Err(error) => self.failure = Some(error),
        }
    }
}
