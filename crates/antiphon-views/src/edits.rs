//! What calls changed in files, with the texts before and after as far as the calls say them.
//!
//! A call that failed, or that has no result, changed nothing. What shell commands changed is never
//! guessed; see [`may_change_files`](crate::shell::Script::may_change_files).

mod blocks;
mod history;
mod lines;
mod patch;
mod path;
mod result;
mod tool;

use antiphon_model::{BodyError, CallIx};

use crate::Reading;
use crate::calls::has_failed;

pub(crate) use history::{Author, FileHistory};
pub(crate) use lines::{Operation, line_operations, split_lines};
pub use path::relative_path;
pub(crate) use tool::named_paths;

/// What one call did to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) call: CallIx,
    /// As recorded.
    pub(crate) path: String,
    /// The content of the file before the call.
    pub(crate) before: Before,
    pub(crate) change: Change,
}

impl Edit {
    /// The same edit with its paths as `name` gives them.
    pub(crate) fn with_paths(self, name: impl Fn(&str) -> String) -> Self {
        let change = match self.change {
            Change::Rename(to) => Change::Rename(name(&to)),
            other @ (Change::Write(_) | Change::Replace(_) | Change::Patch(_) | Change::Delete) => {
                other
            }
        };
        Self { path: name(&self.path), change, ..self }
    }
}

/// The content of a file before it was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Before {
    Unknown,
    /// There was no such file.
    Absent,
    Text(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The whole content was written.
    Write(String),
    /// Texts were replaced, one after another.
    Replace(Vec<Replacement>),
    /// Lines were replaced, in the order of the file.
    Patch(Vec<Hunk>),
    Delete,
    /// The file got another path. What else changed is an edit of its own, at the new path.
    Rename(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) old: String,
    pub(crate) new: String,
    pub(crate) is_everywhere: bool,
}

/// Lines of a patch; each has its line end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// A line before which the hunk does not begin: `@@ fn main`.
    pub(crate) heading: Option<String>,
    pub(crate) lines: Vec<(HunkLine, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HunkLine {
    Context,
    Removed,
    Added,
}

impl Hunk {
    /// The lines that the hunk expects.
    pub(crate) fn before(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(|(kind, _)| *kind != HunkLine::Added).map(|(_, text)| &**text)
    }

    /// The lines that it adds.
    pub(crate) fn added(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(|(kind, _)| *kind == HunkLine::Added).map(|(_, text)| &**text)
    }

    /// The lines that it leaves.
    pub(crate) fn after(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(|(kind, _)| *kind != HunkLine::Removed).map(|(_, text)| &**text)
    }
}

impl Change {
    /// The path that the file got.
    pub(crate) fn renamed_to(&self) -> Option<&str> {
        match self {
            Self::Rename(to) => Some(to),
            Self::Write(_) | Self::Replace(_) | Self::Patch(_) | Self::Delete => None,
        }
    }
}

/// What a call changed. Empty if it failed or has not ended.
pub(crate) fn edits(reading: &Reading<'_>, ix: CallIx) -> Result<Vec<Edit>, BodyError> {
    if reading.session.call(ix).is_open() || has_failed(reading, ix) {
        return Ok(Vec::new());
    }
    let mut edits = tool::edits(reading, ix)?;
    if let [edit] = edits.as_mut_slice() {
        result::complete(reading, edit)?;
    }
    Ok(edits)
}
