//! A call as a page shows it: what was asked, what changed, what came back.

use antiphon_model::{Arguments, BodyError, json};
use antiphon_views::{CallEdit, CallStatus, StepCall};

use crate::Page;
use crate::content::Part;
use crate::text::Clean;

/// How much of one argument is shown.
const ARGUMENT_BYTES: usize = 8 << 10;
/// How much of one result is shown.
const RESULT_BYTES: usize = 24 << 10;
/// How much of a diff is shown.
const DIFF_BYTES: usize = 96 << 10;
/// How long the line is that stands for the call.
const SUMMARY_CHARS: usize = 160;

/// A call, with its texts.
#[derive(Debug)]
pub(crate) struct ShownCall {
    pub(crate) tool: Clean,
    /// What stands for the call where it is folded.
    pub(crate) summary: Clean,
    pub(crate) status: CallStatus,
    pub(crate) millis: Option<i64>,
    pub(crate) files: Vec<FileDiff>,
    /// The arguments by name, unless the diffs say the same.
    pub(crate) arguments: Vec<(Clean, Clean)>,
    /// What came back, unless the diffs say the same.
    pub(crate) results: Vec<Part>,
}

/// What a call changed in one file.
#[derive(Debug)]
pub(crate) struct FileDiff {
    pub(crate) path: Clean,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    /// The hunks, without the names of the files.
    pub(crate) diff: Clean,
}

impl Page<'_> {
    /// A call and what it is about.
    pub(crate) fn call(&self, call: &StepCall, subject: &str) -> Result<ShownCall, BodyError> {
        let files: Vec<FileDiff> = call.edits.iter().map(|edit| self.file(edit)).collect();
        let is_told = !files.is_empty() && call.status == CallStatus::Success;
        let mut results = Vec::new();
        if !is_told {
            let session = self.reading.session;
            let entries = session.results(call.ix).map(|event| session.entry(event));
            results = self.parts_of(&call.output, entries)?;
        }
        let arguments = match is_told {
            true => Vec::new(),
            false => self.arguments(&Arguments::of(&self.reading, call.ix)?),
        };
        Ok(ShownCall {
            tool: self.clean_line(&call.tool_name, 60),
            summary: self.clean_line(subject, SUMMARY_CHARS),
            status: call.status,
            millis: call.duration_ms,
            arguments,
            results: results.into_iter().map(shortened).collect(),
            files,
        })
    }

    fn file(&self, edit: &CallEdit) -> FileDiff {
        // The names of the files are shown otherwise.
        let hunks = edit.diff.find("\n@@ ").and_then(|at| edit.diff.get(at + 1..));
        FileDiff {
            path: self.clean_line(&edit.path, SUMMARY_CHARS),
            added: edit.added,
            removed: edit.removed,
            diff: self.clean(hunks.unwrap_or_default()).shortened(DIFF_BYTES),
        }
    }

    /// The arguments by name; of text that is not JSON the whole.
    fn arguments(&self, arguments: &Arguments) -> Vec<(Clean, Clean)> {
        let mut rows = Vec::new();
        let row = |name: &str, value: &str| {
            let text =
                json::text(value).map_or_else(|| pretty(value), std::borrow::Cow::into_owned);
            (self.clean_line(name, 60), self.clean(&text).shortened(ARGUMENT_BYTES))
        };
        let parsed = json::members(arguments.as_str(), |name, value| rows.push(row(name, value)));
        if parsed.is_err() && !arguments.as_str().trim().is_empty() {
            let whole = self.clean(arguments.as_str()).shortened(ARGUMENT_BYTES);
            return vec![(Clean::default(), whole)];
        }
        rows.retain(|(_, value)| !value.is_empty());
        rows
    }
}

fn shortened(part: Part) -> Part {
    match part {
        Part::Text(text) => Part::Text(text.shortened(RESULT_BYTES)),
        picture @ Part::Picture(_) => picture,
    }
}

/// A value over several lines, if it is not too deep for that.
fn pretty(raw: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(raw);
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value));
    pretty.unwrap_or_else(|_| raw.to_owned())
}
