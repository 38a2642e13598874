//! The catalogue in one SQLite file.
//!
//! One process writes at a time, any number read meanwhile (WAL). A row that answers a question has
//! a checksum; one that is wrong says that the file is damaged, and it is made again.
//!
//! The words of what was said are in an FTS5 index without a copy of the text: the text is in the
//! archive. An event's number there is its row's, and the events of a session have numbers that
//! follow one another.

mod coded;
mod events;
mod filters;
mod packed;
mod page;
mod read;
mod requests;
mod roll_up;
mod schema;
mod search;
mod uuid;
mod words;
mod write;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_views::Prices;
use rusqlite::{Connection, ErrorCode};

use crate::filter::Grams;
use crate::search::{Found, Matching, Search};
use crate::{
    Catalog, CatalogError, Change, EventQuery, Key, LineAt, Page, RollUp, Row, SessionQuery,
    SessionSort, Stamp, Texts,
};
use events::EventAt;
use filters::{Asked, Candidate, Held};
use words::Ranked;

/// How long another process may write before this one gives up.
const PATIENCE: Duration = Duration::from_secs(20);

/// At least as many statements as there are.
const STATEMENTS: usize = 64;

pub struct Sqlite {
    connection: Connection,
    /// Read when something is to be priced.
    prices: OnceCell<Prices>,
    /// Whether something was written that may not yet be in the one file.
    has_written: bool,
}

impl std::fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sqlite")
    }
}

impl Sqlite {
    /// Opens the catalogue at `path`, and makes it if it is not there. One of another version is
    /// emptied: all that it holds is derived.
    pub fn open(path: &Path) -> Result<Self, CatalogError> {
        // SQLite would make it readable by all that the umask lets, and its other files after it.
        make_private_file(path);
        if let Ok(metadata) = fs::metadata(path)
            && !metadata.is_file()
        {
            return Err(CatalogError::Damaged("it is not a regular file".to_owned()));
        }
        Self::with(Connection::open(path).map_err(CatalogError::from)?)
    }

    /// One that is gone when it is dropped.
    pub fn in_memory() -> Result<Self, CatalogError> {
        Self::with(Connection::open_in_memory().map_err(CatalogError::from)?)
    }

    fn with(connection: Connection) -> Result<Self, CatalogError> {
        connection.busy_timeout(PATIENCE)?;
        // There are more than it would keep by default, and each is used for every session.
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let mut catalog = Self { connection, prices: OnceCell::new(), has_written: false };
        schema::prepare(&catalog.connection)?;
        catalog.price_anew()?;
        Ok(catalog)
    }

    /// The files of a catalogue: what SQLite keeps beside it goes with it.
    pub fn files(path: &Path) -> [PathBuf; 3] {
        ["", "-wal", "-shm"].map(|ending| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            name.into()
        })
    }

    /// Seals what was written since it was last sealed.
    fn seal(&mut self) -> Result<(), CatalogError> {
        words::seal(&mut self.connection)
    }

    /// Puts everything into the one file, so that the store is as small as it can be.
    fn settle(&self) -> Result<(), CatalogError> {
        let settled = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        // Somebody else reads or writes: they will.
        settled.or_else(|error| match is_busy(&error) {
            true => Ok(()),
            false => Err(error.into()),
        })
    }
}

/// Makes a file that is not there yet, empty and its owner's alone, and makes one its owner's alone
/// that somebody else has made. If that fails, whoever opens it says so.
fn make_private_file(path: &Path) {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // What is there is not opened: it may be a pipe, which would be waited for.
    let _ = options.append(true).create_new(true).open(path);
    #[cfg(unix)]
    if let Ok(metadata) = fs::metadata(path) {
        use std::os::unix::fs::PermissionsExt as _;
        let mut permissions = metadata.permissions();
        if permissions.mode() & 0o777 != 0o600 {
            permissions.set_mode(0o600);
            let _ = fs::set_permissions(path, permissions);
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

impl From<rusqlite::Error> for CatalogError {
    fn from(error: rusqlite::Error) -> Self {
        let is_damage = match error.sqlite_error_code() {
            Some(code) => matches!(
                code,
                ErrorCode::DatabaseCorrupt
                    | ErrorCode::NotADatabase
                    // A schema of ours that lacks a table or a column is no schema of ours.
                    | ErrorCode::Unknown
                    | ErrorCode::ConstraintViolation
                    | ErrorCode::TypeMismatch
            ),
            // A column of another type than was written.
            None => true,
        };
        match is_damage {
            true => Self::Damaged(error.to_string()),
            false => Self::Unusable(error.to_string()),
        }
    }
}

impl Sqlite {
    /// Asks for something that does not change meanwhile.
    fn snapshot<T>(
        &self,
        ask: impl FnOnce(&Connection) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        let transaction = self.connection.unchecked_transaction()?;
        ask(&transaction)
    }
}

/// What only a search asks.
impl Sqlite {
    /// The sessions that may hold what is asked for.
    fn candidates(&self, asked: &Asked<'_>) -> Result<Vec<Candidate>, CatalogError> {
        self.snapshot(|connection| filters::candidates(connection, asked))
    }

    /// The events whose words fit best, the best first; with all of the words, or with any.
    fn ranked(
        &self,
        words: &[String],
        matching: Matching,
        limit: usize,
    ) -> Result<Vec<Ranked>, CatalogError> {
        self.snapshot(|connection| words::ranked(connection, words, matching, limit))
    }

    /// The events of a session that begin with one of these lines, in its order.
    fn events_at(&self, session: &Key, lines: &[LineAt]) -> Result<Vec<EventAt>, CatalogError> {
        self.snapshot(|connection| events::at_lines(connection, session, lines))
    }
}

impl Catalog for Sqlite {
    fn rows(&self) -> Result<Vec<Row>, CatalogError> {
        self.snapshot(read::rows)
    }

    fn stamps(&self) -> Result<Vec<(Key, Stamp)>, CatalogError> {
        self.snapshot(read::stamps)
    }

    fn page(
        &self,
        query: &SessionQuery,
        sort: SessionSort,
        limit: usize,
    ) -> Result<Page, CatalogError> {
        self.snapshot(|connection| page::page(connection, query, sort, limit))
    }

    fn mark(&self) -> Result<Option<u64>, CatalogError> {
        write::mark(&self.connection)
    }

    fn set_mark(&mut self, mark: u64) -> Result<(), CatalogError> {
        write::set_mark(&mut self.connection, mark)
    }

    fn write(&mut self, changes: &[Change]) -> Result<(), CatalogError> {
        let prices = self.prices.get_or_init(Prices::bundled);
        self.has_written |= !changes.is_empty();
        write::write(&mut self.connection, prices, changes)
    }

    fn finish(&mut self) -> Result<(), CatalogError> {
        self.seal()?;
        if std::mem::take(&mut self.has_written) {
            self.settle()?;
        }
        Ok(())
    }

    fn search(&self, search: &Search<'_>, texts: &dyn Texts) -> Result<Found, CatalogError> {
        search::search(self, search, texts)
    }

    fn holding(
        &self,
        sessions: &[&Key],
        word: &str,
        texts: &dyn Texts,
    ) -> Result<BTreeSet<Key>, CatalogError> {
        search::holding(self, sessions, word, texts)
    }

    fn events(&self, query: &EventQuery) -> Result<Vec<(Key, u64)>, CatalogError> {
        self.snapshot(|connection| events::sessions_with(connection, query))
    }

    fn sums(&self, prices: Option<&Prices>) -> Result<Vec<RollUp>, CatalogError> {
        self.snapshot(|connection| match prices {
            Some(prices) => roll_up::by(connection, prices),
            None => roll_up::read(connection),
        })
    }
}

#[cfg(test)]
mod tests;
