//! What a store held when a round began, listed once: to ask for each session takes longer than
//! everything else, where most of them are as they were.
//!
//! It only decides that there is nothing to do. Whoever copies something asks again.

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

    /// Whether nothing is known of a session.
    pub(super) fn is_unknown(&self, key: &Key) -> bool {
        !self.others.contains(key) && !self.packs.has(key)
    }

    /// What the sources of a session were like when it was packed, if it is in a pack and there is
    /// nothing else to say of it.
    pub(super) fn stamp(&self, key: &Key) -> Option<Vec<u8>> {
        if self.others.contains(key) {
            return None;
        }
        self.packs.stamp(key)
    }
}
