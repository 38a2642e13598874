//! A session's log: one file, or a folder of segments that follow one another.

use std::io;
use std::path::{Path, PathBuf};

use antiphon_model::{Event, Line, Session};

use crate::damage::Damage;
use crate::disk::Disk;
use crate::error::Error;
use crate::lines::Lines;
use crate::scanner::{Scanner, Sink};
use crate::{Hash, OsDisk, Seal};

/// Where the segments of a log are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    place: PathBuf,
    is_folder: bool,
    first: u32,
    count: u32,
}

/// The end of a chain. Whole lines missing at the end show only against a head kept elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub n: u64,
    pub hash: Hash,
}

/// What reading a log found, beside its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
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
        let place = path.to_owned();
        if !kind.is_dir() {
            let mut log = Self { place, is_folder: false, first: 1, count: 1 };
            while log.segment(log.count).exists() {
                log.count += 1;
            }
            return Ok(log);
        }
        let entries = std::fs::read_dir(path).map_err(|source| Error::open(path, source))?;
        let numbers = entries.flatten().filter_map(|entry| segment_number(&entry.file_name()));
        let first = numbers.min().ok_or_else(|| Error::NoLog { path: place.clone() })?;
        let mut log = Self { place, is_folder: true, first, count: 1 };
        while log.segment(log.count).exists() {
            log.count += 1;
        }
        Ok(log)
    }

    /// The log that a writer makes at `path`, which may be a folder, a file, or not there.
    pub(crate) fn for_writing(path: &Path) -> Result<Self, Error> {
        match Self::find(path) {
            Ok(log) => Ok(log),
            Err(Error::NoLog { path }) => {
                Ok(Self { place: path, is_folder: true, first: 1, count: 0 })
            }
            Err(Error::Open { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(Self { place: path.to_owned(), is_folder: false, first: 1, count: 0 })
            }
            Err(error) => Err(error),
        }
    }

    /// What the log is called: the file's or folder's own path.
    pub fn path(&self) -> &Path {
        &self.place
    }

    /// The file's or folder's name, without its ending: a session's id when it says none itself.
    pub fn name(&self) -> String {
        let stem = if self.is_folder { self.place.file_name() } else { self.place.file_stem() };
        stem.unwrap_or(self.place.as_os_str()).to_string_lossy().into_owned()
    }

    pub fn segments(&self) -> impl ExactSizeIterator<Item = PathBuf> {
        (0..self.count).map(|index| self.segment(index))
    }

    pub(crate) fn is_new(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn folder(&self) -> &Path {
        let folder = if self.is_folder { Some(&*self.place) } else { self.place.parent() };
        folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    pub(crate) fn lock_path(&self) -> PathBuf {
        if self.is_folder {
            return self.place.join("lock");
        }
        let mut name = self.place.as_os_str().to_owned();
        name.push(".lock");
        name.into()
    }

    /// The path of the next segment. It counts from now on.
    pub(crate) fn add_segment(&mut self) -> PathBuf {
        self.count += 1;
        self.segment(self.count - 1)
    }

    pub(crate) fn last_segment(&self) -> Option<PathBuf> {
        self.count.checked_sub(1).map(|index| self.segment(index))
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The path of the segment with that index, whether or not it is there.
    pub(crate) fn segment(&self, index: u32) -> PathBuf {
        let number = self.first + index;
        if self.is_folder {
            return self.place.join(format!("{number:06}.jsonl"));
        }
        if index == 0 {
            return self.place.clone();
        }
        let ending = self.place.extension().map(|ending| ending.to_string_lossy().into_owned());
        let ending = ending.unwrap_or_else(|| "jsonl".to_owned());
        self.place.with_extension(format!("{number:06}.{ending}"))
    }

    /// Reads all segments in order.
    pub fn read(&self, sink: &mut dyn Sink) -> Result<Summary, Error> {
        self.read_from(&OsDisk, sink)
    }

    /// Reads and folds: the session, whatever state its log is in.
    pub fn fold(&self) -> Result<(Session, Summary), Error> {
        let mut fold = Fold::default();
        let summary = self.read(&mut fold)?;
        Ok((fold.session, summary))
    }

    pub(crate) fn read_from(&self, disk: &dyn Disk, sink: &mut dyn Sink) -> Result<Summary, Error> {
        let mut scanner = Scanner::default();
        let (mut lines_read, mut bytes, mut last_segment_bytes, mut terminated) = (0, 0, 0, true);
        for (index, path) in (0..).zip(self.segments()) {
            scanner.stream = index;
            scanner.superseded_from = match index + 1 < self.count {
                true => first_number(disk, &self.segment(index + 1)),
                false => None,
            };
            let open = |source| Error::open(&path, source);
            let mut lines = Lines::new(disk.read(&path).map_err(open)?);
            while let Some(line) = lines.next().map_err(|source| Error::read(&path, source))? {
                scanner.line(&line, sink);
                lines_read += 1;
                terminated = line.terminated;
            }
            last_segment_bytes = lines.offset();
            bytes += last_segment_bytes;
        }
        let (sealed, unsealed) = (scanner.sealed, scanner.unsealed);
        let (head, lines) = (scanner.head(), lines_read);
        Ok(Summary { head, lines, bytes, last_segment_bytes, sealed, unsealed, terminated })
    }
}

/// The `n` with which a segment begins.
///
/// A segment that took over from one that could not be synced repeats the lines that may not have
/// reached the disk. So a segment counts only up to where the next one begins.
pub(crate) fn first_number(disk: &dyn Disk, path: &Path) -> Option<u64> {
    struct First(Option<u64>);

    impl Sink for First {
        fn event(&mut self, _: &Event<'_>, _: &Line<'_>, seal: Option<&Seal>) {
            self.0 = self.0.or(seal.map(|seal| seal.n));
        }

        fn damage(&mut self, _: Damage) {}
    }

    let mut lines = Lines::new(disk.read(path).ok()?);
    let (mut scanner, mut first) = (Scanner::default(), First(None));
    while first.0.is_none() {
        scanner.line(&lines.next().ok()??, &mut first);
    }
    first.0
}

fn segment_number(name: &std::ffi::OsStr) -> Option<u32> {
    let digits = name.to_str()?.strip_suffix(".jsonl")?;
    let is_number = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
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
