//! Small sessions that are to be packed, collected until there are enough of them.
//!
//! What `sync` says about a session stands in the pack with it, and a pack is on the disk before it
//! has its name: so nothing has to be written when it is, as it has to for a session in a folder.

use std::mem;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use antiphon_catalog::Key;
use antiphon_sources::Error;

use crate::archive::{Incoming, Marks, PACKS, Packs, Patience};
use crate::{LeftOut, Store};

/// So many bytes of files are packed at once.
const ENOUGH_BYTES: usize = 8 << 20;

/// Sessions that are to be packed.
#[derive(Debug)]
pub(super) struct Packing<'a> {
    store: &'a Store,
    patience: Patience,
    waiting: Mutex<(usize, Vec<Incoming>)>,
    failed: Mutex<Vec<(PathBuf, Error)>>,
}

impl<'a> Packing<'a> {
    pub(super) fn new(store: &'a Store, patience: Patience) -> Self {
        Self { store, patience, waiting: Mutex::default(), failed: Mutex::default() }
    }

    pub(super) fn add(&self, incoming: Incoming) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.0 += incoming.entry.len();
        waiting.1.push(incoming);
        if waiting.0 >= ENOUGH_BYTES {
            let (_, enough) = mem::take(&mut *waiting);
            drop(waiting);
            self.pack(enough);
        }
    }

    fn pack(&self, incoming: Vec<Incoming>) {
        if incoming.is_empty() {
            return;
        }
        if let Err(source) = Packs::add(self.store.root(), incoming, self.store, self.patience) {
            let path = self.store.root().join(PACKS);
            let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            failed.push((path.clone(), Error::Write { path, source }));
        }
    }

    /// Packs what is left, and says what could not be.
    pub(super) fn finish(self) -> Vec<(PathBuf, Error)> {
        let (_, left) =
            mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        self.pack(left);
        self.failed.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Marks for Store {
    fn is_forgotten(&self, key: &Key) -> bool {
        Self::is_forgotten(self, key)
    }

    fn damaged(&self, key: &Key) {
        let what = "its copy in a pack is damaged".to_owned();
        self.mark_damaged(key, &LeftOut { session: key.to_string(), what });
    }
}
