//! The words of the full-text index, for those who have mistyped one.

use std::cmp::Reverse;

use rusqlite::{Connection, OptionalExtension as _};

use super::CatalogError;

/// What is shorter has too many neighbours.
const LETTERS_MIN: usize = 4;
/// From this length on, two letters may be wrong.
const TWO_WRONG_MIN: usize = 6;
/// So many words are compared with one, so that a large vocabulary takes no longer.
const COMPARED_MAX: usize = 200_000;

/// The words of the index that are written almost like this one, the nearest first; none if it is
/// one of them.
pub(super) fn nearest(
    connection: &Connection,
    word: &str,
    most: usize,
) -> Result<Vec<String>, CatalogError> {
    let mut letters = word.chars();
    let (Some(first), Some(second)) = (letters.next(), letters.next()) else {
        return Ok(Vec::new());
    };
    if word.chars().count() < LETTERS_MIN || !word.chars().all(char::is_alphanumeric) {
        return Ok(Vec::new());
    }
    connection.execute_batch(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, words, row)",
    )?;
    let is_there = "SELECT 1 FROM temp.vocabulary WHERE term = ?1";
    let is_there = connection.query_row(is_there, [word], |_| Ok(())).optional()?.is_some();
    if is_there {
        return Ok(Vec::new());
    }
    // Few people mistype the first letter; those who do leave it out or take the second for it.
    let mut near = like(connection, word, first)?;
    if near.is_empty() {
        near = like(connection, word, second)?;
    }
    near.sort_unstable();
    near.dedup_by(|one, other| one.2 == other.2);
    Ok(near.into_iter().take(most).map(|(_, _, term)| term).collect())
}

/// How much a word differs, in how many messages it is, and the word.
type Near = (usize, Reverse<i64>, String);

/// The words that begin with a letter and are written almost like this one.
fn like(connection: &Connection, word: &str, begins: char) -> Result<Vec<Near>, CatalogError> {
    let len = word.chars().count();
    let most = if len >= TWO_WRONG_MIN { 2 } else { 1 };
    let end = char::from_u32(u32::from(begins) + 1).unwrap_or(char::MAX);
    let mut statement = connection
        .prepare("SELECT term, doc FROM temp.vocabulary WHERE term >= ?1 AND term < ?2")?;
    let mut rows = statement.query([begins.to_string(), end.to_string()])?;
    let (mut near, mut compared) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        compared += 1;
        if compared > COMPARED_MAX {
            break;
        }
        let term = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        if term.chars().count().abs_diff(len) > most {
            continue;
        }
        let distance = strsim::osa_distance(word, term);
        if distance <= most {
            near.push((distance, Reverse(row.get(1)?), term.to_owned()));
        }
    }
    Ok(near)
}
