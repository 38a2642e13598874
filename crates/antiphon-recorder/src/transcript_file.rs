//! The transcript on disk. No failure here affects the agent.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use antiphon_model::Timestamp;

use crate::Assignment;

/// A file that is being written; after a failure it is left as it is.
#[derive(Debug)]
pub(crate) struct TranscriptFile {
    file: Option<File>,
    path: PathBuf,
}

impl TranscriptFile {
    /// Creates a new file. An existing file is never written to: if a name is taken, a number is
    /// added.
    pub(crate) fn create(
        folder: &Path,
        assignment: &Assignment,
        at: Timestamp,
    ) -> std::io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let folder = std::path::absolute(folder)?;
        let stem = format!("{}-{}", at.as_millis(), assignment.file_suffix());
        for number in 1_u32.. {
            let name = match number {
                1 => format!("{stem}.log"),
                number => format!("{stem}-{number}.log"),
            };
            let path = folder.join(name);
            match OpenOptions::new().append(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Self { file: Some(file), path }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(std::io::ErrorKind::AlreadyExists.into())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends, unless an earlier write failed. Returns the first failure only.
    pub(crate) fn write(&mut self, text: &str) -> std::io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let written = file.write_all(text.as_bytes());
        if written.is_err() {
            // One line to say so, if the disk still accepts it.
            let _ = file.write_all(b"\n[transcript cut: a write failed]\n");
            self.file = None;
        }
        written
    }
}
