//! Splitting a stream into lines: on 0x0A alone, in large blocks, within bounded memory.

use std::io::{self, Read};

use crate::seal::Sealed;

/// The longest line that is read or written.
pub const LINE_BYTES_MAX: usize = 64 << 20;

const BLOCK_BYTES: usize = 256 << 10;

/// A line as it was found, without its newline.
#[derive(Debug)]
pub struct RawLine<'a> {
    /// Empty for a line that is too long; `len` is still its length.
    pub bytes: &'a [u8],
    pub len: u64,
    pub offset: u64,
    /// From 1.
    pub number: u64,
    /// Whether a newline follows. Only the last line can lack it.
    pub terminated: bool,
    /// The result of checking its seal, if that was done already.
    pub(crate) sealed: Option<Sealed>,
}

/// The lines of a stream, one at a time.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// Where the bytes begin that have not been returned yet.
    start: usize,
    end: usize,
    /// The buffer is known to contain no newline up to here.
    searched: usize,
    /// The offset in the stream of `buffer[start]`.
    offset: u64,
    number: u64,
    at_end: bool,
}

impl<R: Read> Lines<R> {
    pub fn new(source: R) -> Self {
        Self::starting_at(source, 0, 0)
    }

    /// The lines of a source that begins at `offset`, after `number` lines.
    pub(crate) fn starting_at(source: R, offset: u64, number: u64) -> Self {
        let buffer = vec![0; BLOCK_BYTES];
        Self { source, buffer, start: 0, end: 0, searched: 0, offset, number, at_end: false }
    }

    /// The next line; at the end of the stream also one without a newline, if it has any bytes.
    pub fn next_line(&mut self) -> io::Result<Option<RawLine<'_>>> {
        loop {
            let unsearched = self.buffer.get(self.searched..self.end).unwrap_or_default();
            if let Some(found) = memchr::memchr(b'\n', unsearched) {
                let newline = self.searched + found;
                return Ok(Some(self.give(newline, true)));
            }
            self.searched = self.end;
            if self.at_end {
                if self.start == self.end {
                    return Ok(None);
                }
                return Ok(Some(self.give(self.end, false)));
            }
            if self.end - self.start > LINE_BYTES_MAX {
                return self.skip_long_line().map(Some);
            }
            self.fill()?;
        }
    }

    /// The next line, if it is in the buffer already: nothing is read.
    pub fn line_at_hand(&mut self) -> Option<RawLine<'_>> {
        let unsearched = self.buffer.get(self.searched..self.end).unwrap_or_default();
        let found = memchr::memchr(b'\n', unsearched);
        match found {
            Some(found) => Some(self.give(self.searched + found, true)),
            None => {
                self.searched = self.end;
                None
            }
        }
    }

    /// Where the lines returned so far end.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    fn give(&mut self, line_end: usize, terminated: bool) -> RawLine<'_> {
        let (start, offset) = (self.start, self.offset);
        let next = line_end + usize::from(terminated);
        self.offset += (next - start) as u64;
        self.number += 1;
        self.start = next;
        self.searched = next;
        let bytes = self.buffer.get(start..line_end).unwrap_or_default();
        let len = bytes.len() as u64;
        RawLine { bytes, len, offset, number: self.number, terminated, sealed: None }
    }

    fn fill(&mut self) -> io::Result<()> {
        // Bytes are moved to the front only when there is no more room after them.
        if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            self.searched -= self.start;
            self.end -= self.start;
            self.start = 0;
            if self.end == self.buffer.len() {
                // No more than the longest line that is kept, and a block.
                let len = (self.buffer.len() * 2).min(LINE_BYTES_MAX + BLOCK_BYTES);
                self.buffer.resize(len, 0);
            }
        }
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        let count = loop {
            match self.source.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.end += count;
        self.at_end = count == 0;
        Ok(())
    }

    /// Skips the rest of a line that is too long to keep.
    fn skip_long_line(&mut self) -> io::Result<RawLine<'_>> {
        let offset = self.offset;
        let mut len = (self.end - self.start) as u64;
        self.start = 0;
        self.buffer.truncate(BLOCK_BYTES);
        self.buffer.shrink_to_fit();
        let terminated = loop {
            self.end = 0;
            self.fill()?;
            let block = self.buffer.get(..self.end).unwrap_or_default();
            if let Some(newline) = memchr::memchr(b'\n', block) {
                len += newline as u64;
                self.start = newline + 1;
                break true;
            }
            len += block.len() as u64;
            if self.at_end {
                self.start = self.end;
                break false;
            }
        };
        self.searched = self.start;
        self.offset = offset + len + u64::from(terminated);
        self.number += 1;
        Ok(RawLine { bytes: &[], len, offset, number: self.number, terminated, sealed: None })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives a few bytes at a time, so that lines cross every border.
    struct Dribble<'a>(&'a [u8], usize);

    impl Read for Dribble<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(out.len());
            let (now, later) = self.0.split_at(count);
            out[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }

    proptest! {
        #[test]
        fn lines_are_those_of_split_whatever_the_blocks(
            text in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..400),
            step in 1_usize..50,
        ) {
            let mut lines = Lines::new(Dribble(&text, step));
            let mut found = Vec::new();
            while let Some(line) = lines.next_line().unwrap() {
                let start = usize::try_from(line.offset).unwrap();
                prop_assert_eq!(&text[start..start + line.bytes.len()], line.bytes);
                found.push((line.number, line.bytes.to_vec(), line.terminated));
            }
            let mut wanted: Vec<_> = text.split(|&byte| byte == b'\n').collect();
            let last = wanted.pop().unwrap();
            let mut wanted: Vec<_> = wanted.into_iter().map(|line| (line, true)).collect();
            if !last.is_empty() {
                wanted.push((last, false));
            }
            let numbered = (1..).zip(wanted);
            let wanted: Vec<_> = numbered.map(|(n, (line, t))| (n, line.to_vec(), t)).collect();
            prop_assert_eq!(found, wanted);
        }
    }

    #[test]
    fn a_line_too_long_is_measured_and_passed_over() {
        let long = io::repeat(b'x').take(LINE_BYTES_MAX as u64 + 700_000);
        let mut lines = Lines::new((&b"a\n"[..]).chain(long).chain(&b"\nb"[..]));
        assert_eq!(lines.next_line().unwrap().unwrap().bytes, b"a");
        let long = lines.next_line().unwrap().unwrap();
        assert_eq!((long.bytes, long.len), (&b""[..], LINE_BYTES_MAX as u64 + 700_000));
        assert_eq!((long.offset, long.terminated), (2, true));
        let last = lines.next_line().unwrap().unwrap();
        assert_eq!((last.bytes, last.number, last.terminated), (&b"b"[..], 3, false));
        assert!(lines.next_line().unwrap().is_none());
        assert!(lines.buffer.len() <= BLOCK_BYTES, "the room for it is given back");
    }
}
