//! Putting sessions into packs, and taking them out: by whoever has locked their folder.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use antiphon_catalog::Key;
use antiphon_sources::list;

use super::super::bytes::{self, Bytes as _, Folder, is_half_written};
use super::super::copies::is_own_place;
use super::super::lock::{self, Patience};
use super::super::settled::write_back;
use super::super::state::STATE_FILE;
use super::entry::Entry;
use super::pack::{self, Pack};
use super::{PACKS, Packs};
use crate::store::{make_folders, write_version};

/// A pack that is longer is not written again for the sake of a few more sessions.
const FULL_BYTES: u64 = 1 << 20;
/// A pack that is shorter is written again whenever something comes.
const SHORT_BYTES: u64 = 64 << 10;
/// What files of sessions are compressed to, at most, as far as was seen.
const COMPRESSED_PARTS: u64 = 4;

/// The ending of a folder that is being removed.
const GONE: &str = ".gone";
/// The ending of a pack that was damaged: somebody may want to look at what could not be read.
const ASIDE: &str = ".damaged";

/// A session that is to be packed.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) entry: Entry,
    /// Its folder in the archive, which it has or would have.
    pub(crate) folder: PathBuf,
    /// Whether it comes out of that folder.
    pub(crate) has_folder: bool,
}

/// What a store says of sessions.
pub(crate) trait Marks {
    fn is_forgotten(&self, key: &Key) -> bool;
    /// A session turned out to be damaged.
    fn damaged(&self, key: &Key);
}

/// The packs of a store, locked.
struct Locked {
    root: PathBuf,
    bytes: Folder,
    packs: Packs,
    _lock: File,
}

impl Locked {
    fn new(root: &Path, patience: Patience) -> io::Result<Self> {
        let folder = root.join(PACKS);
        make_folders(&folder)?;
        let lock = lock::take(&folder, patience)?;
        let bytes = Folder::new(&folder);
        // Only whoever has the lock writes here: the others were killed.
        for path in list(&folder) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if is_half_written(&name) {
                fs::remove_file(&path)?;
            } else if name.ends_with(GONE) {
                fs::remove_dir_all(&path)?;
            }
        }
        let packs = Packs::load(folder, Some(&Packs::of(root)));
        Ok(Self { root: root.to_owned(), bytes, packs, _lock: lock })
    }

    /// The sessions of a pack that are nowhere else, as far as they can be read.
    fn living(&self, pack: &Arc<Pack>) -> io::Result<Vec<Entry>> {
        let mut living = Vec::new();
        for listed in &pack.sessions {
            let Some(key) = super::key_of(listed.key) else { continue };
            let is_here = self
                .packs
                .place(&key)
                .is_some_and(|(it, at)| Arc::ptr_eq(it, pack) && std::ptr::eq(at, listed));
            let agent = pack.agents.get(listed.agent).map(String::as_str).unwrap_or_default();
            if !is_here {
                continue;
            }
            let folder = self.folder_of(agent, &key);
            match is_own_place(&folder) {
                // What was taken out may not be on the disk yet.
                true => write_back(&folder)?,
                false => living.extend(pack.entry_of(&self.bytes, listed)?),
            }
        }
        Ok(living)
    }

    fn folder_of(&self, agent: &str, key: &Key) -> PathBuf {
        self.root.join("archive").join(agent).join(key.as_str())
    }

    /// Writes a pack of these sessions in the place of others.
    fn replace(&self, packs: &[Arc<Pack>], entries: &[Entry]) -> io::Result<()> {
        if !entries.is_empty() {
            let last = self.packs.packs.last().and_then(|pack| pack::number_of(&pack.name));
            let name = pack::name(last.map_or(1, |last| last + 1));
            write_version(&self.root)?;
            pack::write(&self.bytes, &name, entries)?;
        }
        packs.iter().try_for_each(|pack| self.bytes.remove(&pack.name))
    }

    /// The packs that are to be written again together with so many bytes: the short ones, and
    /// those most of whose sessions are elsewhere.
    fn to_merge(&self, mut len: u64) -> io::Result<(Vec<Arc<Pack>>, Vec<Entry>)> {
        let packs = self.packs.packs.iter().filter(|pack| pack.damage.is_none());
        let len_of = |pack: &Arc<Pack>| self.bytes.len(&pack.name).unwrap_or(u64::MAX);
        let mut packs: Vec<(u64, &Arc<Pack>)> = packs.map(|pack| (len_of(pack), pack)).collect();
        packs.sort_by_key(|(len, _)| *len);
        let (mut merged, mut entries) = (Vec::new(), Vec::new());
        for (own, pack) in packs {
            let most = len.saturating_mul(2).clamp(SHORT_BYTES, FULL_BYTES);
            let is_short = own < most;
            if !is_short && !self.is_mostly_elsewhere(pack) {
                continue;
            }
            let mut living = self.living(pack)?;
            len += living.iter().map(compressed).sum::<u64>();
            entries.append(&mut living);
            merged.push(Arc::clone(pack));
        }
        Ok((merged, entries))
    }

    fn is_mostly_elsewhere(&self, pack: &Arc<Pack>) -> bool {
        let number = self.packs.packs.iter().position(|it| Arc::ptr_eq(it, pack));
        let here = self.packs.sessions.iter().filter(|(_, at, _)| Some(*at) == number).count();
        here * 2 < pack.sessions.len()
    }
}

fn compressed(entry: &Entry) -> u64 {
    entry.len() as u64 / COMPRESSED_PARTS
}

impl Packs {
    /// Packs these sessions, but for those that were forgotten or have changed meanwhile. They are
    /// on the disk then.
    pub(crate) fn add(
        root: &Path,
        incoming: Vec<Incoming>,
        marks: &dyn Marks,
        patience: Patience,
    ) -> io::Result<()> {
        let locked = Locked::new(root, patience)?;
        let (mut entries, mut own_folders) = (Vec::new(), Vec::new());
        for Incoming { entry, folder, has_folder } in incoming {
            if marks.is_forgotten(&entry.key) {
                continue;
            }
            match has_folder {
                // Another process has packed or copied it since it was looked for.
                false if locked.packs.has(&entry.key) || folder.exists() => continue,
                false => {}
                true => match unchanged(&folder, &entry) {
                    Some(lock) => own_folders.push((folder, lock)),
                    None => continue,
                },
            }
            entries.push(entry);
        }
        if entries.is_empty() {
            return Ok(());
        }
        let (merged, mut all) = locked.to_merge(entries.iter().map(compressed).sum())?;
        let keys: BTreeSet<&Key> = entries.iter().map(|entry| &entry.key).collect();
        all.retain(|entry| !keys.contains(&entry.key));
        all.append(&mut entries);
        locked.replace(&merged, &all)?;
        for (folder, lock) in own_folders {
            // At once, so that nobody sees half of it.
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let gone = locked.packs.folder.join(format!("{name}{GONE}"));
            fs::rename(&folder, &gone)?;
            drop(lock);
            fs::remove_dir_all(&gone)?;
        }
        Ok(())
    }

    /// Takes sessions out of every pack for good. No pack that is there then has a byte of them.
    pub(crate) fn remove(root: &Path, keys: &BTreeSet<Key>) -> io::Result<()> {
        if !root.join(PACKS).is_dir() {
            return Ok(());
        }
        let locked = Locked::new(root, Patience::Waits)?;
        if let Some(pack) = locked.packs.packs.iter().find(|pack| pack.is_unreadable) {
            // It may hold one of them.
            return Err(io::Error::other(format!("`{}` cannot be read", pack.name)));
        }
        for path in list(&locked.packs.folder) {
            if path.to_string_lossy().ends_with(ASIDE) {
                fs::remove_file(path)?;
            }
        }
        let numbers: BTreeSet<u128> = keys.iter().map(super::key_number).collect();
        let has = |pack: &Arc<Pack>| pack.sessions.iter().any(|it| numbers.contains(&it.key));
        // What a damaged pack holds may not all be told.
        let packs = locked.packs.packs.iter().filter(|it| has(it) || it.damage.is_some());
        let packs: Vec<Arc<Pack>> = packs.cloned().collect();
        if packs.is_empty() {
            return Ok(());
        }
        let mut living = Vec::new();
        for pack in &packs {
            living.extend(locked.living(pack)?);
        }
        living.retain(|entry| !keys.contains(&entry.key));
        locked.replace(&packs, &living)
    }

    /// Writes packs again that are damaged, or of which these names are known to be, with what is
    /// left of them; tells which sessions are damaged.
    pub(crate) fn repair(
        root: &Path,
        names: &BTreeSet<String>,
        marks: &dyn Marks,
    ) -> io::Result<()> {
        let is_damaged = |pack: &Arc<Pack>| {
            !pack.is_unreadable && (pack.damage.is_some() || names.contains(&pack.name))
        };
        if !Self::of(root).packs.iter().any(is_damaged) {
            return Ok(());
        }
        let locked = Locked::new(root, Patience::Waits)?;
        let packs = locked.packs.packs.iter().filter(|it| is_damaged(it));
        let packs: Vec<Arc<Pack>> = packs.cloned().collect();
        let mut all = Vec::new();
        for pack in &packs {
            let mut living = locked.living(pack)?;
            let damaged: Vec<&Entry> = living.iter().filter(|entry| !entry.is_whole()).collect();
            damaged.iter().for_each(|entry| marks.damaged(&entry.key));
            // What a damaged list has lost is known to nobody, so the pack stays as it is beside.
            if pack.damage.is_some() || !damaged.is_empty() {
                let folder = &locked.packs.folder;
                fs::copy(folder.join(&pack.name), folder.join(format!("{}{ASIDE}", pack.name)))?;
            }
            all.append(&mut living);
        }
        locked.replace(&packs, &all)
    }
}

/// The lock of a session's folder, if it holds what is to be packed and nobody wants more.
fn unchanged(folder: &Path, entry: &Entry) -> Option<File> {
    let lock = lock::now(folder).ok()??;
    let record = bytes::read(&Folder::new(folder), STATE_FILE).ok()?;
    let is_same = record == entry.record && !folder.join("wanted").exists();
    is_same.then_some(lock)
}
