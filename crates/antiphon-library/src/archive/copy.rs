//! Copying a file that may be growing: lines, or a document.

mod document;
mod lines;

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::time::Instant;

use antiphon_journal::regular;
use antiphon_sources::{Member, PLAIN_BYTES_MAX, read_bytes_of};

use super::bytes::{self, Bytes, Settled};
use super::state::FileCopy;
use super::sums::Sums;

/// The result of copying a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The copy was created now, or is unchanged; these are its bytes.
    New(Vec<u8>),
    Done,
    /// The source is an incomplete document at the moment; the copy is unchanged.
    Half,
    OutOfTime,
    /// The source no longer begins with the copy.
    Rewritten,
}

/// The form in which a copy is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Uncompressed, because more will be added soon.
    Growing,
    /// Compressed.
    Compressed,
    /// Compressed together with those of other sessions.
    Together,
}

/// A copy to bring up to date.
pub(super) struct Job<'a> {
    pub(super) member: &'a Member,
    /// Where the copy is stored, and its name there.
    pub(super) bytes: &'a dyn Bytes,
    pub(super) name: &'a str,
    /// The folder that the file must be in.
    pub(super) within: &'a Path,
    pub(super) deadline: Option<Instant>,
    pub(super) form: Form,
    /// Whether the copy may be damaged, so that all of it must be compared.
    pub(super) is_doubted: bool,
    /// What was recorded when it was last written.
    pub(super) known: Option<FileCopy>,
    /// Whether it was damaged and has been rewritten.
    pub(super) is_mended: bool,
    /// The source, if it was opened and not read yet.
    pub(super) opened: Option<File>,
}

impl Job<'_> {
    /// Brings the copy up to date; afterwards `known` describes it.
    pub(super) fn run(&mut self) -> io::Result<Step> {
        let member = self.member;
        if let Some(text) = &member.document {
            return self.document(text.clone().into_bytes());
        }
        match member.path.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl") => self.lines(),
            // A file that the agent itself has compressed is kept as it is.
            Some("zst") => self.whole(),
            _ => {
                let Some(source) = self.open()? else { return Ok(Step::Done) };
                let mut bytes = Vec::new();
                source.take(PLAIN_BYTES_MAX + 1).read_to_end(&mut bytes)?;
                match bytes.len() as u64 > PLAIN_BYTES_MAX {
                    true => Err(io::ErrorKind::FileTooLarge.into()),
                    false => self.document(bytes),
                }
            }
        }
    }

    /// Opens the source. It is not an error if it no longer exists.
    pub(super) fn open(&mut self) -> io::Result<Option<File>> {
        if let Some(opened) = self.opened.take() {
            return Ok(Some(opened));
        }
        match regular::open_within(&self.member.path, self.within) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Checks that the source can be opened, or does not exist.
    pub(super) fn can_be_read(&mut self) -> io::Result<()> {
        if self.member.document.is_some() {
            return Ok(());
        }
        match self.open()? {
            Some(mut source) => {
                let _ = source.read(&mut [0])?;
                source.rewind()?;
                self.opened = Some(source);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn now(&mut self, sums: Sums) {
        self.known = Some(FileCopy { sums, is_raw: false, was: None });
    }

    fn sums(&self) -> Option<&Sums> {
        self.known.as_ref().map(|known| &known.sums)
    }

    /// Whether an uncompressed copy exists.
    fn is_there(&self) -> bool {
        self.bytes.len(self.name).is_some()
    }

    /// The content of the copy, decompressed if necessary.
    fn unpacked(&self, name: &str) -> io::Result<Vec<u8>> {
        let len = self.bytes.len(name).unwrap_or_default();
        read_bytes_of(Box::new(self.bytes.open(name)?), len)
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        bytes::write(self.bytes, name, Settled::Later, bytes)
    }
}

/// Whether the error means damaged content rather than a failed read.
fn is_damage(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}
