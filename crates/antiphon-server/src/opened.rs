//! Opened sessions, so that a session is folded once and not for every request.
//!
//! A slot holds a session as it was last folded. Whoever asks compares it with what is on the disk:
//! if nothing has changed it is used as it is, if a log has grown it is folded further, and else it
//! is folded anew, by one thread while the others wait for it. The least recently used slots go
//! when all of them together take too much memory.

mod folded;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use antiphon_redact::Redactor;

pub(crate) use folded::Folded;
use folded::Known;

use crate::library::Located;
use crate::lock;
use crate::problem::Problem;

/// Opened sessions take about so much memory, except for the one that is used.
const BYTES_MAX: usize = 256 << 20;
/// Whoever reads a session may send it to a slow client. A session that has changed waits so long
/// for its readers, and is then opened beside them.
const PATIENCE: Duration = Duration::from_millis(150);

#[derive(Debug)]
pub(crate) struct OpenedSessions {
    slots: Mutex<HashMap<SlotKey, Arc<Slot>>>,
    uses: AtomicU64,
    redactor: Redactor,
    folds: AtomicU64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct SlotKey {
    path: PathBuf,
    is_redacted: bool,
}

#[derive(Debug, Default)]
struct Slot {
    folded: RwLock<Option<Folded>>,
    /// Held by whoever folds.
    folding: Mutex<()>,
    used: AtomicU64,
    bytes: AtomicUsize,
}

impl Slot {
    fn read(&self) -> RwLockReadGuard<'_, Option<Folded>> {
        self.folded.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the readers, but not for long.
    fn try_write(&self) -> Option<RwLockWriteGuard<'_, Option<Folded>>> {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.folded.try_write() {
                Ok(guard) => return Some(guard),
                Err(std::sync::TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
                Err(std::sync::TryLockError::WouldBlock) if Instant::now() >= end => return None,
                Err(std::sync::TryLockError::WouldBlock) => {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
    }
}

impl OpenedSessions {
    pub(crate) fn new(redactor: Redactor) -> Self {
        Self {
            slots: Mutex::default(),
            uses: AtomicU64::new(0),
            redactor,
            folds: AtomicU64::new(0),
        }
    }

    /// Looks at a session as it is now.
    pub(crate) fn with<R>(
        &self,
        at: &Located,
        is_redacted: bool,
        look: impl FnOnce(&Folded) -> R,
    ) -> Result<R, Problem> {
        let key = SlotKey { path: at.path.clone(), is_redacted };
        let mut slot = self.slot(&key);
        {
            let folded = slot.read();
            if let Some(folded) = folded.as_ref().filter(|it| it.is_current(at)) {
                return Ok(look(folded));
            }
        }
        {
            let held = Arc::clone(&slot);
            let _folding = lock(&held.folding);
            let is_current = slot.read().as_ref().is_some_and(|it| it.is_current(at));
            if !is_current {
                slot = self.renew(&key, &slot, at)?;
            }
        }
        let folded = slot.read();
        match &*folded {
            Some(folded) => Ok(look(folded)),
            None => Err(Problem::not_found("there is no such session")),
        }
    }

    fn slot(&self, key: &SlotKey) -> Arc<Slot> {
        let mut slots = lock(&self.slots);
        let slot = Arc::clone(slots.entry(key.clone()).or_default());
        slot.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        slot
    }

    /// Folds what is new, in place if nobody reads.
    fn renew(&self, key: &SlotKey, slot: &Arc<Slot>, at: &Located) -> Result<Arc<Slot>, Problem> {
        let redactor = key.is_redacted.then_some(&self.redactor);
        if let Some(mut guard) = slot.try_write() {
            *guard = match guard.take().map(|folded| folded.grown(at)) {
                Some(Ok(grown)) => Some(grown),
                Some(Err(known)) => self.open(at, redactor, Some(&known))?,
                None => self.open(at, redactor, None)?,
            };
            slot.bytes.store(guard.as_ref().map_or(0, Folded::bytes), Ordering::Relaxed);
            drop(guard);
            self.make_room(key);
            return Ok(Arc::clone(slot));
        }
        let known = slot.read().as_ref().map(Folded::known);
        let folded = self.open(at, redactor, known.as_ref())?;
        let fresh = Arc::new(Slot::default());
        fresh.bytes.store(folded.as_ref().map_or(0, Folded::bytes), Ordering::Relaxed);
        *fresh.folded.write().unwrap_or_else(PoisonError::into_inner) = folded;
        lock(&self.slots).insert(key.clone(), Arc::clone(&fresh));
        Ok(fresh)
    }

    /// Nothing, for what has no events.
    fn open(
        &self,
        at: &Located,
        redactor: Option<&Redactor>,
        known: Option<&Known>,
    ) -> Result<Option<Folded>, Problem> {
        self.folds.fetch_add(1, Ordering::Relaxed);
        let mut folded = Folded::open(at, redactor)?;
        if let (Some(folded), Some(known)) = (&mut folded, known) {
            folded.follow(known);
        }
        Ok(folded)
    }

    fn make_room(&self, used: &SlotKey) {
        let mut slots = lock(&self.slots);
        let bytes = |slot: &Arc<Slot>| slot.bytes.load(Ordering::Relaxed);
        let mut total: usize = slots.values().map(bytes).sum();
        while total > BYTES_MAX {
            let others = slots.iter().filter(|(key, _)| *key != used);
            let oldest = others.min_by_key(|(_, slot)| slot.used.load(Ordering::Relaxed));
            let Some(key) = oldest.map(|(key, _)| key.clone()) else { return };
            total -= slots.remove(&key).as_ref().map_or(0, bytes);
        }
    }

    /// How many sessions are open, and about how much memory they take.
    pub(crate) fn size(&self) -> (usize, usize) {
        let slots = lock(&self.slots);
        let bytes = slots.values().map(|slot| slot.bytes.load(Ordering::Relaxed));
        (slots.len(), bytes.sum())
    }

    /// How often a session was folded from its beginning.
    #[cfg(test)]
    pub(crate) fn folds(&self) -> u64 {
        self.folds.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
