//! The bytes of an agent's file, unpacked where the agent has packed it.
//!
//! Codex packs rollouts that have gone cold as `.jsonl.zst`, and Inspect's logs are zips. A few
//! kilobytes can unpack to more than a machine has, so what is unpacked has an end; and a packed
//! file that is cut or damaged still gives what came before.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::thread::ScopedJoinHandle;

use antiphon_model::{Place, Problem, Severity};

use zstd::zstd_safe;

use crate::zip;

/// No session that was ever seen comes near this.
pub(crate) const MOST_BYTES: u64 = 2 << 30;

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The ending of a packed file's name; what it holds is called by the name without it.
pub const PACKED: &str = ".zst";

/// A file's text, and what kept it from being read whole.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) stopped: Option<Stopped>,
}

/// Why the end of a file is missing.
#[derive(Debug)]
pub(crate) enum Stopped {
    Packed(io::Error),
    TooLong,
    Unreadable(io::Error),
}

impl Stopped {
    /// At the end of what was read of a stream.
    pub(crate) fn at(&self, stream: u32, text: &str, name: &str) -> Problem {
        let (code, message) = match self {
            Self::Packed(error) => {
                ("packed", format!("`{name}` cannot be unpacked beyond this: {error}"))
            }
            Self::TooLong => {
                let gib = MOST_BYTES >> 30;
                (
                    "too-long",
                    format!("`{name}` unpacks to more than {gib} GiB; the rest is not read"),
                )
            }
            Self::Unreadable(error) => ("unreadable", format!("cannot read `{name}`: {error}")),
        };
        let lines = text.bytes().filter(|&byte| byte == b'\n').count();
        let place = Place { offset: text.len() as u64, len: 0, stream };
        Problem { severity: Severity::Error, code, line: lines as u64 + 1, message, place }
    }
}

impl Text {
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let bytes = fs::read(path)?;
        if bytes.starts_with(&zip::MAGIC) {
            let unpacked = zip::unpack(&bytes, MOST_BYTES);
            let stopped = unpacked.is_too_long.then_some(Stopped::TooLong);
            let stopped = stopped.or(unpacked.stopped.map(Stopped::Packed));
            return Ok(Self { text: unpacked.text, stopped });
        }
        if !bytes.starts_with(&ZSTD_MAGIC) {
            return Ok(Self { text: text(bytes), stopped: None });
        }
        let mut unpacked = Vec::new();
        let stopped = unpack(&bytes, MOST_BYTES, &mut unpacked)?;
        Ok(Self { text: text(unpacked), stopped })
    }
}

impl Text {
    /// Of bytes that are at hand; nothing, if they are packed.
    pub(crate) fn of(bytes: Vec<u8>) -> Option<Self> {
        let is_plain = !bytes.starts_with(&ZSTD_MAGIC);
        is_plain.then(|| Self { text: text(bytes), stopped: None })
    }
}

/// The bytes of a file, unpacked where it was packed.
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = fs::read(path)?;
    if !bytes.starts_with(&ZSTD_MAGIC) {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    match unpack(&bytes, MOST_BYTES, &mut unpacked)? {
        None => Ok(unpacked),
        Some(Stopped::Packed(error) | Stopped::Unreadable(error)) => Err(error),
        Some(Stopped::TooLong) => Err(io::ErrorKind::FileTooLarge.into()),
    }
}

/// The text of any file, unpacked; none of what is no text.
pub fn read_text(path: &Path) -> io::Result<Option<String>> {
    const HEAD_BYTES: usize = 8 << 10;
    let Text { text, .. } = Text::read(path)?;
    let is_binary = text.bytes().take(HEAD_BYTES).any(|byte| byte == 0);
    Ok((!is_binary).then_some(text))
}

/// How a file begins. What is not UTF-8 is replaced: only the shape matters here.
pub(crate) fn head(path: &Path, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(most).read_to_end(&mut bytes)?;
    if bytes.starts_with(&zip::MAGIC) {
        // Of what was cut here the members are found from the front.
        return Ok(zip::unpack(&bytes, most).text);
    }
    if bytes.starts_with(&ZSTD_MAGIC) {
        let packed = std::mem::take(&mut bytes);
        // That the packed head ends within a frame is no fault.
        unpack(&packed, most, &mut bytes)?;
    }
    Ok(text(bytes))
}

fn unpack(packed: &[u8], most: u64, unpacked: &mut Vec<u8>) -> io::Result<Option<Stopped>> {
    // At once is faster, where it is whole and fits.
    if let Some(whole) = unpack_at_once(packed, most) {
        *unpacked = whole;
        return Ok(None);
    }
    let decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
    let stopped = decoder.take(most + 1).read_to_end(unpacked).err().map(Stopped::Packed);
    if unpacked.len() as u64 > most {
        unpacked.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        return Ok(Some(Stopped::TooLong));
    }
    Ok(stopped)
}

/// Unpacks frames that say how long they are, some on every processor; nothing, if one does not say
/// so, or is not whole, or all are too long together.
fn unpack_at_once(packed: &[u8], most: u64) -> Option<Vec<u8>> {
    /// Who says more is not believed before it is seen.
    const RATIO_MAX: u64 = 256;
    const THREADS_MAX: usize = 4;
    /// What is shorter is done before another thread has begun.
    const WORTH_BYTES: u64 = 2 << 20;
    let mut frames = Vec::new();
    let mut rest = packed;
    while !rest.is_empty() {
        let len = zstd_safe::find_frame_compressed_size(rest).ok()?;
        let (frame, behind) = rest.split_at_checked(len)?;
        rest = behind;
        let len = zstd_safe::get_frame_content_size(frame).ok()??;
        // Some frames are there to be passed over.
        if len > 0 {
            frames.push((frame, len));
        }
    }
    let total = frames.iter().map(|(_, len)| *len).fold(0_u64, u64::saturating_add);
    if total > most.min((packed.len() as u64).saturating_mul(RATIO_MAX)) {
        return None;
    }
    let mut unpacked = vec![0; usize::try_from(total).ok()?];
    let mut room = &mut *unpacked;
    let mut work = Vec::new();
    for (frame, len) in frames {
        let (own, behind) = room.split_at_mut_checked(usize::try_from(len).ok()?)?;
        room = behind;
        work.push((frame, own));
    }
    // Whoever asks may be one of several; a few threads each are enough.
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let threads = if total < WORTH_BYTES { 1 } else { threads };
    let share = work.len().div_ceil(threads).max(1);
    let unpack = |share: &mut [(&[u8], &mut [u8])]| {
        share.iter_mut().all(|(frame, room)| {
            let written = zstd::bulk::decompress_to_buffer(frame, room);
            written.is_ok_and(|written| written == room.len())
        })
    };
    let is_whole = std::thread::scope(|scope| {
        let mut shares = work.chunks_mut(share);
        let first = shares.next();
        let start = |share| std::thread::Builder::new().spawn_scoped(scope, move || unpack(share));
        let others: Vec<_> = shares.map(start).collect();
        let is_whole = first.is_none_or(unpack);
        // One that could not be started leaves it to the slower way.
        let is_done = |other: io::Result<ScopedJoinHandle<'_, bool>>| {
            other.is_ok_and(|other| other.join().unwrap_or(false))
        };
        others.into_iter().fold(is_whole, |all, other| is_done(other) && all)
    });
    is_whole.then_some(unpacked)
}

/// The text of a file; a byte that is not UTF-8 is read as `?`, one for one, so that places hold.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let bytes = error.into_bytes();
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| '?'));
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_file_reads_as_what_was_packed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl.zst");
        let lines = "{\"a\":1}\n".repeat(10_000);
        fs::write(&path, zstd::encode_all(lines.as_bytes(), 3).unwrap()).unwrap();
        let read = Text::read(&path).unwrap();
        assert_eq!(read.text, lines);
        assert!(read.stopped.is_none());
        assert_eq!(head(&path, 100).unwrap().len(), 100);
    }

    #[test]
    fn a_packed_file_cut_anywhere_gives_what_came_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl.zst");
        let lines: String = (0..40_000).map(|n| format!("{{\"n\":{}}}\n", n * 7919)).collect();
        let packed = zstd::encode_all(lines.as_bytes(), 1).unwrap();
        for cut in (4..packed.len()).step_by(packed.len() / 9) {
            fs::write(&path, &packed[..cut]).unwrap();
            let read = Text::read(&path).unwrap();
            assert!(lines.starts_with(&read.text));
            let problem = read.stopped.unwrap().at(0, &read.text, "a.jsonl");
            assert_eq!(problem.code, "packed");
        }
        fs::write(&path, &packed[..packed.len() - 1]).unwrap();
        assert!(Text::read(&path).unwrap().text.len() > lines.len() / 2);
    }

    #[test]
    fn frames_are_unpacked_in_their_order() {
        let line = |number: usize| format!("{{\"n\":{}}}\n", number * 7919 % 1013);
        let lines = |number: usize| (0..number % 7 * 9000).map(line).collect::<String>();
        let (mut packed, mut wanted) = (Vec::new(), String::new());
        for number in 0..23 {
            wanted += &lines(number);
            packed.extend(zstd::bulk::compress(lines(number).as_bytes(), 1).unwrap());
        }
        let table = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        packed.extend(table);
        assert_eq!(unpack_at_once(&packed, 1 << 24).unwrap(), wanted.as_bytes());
        assert_eq!(unpack_at_once(&packed, 100), None, "too long");
        assert_eq!(unpack_at_once(&packed[..packed.len() - 30], 1 << 24), None, "cut");
        let at = packed.len() / 2;
        packed[at] ^= 0x55;
        let read = unpack_at_once(&packed, 1 << 24);
        assert!(read.is_none_or(|read| read.len() == wanted.len()), "damaged");
    }

    #[test]
    fn what_unpacks_without_end_is_cut() {
        let packed = zstd::encode_all(&*vec![0; 10 << 20], 3).unwrap();
        let mut unpacked = Vec::new();
        let stopped = unpack(&packed, 1 << 20, &mut unpacked).unwrap();
        assert!(matches!(stopped, Some(Stopped::TooLong)));
        assert_eq!(unpacked.len(), 1 << 20);
    }
}
