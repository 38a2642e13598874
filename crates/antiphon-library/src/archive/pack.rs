//! Copies that are packed: a zstd frame for each block ([`antiphon_catalog::blocks`]), so that a
//! part can be read without the rest.
//!
//! Behind the last frame stands one that a decoder passes over. It says where each frame begins. A
//! file that goes on growing is unpacked first; where both forms are there, the plain one
//! counts.

use std::io::{self, Read, SeekFrom, Write};
use std::path::{Path, PathBuf};

use antiphon_catalog::{Block, LINE_BYTES_MAX, each_block};
use antiphon_sources::PACKED;
use zstd::zstd_safe::CParameter;

use super::bytes::{self, Bytes, Settled, Stored};
use super::sums::{Summing, Sums};

/// What a smaller file would save is not worth the work.
const WORTH_BYTES: u64 = 4 << 10;
/// Higher levels save little on transcripts, and packing is the largest part of a first `sync`.
const LEVEL: i32 = 1;
/// A whole block: the level's own would be half of one.
const WINDOW_LOG: u32 = 20;
/// How a frame begins that decoders pass over; its length follows.
const SKIPPED: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];
/// How the table of frames ends, after their number: the file was packed here.
const MARK: [u8; 4] = *b"aphn";
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const TABLE_END_BYTES: u64 = 8;
/// How much of a frame tells how long it is unpacked.
const FRAME_HEADER_BYTES: u64 = 18;

/// The name of a file's packed form.
pub(crate) fn packed(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PACKED);
    name.into()
}

/// The same of a name.
pub(super) fn packed_name(name: &str) -> String {
    format!("{name}{PACKED}")
}

/// Packs a file, if it is worth it. It is there in one form or the other at any moment. One that is
/// not what was written stays as it is: packing it would hide that.
pub(super) fn pack(bytes: &dyn Bytes, name: &str, known: Option<&Sums>) -> io::Result<()> {
    let plain = bytes.open(name)?;
    if bytes.len(name).unwrap_or_default() < WORTH_BYTES {
        return Ok(());
    }
    // The plain form is removed next: what stands for it must be on the disk.
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

/// What is said of a copy that is not what was written.
const DAMAGED: &str = "the copy is damaged";

/// Packs what is in memory, as the file of that name; false, if it is not worth it. Whoever asked
/// sees to it that it comes onto the disk.
pub(super) fn pack_new(bytes: &dyn Bytes, name: &str, all: &[u8]) -> io::Result<bool> {
    if (all.len() as u64) < WORTH_BYTES {
        return Ok(false);
    }
    write_packed(bytes, name, Settled::Later, |frames| {
        antiphon_catalog::blocks(all).try_for_each(|block| frames.add(block))
    })?;
    Ok(true)
}

/// Frames, as they are written.
struct Frames<'a> {
    compressor: zstd::bulk::Compressor<'a>,
    out: &'a mut dyn Write,
    written: u64,
    starts: Vec<u64>,
}

impl Frames<'_> {
    fn add(&mut self, block: &[u8]) -> io::Result<()> {
        let frame = self.compressor.compress(block)?;
        self.starts.push(self.written);
        self.written += frame.len() as u64;
        self.out.write_all(&frame)
    }
}

fn write_packed(
    bytes: &dyn Bytes,
    name: &str,
    settled: Settled,
    write: impl FnOnce(&mut Frames<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = bytes.create(&packed_name(name))?;
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
    // What was spoilt on the disk is an error, and not another text.
    compressor.set_parameter(CParameter::ChecksumFlag(true))?;
    let mut frames = Frames { compressor, out: &mut out, written: 0, starts: Vec::new() };
    write(&mut frames)?;
    let table = table(&frames.starts)?;
    frames.out.write_all(&table)?;
    drop(frames);
    out.put(settled)
}

/// The frame that says where the others begin.
fn table(starts: &[u64]) -> io::Result<Vec<u8>> {
    let mut table: Vec<u8> = starts.iter().flat_map(|start| start.to_le_bytes()).collect();
    table.extend(u32::try_from(starts.len()).map_err(io::Error::other)?.to_le_bytes());
    table.extend(MARK);
    let len = u32::try_from(table.len()).map_err(io::Error::other)?;
    Ok([&SKIPPED, &len.to_le_bytes()[..], &table].concat())
}

/// Where the frames of a packed file begin; `None`, if it was not packed here.
fn starts(file: &mut dyn Stored) -> io::Result<Option<Vec<u64>>> {
    let len = file.seek(SeekFrom::End(0))?;
    let Some(end) = len.checked_sub(TABLE_END_BYTES) else { return Ok(None) };
    let mut count = [0; 4];
    let mut mark = [0; 4];
    file.seek(SeekFrom::Start(end))?;
    file.read_exact(&mut count)?;
    file.read_exact(&mut mark)?;
    let bytes = u64::from(u32::from_le_bytes(count)) * 8;
    let Some(start) = end.checked_sub(bytes).filter(|_| mark == MARK) else { return Ok(None) };
    let mut table = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(bytes).read_to_end(&mut table)?;
    let (starts, _) = table.as_chunks();
    Ok(Some(starts.iter().map(|start| u64::from_le_bytes(*start)).collect()))
}

/// Whether the table of a file that was packed here says where its frames are, for a file of which
/// only the packed form is there.
pub(super) fn has_right_table(bytes: &dyn Bytes, name: &str) -> io::Result<bool> {
    Ok(right_table(&bytes::read(bytes, &packed_name(name))?)? == Some(true))
}

/// The same of packed bytes; nothing, if nothing stands behind the frames.
pub(super) fn right_table(bytes: &[u8]) -> io::Result<Option<bool>> {
    let (mut starts, mut rest) = (Vec::new(), bytes);
    while rest.starts_with(&ZSTD_MAGIC) {
        starts.push((bytes.len() - rest.len()) as u64);
        let len = zstd::zstd_safe::find_frame_compressed_size(rest);
        let len = len.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, DAMAGED))?;
        rest = rest.get(len..).unwrap_or_default();
    }
    Ok(if rest.is_empty() { None } else { Some(rest == table(&starts)?) })
}

/// The blocks with these numbers; all, where their places are not known. Others are left out.
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
    let Some(starts) = starts(&mut *file)? else {
        let mut bytes = Vec::new();
        file.rewind()?;
        zstd::stream::read::Decoder::new(file)?.read_to_end(&mut bytes)?;
        return Ok(vec![Block { offset: 0, bytes }]);
    };
    let (mut offset, mut blocks) = (0, Vec::new());
    let last = numbers.iter().max().map_or(0, |number| *number as usize + 1);
    for (at, start) in starts.iter().enumerate().take(last) {
        // The last frame is followed by the table, which a decoder passes over.
        let end = starts.get(at + 1).copied().unwrap_or(u64::MAX);
        let len = if is_wanted(at) { end.saturating_sub(*start) } else { FRAME_HEADER_BYTES };
        let mut frame = Vec::new();
        file.seek(SeekFrom::Start(*start))?;
        Read::by_ref(&mut file).take(len).read_to_end(&mut frame)?;
        let len = unpacked_len(&frame);
        if is_wanted(at) {
            let most = usize::try_from(len).unwrap_or_default();
            blocks.push(Block { offset, bytes: zstd::bulk::decompress(&frame, most)? });
        }
        offset += len;
    }
    Ok(blocks)
}

/// A frame says how long it is unpacked; no block is longer than a line may be.
fn unpacked_len(frame: &[u8]) -> u64 {
    let len = zstd::zstd_safe::get_frame_content_size(frame).ok().flatten().unwrap_or_default();
    len.min(LINE_BYTES_MAX as u64)
}

/// Whether a file is there only packed.
pub(super) fn is_packed(bytes: &dyn Bytes, name: &str) -> bool {
    bytes.len(name).is_none() && bytes.len(&packed_name(name)).is_some()
}

/// Unpacks a file that is there only packed, so that it can grow.
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

/// The last block of a packed file; all, if it was not packed here.
pub(crate) fn end(mut file: impl Stored) -> io::Result<Vec<u8>> {
    let last = starts(&mut file)?.and_then(|starts| starts.last().copied());
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
