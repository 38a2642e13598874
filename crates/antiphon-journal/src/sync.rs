//! Durability: what an acknowledgement means, group commit, and a sync that fails.
//!
//! A failed sync is never tried again on the same file: the kernel has dropped the pages and would
//! say yes. A new segment takes over, with the lines that may be lost written once more; it gets
//! its name only when it is whole and durable.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use antiphon_model::{Place, json};

use crate::Error;
use crate::disk::LogFile;
use crate::state::{Inherited, State};

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
    lines: Vec<u8>,
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
    fn lines(&self) -> impl Iterator<Item = (&[u8], Option<Cow<'_, str>>)> {
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
    fn settle(&mut self, n: u64, len: usize) {
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
            return told;
        }
        // Twice: a segment that takes over begins with a line of its own.
        let (state, first) = self.sync(state);
        let second = first.and_then(|()| self.sync(state).1);
        told.and(second.map_err(Error::into_sync))
    }
}

impl State {
    /// Makes a full segment durable: what is behind must be safe before anything follows. False if
    /// that cannot be; then another takes over from it, at once or when it can.
    pub(crate) fn finish_segment(&mut self) -> bool {
        let Some(full) = self.file.as_ref().filter(|_| self.unsynced.suspect.is_none()) else {
            return false;
        };
        if let Err(error) = full.sync() {
            self.unsynced.suspect = Some(error.to_string());
            let _ = self.take_over();
            return false;
        }
        self.unsynced.settle(self.n, self.unsynced.lines.len());
        true
    }

    /// Before an event that an earlier writer left is acknowledged again: makes it durable too.
    pub(crate) fn settle_inherited(&mut self, place: Place) -> Result<(), Error> {
        let (stream, bytes) = self.inherited_upto;
        if (place.stream, place.offset) >= (stream, bytes) || self.inherited == Inherited::Durable {
            return Ok(());
        }
        let folder = self.log.folder().to_owned();
        let suspect = || Error::sync(&folder, io::Error::other("an earlier sync has failed"));
        if self.inherited == Inherited::Suspect {
            return Err(suspect());
        }
        for path in self.log.segments().take(stream as usize + 1) {
            if let Err(error) = self.disk.append(&path, false).and_then(|file| file.sync()) {
                self.inherited = Inherited::Suspect;
                self.unsynced.suspect = Some(error.to_string());
                return Err(Error::sync(&path, error));
            }
        }
        self.disk.sync_folder(&folder).map_err(|source| Error::sync(&folder, source))?;
        self.inherited = Inherited::Durable;
        Ok(())
    }

    /// Makes a new segment with all lines that may be lost, and goes on there.
    pub(crate) fn take_over(&mut self) -> Result<(), Error> {
        let mut log = self.log.clone();
        let next = log.add_segment();
        let file = self.write_replacement(&next)?;
        // It has its name, so readers look for the rest there: the segment before is closed.
        self.log = log;
        self.file = Some(file);
        self.path = next;
        self.segment_bytes = self.unsynced.lines.len() as u64;
        self.tail_is_torn = false;
        let rewritten = self.find_rewritten();
        if self.inherited == Inherited::Unknown {
            self.inherited = Inherited::Suspect;
        }
        let folder = self.log.folder();
        if let Err(source) = self.disk.sync_folder(folder) {
            return Err(Error::sync(folder, source));
        }
        let failure = self.unsynced.suspect.take().unwrap_or_default();
        self.unsynced.settle(self.n, self.unsynced.lines.len());
        self.note_takeover(rewritten, &failure);
        Ok(())
    }

    /// Writes the lines that may be lost to a file, whole and durable, before it gets its name.
    fn write_replacement(&self, next: &Path) -> Result<Arc<dyn LogFile>, Error> {
        let mut draft = next.as_os_str().to_owned();
        draft.push(".new");
        let draft = PathBuf::from(draft);
        // What an earlier attempt left is of no use to anybody; we hold the lock.
        let _ = self.disk.remove(&draft);
        let file = self.disk.append(&draft, true).map_err(|source| Error::open(&draft, source))?;
        let made = self.fill(&*file, &draft).and_then(|()| {
            self.disk.rename(&draft, next).map_err(|source| Error::write(next, source))
        });
        if made.is_err() {
            let _ = self.disk.remove(&draft);
        }
        made.map(|()| file.into())
    }

    fn fill(&self, file: &dyn LogFile, path: &Path) -> Result<(), Error> {
        for (line, _) in self.unsynced.lines() {
            write_whole(file, line).map_err(|(source, _)| Error::write(path, source))?;
        }
        file.sync().map_err(|source| Error::sync(path, source))
    }

    /// Notes where the rewritten lines stand now, and counts them.
    fn find_rewritten(&mut self) -> usize {
        let (mut count, mut offset) = (0, 0);
        let stream = self.log.count().saturating_sub(1);
        for (line, id) in self.unsynced.lines() {
            if let Some(id) = id {
                let len = u32::try_from(line.len() - 1).unwrap_or(u32::MAX);
                self.ids.add(&id, Place { offset, len, stream });
            }
            count += 1;
            offset += line.len() as u64;
        }
        count
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
