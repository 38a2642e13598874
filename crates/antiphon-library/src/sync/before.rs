//! The state of a store when a sync begins, listed once: asking for each session takes longer than
//! everything else if most are unchanged.
//!
//! It is only used to decide that nothing has to be done. Whoever copies something checks again.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use antiphon_catalog::Key;
use antiphon_sources::list;

use crate::Store;
use crate::archive::Packs;
use crate::damaged::DAMAGED;
use crate::store::FORGOTTEN;

#[derive(Debug)]
pub(super) struct Before {
    packs: Arc<Packs>,
    /// The sessions that were forgotten, are marked as damaged, or have a folder of their own.
    others: HashSet<Key>,
}

impl Before {
    pub(super) fn of(store: &Store) -> Self {
        let root = store.root();
        let keys = |folder: &Path| list(folder).into_iter().filter_map(|it| Key::of_folder(&it));
        let mut others: HashSet<Key> = keys(&root.join(FORGOTTEN)).collect();
        others.extend(keys(&root.join(DAMAGED)));
        others.extend(list(&root.join("archive")).iter().flat_map(|agent| keys(agent)));
        Self { packs: Packs::of(root), others }
    }

    /// Whether the store has nothing of a session.
    pub(super) fn is_unknown(&self, key: &Key) -> bool {
        !self.others.contains(key) && !self.packs.has(key)
    }

    /// The stamp of a session's sources when it was packed, if it is in a pack and has no other
    /// marks.
    pub(super) fn stamp(&self, key: &Key) -> Option<Vec<u8>> {
        if self.others.contains(key) {
            return None;
        }
        self.packs.stamp(key)
    }
}
