//! Following a log as it grows.
//!
//! A line is shown once, when its newline is there: never missed, doubled or half shown, whether
//! the log goes on in another segment, is cut, or is replaced.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::lines::Lines;
use crate::scanner::{Scanner, Shown, Sink};
use crate::{Error, Hash, Log};

/// Reads what is new in a log each time it is asked.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    log: Option<Log>,
    scanner: Scanner,
    /// Where the next line begins, in the current segment.
    offset: u64,
    number: u64,
    first_line: Option<Mark>,
    last_line: Option<Mark>,
}

/// A line by which a file is known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    offset: u64,
    len: usize,
    hash: Hash,
}

/// What a look at the log found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Followed {
    /// How many lines were read to their end.
    pub lines: u64,
    /// The file was cut or replaced since the last look.
    pub restarted: bool,
}

impl Follower {
    /// Follows the log at `path`, from its beginning. It need not be there yet.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            log: None,
            scanner: Scanner::default(),
            offset: 0,
            number: 0,
            first_line: None,
            last_line: None,
        }
    }

    /// Hands every line that is new and whole to `sink`.
    pub fn poll(&mut self, sink: &mut dyn Sink) -> Result<Followed, Error> {
        let mut followed = Followed::default();
        let Some(log) = self.find_log()? else {
            return Ok(followed);
        };
        loop {
            // Asked before reading: once a segment has a successor it grows no more, so what is
            // read now is all of it.
            let has_successor = log.segment(self.scanner.stream + 1).exists();
            self.poll_segment(&log, has_successor, sink, &mut followed)?;
            if !has_successor {
                return Ok(followed);
            }
            self.scanner.stream += 1;
            let upto_n = self.scanner.head().map_or(0, |head| head.n);
            self.begin(Shown { upto_n, before_offset: 0 });
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

    fn begin(&mut self, shown: Shown) {
        self.scanner.shown = shown;
        self.offset = 0;
        self.number = 0;
        self.first_line = None;
        self.last_line = None;
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
        let mut file = match File::open(&path) {
            Ok(file) => file,
            // Between being removed and coming back: what was shown is still known.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(Error::open(&path, source)),
        };
        let len = file.metadata().map_err(read)?.len();
        if len < self.offset || !self.is_known(&mut file).map_err(read)? {
            followed.restarted = true;
            let is_same_log = self.first_line.is_none_or(|mark| mark.is_in(&mut file));
            let upto_n = self.scanner.head().map_or(0, |head| head.n);
            let shown = match is_same_log {
                true if len < self.offset => Shown { upto_n, before_offset: len },
                true => Shown { upto_n, before_offset: 0 },
                false => {
                    let stream = std::mem::take(&mut self.scanner).stream;
                    self.scanner.stream = stream;
                    Shown::default()
                }
            };
            self.begin(shown);
        }
        file.seek(SeekFrom::Start(self.offset)).map_err(read)?;
        let mut lines = Lines::starting_at(file, self.offset, self.number);
        while let Some(line) = lines.next().map_err(read)? {
            if !line.terminated && !is_finished {
                break;
            }
            let (offset, len) = (line.offset, line.bytes.len());
            let mark = Mark { offset, len, hash: Hash::of(line.bytes) };
            self.first_line.get_or_insert(mark);
            self.last_line = Some(mark);
            self.number = line.number;
            self.offset = line.offset + line.len + u64::from(line.terminated);
            self.scanner.line(&line, sink);
            followed.lines += 1;
        }
        Ok(())
    }

    /// Whether the line that was read last still stands where it stood.
    fn is_known(&self, file: &mut File) -> io::Result<bool> {
        Ok(self.last_line.is_none_or(|mark| mark.is_in(file)))
    }
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
