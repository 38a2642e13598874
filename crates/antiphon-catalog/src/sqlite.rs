//! The catalogue in one SQLite file.
//!
//! One process writes at a time, and any number read meanwhile (WAL). Every row that an answer is
//! read from has a checksum; a wrong one means that the file is damaged, and it is rebuilt.
//!
//! What was said is in an FTS5 index without a copy of the text: the text is in the archive. An
//! event's number there is the number of its row, and the events of a session have consecutive
//! numbers.

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
mod tool_calls;
mod uuid;
mod vocabulary;
mod words;
mod write;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_model::TimeRange;
use antiphon_views::Prices;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::filter::Grams;
use crate::search::{Found, Matching, Search};
use crate::{
    Catalog, CatalogError, Change, EachCall, EventQuery, Key, LineAt, Page, RollUp, Row,
    SessionQuery, SessionSort, Stamp, Texts,
};
use events::EventAt;
use filters::{Asked, Candidate, Held};
use words::Ranked;

/// How long to wait while another process writes.
const PATIENCE: Duration = Duration::from_secs(20);

/// At least the number of different statements.
const STATEMENTS: usize = 64;

pub struct Sqlite {
    connection: Connection,
    /// Loaded when something has to be priced.
    prices: OnceCell<Prices>,
    /// Whether something was written that may not have reached the main file yet.
    has_written: bool,
}

impl std::fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sqlite")
    }
}

impl Sqlite {
    /// Opens the catalogue at `path`, and creates it if it does not exist. A catalogue of another
    /// version is emptied: all of it is derived.
    pub fn open(path: &Path) -> Result<Self, CatalogError> {
        Self::open_within(path, PATIENCE)
    }

    /// The same, waiting no longer than this for another process that writes.
    pub fn open_within(path: &Path, patience: Duration) -> Result<Self, CatalogError> {
        // SQLite would create it as readable as the umask allows, and its other files likewise.
        make_private_file(path);
        if let Ok(metadata) = fs::metadata(path)
            && !metadata.is_file()
        {
            return Err(CatalogError::Damaged("it is not a regular file".to_owned()));
        }
        Self::with(Connection::open(path).map_err(CatalogError::from)?, patience)
    }

    /// Opens the catalogue at `path` as it is, if it has this version, and writes nothing.
    pub fn open_to_read(path: &Path) -> Result<Self, CatalogError> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.busy_timeout(Duration::ZERO)?;
        schema::check(&connection)?;
        Ok(Self { connection, prices: OnceCell::new(), has_written: false })
    }

    /// A catalogue that is gone when it is dropped.
    pub fn in_memory() -> Result<Self, CatalogError> {
        Self::with(Connection::open_in_memory().map_err(CatalogError::from)?, PATIENCE)
    }

    fn with(connection: Connection, patience: Duration) -> Result<Self, CatalogError> {
        connection.busy_timeout(patience)?;
        // There are more than the default, and each is used for every session.
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let mut catalog = Self { connection, prices: OnceCell::new(), has_written: false };
        schema::prepare(&catalog.connection)?;
        catalog.price_anew()?;
        Ok(catalog)
    }

    /// The files of a catalogue: its own and those that SQLite adds.
    pub fn files(path: &Path) -> [PathBuf; 3] {
        ["", "-wal", "-shm"].map(|ending| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            name.into()
        })
    }

    /// Writes the checksum of what was written since the last one.
    fn seal(&mut self) -> Result<(), CatalogError> {
        words::seal(&mut self.connection)
    }

    /// Moves everything into the main file, so that the store is as small as possible.
    fn settle(&self) -> Result<(), CatalogError> {
        let settled = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        // Another process reads or writes, and will do this.
        settled.or_else(|error| match is_busy(&error) {
            true => Ok(()),
            false => Err(error.into()),
        })
    }
}

/// Creates the file if it does not exist, empty and readable by its owner only, and restricts an
/// existing one to its owner. A failure is reported when the file is opened.
fn make_private_file(path: &Path) {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // An existing file is not opened: opening a pipe would block.
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
        if is_busy(&error) {
            return Self::Busy;
        }
        let is_damage = match error.sqlite_error_code() {
            Some(code) => matches!(
                code,
                ErrorCode::DatabaseCorrupt
                    | ErrorCode::NotADatabase
                    // The version is ours, but a table or a column is missing.
                    | ErrorCode::Unknown
                    | ErrorCode::ConstraintViolation
                    | ErrorCode::TypeMismatch
            ),
            // A column has another type than was written.
            None => true,
        };
        match is_damage {
            true => Self::Damaged(error.to_string()),
            false => Self::Unusable(error.to_string()),
        }
    }
}

impl Sqlite {
    /// Runs some queries on one state of the catalogue.
    fn snapshot<T>(
        &self,
        ask: impl FnOnce(&Connection) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        let transaction = self.connection.unchecked_transaction()?;
        ask(&transaction)
    }
}

/// Queries that only a search needs.
impl Sqlite {
    /// The sessions that may match.
    fn candidates(&self, asked: &Asked<'_>) -> Result<Vec<Candidate>, CatalogError> {
        self.snapshot(|connection| filters::candidates(connection, asked))
    }

    /// The events that match best, the best first; with all of the words, or with any.
    fn ranked(
        &self,
        words: &[String],
        matching: Matching,
        limit: usize,
    ) -> Result<Vec<Ranked>, CatalogError> {
        self.snapshot(|connection| words::ranked(connection, words, matching, limit))
    }

    /// The events of a session that begin on one of these lines, in the session's order.
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

    fn nearest(&self, word: &str, most: usize) -> Result<Vec<String>, CatalogError> {
        self.snapshot(|connection| vocabulary::nearest(connection, word, most))
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

    fn sums(
        &self,
        range: &TimeRange,
        prices: Option<&Prices>,
    ) -> Result<Vec<RollUp>, CatalogError> {
        self.snapshot(|connection| match prices {
            Some(prices) => roll_up::by(connection, range, prices),
            None => {
                let bundled = || self.prices.get_or_init(Prices::bundled);
                roll_up::read(connection, range, &bundled)
            }
        })
    }

    fn each_call(&self, each: EachCall<'_>) -> Result<(), CatalogError> {
        self.snapshot(|connection| tool_calls::each(connection, each))
    }
}

#[cfg(test)]
mod tests;
