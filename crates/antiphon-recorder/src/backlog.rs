//! Bytes that have arrived and are not written yet: in order, in memory, and beyond that in a spill
//! file.
//!
//! The producer waits only if neither has room.

use std::collections::VecDeque;
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::spill::{self, SpillReader, SpillWriter};

const MEMORY_BYTES: usize = 64 << 20;
/// How much is read at once, from the pipe and from the spill.
const PIECE_BYTES: usize = 256 << 10;

#[derive(Debug, Default)]
struct State {
    /// Older than what is in the spill.
    memory: VecDeque<Vec<u8>>,
    memory_bytes: usize,
    spilled_bytes: u64,
    reader: Option<SpillReader>,
    is_closed: bool,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// How often more was asked for.
    asked: Arc<AtomicU64>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The producer's end.
pub(crate) struct Inlet {
    shared: Arc<Shared>,
    folder: PathBuf,
    spill: Option<SpillWriter>,
    memory_bytes_max: usize,
}

/// The consumer's end.
#[derive(Debug)]
pub(crate) struct Outlet {
    shared: Arc<Shared>,
    reader: Option<SpillReader>,
}

/// The result of taking from an outlet.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Bytes(Vec<u8>),
    /// Nothing has arrived yet.
    Nothing,
    /// Nothing will arrive any more.
    End,
}

/// A backlog whose spill, if it needs one, is in `folder`.
pub(crate) fn backlog(folder: PathBuf) -> (Inlet, Outlet) {
    let shared = Arc::<Shared>::default();
    let outlet = Outlet { shared: Arc::clone(&shared), reader: None };
    (Inlet { shared, folder, spill: None, memory_bytes_max: MEMORY_BYTES }, outlet)
}

impl Inlet {
    /// Adds everything that can be read.
    pub(crate) fn fill(mut self, mut from: impl Read) {
        let mut buffer = vec![0; PIECE_BYTES];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => self.put(buffer.get(..count).unwrap_or_default().to_vec()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn put(&mut self, mut piece: Vec<u8>) {
        let state = self.shared.lock();
        if self.has_room(&state, piece.len()) {
            return self.remember(state, piece);
        }
        drop(state);
        if self.spill(&mut piece).is_ok() {
            self.shared.lock().spilled_bytes += piece.len() as u64;
            self.shared.changed.notify_all();
            return;
        }
        // The disk is full: the sender has to wait, and counts what it cannot keep.
        let mut state = self.shared.lock();
        while !self.has_room(&state, piece.len()) {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.remember(state, piece);
    }

    /// Whether a piece may go into memory: newer bytes must not overtake those in the spill.
    fn has_room(&self, state: &State, len: usize) -> bool {
        let fits = state.memory_bytes + len <= self.memory_bytes_max || state.memory.is_empty();
        state.spilled_bytes == 0 && fits
    }

    fn remember(&self, mut state: MutexGuard<'_, State>, piece: Vec<u8>) {
        state.memory_bytes += piece.len();
        state.memory.push_back(piece);
        drop(state);
        self.shared.changed.notify_all();
    }

    fn spill(&mut self, piece: &mut [u8]) -> std::io::Result<()> {
        let writer = match &mut self.spill {
            Some(writer) => writer,
            none => {
                let (writer, reader) = spill::create(&self.folder)?;
                self.shared.lock().reader = Some(reader);
                none.insert(writer)
            }
        };
        writer.write(piece)
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
    }
}

impl Outlet {
    /// How often bytes were asked for: if that stops increasing, the consumer hangs.
    pub(crate) fn asked(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.shared.asked)
    }

    /// Whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        let state = self.shared.lock();
        state.memory.is_empty() && state.spilled_bytes == 0
    }

    /// The next bytes, if there are any within that time.
    pub(crate) fn take(&mut self, wait: Duration) -> std::io::Result<Taken> {
        self.shared.asked.fetch_add(1, Ordering::Relaxed);
        let mut state = self.shared.lock();
        if state.memory.is_empty() && state.spilled_bytes == 0 && !state.is_closed {
            let waited = self.shared.changed.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if let Some(piece) = state.memory.pop_front() {
            state.memory_bytes -= piece.len();
            drop(state);
            self.shared.changed.notify_all();
            return Ok(Taken::Bytes(piece));
        }
        if state.spilled_bytes == 0 {
            return Ok(if state.is_closed { Taken::End } else { Taken::Nothing });
        }
        let len = state.spilled_bytes.min(PIECE_BYTES as u64);
        if let Some(reader) = state.reader.take() {
            self.reader = Some(reader);
        }
        drop(state);
        let Some(reader) = &mut self.reader else { return Ok(Taken::End) };
        let piece = reader.read(usize::try_from(len).unwrap_or(PIECE_BYTES))?;
        self.shared.lock().spilled_bytes -= len;
        self.shared.changed.notify_all();
        Ok(Taken::Bytes(piece))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut outlet: Outlet) -> Vec<u8> {
        let mut found = Vec::new();
        loop {
            match outlet.take(Duration::from_secs(10)).unwrap() {
                Taken::Bytes(piece) => found.extend(piece),
                Taken::Nothing => panic!("nothing came"),
                Taken::End => return found,
            }
        }
    }

    fn numbered(count: u32) -> Vec<u8> {
        (0..count).flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn what_comes_faster_than_it_is_taken_comes_out_whole_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let (mut inlet, mut outlet) = backlog(folder.path().to_owned());
        inlet.memory_bytes_max = 1000;
        let bytes = numbered(200_000);
        // Into memory, into the spill, some out, more in.
        let (first, second) = bytes.split_at(bytes.len() / 2);
        first.chunks(300).for_each(|piece| inlet.put(piece.to_vec()));
        let mut found = Vec::new();
        while found.len() < 60_000 {
            let Taken::Bytes(piece) = outlet.take(Duration::ZERO).unwrap() else { panic!() };
            found.extend(piece);
        }
        assert!(inlet.spill.is_some());
        let filling = std::thread::spawn({
            let second = second.to_vec();
            move || inlet.fill(&*second)
        });
        found.extend(all(outlet));
        filling.join().unwrap();
        assert!(found == bytes);
    }

    #[test]
    fn without_a_spill_whoever_puts_in_waits_and_nothing_is_lost() {
        let (mut inlet, outlet) = backlog(PathBuf::from("/dev/null/nowhere"));
        inlet.memory_bytes_max = 1000;
        let bytes = numbered(10_000);
        let filling = std::thread::spawn({
            let bytes = bytes.clone();
            move || bytes.chunks(300).for_each(|piece| inlet.put(piece.to_vec()))
        });
        assert!(all(outlet) == bytes);
        filling.join().unwrap();
    }
}
