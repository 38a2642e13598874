//! Copying one file that may be growing: lines, or a document.

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

/// What came of copying a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The copy was made now, or is as it was, and these are its bytes.
    New(Vec<u8>),
    Done,
    /// What is there now is half a document; the copy is as it was before.
    Half,
    OutOfTime,
    /// The copy is no beginning of the source any more.
    Rewritten,
}

/// What becomes of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// More is added to it soon.
    Growing,
    /// It is compressed.
    Compressed,
    /// It is compressed with those of other sessions.
    Together,
}

/// A copy that is to be brought up to date.
pub(super) struct Job<'a> {
    pub(super) member: &'a Member,
    /// Where the copy lies, and what it is called there.
    pub(super) bytes: &'a dyn Bytes,
    pub(super) name: &'a str,
    /// The folder that the file must lie in.
    pub(super) within: &'a Path,
    pub(super) deadline: Option<Instant>,
    pub(super) form: Form,
    /// Whether the copy may be damaged, so that all of it is compared.
    pub(super) is_doubted: bool,
    /// What it was when it was last written.
    pub(super) known: Option<FileCopy>,
    /// Whether it was damaged, and was written again.
    pub(super) is_mended: bool,
    /// The source, if it was opened and not read yet.
    pub(super) opened: Option<File>,
}

impl Job<'_> {
    /// Brings the copy up to date; `known` is then what it is now.
    pub(super) fn run(&mut self) -> io::Result<Step> {
        let member = self.member;
        if let Some(text) = &member.document {
            return self.document(text.clone().into_bytes());
        }
        match member.path.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl") => self.lines(),
            // What the agent has packed itself is kept as it is.
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

    /// The source. One that has gone away is no error.
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

    /// Whether there is something to copy, or nothing at all.
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

    /// Whether the copy is there unpacked.
    fn is_there(&self) -> bool {
        self.bytes.len(self.name).is_some()
    }

    /// What the copy holds, in whatever form.
    fn unpacked(&self, name: &str) -> io::Result<Vec<u8>> {
        let len = self.bytes.len(name).unwrap_or_default();
        read_bytes_of(Box::new(self.bytes.open(name)?), len)
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        bytes::write(self.bytes, name, Settled::Later, bytes)
    }
}

/// Whether it is what was read that is wrong, and not the reading.
fn is_damage(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}
