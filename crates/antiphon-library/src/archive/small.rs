//! Sessions that are small enough to share a pack: moving them into a pack and out of it.

use std::fs;
use std::io;
use std::path::Path;

use antiphon_catalog::Key;
use antiphon_journal::{Clock as _, SystemClock};
use antiphon_sources::{COMPRESSED_SUFFIX, Error};

use super::bytes::{self, Bytes, Folder, Memory, Settled};
use super::copies::{Copies, UNPACKING_FILE};
use super::copy::Form;
use super::copying::{COMPRESSED_ENDINGS, Copying, How};
use super::packs::{Entry, PACKS};
use super::state::{STAMP_FILE, STATE_FILE, State};
use super::{Copied, Done, Known, Source, cannot_write, lock, pack};
use crate::Store;
use crate::store::make_folders;

/// A session with more bytes has a folder of its own.
pub(crate) const SMALL_BYTES_MAX: u64 = 128 << 10;

impl Store {
    /// Copies a small session that is not stored yet; `None` if it turns out that it cannot be
    /// packed.
    pub(crate) fn archive_small(&self, source: &Source, known: Known<'_>) -> Option<(Done, Entry)> {
        let key = Key::of(source.agent, &source.session_id);
        let folder = self.archive_folder(source.agent, &key);
        let (memory, mut done) = (Memory::default(), Done::default());
        let how = How { known, deadline: None, form: Form::Together, is_doubted: false };
        let copying = Copying { folder: &folder, bytes: &memory, source, how };
        // Anything unusual is reported when the session is copied into a folder.
        if !copying.copy(&mut done).ok()? || done.copied != Copied::All || !done.skipped.is_empty()
        {
            return None;
        }
        let mut stored = memory.take();
        let record = stored.remove(STATE_FILE)?;
        let order: Vec<String> =
            done.files.iter().flatten().map(|(name, _)| name.clone()).collect();
        let mut files: Vec<(String, Vec<u8>)> = stored.into_iter().collect();
        files.sort_by_key(|(name, _)| {
            let own = name.split_once('/').map_or(&**name, |(_, own)| own);
            order.iter().position(|it| it == own).unwrap_or(order.len())
        });
        Some((done, entry(key, source.agent, record, files)?))
    }
}

/// The session in a folder, if it can be packed. Its stamp must still be added.
pub(crate) fn entry_of(folder: &Path) -> Option<Entry> {
    let bytes = Folder::new(folder);
    let key = Key::of_folder(folder)?;
    let agent = folder.parent()?.file_name()?.to_str()?;
    let record = bytes::read(&bytes, STATE_FILE).ok()?;
    let state = State::parse(&record)?;
    if !is_small(&state) {
        return None;
    }
    let mut files = Vec::new();
    for stored in bytes.list("") {
        if stored == STATE_FILE || stored == STAMP_FILE {
            continue;
        }
        let plain = stored.strip_suffix(COMPRESSED_SUFFIX).unwrap_or(&stored);
        // Anything else is there for a reason, so the folder stays.
        state.files.get(plain).filter(|copy| !copy.is_raw && !copy.is_packed_by_agent())?;
        let mut all = bytes::read(&bytes, &stored).ok()?;
        if plain != stored {
            all = zstd::stream::decode_all(&*all).ok()?;
        }
        files.push((plain.to_owned(), all));
    }
    let main = Copies::at(folder).main()?;
    let main = main.strip_suffix(COMPRESSED_SUFFIX).unwrap_or(&main).to_owned();
    files.sort_by_key(|(name, _)| (*name != main, name.clone()));
    entry(key, agent, record, files).filter(Entry::is_whole)
}

/// Whether the session of a record is small.
pub(super) fn is_small(state: &State) -> bool {
    let mut lens = state.files.values().map(|copy| copy.sums.len);
    lens.try_fold(0, u64::checked_add).is_some_and(|len| len <= SMALL_BYTES_MAX)
}

fn entry(key: Key, agent: &str, record: Vec<u8>, files: Vec<(String, Vec<u8>)>) -> Option<Entry> {
    let is_text = |name: &str| {
        let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| COMPRESSED_ENDINGS.contains(&ending))
    };
    // A file that an agent has compressed is kept as it is.
    let is_plain = |bytes: &[u8]| !pack::is_compressed(bytes);
    let time = u64::try_from(SystemClock.now().as_millis()).unwrap_or_default();
    // Sessions that are part of another one are found by their files.
    let format = antiphon_formats::find(agent);
    let holds_others =
        files.len() > 1 && format.is_none_or(|format| format.layout.made_by.is_some());
    let is_fit = !holds_others
        && !files.is_empty()
        && files.iter().all(|(name, it)| is_text(name) && is_plain(it));
    let entry = Entry { key, agent: agent.to_owned(), time, files, record, stamp: Vec::new() };
    (is_fit && entry.len() as u64 <= SMALL_BYTES_MAX).then_some(entry)
}

/// Creates the folder of a session. Packing checks whether a session has a folder, so the packs are
/// locked meanwhile; a hook does not wait for that lock.
pub(super) fn make_session_folder(root: &Path, folder: &Path) -> io::Result<()> {
    let _lock = lock::shared_now(&root.join(PACKS));
    make_folders(folder)
}

/// Moves a session from its pack into its folder, which is locked. Until that is complete, the pack
/// counts.
pub(super) fn take_out(folder: &Path) -> Result<(), Error> {
    let copies = Copies::at(folder);
    let unpacking = folder.join(UNPACKING_FILE);
    let failed = |error| cannot_write(folder, error);
    if let Some(packed) = copies.packed() {
        let own = Folder::new(folder);
        bytes::write(&own, UNPACKING_FILE, Settled::Later, b"").map_err(failed)?;
        // Left by a process that was killed.
        for name in own.list("").into_iter().filter(|name| name.contains('/')) {
            own.remove(&name).map_err(failed)?;
        }
        if let Some(entry) = packed.entry() {
            for (name, bytes) in entry.files.iter().filter(|(_, bytes)| !bytes.is_empty()) {
                bytes::write(&own, name, Settled::Later, bytes).map_err(failed)?;
            }
            bytes::write(&own, STATE_FILE, Settled::Later, &entry.record).map_err(failed)?;
        }
    }
    match fs::remove_file(&unpacking) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}
