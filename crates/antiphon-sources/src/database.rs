//! Databases in which agents store their sessions. Each session is read as a document.
//!
//! Nothing is ever written beside a database. One that its agent has open is read while it is open;
//! one that nobody has open is read as an immutable file; in all other cases a copy is read
//! ([`source`]). The formats know what the tables mean. `opencode.db/ses_1` names a session in
//! `opencode.db`.

mod source;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use antiphon_formats::{DatabaseLayout, FORMATS, Format, QueryError, SessionRow};
use thiserror::Error;

use crate::member::Member;
use crate::memory::PLAIN_BYTES_MAX;
use crate::regular;
use source::Connected;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";

#[derive(Debug, Error)]
pub enum DatabaseError {
    #[error("cannot read the database `{path}`")]
    Read { path: PathBuf, source: QueryError },
    #[error("cannot copy the database `{path}`")]
    Copy { path: PathBuf, source: std::io::Error },
    #[error("`{path}` is a database that contains no sessions of a known agent")]
    Unknown { path: PathBuf },
    #[error("the database `{path}` contains no sessions")]
    Empty { path: PathBuf },
    #[error("there is no session `{id}` in the database `{path}`; the newest is `{newest}`")]
    NoSession { path: PathBuf, id: String, newest: String },
    #[error("`{path}` contains sessions of {agent}, which cannot be read yet")]
    Unread { path: PathBuf, agent: &'static str },
    #[error("a session in the database `{path}` is too long to read")]
    TooLong { path: PathBuf },
    #[error("the database `{path}` changed while it was being read")]
    Changed { path: PathBuf },
}

/// An open database.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    /// The format of the sessions in it.
    format: &'static Format,
    layout: &'static DatabaseLayout,
    connected: Connected,
    /// Every session, newest first.
    rows: Vec<SessionRow>,
}

/// The database that a path names, and the session, if the path continues with one.
pub(crate) fn named(path: &Path) -> Option<(PathBuf, Option<String>)> {
    if is_database(path) {
        return Some((path.to_owned(), None));
    }
    let database = path.parent().filter(|above| !path.exists() && is_database(above))?;
    Some((database.to_owned(), Some(path.file_name()?.to_str()?.to_owned())))
}

fn is_database(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    let read = regular::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *MAGIC
}

impl Database {
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        let connected = source::connect(path)?;
        let mut layouts = FORMATS.iter().filter_map(|it| Some((it, it.layout.database.as_ref()?)));
        let Some((format, layout)) = layouts.find(|(_, layout)| layout.is_of(&connected)) else {
            return Err(DatabaseError::Unknown { path: path.to_owned() });
        };
        let failed = |source| DatabaseError::Read { path: path.to_owned(), source };
        let mut rows = (layout.rows)(&connected).map_err(failed)?;
        rows.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)));
        Ok(Self { path: path.to_owned(), format, layout, connected, rows })
    }

    /// Opens it again, because another program has begun to write to it.
    pub fn reopen(&mut self) -> Result<(), DatabaseError> {
        *self = Self::open(&self.path)?;
        Ok(())
    }

    /// The agent that the sessions belong to: the name of its format.
    pub fn agent(&self) -> &'static str {
        self.format.name
    }

    /// The sessions that no other session in it has created, newest first.
    pub fn sessions(&self) -> impl Iterator<Item = &SessionRow> {
        let ids: BTreeSet<&str> = self.rows.iter().map(|row| row.id.as_str()).collect();
        self.rows.iter().filter(move |row| {
            row.parent.as_deref().is_none_or(|parent| !ids.contains(parent) || parent == row.id)
        })
    }

    /// A text that changes when the session, or one that it created, changes.
    pub fn stamp(&self, id: &str) -> String {
        let stamps: Vec<String> =
            self.family(id).iter().map(|row| format!("{} {}", row.id, row.stamp)).collect();
        stamps.join("\n")
    }

    /// The session with this id, or else the newest.
    pub(crate) fn find(&self, id: Option<&str>) -> Result<&SessionRow, DatabaseError> {
        let Some(newest) = self.sessions().next().or(self.rows.first()) else {
            return Err(DatabaseError::Empty { path: self.path.clone() });
        };
        let Some(id) = id else { return Ok(newest) };
        self.rows.iter().find(|row| row.id == id).ok_or_else(|| DatabaseError::NoSession {
            path: self.path.clone(),
            id: id.to_owned(),
            newest: newest.id.clone(),
        })
    }

    /// A hint for a user who named the database without a session.
    pub(crate) fn others(&self) -> Option<String> {
        const SHOWN: usize = 5;
        let count = self.sessions().count();
        if count < 2 {
            return None;
        }
        let shown = self.path.display();
        let title = |row: &SessionRow| match &row.title {
            Some(title) if !title.is_empty() => format!("{} ({title})", row.id),
            _ => row.id.clone(),
        };
        let others: Vec<String> = self.sessions().skip(1).take(SHOWN).map(title).collect();
        let more = if count > SHOWN + 1 { " …" } else { "" };
        Some(format!(
            "`{shown}` contains {count} sessions, and this is the newest; open another as \
             `{shown}/<id>`: {}{more}",
            others.join(", ")
        ))
    }

    /// The session and those that it created, as files; the path of each is the database followed
    /// by its id.
    pub fn members(&self, id: &str) -> Result<Vec<Member>, DatabaseError> {
        let failed = |source: QueryError| DatabaseError::Read { path: self.path.clone(), source };
        let family: Vec<&str> = self.family(id).iter().map(|row| row.id.as_str()).collect();
        // A transaction, so that all of it is read in one state.
        let look = self.connected.connection.unchecked_transaction();
        let look = look.map_err(|source| failed(source.into()))?;
        let mut members: Vec<Member> = Vec::new();
        for member in family {
            let text = (self.layout.document)(&self.connected, member, PLAIN_BYTES_MAX);
            let text = text.map_err(failed)?;
            let text = text.ok_or_else(|| DatabaseError::TooLong { path: self.path.clone() })?;
            let name = match members.first() {
                None => format!("{}.json", file_stem(id)),
                Some(_) => format!("{}/{}.json", file_stem(id), file_stem(member)),
            };
            members.push(Member { name, path: self.path.join(member), document: Some(text) });
        }
        drop(look);
        match self.connected.has_changed() {
            true => Err(DatabaseError::Changed { path: self.path.clone() }),
            false => Ok(members),
        }
    }

    /// A session and all its descendants.
    fn family(&self, id: &str) -> Vec<&SessionRow> {
        let mut children: BTreeMap<&str, Vec<&SessionRow>> = BTreeMap::new();
        for row in self.rows.iter().rev() {
            if let Some(parent) = &row.parent {
                children.entry(parent).or_default().push(row);
            }
        }
        let mut family: Vec<&SessionRow> =
            self.rows.iter().filter(|row| row.id == id).take(1).collect();
        let mut seen: BTreeSet<&str> = BTreeSet::from([id]);
        let mut at = 0;
        while let Some(row) = family.get(at) {
            at += 1;
            let made = children.get(row.id.as_str()).into_iter().flatten();
            let made: Vec<&SessionRow> = made.copied().filter(|row| seen.insert(&row.id)).collect();
            family.extend(made);
        }
        family
    }
}

/// The file name for a session. An id is not trusted to be a valid name.
fn file_stem(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if (1..=100).contains(&id.len()) && id.chars().all(is_plain) {
        return id.to_owned();
    }
    let hash = blake3::hash(id.as_bytes()).to_hex();
    format!("ses_{}", hash.get(..32).unwrap_or_default())
}

#[cfg(test)]
pub(crate) mod tests;
