//! What can fail as a whole. (Damage within a log is data, not an error.)

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::draft::DraftError;

#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot open `{path}`")]
    Open { path: PathBuf, source: io::Error },
    #[error("cannot read `{path}`")]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write `{path}`")]
    Write { path: PathBuf, source: io::Error },
    #[error("`{path}` was written, but could not be made durable")]
    Sync { path: PathBuf, source: io::Error },
    #[error("`{path}` contains no log (no file such as 000001.jsonl)")]
    NoLog { path: PathBuf },
    #[error("`{path}` already exists")]
    Exists { path: PathBuf },
    #[error("`{path}` is being written by {holder}")]
    Locked { path: PathBuf, holder: String },
    #[error("`{path}` was written by a newer Antiphon (format {format}); this one writes format 1")]
    NewerFormat { path: PathBuf, format: u64 },
    #[error("the event cannot be recorded: {0}")]
    Draft(#[from] DraftError),
    #[error("`{id}` is already in the log, with different content")]
    Conflict { id: String },
}

impl Error {
    /// Whether the event itself was refused, so that other events can still be written.
    pub fn is_about_the_event(&self) -> bool {
        matches!(self, Self::Conflict { .. } | Self::Draft(_))
    }

    pub(crate) fn open(path: &Path, source: io::Error) -> Self {
        Self::Open { path: path.to_owned(), source }
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }

    pub(crate) fn sync(path: &Path, source: io::Error) -> Self {
        Self::Sync { path: path.to_owned(), source }
    }

    /// The same failure, for an event that was written but could not be made durable.
    pub(crate) fn into_sync(self) -> Self {
        if let Self::Open { path, source } | Self::Write { path, source } = self {
            return Self::Sync { path, source };
        }
        self
    }

    /// The same failure, for an event that could not be written.
    pub(crate) fn into_write(self) -> Self {
        if let Self::Sync { path, source } = self {
            return Self::Write { path, source };
        }
        self
    }
}
