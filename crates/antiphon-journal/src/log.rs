//! A session's log: one file, or a folder of segments that follow one another.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use antiphon_model::{Activity, Event, Line, Session};

use crate::ahead;
use crate::checkpoint::{Checkpoint, Header};
use crate::damage::Damage;
use crate::disk::Disk;
use crate::error::Error;
use crate::lines::Lines;
use crate::scanner::{Scanner, Sink};
use crate::{Hash, OsDisk, Seal, regular};

/// Where the segments of a log are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    place: PathBuf,
    is_folder: bool,
    /// The numbers of its segments. A missing one leaves a visible gap.
    numbers: Vec<u32>,
}

/// The end of a chain. Missing lines at the end are noticed only by comparing with a head that is
/// kept elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub n: u64,
    pub hash: Hash,
}

/// The result of reading a log, besides its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogSummary {
    pub head: Option<Head>,
    pub lines: u64,
    pub bytes: u64,
    pub last_segment_bytes: u64,
    pub sealed: u64,
    pub unsealed: u64,
    /// Whether the last line has its newline.
    pub terminated: bool,
}

impl Log {
    /// Finds the log at `path`: a file with its later segments beside it, or a folder of them.
    pub fn find(path: &Path) -> Result<Self, Error> {
        let kind = std::fs::metadata(path).map_err(|source| Error::open(path, source))?;
        if !kind.is_dir() && !kind.is_file() {
            // Reading a pipe would wait, and a device may never end.
            return Err(Error::open(path, regular::refused()));
        }
        let mut log = Self { place: path.to_owned(), is_folder: kind.is_dir(), numbers: vec![] };
        match std::fs::read_dir(log.folder()) {
            Ok(entries) => {
                let names = entries.flatten().map(|entry| entry.file_name());
                log.numbers = names.filter_map(|name| log.segment_number(&name)).collect();
            }
            Err(source) if log.is_folder => return Err(Error::open(path, source)),
            // The folder of a file may not be listable, but its later segments have known names.
            Err(_) => {
                log.numbers = (2..).take_while(|&number| log.numbered(number).exists()).collect();
            }
        }
        if !log.is_folder {
            log.numbers.push(1);
        }
        log.numbers.sort_unstable();
        match log.numbers.is_empty() {
            true => Err(Error::NoLog { path: log.place }),
            false => Ok(log),
        }
    }

    /// The log that a writer creates at `path`, which may be a folder, a file, or absent.
    pub(crate) fn for_writing(path: &Path) -> Result<Self, Error> {
        match Self::find(path) {
            Ok(log) => Ok(log),
            Err(Error::NoLog { path: place }) => {
                Ok(Self { place, is_folder: true, numbers: vec![] })
            }
            Err(Error::Open { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(Self { place: path.to_owned(), is_folder: false, numbers: vec![] })
            }
            Err(error) => Err(error),
        }
    }

    /// The path of the file or folder.
    pub fn path(&self) -> &Path {
        &self.place
    }

    /// The name of the file or folder without its extension: the id of a session that has none of
    /// its own.
    pub fn name(&self) -> String {
        let stem = if self.is_folder { self.place.file_name() } else { self.place.file_stem() };
        stem.unwrap_or(self.place.as_os_str()).to_string_lossy().into_owned()
    }

    pub fn segments(&self) -> impl ExactSizeIterator<Item = PathBuf> {
        self.numbers.iter().map(|&number| self.numbered(number))
    }

    pub(crate) fn is_new(&self) -> bool {
        self.numbers.is_empty()
    }

    pub(crate) fn folder(&self) -> &Path {
        let folder = if self.is_folder { Some(&*self.place) } else { self.place.parent() };
        folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// Whether a process is writing it, or died while writing.
    pub fn activity(&self) -> Activity {
        crate::lock::activity(&self.lock_path())
    }

    pub(crate) fn lock_path(&self) -> PathBuf {
        if self.is_folder {
            return self.place.join("lock");
        }
        let mut name = self.place.as_os_str().to_owned();
        name.push(".lock");
        name.into()
    }

    /// Where a checkpoint is kept.
    pub(crate) fn checkpoint_path(&self) -> PathBuf {
        if self.is_folder {
            return self.place.join("checkpoint");
        }
        let mut name = self.place.as_os_str().to_owned();
        name.push(".checkpoint");
        name.into()
    }

    /// Adds the next segment, and returns its path.
    pub(crate) fn add_segment(&mut self) -> PathBuf {
        let next = self.numbers.last().map_or(1, |last| last + 1);
        self.numbers.push(next);
        self.numbered(next)
    }

    pub(crate) fn last_segment(&self) -> Option<PathBuf> {
        self.numbers.last().map(|&number| self.numbered(number))
    }

    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.numbers.len()).unwrap_or(u32::MAX)
    }

    /// The path of the segment with this index; the one after the last is the next to be created.
    pub(crate) fn segment(&self, index: u32) -> PathBuf {
        let known = self.numbers.get(index as usize).copied();
        let beyond = || {
            let last = self.numbers.last().copied().unwrap_or_default();
            last.saturating_add(index.saturating_sub(self.count())).saturating_add(1)
        };
        self.numbered(known.unwrap_or_else(beyond))
    }

    fn numbered(&self, number: u32) -> PathBuf {
        if self.is_folder {
            return self.place.join(format!("{number:06}.jsonl"));
        }
        if number == 1 {
            return self.place.clone();
        }
        let (_, ending) = self.stem_and_ending();
        self.place.with_extension(format!("{number:06}.{ending}"))
    }

    /// The number in the name of one of this log's segments; a file's own name has none.
    fn segment_number(&self, name: &OsStr) -> Option<u32> {
        let mut digits = name.to_str()?;
        if self.is_folder {
            digits = digits.strip_suffix(".jsonl")?;
        } else {
            let (stem, ending) = self.stem_and_ending();
            digits = digits.strip_prefix(&*stem)?.strip_prefix('.')?;
            digits = digits.strip_suffix(&*ending)?.strip_suffix('.')?;
        }
        let is_number = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number: u32 = is_number.then(|| digits.parse().ok()).flatten()?;
        (number > u32::from(!self.is_folder)).then_some(number)
    }

    fn stem_and_ending(&self) -> (Cow<'_, str>, Cow<'_, str>) {
        let stem = self.place.file_stem().unwrap_or_default().to_string_lossy();
        let ending = self.place.extension().map_or("jsonl".into(), OsStr::to_string_lossy);
        (stem, ending)
    }

    /// Reads all segments in order.
    pub fn read(&self, sink: &mut dyn Sink) -> Result<LogSummary, Error> {
        self.read_from(&OsDisk, sink)
    }

    /// Reads and folds the log, whatever state it is in.
    pub fn fold(&self) -> Result<(Session, LogSummary), Error> {
        let mut fold = Fold::default();
        let summary = self.read(&mut fold)?;
        Ok((fold.session, summary))
    }

    /// Reads the lines after a checkpoint, in the last segment.
    pub(crate) fn read_after(
        &self,
        checkpoint: &Checkpoint,
        disk: &dyn Disk,
        sink: &mut dyn Sink,
    ) -> Result<LogSummary, Error> {
        let Header { stream, offset, lines, .. } = checkpoint.header;
        let head = checkpoint.head().unwrap_or(Head { n: 0, hash: Hash::GENESIS });
        let mut reading = Reading { scanner: Scanner::after(head, stream), ..Reading::default() };
        let path = self.segment(stream);
        let source = disk.read_from(&path, offset).map_err(|source| Error::open(&path, source))?;
        let rest = Lines::starting_at(source, offset, lines);
        reading.lines_of(rest, sink).map_err(|source| Error::read(&path, source))?;
        Ok(reading.summary())
    }

    pub(crate) fn read_from(
        &self,
        disk: &dyn Disk,
        sink: &mut dyn Sink,
    ) -> Result<LogSummary, Error> {
        let mut reading = Reading::default();
        for (index, path) in (0..).zip(self.segments()) {
            reading.scanner.stream = index;
            let mut later = self.segments().skip(index as usize + 1);
            reading.scanner.has_successor = index + 1 < self.count();
            reading.scanner.superseded_from = later.find_map(|path| first_seal(disk, &path));
            let source = disk.read(&path).map_err(|source| Error::open(&path, source))?;
            reading.segment(source, sink).map_err(|source| Error::read(&path, source))?;
        }
        Ok(reading.summary())
    }
}

/// Reads a log of one segment that is in memory.
pub fn read_bytes(bytes: &[u8], sink: &mut dyn Sink) -> LogSummary {
    let mut reading = Reading::default();
    // Reading from memory cannot fail.
    let _ = reading.segment(bytes, sink);
    reading.summary()
}

/// A log while its segments are read.
#[derive(Default)]
struct Reading {
    scanner: Scanner,
    lines: u64,
    bytes: u64,
    last_segment_bytes: u64,
    unterminated: bool,
}

impl Reading {
    fn segment(&mut self, source: impl io::Read + Send, sink: &mut dyn Sink) -> io::Result<()> {
        self.lines_of(Lines::new(source), sink)
    }

    fn lines_of(
        &mut self,
        lines: Lines<impl io::Read + Send>,
        sink: &mut dyn Sink,
    ) -> io::Result<()> {
        self.last_segment_bytes = ahead::read(lines, &mut |line| {
            self.scanner.line(line, sink);
            self.lines += 1;
            self.unterminated = !line.terminated;
        })?;
        self.bytes += self.last_segment_bytes;
        Ok(())
    }

    fn summary(&self) -> LogSummary {
        LogSummary {
            head: self.scanner.head(),
            lines: self.lines,
            bytes: self.bytes,
            last_segment_bytes: self.last_segment_bytes,
            sealed: self.scanner.sealed,
            unsealed: self.scanner.unsealed,
            terminated: !self.unterminated,
        }
    }
}

/// The seal of the first line of a segment.
///
/// A segment that took over from one that could not be synced repeats the lines that may not have
/// reached the disk. So a segment counts only up to where the next one begins.
pub(crate) fn first_seal(disk: &dyn Disk, path: &Path) -> Option<Seal> {
    struct First(Option<Seal>);

    impl Sink for First {
        fn event(&mut self, _: &Event<'_>, _: &Line<'_>, seal: Option<&Seal>) {
            self.0 = self.0.or(seal.copied());
        }

        fn damage(&mut self, _: Damage) {}
    }

    let mut lines = Lines::new(disk.read(path).ok()?);
    let (mut scanner, mut first) = (Scanner::default(), First(None));
    while first.0.is_none() {
        scanner.line(&lines.next_line().ok()??, &mut first);
    }
    first.0
}

/// A sink that folds.
#[derive(Debug, Default)]
pub struct Fold {
    pub session: Session,
}

impl Sink for Fold {
    fn event(&mut self, event: &Event<'_>, _: &Line<'_>, _: Option<&Seal>) {
        self.session.apply(event);
    }

    fn damage(&mut self, damage: Damage) {
        self.session.add_problem(damage.problem());
    }
}
