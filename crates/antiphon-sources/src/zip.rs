//! A zip file of JSON members, as text: one line for each, `{"member": …, "value": …}`.
//!
//! Evaluation logs are such files. The central directory is at the end, so a zip file that is still
//! being written, or was truncated, has none; then its members are found one after another from the
//! front. Members may be stored, deflated, or compressed with zstd. Whatever sizes a zip file
//! states, no more is decompressed than was asked for.

use std::io::{self, Read};

use antiphon_model::json;

use crate::utf8;

pub(crate) const MAGIC: [u8; 4] = *b"PK\x03\x04";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";
const END_64: [u8; 4] = *b"PK\x06\x06";

const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const ZSTD: u16 = 93;
/// The sizes are after the member's data, so they are not known beforehand.
const SIZES_FOLLOW: u16 = 1 << 3;
const ENCRYPTED: u16 = 1;

/// The decompressed text, and why it is not complete.
#[derive(Debug, Default)]
pub(crate) struct Unpacked {
    pub(crate) text: String,
    pub(crate) stopped: Option<io::Error>,
    pub(crate) is_too_long: bool,
}

struct Member<'z> {
    name: String,
    method: u16,
    flags: u16,
    /// The compressed data, possibly followed by more; less, if the file was truncated.
    packed: &'z [u8],
    is_cut: bool,
    /// The decompressed size that it states.
    said: Option<u64>,
}

/// Decompresses the members, up to `most` bytes of text. A member that does not fit is reported and
/// left out.
pub(crate) fn unpack(zip: &[u8], most: u64) -> Unpacked {
    let mut unpacking = Unpacking { most, ..Unpacking::default() };
    match listed(zip) {
        Some(members) => {
            for member in &members {
                unpacking.add(member);
            }
        }
        None => in_turn(zip, &mut unpacking),
    }
    let Unpacking { bytes, stopped, is_too_long, .. } = unpacking;
    Unpacked { text: utf8::text(bytes), stopped, is_too_long }
}

/// The text while members are added to it.
#[derive(Debug, Default)]
struct Unpacking {
    bytes: Vec<u8>,
    most: u64,
    stopped: Option<io::Error>,
    is_too_long: bool,
}

impl Unpacking {
    /// Adds a member's line; returns the length of its compressed data if it ended properly.
    fn add(&mut self, member: &Member<'_>) -> Option<u64> {
        let begin = self.bytes.len();
        let left = self.most.saturating_sub(begin as u64);
        let mut line = String::from("{\"member\":");
        json::push_string(&mut line, &member.name);
        if let Some(said) = member.said.filter(|&said| said > left) {
            self.bytes.extend(format!("{line},\"bytes\":{said}}}\n").as_bytes());
            self.is_too_long = true;
            return None;
        }
        if left == 0 {
            self.is_too_long = true;
            return None;
        }
        line.push_str(",\"value\":");
        self.bytes.extend(line.as_bytes());
        // Decompressed and made one line in place, because it may be all that fits into memory.
        let at = self.bytes.len();
        let (taken, error) = member.unpack(left, &mut self.bytes);
        let value = self.bytes.get(at..).unwrap_or_default();
        let len = value.len();
        let is_json = matches!(value.trim_ascii_start().first(), Some(b'{' | b'['));
        let is_too_long = len as u64 >= left;
        if is_json && !is_too_long {
            compact(&mut self.bytes, at);
        } else {
            self.bytes.truncate(at - "\"value\":".len());
            self.bytes.extend(format!("\"bytes\":{len}").as_bytes());
        }
        // An incomplete value must not look complete.
        if error.is_none() {
            self.bytes.push(b'}');
        }
        self.bytes.push(b'\n');
        self.is_too_long |= is_too_long;
        self.stopped = self.stopped.take().or(error);
        taken
    }
}

/// Removes the whitespace between the tokens of a JSON text, from an offset on, so that the value
/// is on one line.
fn compact(bytes: &mut Vec<u8>, from: usize) {
    let (mut at, mut to) = (from, from);
    let (mut is_inside, mut is_escaped) = (false, false);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if !is_inside && byte.is_ascii_whitespace() {
            continue;
        }
        (is_inside, is_escaped) = match (is_inside, byte) {
            (true, _) if is_escaped => (true, false),
            (true, b'\\') => (true, true),
            (_, b'"') => (!is_inside, false),
            _ => (is_inside, false),
        };
        if let Some(place) = bytes.get_mut(to) {
            *place = if matches!(byte, b'\n' | b'\r') { b' ' } else { byte };
        }
        to += 1;
    }
    bytes.truncate(to);
}

impl Member<'_> {
    fn unpack(&self, most: u64, out: &mut Vec<u8>) -> (Option<u64>, Option<io::Error>) {
        if self.flags & ENCRYPTED != 0 {
            return (None, Some(io::Error::other("an entry is encrypted")));
        }
        match self.method {
            STORED => {
                let error = self.packed.take(most).read_to_end(out).err();
                let cut = self.is_cut.then(|| io::ErrorKind::UnexpectedEof.into());
                (Some(self.packed.len() as u64), error.or(cut))
            }
            DEFLATED => {
                let mut decoder = flate2::bufread::DeflateDecoder::new(self.packed);
                let error = decoder.by_ref().take(most).read_to_end(out).err();
                (Some(decoder.total_in()).filter(|_| error.is_none()), error)
            }
            ZSTD => match zstd::stream::read::Decoder::with_buffer(self.packed) {
                Ok(decoder) => (None, decoder.take(most).read_to_end(out).err()),
                Err(error) => (None, Some(error)),
            },
            other => {
                let what = format!("an entry uses an unknown compression method ({other})");
                (None, Some(io::Error::other(what)))
            }
        }
    }
}

/// The members in the central directory, in the order of their data.
fn listed(zip: &[u8]) -> Option<Vec<Member<'_>>> {
    /// The end record may be followed by a comment of this length.
    const COMMENT: usize = 1 << 16;
    let tail = zip.len().saturating_sub(COMMENT + 22);
    let end = tail + zip.get(tail..)?.windows(4).rposition(|bytes| bytes == END)?;
    let mut at = u64::from(u32_at(zip, end + 16)?);
    if at == u64::from(u32::MAX) {
        // The numbers are too large for the short form, so the Zip64 record before it has them.
        let long = zip.get(..end)?.windows(4).rposition(|bytes| bytes == END_64)?;
        at = u64_at(zip, long + 48)?;
    }
    let mut at = usize::try_from(at).ok()?;
    let mut found = Vec::new();
    while zip.get(at..)?.starts_with(&CENTRAL) {
        let (flags, method) = (u16_at(zip, at + 8)?, u16_at(zip, at + 10)?);
        let mut size = u64::from(u32_at(zip, at + 20)?);
        let mut said = u64::from(u32_at(zip, at + 24)?);
        let lengths = [28, 30, 32].map(|field| u16_at(zip, at + field).map(usize::from));
        let [Some(name), Some(extra), Some(comment)] = lengths else { return None };
        let mut offset = u64::from(u32_at(zip, at + 42)?);
        let mut long = long_fields(zip.get(at + 46 + name..)?.get(..extra)?).into_iter();
        let unset = u64::from(u32::MAX);
        if said == unset {
            said = long.next()?;
        }
        if size == unset {
            size = long.next()?;
        }
        if offset == unset {
            offset = long.next()?;
        }
        let own = String::from_utf8_lossy(zip.get(at + 46..)?.get(..name)?).into_owned();
        found.push((offset, size, own, method, flags, said));
        at += 46 + name + extra + comment;
    }
    found.sort_by_key(|(offset, ..)| *offset);
    let members = found.into_iter().map(|(offset, size, name, method, flags, said)| {
        let at = usize::try_from(offset).ok()?;
        let begin = data_at(zip, at)?;
        let packed = zip.get(begin..)?.get(..usize::try_from(size).ok()?)?;
        Some(Member { name, method, flags, packed, is_cut: false, said: Some(said) })
    });
    members.collect::<Option<Vec<_>>>().filter(|members| !members.is_empty())
}

/// The 64-bit numbers in a member's extra field.
fn long_fields(extra: &[u8]) -> Vec<u64> {
    let mut at = 0;
    while let (Some(kind), Some(len)) = (u16_at(extra, at), u16_at(extra, at + 2)) {
        let len = usize::from(len);
        if kind == 1 {
            let numbers = extra.get(at + 4..).and_then(|rest| rest.get(..len)).unwrap_or_default();
            return (0..len / 8).filter_map(|number| u64_at(numbers, number * 8)).collect();
        }
        at += 4 + len;
    }
    Vec::new()
}

/// Where a member's data begins, after its local header.
fn data_at(zip: &[u8], at: usize) -> Option<usize> {
    zip.get(at..)?.starts_with(&MAGIC).then_some(())?;
    let (name, extra) = (u16_at(zip, at + 26)?, u16_at(zip, at + 28)?);
    Some(at + 30 + usize::from(name) + usize::from(extra))
}

/// Adds the members from the front, each where the one before ends.
fn in_turn(zip: &[u8], unpacked: &mut Unpacking) {
    let mut at = 0;
    let cut = || io::Error::from(io::ErrorKind::UnexpectedEof);
    while zip.get(at..).is_some_and(|rest| rest.starts_with(&MAGIC)) {
        let header = (u16_at(zip, at + 6), u16_at(zip, at + 8), u32_at(zip, at + 18));
        let (Some(flags), Some(method), Some(size)) = header else { break };
        let Some(begin) = data_at(zip, at) else { break };
        let Some(name_len) = u16_at(zip, at + 26).map(usize::from) else { break };
        let Some(name) = zip.get(at + 30..at + 30 + name_len) else { break };
        let Some(rest) = zip.get(begin..) else { break };
        let extra = zip.get(at + 30 + name_len..begin).unwrap_or_default();
        let size = match size {
            u32::MAX => long_fields(extra).get(1).copied().unwrap_or_default(),
            size => u64::from(size),
        };
        let is_known = flags & SIZES_FOLLOW == 0;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let is_cut = size > rest.len();
        let packed = if is_known { rest.get(..size).unwrap_or(rest) } else { rest };
        let name = String::from_utf8_lossy(name).into_owned();
        let member = Member { name, method, flags, packed, is_cut, said: None };
        let taken = unpacked.add(&member);
        if unpacked.is_too_long || unpacked.stopped.is_some() {
            return;
        }
        let Some(taken) = taken.and_then(|taken| usize::try_from(taken).ok()).filter(|_| !is_known)
        else {
            if !is_known {
                break;
            }
            at = begin.saturating_add(size);
            continue;
        };
        // The sizes follow the data, with or without a signature.
        let behind = zip.get(begin + taken..).unwrap_or_default();
        let next = behind.windows(4).take(25).position(|bytes| bytes == MAGIC);
        let Some(next) = next else { break };
        at = begin + taken + next;
    }
    unpacked.stopped.get_or_insert_with(cut);
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

#[cfg(test)]
mod tests;
