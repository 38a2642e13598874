//! The text of a file in chunks, for searching files of any length.
//!
//! Chunks overlap, so that whatever is at the end of one is complete in the next; and each chunk
//! says which part counts as its own, so that nothing is found twice. Unless lines are very long, a
//! chunk begins and ends with a line.

use std::io::{self, Read};
use std::path::Path;

use memchr::{memchr, memchr_iter, memrchr};

use super::{Form, Opened, Stopped, is_binary};
use crate::memory::Memory;
use crate::utf8::lossy;

const CHUNK_BYTES: usize = 16 << 20;
/// A match, with the context that it needs, must be shorter than half of this.
const OVERLAP_BYTES: usize = 1 << 20;

/// A part of a file's text.
#[derive(Debug)]
pub struct Chunk<'a> {
    pub text: &'a str,
    /// The number of its first line.
    pub line: usize,
    /// A match that begins before this belongs to the previous chunk.
    pub from: usize,
    /// A match that begins here or later belongs to the next chunk.
    pub to: usize,
}

/// Passes the text of a file, decompressed, to `each` in chunks; nothing, if it is not text.
pub fn each_chunk(path: &Path, each: impl FnMut(&Chunk<'_>)) -> io::Result<()> {
    let memory = Memory::allowed();
    let opened = Opened::open(path)?;
    let most = memory.unpacked(opened.len);
    match opened.form {
        Form::Plain => chunks(opened.source, (CHUNK_BYTES, OVERLAP_BYTES), each),
        Form::Zstd => {
            let unpacked = zstd::stream::read::Decoder::new(opened.source)?;
            chunks(
                Bounded { source: unpacked, left: most, most },
                (CHUNK_BYTES, OVERLAP_BYTES),
                each,
            )
        }
        Form::Zip => {
            let text = opened.members(memory)?;
            chunks(text.text.as_bytes(), (CHUNK_BYTES, OVERLAP_BYTES), each)?;
            text.stopped.map_or(Ok(()), |stopped| Err(stopped.into()))
        }
    }
}

/// Reads up to a limit; more is an error.
struct Bounded<R> {
    source: R,
    left: u64,
    most: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(out)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(Stopped::TooLong { most: self.most }.into()),
        }
        Ok(read)
    }
}

fn chunks(
    mut source: impl Read,
    (size, overlap): (usize, usize),
    mut each: impl FnMut(&Chunk<'_>),
) -> io::Result<()> {
    let mut bytes: Vec<u8> = Vec::new();
    let (mut line, mut from) = (1, 0);
    loop {
        let room = size.saturating_sub(bytes.len()) as u64;
        let read = source.by_ref().take(room).read_to_end(&mut bytes);
        // What came before an error is still searched.
        let is_last = read.as_ref().map_or(true, |&read| (read as u64) < room);
        let (end, to, next) = match is_last {
            true => (bytes.len(), bytes.len(), bytes.len()),
            false => cut(&bytes, overlap),
        };
        let text = lossy(bytes.get(..end).unwrap_or_default());
        if line == 1 && from == 0 && is_binary(&text) {
            return Ok(());
        }
        each(&Chunk { text: &text, line, from, to });
        if is_last {
            return read.map(drop);
        }
        line += memchr_iter(b'\n', bytes.get(..next).unwrap_or_default()).count();
        from = to - next;
        bytes.drain(..next);
    }
}

/// Where a chunk ends, up to where it counts, and where the next one begins: at line ends, if there
/// are any in the overlap.
fn cut(bytes: &[u8], overlap: usize) -> (usize, usize, usize) {
    let (start, middle) = (bytes.len().saturating_sub(overlap), bytes.len() - overlap / 2);
    let after = |at: usize, part: Option<usize>| part.map(|found| at + found + 1);
    let behind = bytes.get(middle..).unwrap_or_default();
    let before = bytes.get(start..middle).unwrap_or_default();
    let end = after(middle, memrchr(b'\n', behind)).unwrap_or(bytes.len());
    let next = after(start, memchr(b'\n', before)).unwrap_or(start);
    (end, middle, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every place of a word, by line, as it is found chunk by chunk.
    fn places(text: &str, word: &str) -> (Vec<usize>, usize) {
        let (mut found, mut count) = (Vec::new(), 0);
        chunks(text.as_bytes(), (1000, 200), |chunk| {
            count += 1;
            assert!(chunk.text.len() <= 1000);
            for (at, _) in chunk.text.match_indices(word) {
                if (chunk.from..chunk.to).contains(&at) {
                    found.push(chunk.line + chunk.text[..at].matches('\n').count());
                }
            }
        })
        .unwrap();
        (found, count)
    }

    #[test]
    fn what_is_in_a_text_is_found_once_whatever_the_pieces() {
        for width in [7, 50, 99, 333, 2000, 100_000] {
            for every in [1, 3, 17] {
                let line = |n: usize| match n % every {
                    0 => format!("{} needle-{n:03} \u{e9}\n", "x".repeat(width)),
                    _ => format!("{}\n", "\u{e9}".repeat(width / 2)),
                };
                let text: String = (0..60).map(line).collect();
                let (found, count) = places(&text, "needle-");
                let wanted: Vec<usize> = (0..60).step_by(every).map(|n| n + 1).collect();
                assert_eq!(found, wanted, "{width} {every}");
                assert!(count >= text.len() / 1000);
            }
        }
    }

    #[test]
    fn a_text_that_fits_is_one_piece() {
        assert_eq!(places("a needle-\n", "needle-"), (vec![1], 1));
        assert_eq!(places("", "needle-"), (vec![], 1));
        assert_eq!(places("\0 needle-", "needle-"), (vec![], 0), "no text");
    }
}
