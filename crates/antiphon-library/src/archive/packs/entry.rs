//! A session on its way into a pack, and the notes of the sessions in one.
//!
//! ```text
//! notes    "note"  length of all notes  number of sessions  each session's note
//! note     key  agent  time  bytes of its files  number of files  each file's name and length
//!          its record (`session.json`)  its stamp
//! ```
//!
//! Numbers are little-endian; texts have their length before them.

use std::io;

use antiphon_catalog::Key;

use super::super::state::State;
use super::super::sums::Sums;

const MAGIC: [u8; 4] = *b"note";
const KEY_BYTES: usize = 16;

/// A session with all that a pack contains of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) agent: String,
    /// When it was packed, in milliseconds.
    pub(crate) time: u64,
    /// The files, by their names in the session's folder, in the order of their streams.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// Its record, as in `session.json`.
    pub(crate) record: Vec<u8>,
    /// Its stamp, as in the file `stamp`.
    pub(crate) stamp: Vec<u8>,
}

/// What is known about a session in a pack before its files are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) key: Key,
    pub(super) agent: String,
    pub(super) time: u64,
    /// Where its files begin in their frame, after the notes.
    pub(super) start: usize,
    /// Names and lengths.
    pub(super) files: Vec<(String, usize)>,
    pub(super) record: Vec<u8>,
    pub(super) stamp: Vec<u8>,
}

impl Entry {
    /// How many bytes its files have.
    pub(crate) fn len(&self) -> usize {
        self.files.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// A number that changes when its files do.
    pub(crate) fn hash(&self) -> u64 {
        record_hash(&self.record)
    }

    fn write_note(&self, out: &mut Vec<u8>) -> io::Result<()> {
        out.extend(key_number(&self.key).to_le_bytes());
        text(out, self.agent.as_bytes())?;
        out.extend(self.time.to_le_bytes());
        number(out, self.len())?;
        number(out, self.files.len())?;
        for (name, bytes) in &self.files {
            text(out, name.as_bytes())?;
            number(out, bytes.len())?;
        }
        text(out, &self.record)?;
        text(out, &self.stamp)
    }
}

/// A hash of the record, which itself contains the hashes of the files.
pub(super) fn record_hash(record: &[u8]) -> u64 {
    let hash = blake3::hash(record);
    hash.as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}

/// The notes of some sessions.
pub(super) fn write_notes(entries: &[Entry]) -> io::Result<Vec<u8>> {
    let mut notes = Vec::new();
    entries.iter().try_for_each(|entry| entry.write_note(&mut notes))?;
    let mut out = MAGIC.to_vec();
    number(&mut out, notes.len())?;
    number(&mut out, entries.len())?;
    out.append(&mut notes);
    Ok(out)
}

/// The notes at the beginning of a frame, and their length; `None` if there are none, or they are
/// incomplete.
pub(super) fn read_notes(frame: &[u8]) -> Option<(Vec<Note>, usize)> {
    let mut reading = Reading(frame);
    if reading.take(MAGIC.len())? != MAGIC {
        return None;
    }
    let (len, count) = (reading.number()?, reading.number()?);
    let end = frame.len() - reading.0.len() + len;
    let (mut notes, mut start) = (Vec::new(), end);
    for _ in 0..count {
        notes.push(reading.note(&mut start)?);
    }
    (frame.len().checked_sub(reading.0.len())? == end).then_some((notes, end))
}

/// Reads values from the front of some bytes.
pub(super) struct Reading<'a>(pub(super) &'a [u8]);

impl<'a> Reading<'a> {
    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn number(&mut self) -> Option<usize> {
        let number = u32::from_le_bytes(*self.take(4)?.first_chunk()?);
        usize::try_from(number).ok()
    }

    pub(super) fn long(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(*self.take(8)?.first_chunk()?))
    }

    pub(super) fn key(&mut self) -> Option<u128> {
        Some(u128::from_le_bytes(*self.take(KEY_BYTES)?.first_chunk()?))
    }

    pub(super) fn text(&mut self) -> Option<String> {
        let len = self.number()?;
        String::from_utf8(self.take(len)?.to_vec()).ok()
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let len = self.number()?;
        Some(self.take(len)?.to_vec())
    }

    fn note(&mut self, start: &mut usize) -> Option<Note> {
        let (key, agent, time) = (key_of(self.key()?)?, self.text()?, self.long()?);
        let (len, count) = (self.number()?, self.number()?);
        let mut files = Vec::new();
        for _ in 0..count {
            files.push((self.text()?, self.number()?));
        }
        let (record, stamp) = (self.bytes()?, self.bytes()?);
        let own = *start;
        *start = start.checked_add(len)?;
        Some(Note { key, agent, time, start: own, files, record, stamp })
    }
}

impl Note {
    /// The session with the bytes of its files, as far as they exist.
    pub(super) fn entry(&self, frame: &[u8]) -> Entry {
        let mut rest = frame.get(self.start..).unwrap_or_default();
        let mut files = Vec::new();
        for (name, len) in &self.files {
            let (bytes, left) = rest.split_at(rest.len().min(*len));
            files.push((name.clone(), bytes.to_vec()));
            rest = left;
        }
        Entry {
            key: self.key.clone(),
            agent: self.agent.clone(),
            time: self.time,
            files,
            record: self.record.clone(),
            stamp: self.stamp.clone(),
        }
    }
}

impl Entry {
    /// Whether its files match its record.
    pub(crate) fn is_whole(&self) -> bool {
        let Some(state) = State::parse(&self.record) else { return false };
        state.files.iter().all(|(name, copy)| {
            let bytes = self.files.iter().find(|(known, _)| known == name);
            bytes.is_some_and(|(_, bytes)| Sums::of(bytes) == copy.sums)
        })
    }
}

pub(super) fn number(out: &mut Vec<u8>, number: usize) -> io::Result<()> {
    out.extend(u32::try_from(number).map_err(io::Error::other)?.to_le_bytes());
    Ok(())
}

pub(super) fn text(out: &mut Vec<u8>, text: &[u8]) -> io::Result<()> {
    number(out, text.len())?;
    out.extend(text);
    Ok(())
}

/// The number that the hex digits of a key stand for.
pub(super) fn key_number(key: &Key) -> u128 {
    u128::from_str_radix(key.as_str(), 16).unwrap_or_default()
}

pub(super) fn key_of(number: u128) -> Option<Key> {
    Key::parse(&format!("{number:032x}"))
}
