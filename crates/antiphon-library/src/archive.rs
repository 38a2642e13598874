//! Copies of agents' own files, taken while the agents write them.
//!
//! ```text
//! archive/<agent>/<key>/
//! ├── session.json         whose files these are, where they came from, and what they hold
//! ├── 000001/              a generation: the files under their own names
//! │   ├── <id>.jsonl
//! │   └── <id>/subagents/…
//! ├── 000002/              begun when a file had been cut or rewritten; the one before stays
//! ├── annotations.jsonl    what people say about it: a log of ours, for all generations
//! ├── wanted               somebody asked for a copy since the last one began
//! ├── stamp                what the files were like when `sync` last copied them
//! └── unread               nothing was copied: these readers do not know what it is
//! ```
//!
//! The folder is locked by the one process that copies. Where folders cannot be locked, a file
//! `lock` in it is.
//!
//! A copy of lines is always a beginning of its source, so its own length says where to go on, and
//! after a crash nothing can disagree with it. A document is as it last was, unless it had been
//! longer before: then another generation begins, and no copy ever shrinks. What nobody adds to is
//! packed ([`pack`]): at once when it is new, and after a while when it has grown. A session of a
//! database is kept as a document.
//!
//! What every copy holds is written down as hashes ([`sums`]). A copy that is damaged is written
//! again where its source still begins with what the copy was; where it does not, another
//! generation begins, and the damaged copy stays for what can be read of it.

mod bytes;
mod check;
mod copies;
mod copy;
mod copying;
mod generation;
mod lock;
pub(crate) mod pack;
mod packs;
mod seekable;
mod settled;
mod sizes;
mod small;
mod state;
mod sums;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use antiphon_catalog::Key;
use antiphon_sources::{Database, Error, FolderListing, list};

use crate::Store;
use crate::store::make_folders;
pub(crate) use bytes::{Folder, is_half_written, replace};
pub use check::Damage;
pub(crate) use check::{Depth, damages, is_damage, problems_of, restore_record};
pub(crate) use copies::{Copies, called};
use copy::Form;
use copying::{Copying, How};
pub(crate) use lock::Patience;
pub(crate) use packs::{Incoming, Marks, PACKS, Packs};
pub(crate) use settled::write_back;
pub(crate) use sizes::{Sizes, is_fresh, size, size_of};
pub(crate) use small::{SMALL_BYTES_MAX, entry_of};
use small::{make_session_folder, take_out};
use state::State;
pub(crate) use state::{STAMP_FILE, STATE_FILE};

/// A session whose files are to be kept.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name of its format in the registry; files of others are not copied.
    pub agent: &'static str,
    /// What the agent calls it.
    pub session_id: String,
    /// Its main file.
    pub file: PathBuf,
    /// The folder that all its files lie in. Links that lead out of it are not followed.
    pub within: PathBuf,
}

impl Source {
    /// A session whose files lie in the folder of its main file.
    pub fn new(agent: &'static str, session_id: String, file: PathBuf) -> Self {
        let within = file.parent().unwrap_or(Path::new("")).to_owned();
        Self { agent, session_id, file, within }
    }
}

/// What whoever wants a copy knows of a session.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Known<'a> {
    Nothing,
    /// The database that it is in, open.
    Database(&'a Mutex<Database>),
    /// The main files of the sessions that it made, which lie beside its own.
    Children(&'a [PathBuf]),
    /// What lies beside its main file.
    FolderListing(&'a FolderListing),
}

/// What came of copying.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Copied {
    /// All that is there.
    #[default]
    All,
    /// As much as there was time for.
    Unfinished,
    /// Nothing: another process is at it, and knows that there is more.
    Busy,
    /// Nothing: it is not what that agent writes, as far as that is known.
    Unread,
}

/// What copying a session came to.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) copied: Copied,
    /// What the files were like before they were copied.
    pub(crate) found: Sizes,
    /// Whether more may come soon, so that the copies are not packed.
    pub(crate) is_open: bool,
    /// Their names and bytes, the main one first, if all of them are at hand.
    pub(crate) files: Option<Vec<(String, Vec<u8>)>>,
    /// Files that were not copied, and why: links that lead elsewhere, pipes.
    pub(crate) skipped: Vec<(PathBuf, String)>,
}

impl Store {
    /// Copies what is new of a session's files, until `deadline` if there is one. It never waits
    /// for another process.
    pub fn archive(&self, source: &Source, deadline: Option<Instant>) -> Result<Copied, Error> {
        let how = How { known: Known::Nothing, deadline, form: Form::Growing, is_doubted: false };
        self.copy(source, how).map(|done| done.copied)
    }

    /// The same with all the time it takes, and then packs the copy. Says what the files were like
    /// before they were copied. If the copy is doubted, all of it is compared with its source.
    pub(crate) fn archive_packed(
        &self,
        source: &Source,
        known: Known<'_>,
        is_doubted: bool,
    ) -> Result<Done, Error> {
        self.copy(source, How { known, deadline: None, form: Form::Compressed, is_doubted })
    }

    fn copy(&self, source: &Source, how: How<'_>) -> Result<Done, Error> {
        let key = Key::of(source.agent, &source.session_id);
        if self.is_forgotten(&key) {
            return Ok(Done::default());
        }
        let folder = self.archive_folder(source.agent, &key);
        let copied = self.copy_locked(&folder, source, how);
        match copied {
            // It was forgotten meanwhile, and its folder is gone.
            Err(_) if self.is_forgotten(&key) => Ok(Done::default()),
            copied => copied,
        }
    }

    fn copy_locked(&self, folder: &Path, source: &Source, how: How<'_>) -> Result<Done, Error> {
        let mut done = Done::default();
        let key = Key::of(source.agent, &source.session_id);
        let bytes = Folder::new(folder);
        let copying = Copying { folder, bytes: &bytes, source, how };
        loop {
            let made = make_session_folder(self.root(), folder);
            made.map_err(|error| cannot_write(folder, error))?;
            let Some(lock) = copying.lock_or_want()? else {
                return Ok(Done { copied: Copied::Busy, files: None, ..done });
            };
            // Whoever forgets a session has its lock: what was waited for may be gone.
            if self.is_forgotten(&key) {
                let _ = fs::remove_dir(folder);
                return Ok(Done::default());
            }
            // It was packed meanwhile, and its folder is gone.
            if !folder.is_dir() {
                continue;
            }
            take_out(folder)?;
            copying.takes_what_is_wanted();
            loop {
                if !copying.copy(&mut done)? {
                    copying.want()?;
                    return Ok(Done { copied: Copied::Unfinished, files: None, ..done });
                }
                if !copying.takes_what_is_wanted() {
                    break;
                }
            }
            if how.form == Form::Compressed {
                copying.pack(done.is_open)?;
            }
            drop(lock);
            if !copying.is_wanted() {
                return Ok(done);
            }
        }
    }

    /// The same for a session that was archived before, if there is one with that key.
    pub fn catch_up(&self, agent: &'static str, key: &Key) -> Result<Copied, Error> {
        let folder = self.archive_folder(agent, key);
        let Some(State { session_id, source, .. }) = Copies::at(&folder).state() else {
            return Ok(Copied::All);
        };
        if source.as_os_str().is_empty() {
            return Ok(Copied::All);
        }
        self.archive(&Source::new(agent, session_id, source), None)
    }
}

/// The folders of sessions in the archive, whether they have them or are packed: of an agent, or of
/// all.
fn folders(store: &Path, agent: Option<&str>) -> Vec<PathBuf> {
    let archive = store.join("archive");
    let agents = match agent {
        Some(agent) => vec![archive.join(agent)],
        None => list(&archive),
    };
    let own = agents.iter().flat_map(|agent| list(agent));
    let packs = Packs::of(store);
    let packed = packs.sessions().filter(|it| agent.is_none_or(|agent| agent == it.agent));
    let packed = packed.map(|it| archive.join(it.agent).join(it.key.as_str()));
    let folders: BTreeSet<PathBuf> = own.chain(packed).collect();
    folders.into_iter().collect()
}

/// Where an agent's sessions came from that are kept.
pub(crate) fn sources_of(store: &Path, agent: &str) -> Vec<PathBuf> {
    let folders = folders(store, Some(agent)).into_iter();
    folders.filter_map(|folder| Some(Copies::at(&folder).state()?.source)).collect()
}

impl Store {
    /// The copy of a session's main file, by the file that it is a copy of.
    pub fn copy_of(&self, source: &Path) -> Option<PathBuf> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let wanted = real(source);
        let is_of = |copies: &Copies| {
            let state = copies.state().filter(|it| it.source.file_name() == source.file_name());
            state.is_some_and(|state| real(&state.source) == wanted)
        };
        let mut all = folders(self.root(), None).into_iter().map(|folder| Copies::at(&folder));
        all.find(is_of).and_then(|copies| copies.main_file())
    }

    /// Sees to it that a session has a folder of its own, for what people say about it.
    pub(crate) fn give_folder(folder: &Path) -> Result<(), Error> {
        if Copies::at(folder).packed().is_none() {
            return Ok(());
        }
        make_folders(folder).map_err(|error| cannot_write(folder, error))?;
        let _lock = lock::wait(folder).map_err(|error| cannot_write(folder, error))?;
        take_out(folder)
    }
}

fn cannot_write(path: &Path, source: io::Error) -> Error {
    Error::Write { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
