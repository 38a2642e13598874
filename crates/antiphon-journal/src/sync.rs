//! Syncing and waiting: group commit, the thread for level `interval`, and closing.
//!
//! [`Durability`](crate::durability) knows what is durable and what a failed sync means.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Error;
use crate::disk::LogFile;
use crate::durability::Level;
use crate::state::State;

/// A writer's state, and what threads wait on.
#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    pub(crate) fn new(state: State) -> Self {
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The state. A thread that panicked left it consistent, because every change to it is a single
    /// step.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, once there is room for more unsynced bytes. If the disk makes no room, the event
    /// that was to be written is lost.
    pub(crate) fn lock_with_room(&self) -> Result<MutexGuard<'_, State>, Error> {
        let mut state = self.lock();
        while state.durability.is_full() {
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
        match state.durability.level() {
            Level::Os => {}
            Level::Interval => {
                if state.durability.take_news() {
                    self.changed.notify_all();
                }
            }
            Level::Disk => {
                while !state.durability.covers(n) {
                    let (again, result) = self.sync(state);
                    result.map_err(Error::into_sync)?;
                    state = again;
                }
            }
        }
        Ok(())
    }

    /// Makes everything written so far durable. The lock is released while the disk works, so
    /// events that arrive meanwhile share the next sync.
    fn sync<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
    ) -> (MutexGuard<'s, State>, Result<(), Error>) {
        while state.durability.is_syncing() {
            state = self.wait(state);
        }
        if !state.durability.has_pending() {
            return (state, Ok(()));
        }
        if !state.durability.is_suspect()
            && let Some(file) = state.file.clone()
        {
            let n = state.n;
            let begun = state.durability.begin_sync(n);
            drop(state);
            let result = file.sync();
            state = self.lock();
            let is_durable = state.durability.end_sync(begun, &result);
            self.changed.notify_all();
            if is_durable {
                return (state, Ok(()));
            }
        }
        let result = state.take_over();
        if result.is_err() {
            state.durability.not_taken_over();
        }
        self.changed.notify_all();
        (state, result)
    }

    /// The thread for level `interval`: syncs what is due until the writer is closed.
    pub(crate) fn run(&self) {
        let mut state = self.lock();
        loop {
            match state.durability.due_in() {
                None if state.durability.is_closed() => return,
                None => state = self.wait(state),
                Some(Duration::ZERO) => {
                    // Once the writer is closed, `close` itself returns the result.
                    if state.durability.is_closed() {
                        return;
                    }
                    state = self.sync(state).0;
                }
                Some(left) => state = self.wait_for(state, left),
            }
        }
    }

    /// Records what was lost, syncs what is left, and lets the thread end. Does so once.
    pub(crate) fn close(&self) -> Result<(), Error> {
        let mut state = self.lock();
        if !state.durability.close() {
            return Ok(());
        }
        self.changed.notify_all();
        let gap_written = state.write_gap();
        if !state.durability.is_wanted() {
            state.write_checkpoint();
            return gap_written;
        }
        // Twice, because a segment that takes over begins with a line of its own.
        let (state, first) = self.sync(state);
        let second = first.and_then(|()| self.sync(state).1);
        let closed = gap_written.and(second.map_err(Error::into_sync));
        if closed.is_ok() {
            self.lock().write_checkpoint();
        }
        closed
    }
}

/// Writes all of `bytes`, usually in one call. On failure returns how many bytes were written.
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
