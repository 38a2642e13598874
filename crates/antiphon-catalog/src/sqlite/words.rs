//! The index of what was said.
//!
//! It has one checksum for all of it. To make that takes as long as the index is, so it is made
//! when everything is written, and not with each part: until then there is none.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error as SqlError, Transaction, TransactionBehavior};

use super::super::sum::Sum;
use super::events;
use super::read::{self, Known, fact};
use super::write::{remove_fact, set_fact};
use super::{CatalogError, Key};
use crate::search::Matching;

/// A session's words, by relevance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ranked {
    pub(super) session: Key,
    pub(super) event_id: String,
}

/// The fact that is the index's checksum.
const SEAL: &str = "words";

/// The words of what was said, and nothing of FTS5's own language.
fn query(words: &[String], matching: Matching) -> String {
    let quoted = words.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\"")));
    quoted.collect::<Vec<_>>().join(match matching {
        Matching::All => " AND ",
        Matching::Any => " OR ",
    })
}

pub(super) fn ranked(
    connection: &Connection,
    words: &[String],
    matching: Matching,
    limit: usize,
) -> Result<Vec<Ranked>, CatalogError> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(seal) = fact(connection, SEAL)?
        && seal != sum(connection)?
    {
        return Err(CatalogError::Damaged("the word index".to_owned()));
    }
    let sessions = read::sessions(connection)?;
    let mut by_first: Vec<&Known> = sessions.iter().collect();
    by_first.sort_by_key(|known| known.first_event);
    let mut statement = connection.prepare_cached(
        "SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rank, rowid DESC LIMIT ?2",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let numbers: Vec<i64> = statement
        .query_map((query(words, matching), limit), |row| row.get(0))?
        .collect::<Result<_, SqlError>>()?;
    let found = numbers.into_iter().map(|number| {
        let known = read::owner(&by_first, number)?;
        let event_id = events::id(connection, number)?;
        Ok(Ranked { session: known.row.key.clone(), event_id })
    });
    found.collect()
}

/// Takes the seal away: something is written.
pub(super) fn unseal(transaction: &Transaction<'_>) -> Result<(), CatalogError> {
    remove_fact(transaction, SEAL)
}

/// Writes down the sum of the index, unless it is there already.
pub(super) fn seal(connection: &mut Connection) -> Result<(), CatalogError> {
    if fact(connection, SEAL)?.is_some() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    set_fact(&transaction, SEAL, sum(&transaction)?)?;
    Ok(transaction.commit()?)
}

/// Of everything that the index consists of.
fn sum(connection: &Connection) -> Result<i64, CatalogError> {
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

#[cfg(test)]
mod tests {
    use super::super::super::conformance::{said, with_events};
    use super::super::super::{Catalog as _, Sqlite};
    use super::*;

    #[test]
    fn an_index_that_is_sealed_must_be_as_it_was() {
        let mut catalog = Sqlite::in_memory().unwrap();
        let find = |catalog: &Sqlite| catalog.ranked(&["parser".to_owned()], Matching::All, 9);
        let write = |catalog: &mut Sqlite, id: &str| {
            let events = vec![said(id, "the parser fails")];
            catalog.replace(with_events(id, events)).unwrap();
        };
        write(&mut catalog, "a");
        assert_eq!(find(&catalog).unwrap().len(), 1, "not sealed yet");
        catalog.seal().unwrap();
        write(&mut catalog, "b");
        assert_eq!(find(&catalog).unwrap().len(), 2, "and not sealed any more");
        catalog.seal().unwrap();
        assert_eq!(find(&catalog).unwrap().len(), 2);
        let spoil = "UPDATE words_docsize SET sz = x'7f' WHERE id = 1";
        assert_eq!(catalog.connection.execute(spoil, []).unwrap(), 1);
        assert!(matches!(find(&catalog), Err(CatalogError::Damaged(_))));
    }
}
