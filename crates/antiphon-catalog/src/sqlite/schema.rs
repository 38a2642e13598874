//! The tables of the catalogue.

use rusqlite::Connection;

use super::CatalogError;

/// Raised whenever a table or its contents change. A catalogue of another version is emptied.
const VERSION: i64 = 11;

const TABLES: &str = "
CREATE TABLE fact (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- Small numbers and texts stand together in `told`, and so do all events and all requests: a column
-- for each takes more room and time than what it says.
CREATE TABLE session (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    origin INTEGER NOT NULL,
    stamp INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    events INTEGER NOT NULL,
    first_event INTEGER NOT NULL,
    told BLOB NOT NULL,
    -- Sessions by the lengths and names of their main files, one on each line.
    main TEXT, parts TEXT,
    sum INTEGER NOT NULL,
    is_part INTEGER NOT NULL
);
CREATE INDEX session_by_id ON session (session_id);
CREATE TABLE event (
    first INTEGER PRIMARY KEY,
    events BLOB NOT NULL,
    sum INTEGER NOT NULL
);
CREATE TABLE request (
    session INTEGER PRIMARY KEY,
    requests BLOB NOT NULL,
    sum INTEGER NOT NULL
);
CREATE TABLE request_id (
    id INTEGER NOT NULL,
    session INTEGER NOT NULL,
    PRIMARY KEY (id, session)
) WITHOUT ROWID;
CREATE TABLE roll_up (
    session INTEGER PRIMARY KEY,
    parts BLOB NOT NULL,
    sum INTEGER NOT NULL
);
CREATE TABLE tool_call (
    session INTEGER PRIMARY KEY,
    calls BLOB NOT NULL,
    sum INTEGER NOT NULL
);
CREATE TABLE filter (
    place INTEGER PRIMARY KEY,
    bits BLOB NOT NULL,
    sum INTEGER NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5 (
    text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'
);
";

/// Creates the tables, or checks that they exist.
pub(super) fn prepare(connection: &Connection) -> Result<(), CatalogError> {
    connection.execute_batch(
        "PRAGMA page_size = 8192;
         PRAGMA journal_mode = WAL;
         PRAGMA synchronous = NORMAL;
         -- What was forgotten is gone from the file, too.
         PRAGMA secure_delete = ON;
         PRAGMA wal_autocheckpoint = 4000;
         PRAGMA cache_size = -16000;
         PRAGMA temp_store = MEMORY;",
    )?;
    if version(connection)? == VERSION {
        return Ok(());
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    // Another process may have been first.
    let made = match version(connection)? {
        VERSION => Ok(()),
        0 => make(connection),
        other => Err(CatalogError::Damaged(format!("it has version {other}"))),
    };
    connection.execute_batch(if made.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    made
}

/// Checks that it has this version.
pub(super) fn check(connection: &Connection) -> Result<(), CatalogError> {
    match version(connection)? {
        VERSION => Ok(()),
        other => Err(CatalogError::Damaged(format!("it has version {other}"))),
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn make(connection: &Connection) -> Result<(), CatalogError> {
    connection.execute_batch(TABLES)?;
    // How much FTS5 buffers before it writes: by default so little that it merges all the time.
    connection.execute_batch("INSERT INTO words (words, rank) VALUES ('hashsize', 8388608)")?;
    connection.pragma_update(None, "user_version", VERSION)?;
    Ok(())
}
