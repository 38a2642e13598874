//! The bodies of a log, read from its segments on demand.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use antiphon_model::{Bodies, BodyError, Place};

use crate::{Log, regular};

/// Bodies that are read in the order of the log come from one block that is kept in memory.
const BLOCK_BYTES: u64 = 64 << 10;
/// Reading out of order (the lines of one agent among others) needs little of what is around each
/// place.
const JUMP_BYTES: u64 = 4 << 10;

/// Reads places in the segments of a log.
#[derive(Debug)]
pub struct LogBodies {
    segments: Vec<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: Option<(u32, File)>,
    block: Vec<u8>,
    block_stream: u32,
    block_offset: u64,
}

impl LogBodies {
    pub fn new(log: &Log) -> Self {
        Self { segments: log.segments().collect(), state: Mutex::default() }
    }
}

impl Bodies for LogBodies {
    fn read(&self, place: Place) -> Result<String, BodyError> {
        let path =
            self.segments.get(place.stream as usize).ok_or(BodyError::NoStream(place.stream))?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.cached(place).is_none() {
            state
                .load(path, place)
                .map_err(|source| BodyError::Io { path: path.display().to_string(), source })?;
        }
        let bytes = state.cached(place).ok_or_else(|| BodyError::Gone {
            offset: place.offset,
            end: place.offset + u64::from(place.len),
        })?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

impl State {
    fn cached(&self, place: Place) -> Option<&[u8]> {
        let start = place.offset.checked_sub(self.block_offset)?;
        let start = usize::try_from(start).ok()?;
        let bytes = self.block.get(start..start.checked_add(place.len as usize)?)?;
        (self.block_stream == place.stream && !self.block.is_empty()).then_some(bytes)
    }

    fn load(&mut self, path: &Path, place: Place) -> io::Result<()> {
        let file = match &mut self.open {
            Some((stream, file)) if *stream == place.stream => file,
            open => &mut open.insert((place.stream, regular::open(path)?)).1,
        };
        let end = self.block_offset + self.block.len() as u64;
        let goes_on = self.block_stream == place.stream
            && (self.block_offset..=end.saturating_add(JUMP_BYTES)).contains(&place.offset);
        let wanted = if goes_on { BLOCK_BYTES } else { JUMP_BYTES };
        file.seek(SeekFrom::Start(place.offset))?;
        self.block.clear();
        self.block_stream = place.stream;
        self.block_offset = place.offset;
        file.take(wanted.max(u64::from(place.len))).read_to_end(&mut self.block)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_the_same_in_whatever_order_bodies_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let text: String = (0..40_000).map(|n| format!("{n:09}\n")).collect();
        std::fs::write(&path, &text).unwrap();
        let bodies = LogBodies { segments: vec![path], state: Mutex::default() };
        let in_order = (0..40_000_u32).step_by(7);
        let with_jumps = (0..40_000).map(|n| n * 7919 % 40_000);
        for n in in_order.clone().chain(with_jumps).chain(in_order.rev()) {
            let place = Place { offset: u64::from(n) * 10, len: 9, stream: 0 };
            assert_eq!(bodies.read(place).unwrap(), format!("{n:09}"));
        }
        let long = Place { offset: 5, len: 300_000, stream: 0 };
        assert_eq!(bodies.read(long).unwrap(), text[5..300_005]);
        let beyond = Place { offset: 400_000 - 4, len: 9, stream: 0 };
        assert!(matches!(bodies.read(beyond), Err(BodyError::Gone { .. })));
    }
}
