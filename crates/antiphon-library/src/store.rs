//! Where sessions are kept.
//!
//! ```text
//! $ANTIPHON_HOME                     made on the first write, readable by its owner only
//! ├── sessions/<key>/000001.jsonl …  recorded sessions: logs
//! ├── archive/<agent>/<key>/…        copies of agents' own files
//! ├── packs/000001.zst …             copies of small sessions, many in one file
//! └── version                        of the layout, where it is not the first
//! ```
//!
//! No string from a session ever becomes a path: a key is a hash.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_catalog::Key;
use antiphon_journal::regular;
use antiphon_sources::list;
use thiserror::Error;

use crate::Environment;
use crate::archive::replace;

/// The folder in which sessions are kept. It need not be there before something is written.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    /// How many sessions were newer than the catalogue when it was last asked.
    behind: Arc<AtomicUsize>,
}

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("no folder to keep sessions in: neither $ANTIPHON_HOME nor $HOME is set")]
    Homeless,
    #[error(
        "`{path}` was written by a newer version of antiphon (store version {found}; this one \
         knows up to {VERSION}): update antiphon to use it"
    )]
    Newer { path: PathBuf, found: u64 },
    #[error("cannot write to `{path}`")]
    Write { path: PathBuf, source: io::Error },
}

/// The version of the layout: 1 has no packs, and no file that says so.
pub(crate) const VERSION: u64 = 2;
const VERSION_FILE: &str = "version";

/// Where the marks of forgotten sessions are, one for each session of each agent.
pub(crate) const FORGOTTEN: &str = "forgotten";

impl Store {
    /// The store of this user. One that only a newer version knows is left alone.
    pub fn open_default(environment: &Environment) -> Result<Self, StoreError> {
        let store = environment.store_folder().map(Self::at).ok_or(StoreError::Homeless)?;
        let text = regular::read_text(&store.root.join(VERSION_FILE)).unwrap_or_default();
        match text.trim().parse() {
            Ok(found) if found > VERSION => Err(StoreError::Newer { path: store.root, found }),
            Ok(_) | Err(_) => Ok(store),
        }
    }

    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), behind: Arc::default() }
    }

    /// How many sessions the answers may lack a part of, because another process was writing the
    /// catalogue when it was asked: through this store, or a clone of it.
    pub fn behind(&self) -> usize {
        self.behind.load(Ordering::Relaxed)
    }

    pub(crate) fn note_behind(&self, sessions: usize) {
        self.behind.store(sessions, Ordering::Relaxed);
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the copies of a session's files.
    pub fn archive_folder(&self, agent: &'static str, key: &Key) -> PathBuf {
        self.root.join("archive").join(agent).join(key.as_str())
    }

    /// Whether a session is never to be kept again.
    pub(crate) fn is_forgotten(&self, key: &Key) -> bool {
        self.root().join(FORGOTTEN).join(key.as_str()).exists()
    }
}

/// Writes down that a store has this version's layout, before anything is put there that older
/// versions do not know.
pub(crate) fn write_version(root: &Path) -> io::Result<()> {
    let path = root.join(VERSION_FILE);
    match path.exists() {
        true => Ok(()),
        false => replace(&path, format!("{VERSION}\n").as_bytes()),
    }
}

/// Makes a folder and those above it, for their owner only. Those that are there stay as they are.
pub(crate) fn make_folders(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    private_folder().recursive(true).create(path)
}

/// Makes a folder that somebody else has made its owner's alone; false, if that cannot be.
#[cfg(unix)]
fn make_private(path: &Path, mode: u32) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(metadata) = fs::metadata(path) else { return true };
    let mut permissions = metadata.permissions();
    if permissions.mode() & 0o777 == mode {
        return true;
    }
    permissions.set_mode(mode);
    fs::set_permissions(path, permissions).is_ok()
}

impl Store {
    /// Makes the store's folders, and makes those its owner's alone that somebody else has made.
    pub(crate) fn make_private(&self) {
        let _ = make_folders(&self.root);
        #[cfg(unix)]
        {
            let below = list(&self.root).into_iter().chain(list(&self.root.join("archive")));
            for path in [self.root.clone()].into_iter().chain(below) {
                make_private(&path, if path.is_dir() { 0o700 } else { 0o600 });
            }
        }
    }
}

pub(crate) fn private_folder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}
