//! The places of all sessions of a store, listed once: to see whether something has changed, and
//! where each session is.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use antiphon_catalog::{Key, Origin};
use antiphon_formats::READERS;
use antiphon_sources::list;

use super::{Place, VERSION, archived, recorded};
use crate::Store;
use crate::archive::{Copies, Packs};

#[derive(Debug)]
pub(crate) struct Places {
    archive: PathBuf,
    /// The sessions with folders of their own.
    own: Vec<Place>,
    /// Those of them that are also in packs.
    unpacked: BTreeSet<Key>,
    packs: Arc<Packs>,
}

impl Store {
    /// Lists the places of all sessions.
    pub(crate) fn look(&self) -> Places {
        let recorded = list(&self.root().join("sessions")).into_iter().filter_map(recorded);
        let archive = self.root().join("archive");
        let packs = Packs::of(self.root());
        let (mut own, mut unpacked): (Vec<Place>, BTreeSet<Key>) =
            (recorded.collect(), BTreeSet::new());
        for folder in list(&archive).iter().flat_map(|agent| list(agent)) {
            let Some(key) = Key::of_folder(&folder) else { continue };
            if packs.has(&key) {
                // While it is being moved out of its pack, the pack counts.
                if Copies::at(&folder).packed().is_some() {
                    continue;
                }
                unpacked.insert(key);
            }
            own.extend(archived(&folder));
        }
        own.sort_by(|a, b| a.key.cmp(&b.key));
        Places { archive, own, unpacked, packs }
    }
}

impl Places {
    /// A number that changes when a session is added, removed or changed, or when the version of
    /// the readers changes.
    pub(crate) fn mark(&self) -> u64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{VERSION}.{READERS}").as_bytes());
        for place in &self.own {
            hasher.update(place.key.as_str().as_bytes());
            hasher.update(&place.stamp.as_u64().to_le_bytes());
        }
        hasher.update(self.packs.state().as_bytes());
        hasher.finalize().as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
    }

    /// Every place, the last changed session first.
    pub(crate) fn all(&self) -> Vec<Place> {
        let mut places = self.own.clone();
        for it in self.packs.sessions().filter(|it| !self.unpacked.contains(&it.key)) {
            let folder = self.archive.join(it.agent).join(it.key.as_str());
            places.push(Place::packed(folder, it.key, it.agent, it.time, it.hash));
        }
        places.sort_by(|a, b| b.changed_at.cmp(&a.changed_at).then_with(|| a.key.cmp(&b.key)));
        places
    }

    /// Where a session is.
    pub(crate) fn find(&self, key: &Key) -> Option<Place> {
        if let Ok(at) = self.own.binary_search_by(|place| place.key.cmp(key)) {
            return self.own.get(at).cloned();
        }
        let it = self.packs.listed(key)?;
        let folder = self.archive.join(it.agent).join(key.as_str());
        Some(Place::packed(folder, it.key, it.agent, it.time, it.hash))
    }

    /// Whether there are recordings, which may be of the same sessions as copies.
    pub(crate) fn has_recordings(&self) -> bool {
        self.own.iter().any(|place| place.origin == Origin::Recorded)
    }
}
