//! Following a log as it grows.
//!
//! A line is shown exactly once, when it is complete: never missed, repeated or half shown, whether
//! the log continues in another segment, is truncated, or is replaced.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use antiphon_model::{Event, Line};

use crate::lines::Lines;
use crate::log::first_seal;
use crate::scanner::{Scanner, Sink};
use crate::{Damage, Error, Hash, Log, OsDisk, Seal, regular};

/// Reads what is new in a log each time it is polled.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    log: Option<Log>,
    /// The line with which the log begins.
    first_line: Option<Mark>,
    scanner: Scanner,
    segment: Segment,
    /// Whether lines are remembered, so that they can be recognised. That costs a hash of each.
    remembers: bool,
}

/// The segment that is being read.
#[derive(Debug, Default)]
struct Segment {
    /// The scanner as it was before this segment.
    before: Scanner,
    /// Where the next line begins.
    offset: u64,
    /// A few bytes of the hash of each line read.
    tags: Vec<u64>,
    last_line: Option<Mark>,
    /// The lines that were shown before the file was truncated. As long as they come again, they
    /// are not shown again.
    shown: Vec<u64>,
}

/// A line by which a file is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    offset: u64,
    len: usize,
    hash: Hash,
}

/// The result of polling a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Followed {
    /// The number of complete lines that were passed on.
    pub lines: u64,
    /// Whether the file was truncated or replaced since the last poll.
    pub restarted: bool,
}

impl Follower {
    /// Follows the log at `path` from its beginning. It need not exist yet.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            log: None,
            first_line: None,
            scanner: Scanner::default(),
            segment: Segment::default(),
            remembers: true,
        }
    }

    /// Reads what is there once, without remembering lines.
    pub fn once(path: &Path) -> Self {
        Self { remembers: false, ..Self::new(path) }
    }

    /// Passes every new, complete line to `sink`.
    pub fn poll(&mut self, sink: &mut dyn Sink) -> Result<Followed, Error> {
        let mut followed = Followed::default();
        if self.is_other_log() {
            *self = Self::new(&self.path);
            followed.restarted = true;
        }
        let Some(log) = self.find_log()? else {
            return Ok(followed);
        };
        loop {
            // Checked before reading: once a segment has a successor it no longer grows, so what is
            // read now is all of it.
            let next = log.segment(self.scanner.stream + 1);
            let has_successor = next.exists();
            self.scanner.has_successor = has_successor;
            if has_successor {
                self.scanner.superseded_from = first_seal(&OsDisk, &next);
            }
            self.poll_segment(&log, has_successor, sink, &mut followed)?;
            if !has_successor {
                return Ok(followed);
            }
            self.scanner.stream += 1;
            self.scanner.superseded_from = None;
            self.scanner.shown_upto = self.scanner.head().map_or(0, |head| head.n);
            self.segment = Segment { before: self.scanner.clone(), ..Segment::default() };
        }
    }

    fn find_log(&mut self) -> Result<Option<Log>, Error> {
        if self.log.is_none() {
            self.log = match Log::find(&self.path) {
                Ok(log) => Some(log),
                Err(Error::NoLog { .. }) => None,
                Err(Error::Open { source, .. }) if source.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
        }
        Ok(self.log.clone())
    }

    /// Whether the first segment, read long ago, now begins with another line. (The segment that
    /// is being read is compared line by line.)
    fn is_other_log(&self) -> bool {
        let Some((log, mark)) = self.log.as_ref().zip(self.first_line) else {
            return false;
        };
        let open = || regular::open(&log.segment(0)).ok();
        self.scanner.stream > 0 && open().is_some_and(|mut file| !mark.is_in(&mut file))
    }

    fn poll_segment(
        &mut self,
        log: &Log,
        is_finished: bool,
        sink: &mut dyn Sink,
        followed: &mut Followed,
    ) -> Result<(), Error> {
        let path = log.segment(self.scanner.stream);
        let read = |source| Error::read(&path, source);
        let mut file = match regular::open(&path) {
            Ok(file) => file,
            // The file is absent while it is being replaced; what was shown is remembered.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(Error::open(&path, source)),
        };
        let len = file.metadata().map_err(read)?.len();
        let is_known = self.segment.last_line.is_none_or(|mark| mark.is_in(&mut file));
        if len < self.segment.offset || !is_known {
            followed.restarted = true;
            self.segment.restart();
            let (superseded_from, has_successor) =
                (self.scanner.superseded_from, self.scanner.has_successor);
            self.scanner = self.segment.before.clone();
            self.scanner.superseded_from = superseded_from;
            self.scanner.has_successor = has_successor;
        }
        file.seek(SeekFrom::Start(self.segment.offset)).map_err(read)?;
        let number = self.segment.tags.len() as u64;
        let mut lines = Lines::starting_at(file, self.segment.offset, number);
        while let Some(line) = lines.next_line().map_err(read)? {
            if !line.terminated && !is_finished {
                break;
            }
            if !self.remembers {
                self.scanner.line(&line, sink);
                followed.lines += 1;
                continue;
            }
            let (offset, len) = (line.offset, line.bytes.len());
            let mark = Mark { offset, len, hash: Hash::of(line.bytes) };
            if self.scanner.stream == 0 && line.number == 1 {
                self.first_line = Some(mark);
            }
            if self.segment.add(mark, line.offset + line.len + u64::from(line.terminated)) {
                self.scanner.line(&line, &mut Ignored);
            } else {
                self.scanner.line(&line, sink);
                followed.lines += 1;
            }
        }
        Ok(())
    }
}

impl Segment {
    /// Adds a line. Returns whether it was shown before the file was truncated.
    fn add(&mut self, mark: Mark, end: u64) -> bool {
        let tag = mark.hash.tag();
        let is_shown = self.shown.get(self.tags.len()) == Some(&tag);
        if !is_shown {
            self.shown = Vec::new();
        }
        self.tags.push(tag);
        self.last_line = Some(mark);
        self.offset = end;
        is_shown
    }

    fn restart(&mut self) {
        let tags = std::mem::take(&mut self.tags);
        if tags.len() > self.shown.len() {
            self.shown = tags;
        }
        self.offset = 0;
        self.last_line = None;
    }
}

/// A sink for lines that were already shown, which matter only for the chain.
struct Ignored;

impl Sink for Ignored {
    fn event(&mut self, _: &Event<'_>, _: &Line<'_>, _: Option<&Seal>) {}

    fn damage(&mut self, _: Damage) {}
}

impl Mark {
    fn is_in(&self, file: &mut File) -> bool {
        let mut bytes = Vec::with_capacity(self.len);
        let read = file
            .seek(SeekFrom::Start(self.offset))
            .and_then(|_| file.take(self.len as u64).read_to_end(&mut bytes));
        read.is_ok() && Hash::of(&bytes) == self.hash
    }
}
