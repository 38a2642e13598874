//! Files in blocks: as many whole lines as fit into a megabyte, or one longer line.
//!
//! A packed copy has a frame for each block, and the catalogue has filters for the parts of each.
//! So a match in a filter is read without the rest of the file, and no word is split between two
//! blocks.

use std::io::{self, Read};

use memchr::{memchr, memrchr};

const BLOCK_BYTES: usize = 1 << 20;
/// The size of a part of a block, which is cut in the same way as blocks.
const PART_BYTES: usize = 256 << 10;
/// The length at which a longer line is cut, to bound memory.
pub const LINE_BYTES_MAX: usize = 64 << 20;

/// The length of the first block or part of these bytes, for a given size; `None` if more bytes are
/// needed to decide.
fn first(bytes: &[u8], size: usize, is_all: bool) -> Option<usize> {
    let Some((front, back)) = bytes.split_at_checked(size) else {
        return (is_all && !bytes.is_empty()).then_some(bytes.len());
    };
    let in_front = memrchr(b'\n', front).map(|at| at + 1);
    let end = in_front.or_else(|| memchr(b'\n', back).map(|at| size + at + 1));
    match end {
        Some(end) => Some(end.min(LINE_BYTES_MAX)),
        None if bytes.len() >= LINE_BYTES_MAX => Some(LINE_BYTES_MAX),
        None => is_all.then_some(bytes.len()),
    }
}

/// The blocks of bytes in memory.
pub fn blocks(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    cut(bytes, BLOCK_BYTES)
}

/// The parts of a block.
pub(crate) fn parts(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    cut(block, PART_BYTES)
}

fn cut(mut bytes: &[u8], size: usize) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (piece, rest) = bytes.split_at_checked(first(bytes, size, true)?)?;
        bytes = rest;
        Some(piece)
    })
}

/// Calls `each` with every block of what is read, in order.
pub fn each_block(
    mut from: impl Read,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(BLOCK_BYTES);
    let mut is_all = false;
    loop {
        while let Some(block) = first(&bytes, BLOCK_BYTES, is_all).and_then(|end| bytes.get(..end))
        {
            each(block)?;
            let len = block.len();
            bytes.drain(..len);
        }
        if is_all {
            return Ok(());
        }
        is_all = from.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut bytes)? == 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lens: &[usize]) -> Vec<u8> {
        let line = |len: &usize| [vec![b'x'; *len], b"\n".to_vec()].concat();
        lens.iter().flat_map(line).collect()
    }

    #[test]
    fn blocks_are_whole_lines_and_together_the_file() {
        let megabyte = 1 << 20;
        for lens in [
            vec![],
            vec![5],
            vec![megabyte - 1, 3],
            vec![megabyte, 3],
            vec![10, 3 * megabyte, 10],
            vec![100_000; 40],
        ] {
            let mut bytes = lines(&lens);
            bytes.extend(b"no newline at the end");
            let cut: Vec<&[u8]> = blocks(&bytes).collect();
            assert_eq!(cut.concat(), bytes);
            let (last, whole) = cut.split_last().unwrap();
            assert!(whole.iter().all(|block| block.ends_with(b"\n")), "{lens:?}");
            assert!(!last.is_empty());
            let mut read = Vec::new();
            each_block(&*bytes, |block| {
                read.push(block.to_vec());
                Ok(())
            })
            .unwrap();
            assert_eq!(read, cut, "{lens:?}");
        }
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let bytes = vec![b'x'; LINE_BYTES_MAX + 10];
        let lens: Vec<usize> = blocks(&bytes).map(<[u8]>::len).collect();
        assert_eq!(lens, [LINE_BYTES_MAX, 10]);
    }
}
