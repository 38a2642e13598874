//! How a session is taken up again: where it stands, the agent's own file, and the command.

use std::path::{Path, PathBuf};

use antiphon_model::BodyError;
use antiphon_sources::{LOG_FORMAT, Opened};
use antiphon_views::{Resume, resume};
use serde::Serialize;

use crate::archive::Copies;
use crate::{Restored, continue_command};

/// The point from which a session can be continued, what is unfinished, and how its agent continues
/// it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resumption {
    #[serde(flatten)]
    pub resume: Resume,
    /// The command with which its agent continues it, for a shell; null if none is known.
    pub command: Option<String>,
    /// The agent's own file; null if it has none, as for a session that Antiphon recorded or one in
    /// a database.
    pub native: Option<NativeFile>,
}

/// An agent's own file of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NativeFile {
    /// Where the agent looks for it, whether it is there or not.
    pub path: String,
    /// Whether it was put back now.
    pub restored: bool,
}

impl NativeFile {
    /// Of the session at `path`: the file that it is a copy of, or itself.
    pub fn of(path: &Path, opened: &Opened) -> Option<Self> {
        if opened.format == LOG_FORMAT {
            return None;
        }
        let main = opened.files.first().map_or(path, PathBuf::as_path);
        let native = match Copies::of_copy(main) {
            Some(copies) => copies.source()?,
            None => main.to_owned(),
        };
        // A session of a database is called by a path that is not a file's.
        let is_file = !native.parent().is_some_and(Path::is_file);
        let path = native.to_string_lossy().into_owned();
        is_file.then_some(Self { path, restored: false })
    }

    pub fn is_there(&self) -> bool {
        Path::new(&self.path).is_file()
    }
}

impl From<Restored> for NativeFile {
    fn from(restored: Restored) -> Self {
        let (path, restored) = match restored {
            Restored::Written(path) => (path, true),
            Restored::There(path) => (path, false),
        };
        Self { path: path.to_string_lossy().into_owned(), restored }
    }
}

/// How a session can be taken up again.
pub fn resumption(opened: &Opened, native: Option<NativeFile>) -> Result<Resumption, BodyError> {
    let id = opened.id();
    let resume = resume(&opened.reading(), &id)?;
    let cwd = opened.session.info().cwd.as_deref();
    Ok(Resumption { resume, command: continue_command(opened.format, &id, cwd), native })
}
