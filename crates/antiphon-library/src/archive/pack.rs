//! Compressed copies: a zstd frame for each block ([`antiphon_catalog::blocks`]), so that a part
//! can be read without the rest.
//!
//! The frames are followed by a seek table ([`seekable`]). A file that continues to grow is
//! decompressed first; if both forms exist, the uncompressed one counts.

use std::io::{self, Read, SeekFrom};
use std::path::{Path, PathBuf};

use antiphon_catalog::{Block, LINE_BYTES_MAX, each_block};
use antiphon_sources::COMPRESSED_SUFFIX;

use super::bytes::{self, Bytes, Settled, Stored};
use super::seekable::{self, Frames};
use super::sums::{Summing, Sums};

/// Compressing a smaller file would save too little.
const WORTH_BYTES: u64 = 4 << 10;
/// The first bytes of a zip file.
const ZIP_MAGIC: [u8; 4] = *b"PK\x03\x04";

/// The path of the compressed form of a file.
pub(crate) fn packed(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(COMPRESSED_SUFFIX);
    name.into()
}

/// The name of the compressed form of a file.
pub(super) fn packed_name(name: &str) -> String {
    format!("{name}{COMPRESSED_SUFFIX}")
}

/// Compresses a file, if that is worth it. At every moment it exists in one form or the other. A
/// damaged file is left as it is, because compressing it would hide the damage.
pub(super) fn pack(bytes: &dyn Bytes, name: &str, known: Option<&Sums>) -> io::Result<()> {
    let plain = bytes.open(name)?;
    if bytes.len(name).unwrap_or_default() < WORTH_BYTES {
        return Ok(());
    }
    // The uncompressed form is removed next, so the compressed one must be on the disk.
    write_packed(bytes, name, Settled::First, |frames| {
        let mut summing = Summing::default();
        each_block(plain, |block| {
            summing.add(block);
            frames.add(block)
        })?;
        match known.is_none_or(|known| *known == summing.finish()) {
            true => Ok(()),
            false => Err(io::Error::new(io::ErrorKind::InvalidData, DAMAGED)),
        }
    })?;
    bytes.remove(name)
}

/// The message for a damaged copy.
const DAMAGED: &str = "the copy is damaged";

/// Compresses bytes in memory as the file of this name; returns `false` if that is not worth it.
/// The caller makes sure that it reaches the disk.
pub(super) fn pack_new(bytes: &dyn Bytes, name: &str, all: &[u8]) -> io::Result<bool> {
    if (all.len() as u64) < WORTH_BYTES {
        return Ok(false);
    }
    write_packed(bytes, name, Settled::Later, |frames| {
        antiphon_catalog::blocks(all).try_for_each(|block| frames.add(block))
    })?;
    Ok(true)
}

fn write_packed(
    bytes: &dyn Bytes,
    name: &str,
    settled: Settled,
    write: impl FnOnce(&mut Frames<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = bytes.create(&packed_name(name))?;
    let mut frames = Frames::new(&mut out)?;
    write(&mut frames)?;
    frames.finish()?;
    out.put(settled)
}

/// Whether the seek table is correct, for a file that exists only in compressed form.
pub(super) fn has_right_table(bytes: &dyn Bytes, name: &str) -> io::Result<bool> {
    Ok(seekable::right_table(&bytes::read(bytes, &packed_name(name))?)? == Some(true))
}

/// The blocks with these numbers; all blocks, if their places are not known. Numbers that do not
/// exist are ignored.
pub(crate) fn blocks(bytes: &dyn Bytes, name: &str, numbers: &[u32]) -> io::Result<Vec<Block>> {
    let (mut file, is_packed) = match bytes.open(name) {
        Ok(file) => (file, false),
        Err(_) => (bytes.open(&packed_name(name))?, true),
    };
    let is_wanted = |at: usize| numbers.iter().any(|&number| number as usize == at);
    if !is_packed {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mut offset = 0;
        let blocks = antiphon_catalog::blocks(&bytes).map(|block| {
            let own = offset;
            offset += block.len() as u64;
            Block { offset: own, bytes: block.to_vec() }
        });
        return Ok(blocks.enumerate().filter(|(at, _)| is_wanted(*at)).map(|(_, it)| it).collect());
    }
    let Some(frames) = seekable::frames(&mut *file)? else {
        let mut bytes = Vec::new();
        file.rewind()?;
        zstd::stream::read::Decoder::new(file)?.read_to_end(&mut bytes)?;
        return Ok(vec![Block { offset: 0, bytes }]);
    };
    let (mut offset, mut blocks) = (0, Vec::new());
    for (at, frame) in frames.iter().enumerate() {
        if is_wanted(at) {
            // No block is longer than the longest line.
            let bytes = seekable::read(&mut *file, frame, LINE_BYTES_MAX as u64)?;
            blocks.push(Block { offset, bytes });
        }
        offset += frame.content;
    }
    Ok(blocks)
}

/// Whether a file exists only in compressed form.
pub(super) fn is_packed(bytes: &dyn Bytes, name: &str) -> bool {
    bytes.len(name).is_none() && bytes.len(&packed_name(name)).is_some()
}

/// Decompresses a file that exists only in compressed form, so that it can grow.
pub(super) fn unpack(bytes: &dyn Bytes, name: &str) -> io::Result<()> {
    if !is_packed(bytes, name) {
        return Ok(());
    }
    let from = packed_name(name);
    let mut decoder = zstd::stream::read::Decoder::new(bytes.open(&from)?)?;
    let mut out = bytes.create(name)?;
    io::copy(&mut decoder, &mut out)?;
    out.put(Settled::First)?;
    bytes.remove(&from)
}

/// Whether bytes are compressed, in any format.
pub(super) fn is_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(&seekable::ZSTD_MAGIC) || bytes.starts_with(&ZIP_MAGIC)
}

/// The last block of a compressed file; all of it, if it has no seek table of ours.
pub(crate) fn end(mut file: impl Stored) -> io::Result<Vec<u8>> {
    let last = seekable::frames(&mut file)?.and_then(|frames| Some(frames.last()?.start));
    file.seek(SeekFrom::Start(last.unwrap_or_default()))?;
    let mut bytes = Vec::new();
    zstd::stream::read::Decoder::new(file)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::bytes::Folder;
    use super::*;

    #[test]
    fn a_file_is_the_same_after_packing_and_unpacking() {
        let folder = tempfile::tempdir().unwrap();
        let (path, name) = (folder.path().join("a.jsonl"), "a.jsonl");
        let bytes = &Folder::new(folder.path());
        for lines in [0, 10, 100, 20_000, 50_000] {
            let text: String =
                (0..lines).map(|at| format!("{{\"line\":{at},\"a\":\"some words\"}}\n")).collect();
            let text = text.into_bytes();
            fs::write(&path, &text).unwrap();
            pack(bytes, name, Some(&Sums::of(&text))).unwrap();
            assert_eq!(path.exists(), (text.len() as u64) < WORTH_BYTES);
            if !path.exists() {
                assert!(has_right_table(bytes, name).unwrap());
                let end = end(bytes.open(&packed_name(name)).unwrap()).unwrap();
                assert!(text.ends_with(&end) && !end.is_empty());
            }
            let cut = antiphon_catalog::blocks(&text).map(|block| Block {
                offset: block.as_ptr().addr() as u64 - text.as_ptr().addr() as u64,
                bytes: block.to_vec(),
            });
            let mut cut: Vec<Block> = cut.collect();
            let all: Vec<u32> = (0..9).collect();
            assert_eq!(
                blocks(bytes, name, &all).unwrap(),
                cut,
                "packed or not, blocks are the same"
            );
            let second: Vec<Block> = cut.drain(..).skip(1).take(1).collect();
            assert_eq!(blocks(bytes, name, &[1]).unwrap(), second);
            unpack(bytes, name).unwrap();
            assert_eq!(fs::read(&path).unwrap(), text);
            assert!(!packed(&path).exists());
        }
    }
}
