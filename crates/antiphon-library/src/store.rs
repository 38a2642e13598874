//! Where sessions are kept.
//!
//! ```text
//! $ANTIPHON_HOME                     made on the first write, readable by its owner only
//! ├── sessions/<key>/000001.jsonl …  recorded sessions: logs
//! └── archive/<agent>/<key>/…        copies of agents' own files
//! ```
//!
//! No string from a session ever becomes a path: a key is a hash.

mod digest;
mod find;
mod part;

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use antiphon_catalog::{Key, Origin, Row, Stamp, Subject};
use antiphon_model::Timestamp;
use antiphon_sources::list;
use thiserror::Error;

use crate::Environment;

pub use digest::StoredSession;
pub(crate) use digest::{title_of_file, title_of_log};
pub use find::Found;

/// The folder in which sessions are kept. It need not be there before something is written.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

/// The folder of a session that is about to be recorded: made, and empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFolder {
    pub key: Key,
    /// A folder that `antiphon_journal` opens.
    pub path: PathBuf,
}

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("no folder to keep sessions in: neither $ANTIPHON_HOME nor $HOME is set")]
    Homeless,
    #[error("cannot write in `{path}`")]
    Write { path: PathBuf, source: io::Error },
}

/// A session's place in the store, before anything of it was read.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) key: Key,
    pub(crate) origin: Origin,
    pub(crate) folder: PathBuf,
    /// When something was last added.
    pub(crate) changed_at: Timestamp,
    /// The state in which it is.
    pub(crate) stamp: Stamp,
    /// The name of the agent's folder in the archive.
    pub(crate) agent: Option<String>,
}

impl Place {
    /// What is said of it before it is read, in the catalogue's words.
    pub(crate) fn subject<'a>(&'a self, format: &'a str) -> Subject<'a> {
        let Self { key, origin, stamp, agent, .. } = self;
        Subject { key, origin: *origin, stamp, agent: agent.as_deref(), format }
    }

    pub(crate) fn main_file(&self) -> PathBuf {
        main_file(self.origin, &self.folder)
    }
}

/// What is opened: the folder of a log, or an agent's main file.
fn main_file(origin: Origin, folder: &Path) -> PathBuf {
    match origin {
        Origin::Recorded => folder.to_owned(),
        Origin::Archived => crate::archive::main_file(folder).unwrap_or_else(|| folder.to_owned()),
    }
}

impl Store {
    /// The store of this user.
    pub fn open_default(environment: &Environment) -> Result<Self, StoreError> {
        environment.store_folder().map(Self::at).ok_or(StoreError::Homeless)
    }

    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the folder of a session that is about to be recorded. `native` is the agent and the
    /// id that it gave the session, where that is known. The folder is always a new one: a session
    /// that goes on later is recorded into another.
    pub fn new_session(&self, native: Option<(&str, &str)>) -> Result<SessionFolder, StoreError> {
        let sessions = self.root.join("sessions");
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Write { path, source }
        };
        // What is still to be forgotten must not be taken for what is recorded now.
        let _ = self.finish_forgetting();
        make_folders(&sessions).map_err(failed(&sessions))?;
        let mut time = 0;
        loop {
            let key = match native {
                Some((agent, id)) => Key::of_time(agent, id, time),
                None => Key::unique(),
            };
            let path = sessions.join(key.as_str());
            match private_folder().create(&path) {
                Ok(()) => return Ok(SessionFolder { key, path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => time += 1,
                Err(error) => return Err(failed(&path)(error)),
            }
        }
    }

    /// How many copies and recordings there are.
    pub fn count(&self) -> usize {
        self.places().len()
    }

    /// The folder of the copies of a session's files.
    pub fn archive_folder(&self, agent: &'static str, key: &Key) -> PathBuf {
        self.root.join("archive").join(agent).join(key.as_str())
    }

    /// Every session, the one in which something happened last first. Of those that the catalogue
    /// does not know, only the beginning and the end are read. A store that is not there has none.
    pub fn sessions(&self) -> Vec<StoredSession> {
        sessions_of(self.places(), self.known_rows())
    }

    /// Whether no session is kept.
    pub fn is_empty(&self) -> bool {
        self.places().is_empty()
    }

    /// Every copy and every recording, in the same order. What the catalogue knows need not be
    /// read.
    pub(crate) fn rows(&self) -> Vec<StoredSession> {
        let mut rows: Vec<StoredSession> = listed(self.places(), self.known_rows()).collect();
        newest_first(&mut rows);
        rows
    }

    /// The sessions' places, in the same order.
    pub(crate) fn places(&self) -> Vec<Place> {
        let recorded = list(&self.root.join("sessions")).into_iter().filter_map(recorded);
        let agents = list(&self.root.join("archive"));
        let archived =
            agents.iter().flat_map(|agent| list(agent)).filter_map(|folder| archived(&folder));
        let mut places: Vec<Place> = recorded.chain(archived).collect();
        places.sort_by(|a, b| b.changed_at.cmp(&a.changed_at).then_with(|| a.key.cmp(&b.key)));
        places
    }
}

/// The sessions at these places, with what is known of some. One that another holds is that one's.
pub(crate) fn sessions_of(places: Vec<Place>, known: BTreeMap<Key, Row>) -> Vec<StoredSession> {
    let mut sessions = merged(listed(places, known).filter(|session| !session.is_part));
    newest_first(&mut sessions);
    sessions
}

fn newest_first(sessions: &mut [StoredSession]) {
    let times = |session: &StoredSession| (session.at(), session.changed_at);
    sessions.sort_by(|a, b| times(b).cmp(&times(a)).then_with(|| a.key.cmp(&b.key)));
}

fn listed(
    places: Vec<Place>,
    mut known: BTreeMap<Key, Row>,
) -> impl Iterator<Item = StoredSession> {
    places.into_iter().filter_map(move |place| match known.remove(&place.key) {
        Some(row) if row.stamp == place.stamp => StoredSession::of_row(&place, row),
        _ => StoredSession::read(&place),
    })
}

/// A run that was recorded and copied is one session: the agent's own file gives its content, the
/// recording its role, issue, run and how it ended.
fn merged(sessions: impl Iterator<Item = StoredSession>) -> Vec<StoredSession> {
    let mut rows: Vec<StoredSession> = Vec::new();
    let mut by_id: BTreeMap<String, usize> = BTreeMap::new();
    for session in sessions {
        let known = by_id.get(&session.session_id).and_then(|&at| rows.get_mut(at));
        match known {
            Some(row) if row.origin != session.origin => row.merge(session),
            _ => {
                by_id.insert(session.session_id.clone(), rows.len());
                rows.push(session);
            }
        }
    }
    rows
}

fn recorded(path: PathBuf) -> Option<Place> {
    let key = Key::of_folder(&path)?;
    // Segments are numbered with as many digits each, so the last name is the last segment.
    let last = list(&path).into_iter().filter(|file| file.extension() == Some("jsonl".as_ref()));
    let (changed_at, stamp) = state(&last.max()?)?;
    Some(Place { key, origin: Origin::Recorded, folder: path, changed_at, stamp, agent: None })
}

pub(crate) fn archived(folder: &Path) -> Option<Place> {
    let key = Key::of_folder(folder)?;
    let agent = folder.parent()?.file_name()?.to_str()?.to_owned();
    // A session whose record is lost is still one.
    let (changed_at, stamp) = state(&folder.join(crate::archive::STATE_FILE))
        .or_else(|| state(folder).filter(|_| crate::archive::has_lost_its_record(folder)))?;
    let folder = folder.to_owned();
    Some(Place { key, origin: Origin::Archived, folder, changed_at, stamp, agent: Some(agent) })
}

/// When a file was changed, and a word for the state in which it and the readers are.
fn state(file: &Path) -> Option<(Timestamp, Stamp)> {
    let metadata = fs::metadata(file).ok()?;
    let since = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let changed_at = Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let (version, nanos, len) = (env!("CARGO_PKG_VERSION"), since.as_nanos(), metadata.len());
    let stamp = format!("{version}.{} {name} {len} {nanos}", antiphon_formats::READERS);
    Some((changed_at, Stamp::new(stamp)))
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

fn private_folder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(test)]
mod tests;
