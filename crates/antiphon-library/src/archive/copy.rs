//! Copying one file that may be growing.
//!
//! A copy of lines is a beginning of its source, to the last byte: a line that is being written is
//! copied as far as it is there, and the rest of it next time.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;

use antiphon_journal::regular;
use antiphon_model::json;
use antiphon_sources::{Member, PLAIN_BYTES_MAX, read_bytes, read_bytes_of};

use super::bytes::{self, Bytes, Settled, Stored};
use super::pack;
use super::sizes::{has_changed_lately, size};
use super::state::FileCopy;
use super::sums::{Summing, Sums};

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

/// How much before the end of a copy must be the same in the source.
const COMPARED_BYTES: usize = 4 << 10;
/// How much is copied between two looks at the clock.
const CHUNK_BYTES: usize = 256 << 10;
/// What is longer is not held in memory.
const NEW_BYTES_MAX: u64 = 64 << 20;

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
    pub(super) fn open(&self) -> io::Result<Option<File>> {
        match regular::open_within(&self.member.path, self.within) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether there is something to copy, or nothing at all.
    pub(super) fn can_be_read(&self) -> io::Result<()> {
        if self.member.document.is_some() {
            return Ok(());
        }
        match self.open()? {
            Some(mut source) => source.read(&mut [0]).map(drop),
            None => Ok(()),
        }
    }

    fn now(&mut self, sums: Sums) {
        self.known = Some(FileCopy { sums, is_raw: false, was: None });
    }

    fn sums(&self) -> Option<&Sums> {
        self.known.as_ref().map(|known| &known.sums)
    }

    /// Appends what the copy lacks.
    fn lines(&mut self) -> io::Result<Step> {
        let Some(mut source) = self.open()? else { return Ok(Step::Done) };
        let (bytes, name) = (self.bytes, self.name);
        if pack::is_packed(bytes, name) {
            // Unpacking takes as long as the file is; a hook leaves that to the background.
            if self.deadline.is_some() {
                return Ok(Step::OutOfTime);
            }
            let packed = zstd::stream::read::Decoder::new(bytes.open(&pack::packed_name(name))?);
            let is_right =
                self.is_doubted.then(|| pack::has_right_table(bytes, name).unwrap_or(false));
            match packed.and_then(|packed| begins_with(&mut source, packed)) {
                Ok(Some(sums)) if is_right != Some(false) => {
                    let is_all = sums.len == source.metadata()?.len();
                    self.now(sums);
                    if is_all {
                        return Ok(Step::Done);
                    }
                    pack::unpack(bytes, name)?;
                }
                Err(error) if !is_damage(&error) => return Err(error),
                // The source or the copy has changed.
                Ok(_) | Err(_) => {
                    if !self.mend(&mut source)? {
                        return Ok(Step::Rewritten);
                    }
                }
            }
        }
        let length = source.metadata()?.len();
        // Of an empty file there is no copy, not an empty one.
        if !self.is_there() {
            if length == 0 {
                return Ok(Step::Done);
            }
            if self.form != Form::Growing && length <= NEW_BYTES_MAX {
                return self.new_lines(source, length);
            }
        }
        self.append(source)
    }

    fn append(&mut self, mut source: File) -> io::Result<Step> {
        let mut end = self.bytes.append(self.name)?;
        let mut copy = self.bytes.open(self.name)?;
        let copied = copy.seek(SeekFrom::End(0))?;
        let mut summing = match self.goes_on(&mut source, &mut *copy, copied)? {
            Some(summing) => summing,
            // To compare all of it takes its time.
            None if self.deadline.is_some() => return Ok(Step::OutOfTime),
            None => {
                copy.rewind()?;
                if let Some(sums) = begins_with(&mut source, &mut copy)? {
                    self.now(sums);
                } else if self.mend(&mut source)? {
                    end = self.bytes.append(self.name)?;
                    copy = self.bytes.open(self.name)?;
                } else {
                    return Ok(Step::Rewritten);
                }
                let sums = self.sums().cloned().unwrap_or_default();
                let tail = read_from(&mut *copy, sums.tail_start(), sums.len)?;
                Summing::go_on(sums, &tail).ok_or(io::ErrorKind::InvalidData)?
            }
        };
        source.seek(SeekFrom::Start(summing.so_far().len))?;
        let mut chunk = vec![0; CHUNK_BYTES];
        let step = loop {
            let read = source.read(&mut chunk)?;
            if read == 0 {
                break Step::Done;
            }
            let bytes = chunk.get(..read).unwrap_or_default();
            end.write_all(bytes)?;
            summing.add(bytes);
            // After a piece and not before: what one event adds is copied even when time is up.
            if read == chunk.len() && self.deadline.is_some_and(is_over) {
                break Step::OutOfTime;
            }
        };
        self.now(summing.finish());
        Ok(step)
    }

    /// The sums of a copy, if it is as it was written and ends like what stands there in its
    /// source.
    fn goes_on(
        &self,
        source: &mut File,
        copy: &mut dyn Stored,
        copied: u64,
    ) -> io::Result<Option<Summing>> {
        let known = match self.sums() {
            Some(sums) => sums.clone(),
            None if copied == 0 => Sums::default(),
            None => return Ok(None),
        };
        if self.is_doubted || known.len != copied || source.metadata()?.len() < copied {
            return Ok(None);
        }
        let tail = read_from(copy, known.tail_start(), copied)?;
        let Some(summing) = Summing::go_on(known, &tail) else { return Ok(None) };
        let compared = copied.saturating_sub(COMPARED_BYTES as u64);
        let is_alike = read_from(source, compared, copied)? == read_from(copy, compared, copied)?;
        Ok(is_alike.then_some(summing))
    }

    /// Writes a damaged copy again, as the plain form, if the source still begins with what the
    /// copy was: then nothing can be lost by it.
    fn mend(&mut self, source: &mut File) -> io::Result<bool> {
        let Some(sums) = self.sums().cloned().filter(|sums| sums.len > 0) else {
            return Ok(false);
        };
        source.rewind()?;
        if Sums::of_all(Read::by_ref(source).take(sums.len))? != sums {
            return Ok(false);
        }
        source.rewind()?;
        let mut left = Read::by_ref(source).take(sums.len);
        let mut out = self.bytes.create(self.name)?;
        io::copy(&mut left, &mut out)?;
        out.put(Settled::First)?;
        self.bytes.remove(&pack::packed_name(self.name))?;
        self.is_mended = true;
        Ok(true)
    }

    /// Takes all at once of a file of which nothing was there.
    fn new_lines(&mut self, source: File, length: u64) -> io::Result<Step> {
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        source.take(length).read_to_end(&mut bytes)?;
        if self.form == Form::Together || !pack::pack_new(self.bytes, self.name, &bytes)? {
            self.replace(self.name, &bytes)?;
        }
        self.now(Sums::of(&bytes));
        Ok(Step::New(bytes))
    }

    /// Takes a file that the agent has packed. One that cannot be unpacked may not be whole yet.
    fn whole(&mut self) -> io::Result<Step> {
        let Some(mut source) = self.open()? else { return Ok(Step::Done) };
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes)?;
        let packed = pack::packed_name(self.name);
        let there = read_bytes(&self.member.path);
        let now = match &there {
            Ok(there) => FileCopy { sums: Sums::of(there), ..FileCopy::default() },
            Err(_) => FileCopy { sums: Sums::of(&bytes), is_raw: true, was: None },
        };
        let is_same = || bytes::read(self.bytes, &packed).is_ok_and(|known| known == bytes);
        if !self.is_there() && is_same() {
            self.known = Some(now);
            return Ok(Step::Done);
        }
        let is_kept = self.is_there() || self.bytes.len(&packed).is_some();
        if is_kept && there.is_err() {
            return Ok(self.half());
        }
        let len = there.as_ref().map_or(0, Vec::len);
        match self.unpacked(if self.is_there() { self.name } else { &packed }) {
            Ok(known) if known.len() > len && is_kept => return Ok(Step::Rewritten),
            Err(error) if error.kind() != io::ErrorKind::NotFound && !is_damage(&error) => {
                return Err(error);
            }
            Ok(_) | Err(_) => self.replace(&packed, &bytes)?,
        }
        // Where both forms are there, the plain one would count.
        self.bytes.remove(self.name)?;
        self.known = Some(now);
        Ok(Step::Done)
    }

    /// Takes a document as it now is, unless that is shorter than it was: what is gone from it
    /// would be gone from the copy.
    fn document(&mut self, bytes: Vec<u8>) -> io::Result<Step> {
        let packed = pack::packed_name(self.name);
        let is_packed = pack::is_packed(self.bytes, self.name);
        let now = Sums::of(&bytes);
        let known = match self.unpacked(if is_packed { &packed } else { self.name }) {
            Ok(known) if known == bytes => {
                let is_right = || pack::has_right_table(self.bytes, self.name).unwrap_or(false);
                if !is_packed || !self.is_doubted || is_right() {
                    self.now(now);
                    return Ok(Step::New(bytes));
                }
                Some(known)
            }
            Ok(known) => Some(known),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) if !is_damage(&error) => return Err(error),
            // It was this very document.
            Err(_) if self.sums() == Some(&now) => None,
            Err(_) => return Ok(Step::Rewritten),
        };
        let is_whole = known.as_deref().is_some_and(|known| !is_half(known, self.name));
        if is_whole && is_half(&bytes, self.name) {
            return Ok(self.half());
        }
        let is_what_it_was = self.sums() == Some(&now);
        if known.is_some_and(|known| known.len() > bytes.len()) && !is_what_it_was {
            return Ok(Step::Rewritten);
        }
        self.is_mended = is_what_it_was;
        self.replace(self.name, &bytes)?;
        self.bytes.remove(&packed)?;
        self.now(now);
        Ok(Step::New(bytes))
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

    /// Half of what there was may be followed by the rest; if it is not, it is kept beside what
    /// there was.
    fn half(&self) -> Step {
        match has_changed_lately(size(&self.member.path).1) {
            true => Step::Half,
            false => Step::Rewritten,
        }
    }
}

/// Whether a document breaks off.
fn is_half(bytes: &[u8], name: &str) -> bool {
    let is_json = Path::new(name).extension().is_some_and(|ending| ending == "json");
    let text = String::from_utf8_lossy(bytes);
    is_json && json::check(text.trim_start_matches('\u{feff}')).is_err()
}

/// Whether a source begins with all of a copy; then the sums of the copy.
fn begins_with(source: &mut File, mut copy: impl Read) -> io::Result<Option<Sums>> {
    let (mut own, mut theirs) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    let mut summing = Summing::default();
    source.rewind()?;
    let mut is_alike = true;
    loop {
        let read = copy.read(&mut own)?;
        if read == 0 {
            return Ok(is_alike.then(|| summing.finish()));
        }
        // What is packed is read to its end: only there its checksum stands.
        if is_alike {
            let (own, theirs) = (own.get(..read), theirs.get_mut(..read).unwrap_or_default());
            is_alike = match source.read_exact(theirs) {
                Ok(()) => own == Some(&*theirs),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
                Err(error) => return Err(error),
            };
            summing.add(own.unwrap_or_default());
        }
    }
}

fn read_from(mut file: &mut dyn Stored, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    Read::by_ref(&mut file).take(end.saturating_sub(start)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether it is what was read that is wrong, and not the reading.
fn is_damage(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}

fn is_over(deadline: Instant) -> bool {
    Instant::now() >= deadline
}
