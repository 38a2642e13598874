//! Durability: what an acknowledgement means, group commit, and a sync that fails.
//!
//! A failed sync is never tried again on the same file: the kernel has dropped the pages and would
//! say yes. A new segment takes over, with the lines that may be lost written once more; it gets
//! its name only when it is whole and durable.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::Error;
use crate::disk::LogFile;
use crate::writer::State;

/// What has to be true before an event is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// The operating system has it: it survives the death of any process.
    Os,
    /// The same; and within a second it is on the disk. A power cut loses at most that second.
    #[default]
    Interval,
    /// It is on the disk: it survives a power cut. Events that arrive together share a sync.
    Disk,
}

/// How long events may wait for the disk at level `interval`, and how many bytes of them.
const INTERVAL: Duration = Duration::from_secs(1);
const INTERVAL_BYTES: usize = 1 << 20;
/// What may be written ahead of the disk before appending waits for it.
const UNSYNCED_BYTES_MAX: usize = 8 << 20;

/// A writer's state, and what threads wait on.
#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    pub(crate) level: Level,
}

/// Lines that are written and perhaps not durable.
#[derive(Debug, Default)]
pub(crate) struct Unsynced {
    /// The very bytes, kept until a sync succeeds.
    pub(crate) lines: Vec<u8>,
    /// When the oldest of them was written.
    since: Option<Instant>,
    /// The `n` up to which all is durable.
    pub(crate) durable: u64,
    /// A sync is under way, without the lock.
    syncing: bool,
    /// A sync of the current file has failed: it can no longer be trusted.
    pub(crate) suspect: Option<String>,
    pub(crate) closed: bool,
}

impl Unsynced {
    /// Nothing, with all lines up to `n` durable.
    pub(crate) fn after(n: u64) -> Self {
        Self { durable: n, ..Self::default() }
    }

    pub(crate) fn add(&mut self, line: &[u8]) {
        self.since.get_or_insert_with(Instant::now);
        self.lines.extend_from_slice(line);
    }

    /// How long until the lines are due; zero if they are, `None` if there are none.
    fn due_in(&self) -> Option<Duration> {
        let since = self.since?;
        if self.lines.len() >= INTERVAL_BYTES || self.closed {
            return Some(Duration::ZERO);
        }
        Some(INTERVAL.saturating_sub(since.elapsed()))
    }
}

impl Shared {
    pub(crate) fn new(state: State, level: Level) -> Self {
        Self { state: Mutex::new(state), changed: Condvar::new(), level }
    }

    /// The state. A thread that panicked left it whole: every change to it is a single step.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// After an append: waits for as much durability as the level promises for line `n`.
    pub(crate) fn settle<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
        n: u64,
    ) -> Result<(), Error> {
        match self.level {
            Level::Os => Ok(()),
            Level::Interval if state.unsynced.lines.len() < UNSYNCED_BYTES_MAX => {
                if state.unsynced.lines.len() >= INTERVAL_BYTES {
                    self.changed.notify_all();
                }
                Ok(())
            }
            Level::Interval | Level::Disk => {
                while state.unsynced.durable < n {
                    let (again, result) = self.sync(state);
                    result?;
                    state = again;
                }
                Ok(())
            }
        }
    }

    /// Makes all that is written durable. Called with the lock, which is let go while the disk
    /// works: events that arrive meanwhile share the next sync.
    fn sync<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
    ) -> (MutexGuard<'s, State>, Result<(), Error>) {
        while state.unsynced.syncing {
            state = self.wait(state);
        }
        if state.unsynced.lines.is_empty() {
            return (state, Ok(()));
        }
        if state.unsynced.suspect.is_none()
            && let Some(file) = state.file.clone()
        {
            let (upto, len) = (state.n, state.unsynced.lines.len());
            state.unsynced.syncing = true;
            drop(state);
            let result = file.sync();
            state = self.lock();
            state.unsynced.syncing = false;
            self.changed.notify_all();
            // A full segment may have been followed by another meanwhile, all durable.
            if !state.file.as_ref().is_some_and(|current| Arc::ptr_eq(current, &file)) {
                return (state, Ok(()));
            }
            match result {
                Ok(()) => {
                    state.unsynced.durable = upto;
                    state.unsynced.lines.drain(..len);
                    let rest = !state.unsynced.lines.is_empty();
                    state.unsynced.since = rest.then(Instant::now);
                    return (state, Ok(()));
                }
                Err(error) => state.unsynced.suspect = Some(error.to_string()),
            }
        }
        let result = state.take_over();
        self.changed.notify_all();
        (state, result)
    }

    /// The thread behind level `interval`: syncs what is due until the writer is closed.
    pub(crate) fn run(&self) {
        let mut state = self.lock();
        loop {
            match state.unsynced.due_in() {
                None if state.unsynced.closed => return,
                None => state = self.wait(state),
                Some(Duration::ZERO) => {
                    let closed = state.unsynced.closed;
                    let (again, result) = self.sync(state);
                    state = again;
                    if result.is_err() && closed {
                        return;
                    }
                    if result.is_err() {
                        // The next try is a new segment; a full disk needs a moment.
                        let (again, _) = self
                            .changed
                            .wait_timeout(state, INTERVAL)
                            .unwrap_or_else(PoisonError::into_inner);
                        state = again;
                    }
                }
                Some(left) => {
                    let (again, _) = self
                        .changed
                        .wait_timeout(state, left)
                        .unwrap_or_else(PoisonError::into_inner);
                    state = again;
                }
            }
        }
    }

    /// Syncs what is left, and lets the thread end.
    pub(crate) fn close(&self) -> Result<(), Error> {
        let mut state = self.lock();
        state.unsynced.closed = true;
        self.changed.notify_all();
        match self.level {
            Level::Os => Ok(()),
            Level::Interval | Level::Disk => self.sync(state).1,
        }
    }
}

impl State {
    /// Makes a new segment with all lines that may be lost, and goes on there.
    pub(crate) fn take_over(&mut self) -> Result<(), Error> {
        let next = self.log.clone().add_segment();
        let (file, path) = self.write_replacement(&next)?;
        self.log.add_segment();
        self.file = Some(file);
        self.path = path;
        self.segment_bytes = self.unsynced.lines.len() as u64;
        self.tail_is_torn = false;
        let failure = self.unsynced.suspect.take().unwrap_or_default();
        let rewritten = self.unsynced.lines.iter().filter(|&&byte| byte == b'\n').count();
        self.unsynced.lines.clear();
        self.unsynced.since = None;
        self.unsynced.durable = self.n;
        self.note_takeover(rewritten, &failure);
        Ok(())
    }

    fn write_replacement(
        &self,
        next: &std::path::Path,
    ) -> Result<(Arc<dyn LogFile>, PathBuf), Error> {
        let mut draft = next.as_os_str().to_owned();
        draft.push(format!(".new-{}-{}", std::process::id(), self.n));
        let draft = PathBuf::from(draft);
        let file = self.disk.append(&draft, true).map_err(|source| Error::open(&draft, source))?;
        for line in self.unsynced.lines.split_inclusive(|&byte| byte == b'\n') {
            write_whole(&*file, line).map_err(|(source, _)| Error::write(&draft, source))?;
        }
        file.sync().map_err(|source| Error::sync(&draft, source))?;
        self.disk.rename(&draft, next).map_err(|source| Error::write(next, source))?;
        let folder = self.log.folder();
        self.disk.sync_folder(folder).map_err(|source| Error::sync(folder, source))?;
        Ok((file.into(), next.to_owned()))
    }
}

/// Writes all of `bytes`, usually in one call. On failure tells how many bytes went out.
pub(crate) fn write_whole(file: &dyn LogFile, bytes: &[u8]) -> Result<(), (io::Error, usize)> {
    let mut done = 0;
    while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
        match file.write(rest) {
            Ok(0) => return Err((io::ErrorKind::WriteZero.into(), done)),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((error, done)),
        }
    }
    Ok(())
}
