//! A round that has little time: what changed last is copied first, and what is left is counted.
//!
//! Whoever asks a question waits for it, so nothing here waits for another process, and no session
//! is begun that would take longer than there is time. Repairs, and packing what has become quiet,
//! are left to `sync`.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use antiphon_model::on_every_processor;
use antiphon_sources::{Error, FolderListings};

use super::before::Before;
use super::keep::{Found, Looked};
use super::packing::Packing;
use super::settle::Settling;
use super::{Outcome, Round, Sink, Synced, Wanted};
use crate::archive::{Packs, Patience, size};
use crate::{Environment, Store};

/// How many bytes of sessions are copied and read in a millisecond, on a slow machine.
const BYTES_PER_MILLI: u64 = 80_000;
/// What a session costs besides its bytes.
const SESSION_BYTES: u64 = 32 << 10;
/// So many sessions are looked at whatever the time: these are the ones that changed last.
const LOOKED_AT_MIN: usize = 64;
/// The session that changed last is copied whatever the time, unless it is longer than this: so
/// even the slowest machine makes progress.
const FIRST_BYTES_MAX: u64 = 4 << 20;

/// The time that there is, and what will still take some of it.
#[derive(Debug)]
pub(crate) struct Time {
    deadline: Instant,
    /// The bytes that are being copied, or have yet to be read.
    owed: AtomicU64,
    /// Whether what was copied is read whole afterwards.
    is_read: bool,
}

impl Time {
    pub(crate) fn until(deadline: Instant, is_read: bool) -> Self {
        Self { deadline, owed: AtomicU64::new(0), is_read }
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Whether there is time for so many bytes; then they are owed.
    fn admits(&self, bytes: u64) -> bool {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let left = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        let most = left.saturating_mul(BYTES_PER_MILLI);
        let owed = self.owed.fetch_add(bytes, Ordering::Relaxed);
        let is_enough = owed.saturating_add(bytes) <= most;
        if !is_enough {
            self.pay(bytes);
        }
        is_enough
    }

    fn pay(&self, bytes: u64) {
        self.owed.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// What a session costs. Of one whose copy grows, most bytes are only read.
    fn cost(&self, found: &Found<'_>) -> u64 {
        let len = found.len();
        let is_grown_only = found.is_kept() && !self.is_read;
        SESSION_BYTES + if is_grown_only { len / 4 } else { len }
    }
}

/// What came of a round.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Brief {
    /// Sessions of which something new was copied.
    pub(crate) copied: usize,
    /// Sessions whose files have something new that was not copied.
    pub(crate) left: usize,
    /// Whether there was no time to look at all sessions, so that more may be left.
    pub(crate) is_cut: bool,
}

/// Sessions that have something new, what changed last first.
pub(crate) struct Stale<'r> {
    store: &'r Store,
    found: Vec<Found<'r>>,
    is_cut: bool,
}

impl<'a> Round<'a> {
    /// Looks for sessions, and does nothing else.
    pub(crate) fn glance(store: &'a Store, environment: &Environment) -> Self {
        Self::look(store, environment, None, Synced::default())
    }

    /// The sessions of which something is new, as far as there is time to look.
    pub(crate) fn stale(&self, time: &Time) -> Stale<'_> {
        let changed = |wanted: &&Wanted| Reverse(size(&wanted.source.file).1);
        let mut sources: Vec<&Wanted> = self.sources.iter().collect();
        sources.sort_by_cached_key(changed);
        let before = Before::of(self.store);
        let found: Mutex<Vec<Found<'_>>> = Mutex::default();
        let looked = AtomicUsize::new(0);
        on_every_processor(&sources, |at, wanted| {
            if at >= LOOKED_AT_MIN && time.is_over() {
                return ControlFlow::Break(());
            }
            looked.fetch_add(1, Ordering::Relaxed);
            if let Looked::New(new) = self.store.look_at(wanted, &before, &self.taken)
                && new.is_newer()
            {
                found.lock().unwrap_or_else(PoisonError::into_inner).push(*new);
            }
            ControlFlow::Continue(())
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by_key(|found| Reverse(found.changed()));
        Stale { store: self.store, found, is_cut: looked.into_inner() < sources.len() }
    }
}

impl Stale<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// What is known where nothing is copied.
    pub(crate) fn left(&self) -> Brief {
        Brief { copied: 0, left: self.found.len(), is_cut: self.is_cut }
    }

    /// Copies as many as there is time for.
    pub(crate) fn keep(self, sink: &dyn Sink, time: &Time) -> Brief {
        let Self { store, found, is_cut } = self;
        let (settling, nearby) = (Settling::default(), FolderListings::default());
        let packing = Packing::new(store, Patience::None);
        let (copied, left) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let packed = AtomicUsize::new(0);
        let found: Vec<Mutex<Option<Found<'_>>>> =
            found.into_iter().map(|it| Mutex::new(Some(it))).collect();
        let count = |counter: &AtomicUsize| {
            counter.fetch_add(1, Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        on_every_processor(&found, |at, found| {
            let found = found.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some(found) = found else { return ControlFlow::Continue(()) };
            let cost = time.cost(&found);
            let is_first = at == 0 && found.len() <= FIRST_BYTES_MAX;
            let is_admitted = time.admits(cost);
            if !is_admitted && !is_first {
                return count(&left);
            }
            let wanted = found.wanted();
            match found.keep(&nearby.of(&wanted.source.file)) {
                Ok(Outcome::Kept(mut kept)) => {
                    let is_read_later = kept.files.is_none() && time.is_read;
                    kept.hand_on(&wanted.source.session_id, sink);
                    if is_admitted && !is_read_later {
                        time.pay(cost);
                    }
                    if let Some(incoming) = kept.incoming.take() {
                        packed.fetch_add(1, Ordering::Relaxed);
                        packing.add(incoming);
                    }
                    kept.waiting(&wanted.source.file).into_iter().for_each(|it| settling.add(it));
                    count(&copied)
                }
                // Another process has its lock, or nothing can be written.
                Ok(Outcome::Busy) | Err(Error::Write { .. }) => count(&left),
                // `sync` says what is wrong with the files of agents.
                Ok(Outcome::Same | Outcome::Unread { .. }) | Err(_) => ControlFlow::Continue(()),
            }
        });
        let (mut copied, mut left) = (copied.into_inner(), left.into_inner());
        let packed = packed.into_inner();
        if !packing.finish().is_empty() {
            // Small ones are written together, or not at all.
            (copied, left) = (copied.saturating_sub(packed), left + packed);
        } else if packed > 0 {
            let _ = Packs::leave(store.root());
        }
        // What could not be stamped is looked at once more.
        drop(settling.finish());
        Brief { copied, left, is_cut }
    }
}
