//! Bodies of a log, read from its segments when somebody looks.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use antiphon_model::{Bodies, BodyError, Place};

use crate::{Log, regular};

/// Views read bodies in the order of the log, so one block of what was read last serves most.
const BLOCK_BYTES: u64 = 64 << 10;

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
        file.seek(SeekFrom::Start(place.offset))?;
        self.block.clear();
        self.block_stream = place.stream;
        self.block_offset = place.offset;
        file.take(BLOCK_BYTES.max(u64::from(place.len))).read_to_end(&mut self.block)?;
        Ok(())
    }
}
