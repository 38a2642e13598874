//! Words: filters for everything that is kept, an index for what was said.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error as SqlError};

use super::super::sum::Sum;
use super::super::{FileBlocks, may_hold};
use super::read::{self, Known, fact};
use super::{Candidate, CatalogError, Pieces, Ranked};

/// The filters of a session's files as one value: for each file the length of its name, the name,
/// the number of its blocks; for each block the number of its parts; for each part the length of
/// its filter and the filter.
pub(super) fn pack(files: &[FileBlocks]) -> Vec<u8> {
    let mut packed = Vec::new();
    let number = |out: &mut Vec<u8>, number: usize| {
        out.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    };
    for file in files {
        number(&mut packed, file.name.len());
        packed.extend(file.name.as_bytes());
        number(&mut packed, file.blocks.len());
        for block in &file.blocks {
            number(&mut packed, block.len());
            for part in block {
                number(&mut packed, part.as_bytes().len());
                packed.extend(part.as_bytes());
            }
        }
    }
    packed
}

/// What stands before the end of a packed value.
struct Unpack<'a>(&'a [u8]);

impl<'a> Unpack<'a> {
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.number()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number(&mut self) -> Option<usize> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        usize::try_from(u32::from_le_bytes(*number)).ok()
    }
}

/// For each word the blocks that may hold it.
type Found = Vec<Vec<(String, Vec<u32>)>>;

fn look(packed: &[u8], words: &[Pieces]) -> Option<Found> {
    let mut found: Found = vec![Vec::new(); words.len()];
    let mut unpack = Unpack(packed);
    while !unpack.0.is_empty() {
        let name = std::str::from_utf8(unpack.bytes()?).ok()?;
        let blocks = unpack.number()?;
        let mut hits: Vec<Vec<u32>> = vec![Vec::new(); words.len()];
        for number in 0..u32::try_from(blocks).ok()? {
            for _ in 0..unpack.number()? {
                let filter = unpack.bytes()?;
                for (word, hits) in words.iter().zip(&mut hits) {
                    if hits.last() != Some(&number) && may_hold(filter, word) {
                        hits.push(number);
                    }
                }
            }
        }
        for (hits, found) in hits.into_iter().zip(&mut found) {
            if !hits.is_empty() {
                found.push((name.to_owned(), hits));
            }
        }
    }
    Some(found)
}

pub(super) fn candidates(
    connection: &Connection,
    words: &[Pieces],
    all: bool,
) -> Result<Vec<Candidate>, CatalogError> {
    let mut statement =
        connection.prepare_cached("SELECT session, blocks, sum FROM filter ORDER BY session")?;
    let mut rows = statement.query([])?;
    let mut candidates = Vec::new();
    for known in read::sessions(connection)? {
        let damaged = || CatalogError::Damaged(format!("the filter of {}", known.row.key));
        let row = rows.next()?.ok_or_else(damaged)?;
        let ValueRef::Blob(packed) = row.get_ref(1)? else { return Err(damaged()) };
        let sum = Sum::default().number(Some(row.get(0)?)).bytes(packed).get();
        if row.get::<_, i64>(0)? != known.number || row.get::<_, i64>(2)? != sum {
            return Err(damaged());
        }
        let found = look(packed, words).ok_or_else(damaged)?;
        let is_one = match all {
            true => found.iter().all(|blocks| !blocks.is_empty()),
            false => found.iter().any(|blocks| !blocks.is_empty()),
        };
        if is_one {
            let count = |blocks: &[(String, Vec<u32>)]| -> usize {
                blocks.iter().map(|(_, numbers)| numbers.len()).sum()
            };
            let fewest = (0..).zip(found).filter(|_| all).min_by_key(|(_, it)| count(it));
            let (word, blocks) = fewest.map_or((None, Vec::new()), |(at, it)| (Some(at), it));
            candidates.push(Candidate { session: known.row.key.clone(), word, blocks });
        }
    }
    Ok(candidates)
}

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
