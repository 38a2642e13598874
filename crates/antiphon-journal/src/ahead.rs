//! Reading ahead: while the lines of one block are decoded and folded, another thread reads the
//! next ones and checks their seals.
//!
//! Hashing takes about as long as decoding, and neither depends on the other, so on two processors
//! a long log is read in little more than half the time. Memory stays bounded: only a few blocks
//! are in flight, and each is reused.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use crate::lines::{Lines, RawLine};
use crate::seal::{self, Sealed};

/// A block is passed on when it contains this much, or a single longer line.
const BLOCK_BYTES: usize = 1 << 20;
/// How many blocks may wait to be decoded.
const WAITING: usize = 3;

/// Complete lines, and the results of checking their seals.
#[derive(Debug, Default)]
struct Block {
    bytes: Vec<u8>,
    lines: Vec<Checked>,
}

#[derive(Debug)]
struct Checked {
    range: Range<usize>,
    len: u64,
    offset: u64,
    number: u64,
    terminated: bool,
    sealed: Option<Sealed>,
}

impl Block {
    fn add(&mut self, line: &RawLine<'_>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(line.bytes);
        // The first line may begin with a byte order mark, which is no part of it.
        let sealed = (line.number > 1).then(|| seal::check(without_carriage_return(line.bytes)));
        let &RawLine { len, offset, number, terminated, .. } = line;
        let range = start..self.bytes.len();
        self.lines.push(Checked { range, len, offset, number, terminated, sealed });
    }

    fn each(&self, take: &mut dyn FnMut(&RawLine<'_>)) {
        for line in &self.lines {
            let &Checked { len, offset, number, terminated, sealed, .. } = line;
            let bytes = self.bytes.get(line.range.clone()).unwrap_or_default();
            take(&RawLine { bytes, len, offset, number, terminated, sealed });
        }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.lines.clear();
    }
}

/// Some programs end lines with a carriage return as well; the line is still the same.
pub(crate) fn without_carriage_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Passes every line to `take`, in order, and returns where they end.
pub(crate) fn read(
    mut lines: Lines<impl Read + Send>,
    take: &mut dyn FnMut(&RawLine<'_>),
) -> io::Result<u64> {
    let mut first = Block::default();
    // A short log is read before a thread would have started.
    let has_more = fill(&mut first, &mut lines);
    if !matches!(has_more, Ok(true)) {
        first.each(take);
        return has_more.map(|_| lines.offset());
    }
    let (full, blocks) = sync_channel(WAITING);
    let (used, empty) = channel();
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || read_on(lines, &full, &empty));
        first.each(take);
        hand_back(first, &used);
        while let Ok(block) = blocks.recv() {
            block.each(take);
            hand_back(block, &used);
        }
        reader.join().unwrap_or_else(|_| Err(io::Error::other("a thread died while it read")))
    })
}

fn read_on<R: Read>(
    mut lines: Lines<R>,
    full: &SyncSender<Block>,
    empty: &Receiver<Block>,
) -> io::Result<u64> {
    loop {
        let mut block = empty.try_recv().unwrap_or_default();
        // What came before an error is still passed on.
        let has_more = fill(&mut block, &mut lines);
        if full.send(block).is_err() || !matches!(has_more, Ok(true)) {
            return has_more.map(|_| lines.offset());
        }
    }
}

/// Fills a block; returns whether more may come.
fn fill<R: Read>(block: &mut Block, lines: &mut Lines<R>) -> io::Result<bool> {
    while block.bytes.len() < BLOCK_BYTES {
        match lines.next_line()? {
            Some(line) => block.add(&line),
            None => return Ok(false),
        }
    }
    Ok(true)
}

fn hand_back(mut block: Block, used: &Sender<Block>) {
    block.clear();
    // The reader may have finished already.
    let _ = used.send(block);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that fails after its content.
    struct Fails<'b>(&'b [u8]);

    impl Read for Fails<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::other("the disk is gone")),
                count => Ok(count),
            }
        }
    }

    fn texts(source: impl Read + Send) -> (Vec<(u64, u64, String)>, io::Result<u64>) {
        let mut found = Vec::new();
        let end = read(Lines::new(source), &mut |line| {
            let text = String::from_utf8_lossy(line.bytes).into_owned();
            found.push((line.number, line.offset, text));
        });
        (found, end)
    }

    #[test]
    fn lines_are_those_that_are_read_one_by_one() {
        let long = "x".repeat(3 * BLOCK_BYTES);
        for count in [0, 1, 2, 50_000] {
            let text: String = (0..count).map(|n| format!("{{\"line\":{n}}}\n")).collect();
            for text in [text.clone(), text.clone() + "torn", format!("{text}{long}\n{text}")] {
                let mut one_by_one = Vec::new();
                let mut lines = Lines::new(text.as_bytes());
                while let Some(line) = lines.next_line().unwrap() {
                    let text = String::from_utf8_lossy(line.bytes).into_owned();
                    one_by_one.push((line.number, line.offset, text));
                }
                let (found, end) = texts(text.as_bytes());
                assert!(found == one_by_one, "{count} lines");
                assert_eq!(end.unwrap(), text.len() as u64);
            }
        }
    }

    #[test]
    fn an_error_comes_behind_the_lines_before_it() {
        let text = "{\"a\":1}\n".repeat(400_000);
        let (found, end) = texts(Fails(text.as_bytes()));
        assert!(end.is_err());
        assert_eq!(found.len(), 400_000);
    }
}
