//! The index of what was said.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error as SqlError};

use super::super::sum::Sum;
use super::read::{self, Known, fact};
use super::{CatalogError, Ranked};

/// The words of what was said, and nothing of FTS5's own language.
fn query(words: &[String], all: bool) -> String {
    let quoted = words.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\"")));
    quoted.collect::<Vec<_>>().join(if all { " AND " } else { " OR " })
}

pub(super) fn ranked(
    connection: &Connection,
    words: &[String],
    all: bool,
    limit: usize,
) -> Result<Vec<Ranked>, CatalogError> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    if fact(connection, "words")?.unwrap_or_default() != sum(connection)? {
        return Err(CatalogError::Damaged("the index of words".to_owned()));
    }
    let sessions = read::sessions(connection)?;
    let mut by_first: Vec<&Known> = sessions.iter().collect();
    by_first.sort_by_key(|known| known.first_event);
    let mut statement = connection.prepare_cached(
        "SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rank, rowid DESC LIMIT ?2",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let numbers: Vec<i64> = statement
        .query_map((query(words, all), limit), |row| row.get(0))?
        .collect::<Result<_, SqlError>>()?;
    let found = numbers.into_iter().map(|number| {
        let known = read::owner(&by_first, number)?;
        let event_id = read::event_id(connection, number)?;
        Ok(Ranked { session: known.row.key.clone(), event_id })
    });
    found.collect()
}

/// Of everything that the index of words consists of.
pub(super) fn sum(connection: &Connection) -> Result<i64, CatalogError> {
    let mut sum = Sum::default();
    for table in ["words_data", "words_idx", "words_docsize", "words_config"] {
        let mut statement = connection.prepare_cached(&format!("SELECT * FROM {table}"))?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                match row.get_ref(column)? {
                    ValueRef::Null => sum.number(None),
                    ValueRef::Integer(number) => sum.number(Some(number)),
                    ValueRef::Real(number) => sum.bytes(&number.to_le_bytes()),
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => sum.bytes(bytes),
                };
            }
        }
    }
    Ok(sum.get())
}
