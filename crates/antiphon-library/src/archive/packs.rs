//! Small sessions, many in one file.
//!
//! ```text
//! packs/000001.zst     sessions, each with what would stand in its folder of the archive
//! packs/000002.zst     …
//! packs/left           how long they were when they were last written, and when that was
//! ```
//!
//! A pack is never changed. It is written beside what is there, gets its name when it is on the
//! disk, and is removed when a later one has what is still needed of it; whoever does that has
//! locked the folder. A session is where the pack with the highest number has it, unless it has a
//! folder of its own: there it goes when it grows.

mod change;
mod entry;
mod left;
mod pack;
mod session;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use antiphon_catalog::Key;
use antiphon_journal::{Clock as _, SystemClock};

use super::bytes::{Bytes as _, Folder};
use super::sizes::size;
pub(crate) use change::{Incoming, Marks};
pub(crate) use entry::Entry;
use entry::{key_number, key_of};
use pack::{Listed, Pack};
pub(crate) use session::Packed;

/// The name of the folder of packs in the store.
pub(crate) const PACKS: &str = "packs";

/// A folder that changed within this time may change again without getting another modification
/// time.
const SETTLED_MILLIS: u128 = 100;

/// All packs of a store, as they were when they were last listed.
#[derive(Debug)]
pub(crate) struct Packs {
    folder: PathBuf,
    bytes: Folder,
    packs: Vec<Arc<Pack>>,
    /// By key: the index of the pack, and of the session in its list.
    sessions: Arc<Vec<(u128, usize, usize)>>,
    /// When the folder last changed; `None` if it may have changed since without another
    /// modification time.
    changed: Option<u128>,
}

/// A session in a pack.
#[derive(Debug, Clone)]
pub(crate) struct PackedPlace<'a> {
    pub(crate) key: Key,
    pub(crate) agent: &'a str,
    pub(crate) time: u64,
    pub(crate) hash: u64,
}

/// The last listing, by store. A process asks for many sessions of one store.
static SEEN: Mutex<Vec<Arc<Packs>>> = Mutex::new(Vec::new());
const SEEN_MAX: usize = 4;

impl Packs {
    /// The packs of the store at this root.
    pub(crate) fn of(root: &Path) -> Arc<Self> {
        let folder = root.join(PACKS);
        let seen = |folder: &Path| {
            let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
            seen.iter().find(|packs| packs.folder == folder).cloned()
        };
        let known = seen(&folder);
        let changed = size(&folder).1;
        if let Some(known) = known.as_ref().filter(|it| it.changed == Some(changed)) {
            return Arc::clone(known);
        }
        let packs = Arc::new(Self::load(folder, known.as_deref()));
        let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|other| other.folder != packs.folder);
        if seen.len() >= SEEN_MAX {
            seen.remove(0);
        }
        seen.push(Arc::clone(&packs));
        packs
    }

    /// Opens every pack that is not known yet.
    fn load(folder: PathBuf, known: Option<&Self>) -> Self {
        // The time is read first, so that a pack that is added meanwhile makes the listing
        // outdated.
        let changed = size(&folder).1;
        let now = u128::try_from(SystemClock.now().as_millis()).unwrap_or_default();
        let is_settled = changed / 1_000_000 + SETTLED_MILLIS < now;
        let bytes = Folder::new(&folder);
        let mut names: Vec<String> = bytes.list("");
        names.retain(|name| pack::number_of(name).is_some());
        names.sort_by_key(|name| pack::number_of(name));
        // The listing is still correct, although the time of the folder cannot prove it yet.
        let is_same = |it: &&Self| it.packs.iter().map(|pack| &pack.name).eq(&names);
        if let Some(Self { packs, sessions, .. }) = known.filter(is_same) {
            let (packs, sessions) = (packs.clone(), Arc::clone(sessions));
            return Self { folder, bytes, packs, sessions, changed: is_settled.then_some(changed) };
        }
        let open = |name: String| {
            let known = known.and_then(|it| it.packs.iter().find(|pack| pack.name == name));
            match known {
                Some(pack) => Some(Arc::clone(pack)),
                None => match Pack::open(&bytes, &name) {
                    Ok(pack) => Some(Arc::new(pack)),
                    // A pack that no longer exists was merged into another one.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                    Err(error) => Some(Arc::new(Pack::unreadable(&name, &error))),
                },
            }
        };
        let packs: Vec<Arc<Pack>> = names.into_iter().filter_map(open).collect();
        let mut sessions = Vec::new();
        for (number, pack) in packs.iter().enumerate() {
            let places = pack.sessions.iter().enumerate();
            sessions.extend(places.map(|(at, listed)| (listed.key, number, at)));
        }
        // If a session is in several packs, the last one counts.
        sessions.sort_unstable_by(|a, b| (a.0, b.1, b.2).cmp(&(b.0, a.1, a.2)));
        sessions.dedup_by_key(|(key, _, _)| *key);
        let (sessions, changed) = (Arc::new(sessions), is_settled.then_some(changed));
        Self { folder, bytes, packs, sessions, changed }
    }

    fn place(&self, key: &Key) -> Option<(&Arc<Pack>, &Listed)> {
        let number = key_number(key);
        let at = self.sessions.binary_search_by_key(&number, |(key, _, _)| *key).ok()?;
        let (_, pack, at) = self.sessions.get(at)?;
        let pack = self.packs.get(*pack)?;
        Some((pack, pack.sessions.get(*at)?))
    }

    pub(crate) fn has(&self, key: &Key) -> bool {
        !self.packs.is_empty() && self.place(key).is_some()
    }

    /// A session, by its key.
    pub(crate) fn find(&self, key: &Key) -> Option<Packed> {
        let (pack, listed) = self.place(key)?;
        Some(Packed::new(self.folder.clone(), Arc::clone(pack), listed.clone()))
    }

    /// The list entry of a session.
    pub(crate) fn listed(&self, key: &Key) -> Option<PackedPlace<'_>> {
        let (pack, listed) = self.place(key)?;
        let Listed { agent, time, hash, .. } = *listed;
        Some(PackedPlace { key: key.clone(), agent: pack.agents.get(agent)?, time, hash })
    }

    /// The stamp of a session's sources when it was packed.
    pub(crate) fn stamp(&self, key: &Key) -> Option<Vec<u8>> {
        let (pack, listed) = self.place(key)?;
        pack.note(&self.bytes, listed, |note| note.stamp.clone()).ok()?
    }

    /// A hash that changes when a session is added, removed or changed.
    pub(crate) fn state(&self) -> blake3::Hash {
        let mut all = Vec::new();
        for (key, pack, at) in self.sessions.iter() {
            let listed = self.packs.get(*pack).and_then(|pack| pack.sessions.get(*at));
            let (time, hash) = listed.map(|it| (it.time, it.hash)).unwrap_or_default();
            all.extend(key.to_le_bytes());
            all.extend(time.to_le_bytes());
            all.extend(hash.to_le_bytes());
        }
        blake3::hash(&all)
    }

    /// Every session, each once.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = PackedPlace<'_>> {
        self.sessions.iter().filter_map(|(key, pack, at)| {
            let pack = self.packs.get(*pack)?;
            let Listed { agent, time, hash, .. } = *pack.sessions.get(*at)?;
            Some(PackedPlace { key: key_of(*key)?, agent: pack.agents.get(agent)?, time, hash })
        })
    }

    /// Damage of packs as a whole: their paths, and what is wrong.
    pub(crate) fn damages(&self, is_deep: bool) -> Vec<(PathBuf, String)> {
        let damage = |pack: &Arc<Pack>| {
            let what = match is_deep {
                true => pack.check(&self.bytes),
                false => pack.damage.clone(),
            };
            Some((self.folder.join(&pack.name), what?))
        };
        self.packs.iter().filter_map(damage).collect()
    }
}

#[cfg(test)]
mod tests;
