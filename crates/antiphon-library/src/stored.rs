//! The sessions that are kept, each at its place.
//!
//! What the catalogue knows of a session need not be read; of the others only the beginning and the
//! end are.

mod digest;
mod find;
mod part;
mod places;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use antiphon_catalog::{Catalog as _, Key, Origin, Row, Sqlite, Stamp, Subject};
use antiphon_formats::READERS;
use antiphon_model::Timestamp;
use antiphon_sources::list;

use crate::Store;
use crate::archive::Copies;

pub use digest::StoredSession;
pub(crate) use digest::{Glance, glance_at_file, glance_at_log};
pub use find::Found;
pub(crate) use places::Places;

/// The name of the catalogue's file in the store.
pub(crate) const CATALOG_FILE: &str = "catalog.sqlite";

/// The version of this program, which reads sessions in its own way.
const VERSION: &str = env!("CARGO_PKG_VERSION");

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
    /// Of a session that was packed then; the number is another one when its files are.
    pub(crate) fn packed(folder: PathBuf, key: Key, agent: &str, millis: u64, hash: u64) -> Self {
        let changed_at = Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX));
        let stamp = Stamp::new(&format!("{VERSION}.{READERS} packed {millis} {hash:x}"));
        let agent = Some(agent.to_owned());
        Self { key, origin: Origin::Archived, folder, changed_at, stamp, agent }
    }

    /// Of a file that is not kept.
    pub(crate) fn of_file(path: &Path) -> Option<Self> {
        let (changed_at, stamp) = state(path)?;
        let (key, folder) = (Key::of("file", &path.to_string_lossy()), path.to_owned());
        Some(Self { key, origin: Origin::Recorded, folder, changed_at, stamp, agent: None })
    }

    /// What is said of it before it is read, in the catalogue's words.
    pub(crate) fn subject<'a>(&'a self, name: &'a str, format: &'a str) -> Subject<'a> {
        let Self { key, origin, stamp, changed_at, agent, .. } = self;
        let (origin, stamp, changed_at) = (*origin, *stamp, *changed_at);
        Subject { key, origin, stamp, changed_at, name, agent: agent.as_deref(), format }
    }

    /// What it is called, where the session does not say so.
    pub(crate) fn name(&self) -> String {
        let name = match self.origin {
            Origin::Recorded => None,
            Origin::Archived => Copies::at(&self.folder).name(),
        };
        name.unwrap_or_else(|| self.key.to_string())
    }

    pub(crate) fn main_file(&self) -> PathBuf {
        main_file(self.origin, &self.folder)
    }
}

/// What is opened: the folder of a log, or an agent's main file.
fn main_file(origin: Origin, folder: &Path) -> PathBuf {
    match origin {
        Origin::Recorded => folder.to_owned(),
        Origin::Archived => Copies::at(folder).main_file().unwrap_or_else(|| folder.to_owned()),
    }
}

impl Store {
    /// What the catalogue knows, if there is one that can be read. Nothing is made or written.
    pub(crate) fn known_rows(&self) -> HashMap<Key, Row> {
        let file = self.catalog_file();
        let rows = file.is_file().then(|| Sqlite::open(&file).and_then(|it| it.rows()));
        let rows = rows.and_then(Result::ok).unwrap_or_default();
        by_key(rows)
    }

    pub(crate) fn catalog_file(&self) -> PathBuf {
        self.root().join(CATALOG_FILE)
    }

    /// How many copies and recordings there are.
    pub fn count(&self) -> usize {
        self.places().len()
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
        self.look().all()
    }
}

/// Nobody asks for their order.
pub(crate) fn by_key(rows: Vec<Row>) -> HashMap<Key, Row> {
    rows.into_iter().map(|row| (row.key.clone(), row)).collect()
}

/// The sessions at these places, with what is known of some. One that another holds is that one's.
pub(crate) fn sessions_of(places: Vec<Place>, known: HashMap<Key, Row>) -> Vec<StoredSession> {
    let is_recorded = places.iter().any(|place| place.origin == Origin::Recorded);
    let sessions = listed(places, known).filter(|session| !session.is_part);
    // Without a recording there is none to be merged.
    let mut sessions = if is_recorded { merged(sessions) } else { sessions.collect() };
    newest_first(&mut sessions);
    sessions
}

fn newest_first(sessions: &mut [StoredSession]) {
    let times = |session: &StoredSession| (session.at(), session.changed_at);
    sessions.sort_by(|a, b| times(b).cmp(&times(a)).then_with(|| a.key.cmp(&b.key)));
}

fn listed(places: Vec<Place>, mut known: HashMap<Key, Row>) -> impl Iterator<Item = StoredSession> {
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
        .or_else(|| state(folder).filter(|_| Copies::at(folder).have_lost_their_record()))?;
    let folder = folder.to_owned();
    Some(Place { key, origin: Origin::Archived, folder, changed_at, stamp, agent: Some(agent) })
}

/// When a file was changed, and a word for the state in which it and the readers are.
fn state(file: &Path) -> Option<(Timestamp, Stamp)> {
    let metadata = fs::metadata(file).ok()?;
    let since = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let changed_at = Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let stamp = format!("{VERSION}.{READERS} {name} {} {}", metadata.len(), since.as_nanos());
    Some((changed_at, Stamp::new(&stamp)))
}

#[cfg(test)]
mod tests;
