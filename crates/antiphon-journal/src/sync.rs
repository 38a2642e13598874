//! Durability: what an acknowledgement means, group commit, and a sync that fails.
//!
//! A failed sync is never tried again on the same file: the kernel has dropped the pages and would
//! say yes. Another segment [takes over](crate::takeover).

use std::borrow::Cow;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use antiphon_model::json;

use crate::Error;
use crate::disk::LogFile;
use crate::state::State;

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
    /// The oldest of them was written since the syncing thread last looked.
    is_news: bool,
    /// The `n` up to which all is durable.
    pub(crate) durable: u64,
    /// A sync is under way, without the lock.
    pub(crate) syncing: bool,
    /// A sync of the current file has failed: it can no longer be trusted.
    pub(crate) suspect: Option<String>,
    /// After a failure: when to try again. A full disk needs a moment.
    not_before: Option<Instant>,
    closed: bool,
}

impl Unsynced {
    /// Nothing, with all lines up to `n` durable.
    pub(crate) fn after(n: u64) -> Self {
        Self { durable: n, ..Self::default() }
    }

    pub(crate) fn add(&mut self, line: &[u8]) {
        if self.since.is_none() {
            self.since = Some(Instant::now());
            self.is_news = true;
        }
        self.lines.extend_from_slice(line);
    }

    /// Each line, with its newline and its id.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&[u8], Option<Cow<'_, str>>)> {
        self.lines.split_inclusive(|&byte| byte == b'\n').map(|line| {
            let text = str::from_utf8(line).unwrap_or_default();
            (line, json::member(text, "message_id").and_then(json::word))
        })
    }

    /// The line with that id.
    pub(crate) fn line_of(&self, id: &str) -> Option<&[u8]> {
        self.lines().find(|(_, own)| own.as_deref() == Some(id)).map(|(line, _)| line)
    }

    /// Whether the syncing thread has to look: it sleeps while there is nothing, and otherwise
    /// until lines are due.
    fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.is_news) || self.lines.len() >= INTERVAL_BYTES
    }

    /// The first `len` bytes, and all lines up to `n`, are durable.
    pub(crate) fn settle(&mut self, n: u64, len: usize) {
        self.durable = n;
        self.lines.drain(..len);
        self.since = (!self.lines.is_empty()).then(Instant::now);
        self.not_before = None;
    }

    /// How long until the lines are due; zero if they are, `None` if there are none.
    fn due_in(&self) -> Option<Duration> {
        let since = self.since?;
        if self.closed {
            return Some(Duration::ZERO);
        }
        let rest = self.not_before.map(|then| then.saturating_duration_since(Instant::now()));
        let due = match self.lines.len() < INTERVAL_BYTES {
            true => INTERVAL.saturating_sub(since.elapsed()),
            false => Duration::ZERO,
        };
        Some(due.max(rest.unwrap_or_default()))
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

    /// The state, once no more than what may be written ahead of the disk is. If the disk gives no
    /// room, the event that was to be written is lost.
    pub(crate) fn lock_with_room(&self) -> Result<MutexGuard<'_, State>, Error> {
        let mut state = self.lock();
        while state.unsynced.lines.len() >= UNSYNCED_BYTES_MAX {
            let (again, result) = self.sync(state);
            state = again;
            if let Err(error) = result.map_err(Error::into_write) {
                state.count_lost(&error);
                return Err(error);
            }
        }
        Ok(state)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for<'s>(&self, state: MutexGuard<'s, State>, time: Duration) -> MutexGuard<'s, State> {
        self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }

    /// After an append: waits for as much durability as the level promises for line `n`.
    pub(crate) fn settle<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
        n: u64,
    ) -> Result<(), Error> {
        match self.level {
            Level::Os => {}
            Level::Interval => {
                if state.unsynced.take_news() {
                    self.changed.notify_all();
                }
            }
            Level::Disk => {
                while state.unsynced.durable < n {
                    let (again, result) = self.sync(state);
                    result.map_err(Error::into_sync)?;
                    state = again;
                }
            }
        }
        Ok(())
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
            match result {
                Ok(()) => {
                    state.unsynced.settle(upto, len);
                    return (state, Ok(()));
                }
                Err(error) => state.unsynced.suspect = Some(error.to_string()),
            }
        }
        let result = state.take_over();
        if result.is_err() {
            state.unsynced.not_before = Some(Instant::now() + INTERVAL);
        }
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
                    // Once the writer is closed, `close` itself tells how this ended.
                    if state.unsynced.closed {
                        return;
                    }
                    state = self.sync(state).0;
                }
                Some(left) => state = self.wait_for(state, left),
            }
        }
    }

    /// Says what was lost, syncs what is left, and lets the thread end. Once.
    pub(crate) fn close(&self) -> Result<(), Error> {
        let mut state = self.lock();
        if std::mem::replace(&mut state.unsynced.closed, true) {
            return Ok(());
        }
        self.changed.notify_all();
        let told = state.write_gap();
        if self.level == Level::Os {
            state.write_checkpoint();
            return told;
        }
        // Twice: a segment that takes over begins with a line of its own.
        let (state, first) = self.sync(state);
        let second = first.and_then(|()| self.sync(state).1);
        let closed = told.and(second.map_err(Error::into_sync));
        if closed.is_ok() {
            self.lock().write_checkpoint();
        }
        closed
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
