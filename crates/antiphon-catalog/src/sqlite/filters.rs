//! Which blocks of which sessions may contain words: the filters of all sessions.
//!
//! A row has the same segment of all parts of a session. The rows of one segment are adjacent, so
//! that ruling out by one segment reads little. A small session has one row with everything:
//! separate rows would have more overhead than content.

use std::ops::Range;

use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, Transaction, params};

use super::super::fields::Fields;
use super::super::filter::{Gram, SEGMENTS, may_hold};
use super::super::sum::Sum;
use super::super::{FileBlocks, Record};
use super::packed::{Unpack, add_bytes, add_number};
use super::read::fact;
use super::{CatalogError, Grams};
use crate::Key;
use crate::search::Matching;

/// The requirements that candidates must meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    /// For each thing that is looked for, the texts one of which must be there.
    pub(super) needs: &'a [Vec<Grams>],
    /// Whether a session must have all of them, or any.
    pub(super) matching: Matching,
    /// The session must have events with all of these ([`crate::fields`]).
    pub(super) fields: &'a [String],
}

/// A session that may match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) session: Key,
    /// The index of the need that the fewest blocks may meet, if all are required.
    pub(super) need: Option<usize>,
    /// Those blocks.
    pub(super) files: Vec<Held>,
}

/// A file that may contain what is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    /// Its index among the session's files.
    pub(super) stream: u32,
    pub(super) name: String,
    /// The numbers of the blocks that may contain it.
    pub(super) blocks: Vec<u32>,
}

/// The row after the segments: the files of a session, their blocks and the number of parts of
/// each.
const LAYOUT: usize = SEGMENTS;

/// The row after that: the session's fields. It is empty if they take too much room.
const FIELDS: usize = LAYOUT + 1;
/// The number of rows of a session that is not small.
const ROWS: usize = FIELDS + 1;

/// The only row of a small session: all the others in one.
const WHOLE: usize = ROWS;
/// A session whose single row would be longer has several rows.
const WHOLE_BYTES_MAX: usize = 4 << 10;
const SESSION_BITS: u32 = 40;

/// The primary key of a row of a session.
fn place(session: i64, segment: usize) -> i64 {
    ((segment as i64) << SESSION_BITS) | session
}

pub(super) fn insert(
    transaction: &Transaction<'_>,
    session: i64,
    record: &Record,
) -> Result<(), CatalogError> {
    let Record { row, files, fields, .. } = record;
    let mut insert =
        transaction.prepare_cached("INSERT INTO filter (place, bits, sum) VALUES (?1, ?2, ?3)")?;
    let mut insert = |segment: usize, bits: &[u8]| {
        let place = place(session, segment);
        insert.execute(params![place, bits, sum(place, row.key.as_str(), bits)])
    };
    let rows = (0..SEGMENTS).map(|segment| pack(files, segment));
    let rows: Vec<Vec<u8>> = rows.chain([pack_layout(files), pack_fields(fields)]).collect();
    if rows.iter().map(Vec::len).sum::<usize>() <= WHOLE_BYTES_MAX {
        let mut whole = Vec::new();
        rows.iter().for_each(|row| add_bytes(&mut whole, row));
        insert(WHOLE, &whole)?;
        return Ok(());
    }
    for (segment, row) in rows.iter().enumerate() {
        insert(segment, row)?;
    }
    Ok(())
}

pub(super) fn remove(transaction: &Transaction<'_>, session: i64) -> Result<(), CatalogError> {
    let mut delete = transaction.prepare_cached("DELETE FROM filter WHERE place = ?1")?;
    if delete.execute([place(session, WHOLE)])? > 0 {
        return Ok(());
    }
    for segment in 0..ROWS {
        delete.execute([place(session, segment)])?;
    }
    Ok(())
}

/// The checksum of a row. It includes the session's key, so that a row is known to be that
/// session's without reading anything else.
fn sum(place: i64, key: &str, bits: &[u8]) -> i64 {
    Sum::default().number(Some(place)).text(Some(key)).bytes(bits).get()
}

/// For each part, the length of its segment and the segment; nothing if all are empty.
fn pack(files: &[FileBlocks], segment: usize) -> Vec<u8> {
    let parts = || files.iter().flat_map(|file| &file.blocks).flatten();
    let mut packed = Vec::new();
    if parts().any(|part| !part.segment(segment).is_empty()) {
        parts().for_each(|part| add_bytes(&mut packed, part.segment(segment)));
    }
    packed
}

/// For each file, the length of its name, the name and the number of its blocks; for each block,
/// the number of its parts.
fn pack_layout(files: &[FileBlocks]) -> Vec<u8> {
    let mut packed = Vec::new();
    for file in files {
        add_bytes(&mut packed, file.name.as_bytes());
        add_number(&mut packed, file.blocks.len());
        file.blocks.iter().for_each(|parts| add_number(&mut packed, parts.len()));
    }
    packed
}

/// The strings of the fields.
fn pack_fields(fields: &Fields) -> Vec<u8> {
    let mut packed = Vec::new();
    let words = fields.words().unwrap_or_default();
    words.iter().for_each(|word| add_bytes(&mut packed, word.as_bytes()));
    packed
}

/// Whether a session may have events with all of these fields.
fn has(packed: &[u8], wanted: &[String]) -> Option<bool> {
    let mut unpack = Unpack(packed);
    let mut left: Vec<&String> = wanted.iter().collect();
    while !unpack.0.is_empty() && !left.is_empty() {
        let word = unpack.bytes()?;
        left.retain(|wanted| wanted.as_bytes() != word);
    }
    Some(left.is_empty() || packed.is_empty())
}

/// For each part, in order, whether it may contain a word.
type Parts = Vec<bool>;

/// Rules out the parts whose segment with this number lacks one of the n-grams.
fn rule_out(nth: usize, packed: &[u8], grams: &[Gram], parts: &mut Option<Parts>) -> Option<()> {
    // All parts have the same, empty segment.
    if packed.is_empty() {
        if !may_hold(nth, &[], grams) {
            *parts = Some(Parts::new());
        }
        return Some(());
    }
    let mut unpack = Unpack(packed);
    match parts {
        Some(parts) => {
            for part in parts {
                let segment = unpack.bytes()?;
                *part = *part && may_hold(nth, segment, grams);
            }
        }
        None => {
            let mut first = Parts::new();
            while !unpack.0.is_empty() {
                first.push(may_hold(nth, unpack.bytes()?, grams));
            }
            *parts = Some(first);
        }
    }
    Some(())
}

/// The files of a session, with the blocks of the remaining parts of each. Without `parts`, all
/// blocks remain.
fn held(layout: &[u8], parts: Option<&Parts>) -> Option<Vec<Held>> {
    let mut unpack = Unpack(layout);
    let mut parts = parts.map(|parts| parts.iter());
    let (mut stream, mut found) = (0, Vec::new());
    while !unpack.0.is_empty() {
        let name = std::str::from_utf8(unpack.bytes()?).ok()?;
        let mut blocks = Vec::new();
        for number in 0..u32::try_from(unpack.number()?).ok()? {
            let count = unpack.number()?;
            let is_left = match &mut parts {
                Some(parts) => parts.by_ref().take(count).fold(false, |any, part| any | part),
                None => true,
            };
            blocks.extend(is_left.then_some(number));
        }
        if !blocks.is_empty() {
            found.push(Held { stream, name: name.to_owned(), blocks });
        }
        stream += 1;
    }
    Some(found)
}

pub(super) fn candidates(
    connection: &Connection,
    asked: &Asked<'_>,
) -> Result<Vec<Candidate>, CatalogError> {
    let select = "SELECT bits, sum FROM filter WHERE place = ?1";
    let mut filters = Filters { select: connection.prepare_cached(select)?, whole: None };
    let select = "SELECT number, key FROM session ORDER BY number";
    let mut statement = connection.prepare_cached(select)?;
    let mut sessions = statement.query([])?;
    // The rows of small sessions are ordered by number, too.
    let select = "SELECT place, bits, sum FROM filter WHERE place >= ?1 ORDER BY place";
    let mut statement = connection.prepare_cached(select)?;
    let mut wholes = statement.query([place(0, WHOLE)])?;
    let mut next = wholes.next()?;
    let (mut count, mut candidates) = (0, Vec::new());
    while let Some(row) = sessions.next()? {
        count += 1;
        let (number, key) = (row.get(0)?, row.get_ref(1)?);
        let key = key.as_str().map_err(rusqlite::Error::from)?;
        filters.whole = None;
        if let Some(whole) = next
            && whole.get::<_, i64>(0)? == place(number, WHOLE)
        {
            let bits = whole.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            let rows = checked(place(number, WHOLE), key, bits, whole.get(2)?)?;
            filters.whole = Some(Whole::read(rows).ok_or_else(|| damaged(key))?);
            candidates.extend(filters.candidate(number, key, asked)?);
            next = wholes.next()?;
            continue;
        }
        candidates.extend(filters.candidate(number, key, asked)?);
    }
    match fact(connection, "sessions")?.unwrap_or_default() == count {
        true => Ok(candidates),
        false => Err(CatalogError::Damaged("sessions are missing from it".to_owned())),
    }
}

struct Filters<'c> {
    select: CachedStatement<'c>,
    /// All rows of the session, if it is small.
    whole: Option<Whole>,
}

/// The rows of a small session: its bytes, and the range of each row in them.
struct Whole {
    bytes: Vec<u8>,
    rows: [Range<usize>; ROWS],
}

impl Whole {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut unpack = Unpack(bytes);
        let mut rows = [const { 0..0 }; ROWS];
        for row in &mut rows {
            let len = unpack.bytes()?.len();
            let end = bytes.len() - unpack.0.len();
            *row = end - len..end;
        }
        unpack.0.is_empty().then(|| Self { bytes: bytes.to_vec(), rows })
    }

    fn row(&self, segment: usize) -> Option<&[u8]> {
        self.bytes.get(self.rows.get(segment)?.clone())
    }
}

fn damaged(key: &str) -> CatalogError {
    CatalogError::Damaged(format!("the filter of {key}"))
}

fn checked<'b>(
    place: i64,
    key: &str,
    bits: &'b [u8],
    known: i64,
) -> Result<&'b [u8], CatalogError> {
    if known == sum(place, key, bits) { Ok(bits) } else { Err(damaged(key)) }
}

impl Filters<'_> {
    /// Reads a row of a session.
    fn row<T>(
        &mut self,
        session: i64,
        key: &str,
        segment: usize,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, CatalogError> {
        let damaged = || damaged(key);
        if let Some(whole) = &self.whole {
            return whole.row(segment).and_then(read).ok_or_else(damaged);
        }
        let place = place(session, segment);
        let mut rows = self.select.query([place])?;
        let row = rows.next()?.ok_or_else(damaged)?;
        let ValueRef::Blob(bits) = row.get_ref(0)? else { return Err(damaged()) };
        read(checked(place, key, bits, row.get(1)?)?).ok_or_else(damaged)
    }

    /// The parts that may contain one of some texts; `None` if all may.
    fn parts_with_any(
        &mut self,
        session: i64,
        key: &str,
        texts: &[Grams],
    ) -> Result<Option<Parts>, CatalogError> {
        let mut any = Parts::new();
        for text in texts {
            let mut parts: Option<Parts> = None;
            for (nth, grams) in text.segments() {
                self.row(session, key, nth, |bits| rule_out(nth, bits, grams, &mut parts))?;
                if !is_left(parts.as_ref()) {
                    break;
                }
            }
            let Some(parts) = parts else { return Ok(None) };
            any.resize(any.len().max(parts.len()), false);
            any.iter_mut().zip(parts).for_each(|(any, part)| *any |= part);
        }
        Ok(Some(any))
    }

    fn candidate(
        &mut self,
        session: i64,
        key: &str,
        asked: &Asked<'_>,
    ) -> Result<Option<Candidate>, CatalogError> {
        let Asked { needs, matching, fields } = *asked;
        if !fields.is_empty() && !self.row(session, key, FIELDS, |row| has(row, fields))? {
            return Ok(None);
        }
        let mut left = Vec::new();
        for need in needs {
            let parts = self.parts_with_any(session, key, need)?;
            let is_left = is_left(parts.as_ref());
            left.push(parts);
            if is_left != (matching == Matching::All) {
                break;
            }
        }
        let is_one = matching.holds(left.iter().map(|parts| is_left(parts.as_ref())));
        if !is_one {
            return Ok(None);
        }
        let damaged = || CatalogError::Damaged(format!("`{key}` is not a key"));
        let mut candidate = Candidate {
            session: Key::parse(key).ok_or_else(damaged)?,
            need: None,
            files: Vec::new(),
        };
        let count = |parts: &Option<Parts>| match parts {
            Some(parts) => parts.iter().filter(|part| **part).count(),
            None => usize::MAX,
        };
        let ranked = (0..).zip(&left).filter(|_| matching == Matching::All);
        let fewest = ranked.min_by_key(|(_, parts)| count(parts));
        if let Some((need, parts)) = fewest {
            candidate.need = Some(need);
            candidate.files =
                self.row(session, key, LAYOUT, |layout| held(layout, parts.as_ref()))?;
        }
        Ok(Some(candidate))
    }
}

/// Whether any part may contain the word. A word without n-grams rules out nothing.
fn is_left(parts: Option<&Parts>) -> bool {
    parts.is_none_or(|parts| parts.contains(&true))
}
