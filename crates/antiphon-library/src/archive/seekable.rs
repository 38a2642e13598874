//! Zstandard's seekable format: frames that can be decompressed independently, followed by a table
//! of their lengths in a skippable frame.
//!
//! The table follows `contrib/seekable_format` of zstd, without the optional checksums, because
//! every frame has its own. Before the table there is a mark in another skippable frame. It says
//! that these frames are the blocks that the catalogue knows by number, which the frames of other
//! programs are not. Files of older versions have a different table; they are read, but no longer
//! written.

use std::io::{self, Read, SeekFrom, Write};

use zstd::zstd_safe::{self, CParameter};

use super::bytes::Stored;

/// Higher levels save little on transcripts, and compression takes most of the time of a first
/// `sync`.
const LEVEL: i32 = 1;
/// A whole block; the default of this level would be half a block.
const WINDOW_LOG: u32 = 20;
/// About as many entries as a block has words; the default of this level is an eighth of that, and
/// would miss most repetitions.
const HASH_LOG: u32 = 17;
pub(super) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The first bytes of a skippable frame; its length follows.
const SKIPPED: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];
/// The first bytes of the frame of a seek table.
const TABLE: [u8; 4] = [0x5e, 0x2a, 0x4d, 0x18];
/// The last bytes of a seek table.
const TABLE_END: [u8; 4] = [0xb1, 0xea, 0x92, 0x8f];
/// Marks the frames as blocks.
const MARK: [u8; 4] = *b"aphn";
/// The number of frames, a byte of flags, and the end.
const FOOTER_BYTES: u64 = 9;
const ENTRY_BYTES: u64 = 8;
const SKIPPED_HEADER_BYTES: u64 = 8;
/// The end of an older table: the number of frames, and the mark.
const OLD_FOOTER_BYTES: u64 = 8;
/// The part of a frame that contains its decompressed length.
const FRAME_HEADER_BYTES: u64 = 18;

/// The message for damaged compressed data.
const DAMAGED: &str = "the copy is damaged";

/// A frame: its position and its decompressed length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) start: u64,
    pub(super) len: u64,
    pub(super) content: u64,
}

/// Writes frames, and then their table.
pub(super) struct Frames<'a> {
    compressor: zstd::bulk::Compressor<'a>,
    out: &'a mut dyn Write,
    frames: Vec<Frame>,
}

impl<'a> Frames<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> io::Result<Self> {
        let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
        compressor.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
        compressor.set_parameter(CParameter::HashLog(HASH_LOG))?;
        // Damage on the disk becomes an error rather than a different text.
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Self { compressor, out, frames: Vec::new() })
    }

    pub(super) fn add(&mut self, block: &[u8]) -> io::Result<()> {
        let frame = self.compressor.compress(block)?;
        let start = self.frames.last().map_or(0, |last| last.start + last.len);
        let (len, content) = (frame.len() as u64, block.len() as u64);
        self.frames.push(Frame { start, len, content });
        self.out.write_all(&frame)
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.out.write_all(&table(&self.frames)?)
    }
}

/// Everything after the frames.
fn table(frames: &[Frame]) -> io::Result<Vec<u8>> {
    let number =
        |number: u64| u32::try_from(number).map(u32::to_le_bytes).map_err(io::Error::other);
    let mut table = Vec::new();
    for frame in frames {
        table.extend(number(frame.len)?);
        table.extend(number(frame.content)?);
    }
    table.extend(number(frames.len() as u64)?);
    // No flag is set: the entries have no checksums.
    table.push(0);
    table.extend(TABLE_END);
    let mark = [&SKIPPED[..], &number(MARK.len() as u64)?, &MARK].concat();
    Ok([&mark[..], &TABLE, &number(table.len() as u64)?, &table].concat())
}

/// The table as older versions wrote it.
fn old_table(frames: &[Frame]) -> io::Result<Vec<u8>> {
    let mut table: Vec<u8> = frames.iter().flat_map(|frame| frame.start.to_le_bytes()).collect();
    table.extend(u32::try_from(frames.len()).map_err(io::Error::other)?.to_le_bytes());
    table.extend(MARK);
    let len = u32::try_from(table.len()).map_err(io::Error::other)?;
    Ok([&SKIPPED, &len.to_le_bytes()[..], &table].concat())
}

/// The frames of a file according to its table; `None` if it has no table of ours.
pub(super) fn frames(file: &mut dyn Stored) -> io::Result<Option<Vec<Frame>>> {
    let end = file.seek(SeekFrom::End(0))?;
    match by_table(file, end)? {
        Some(frames) => Ok(Some(frames)),
        None => by_old_table(file, end),
    }
}

fn by_table(file: &mut dyn Stored, end: u64) -> io::Result<Option<Vec<Frame>>> {
    let Some(footer) = end.checked_sub(FOOTER_BYTES) else { return Ok(None) };
    let read = bytes_at(file, footer, FOOTER_BYTES)?;
    let Some((count, [0, magic @ ..])) = read.split_first_chunk() else { return Ok(None) };
    let entries = u64::from(u32::from_le_bytes(*count)) * ENTRY_BYTES;
    let mark = MARK.len() as u64 + SKIPPED_HEADER_BYTES;
    let begin = footer.checked_sub(entries + SKIPPED_HEADER_BYTES + mark);
    let Some(begin) = begin.filter(|_| *magic == TABLE_END) else { return Ok(None) };
    let read = bytes_at(file, begin, footer - begin)?;
    let entries = read.get(usize::try_from(mark + SKIPPED_HEADER_BYTES).unwrap_or_default()..);
    let (entries, _) = entries.unwrap_or_default().as_chunks::<4>();
    let (entries, _) = entries.as_chunks::<2>();
    let mut start = 0;
    let mut frames = Vec::with_capacity(entries.len());
    for [len, content] in entries {
        let len = u64::from(u32::from_le_bytes(*len));
        frames.push(Frame { start, len, content: u64::from(u32::from_le_bytes(*content)) });
        start += len;
    }
    // The bytes must be exactly the table of these frames.
    let is_ours = start == begin && table(&frames)?.starts_with(&read);
    Ok(is_ours.then_some(frames))
}

fn by_old_table(file: &mut dyn Stored, end: u64) -> io::Result<Option<Vec<Frame>>> {
    let Some(footer) = end.checked_sub(OLD_FOOTER_BYTES) else { return Ok(None) };
    let read = bytes_at(file, footer, OLD_FOOTER_BYTES)?;
    let Some((count, mark)) = read.split_first_chunk() else { return Ok(None) };
    let bytes = u64::from(u32::from_le_bytes(*count)) * 8;
    let Some(begin) = footer.checked_sub(bytes).filter(|_| *mark == MARK) else { return Ok(None) };
    let read = bytes_at(file, begin, bytes)?;
    let (starts, _) = read.as_chunks();
    let starts: Vec<u64> = starts.iter().map(|start| u64::from_le_bytes(*start)).collect();
    let behind = begin.saturating_sub(SKIPPED_HEADER_BYTES);
    let ends = starts.iter().skip(1).copied().chain([behind]);
    let mut frames = Vec::with_capacity(starts.len());
    for (&start, end) in starts.iter().zip(ends) {
        let header = bytes_at(file, start, FRAME_HEADER_BYTES)?;
        frames.push(Frame { start, len: end.saturating_sub(start), content: content(&header) });
    }
    Ok(Some(frames))
}

fn bytes_at(mut file: &mut dyn Stored, start: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    Read::by_ref(&mut file).take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The decompressed length that a frame states.
fn content(frame: &[u8]) -> u64 {
    zstd_safe::get_frame_content_size(frame).ok().flatten().unwrap_or_default()
}

/// The content of a frame, if it is not longer than `most` bytes.
pub(super) fn read(file: &mut dyn Stored, frame: &Frame, most: u64) -> io::Result<Vec<u8>> {
    let bytes = bytes_at(file, frame.start, frame.len)?;
    // Memory is allocated for the length that the frame states, because the table may be damaged.
    let len = content(&bytes).min(most);
    zstd::bulk::decompress(&bytes, usize::try_from(len).unwrap_or_default())
}

/// Whether the table after the frames is correct; `None` if there is none.
pub(super) fn right_table(bytes: &[u8]) -> io::Result<Option<bool>> {
    let (mut frames, mut rest) = (Vec::new(), bytes);
    while rest.starts_with(&ZSTD_MAGIC) {
        let len = zstd_safe::find_frame_compressed_size(rest);
        let len = len.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, DAMAGED))?;
        let start = (bytes.len() - rest.len()) as u64;
        frames.push(Frame { start, len: len as u64, content: content(rest) });
        rest = rest.get(len..).unwrap_or_default();
    }
    let is_right =
        |rest| Ok::<_, io::Error>(rest == table(&frames)? || rest == old_table(&frames)?);
    Ok(if rest.is_empty() { None } else { Some(is_right(rest)?) })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// Some frames, each of so many bytes, with a table or with an old one.
    fn written(contents: &[usize], is_old: bool) -> (Vec<u8>, Vec<Frame>) {
        let mut bytes = Vec::new();
        let mut frames = Frames::new(&mut bytes).unwrap();
        for &len in contents {
            let words: Vec<u8> = (0..len).map(|at| b'a' + u8::try_from(at % 26).unwrap()).collect();
            frames.add(&words).unwrap();
        }
        let known = frames.frames.clone();
        if !is_old {
            frames.finish().unwrap();
        } else {
            drop(frames);
            bytes.extend(old_table(&known).unwrap());
        }
        (bytes, known)
    }

    #[test]
    fn frames_are_found_by_the_table_of_either_form_and_decoders_skip_it() {
        for contents in [&[][..], &[10], &[1000, 5, 300_000, 1]] {
            for is_old in [false, true] {
                let (bytes, known) = written(contents, is_old);
                let mut file = Cursor::new(bytes.clone());
                assert_eq!(frames(&mut file).unwrap().unwrap(), known, "{contents:?} {is_old}");
                assert_eq!(right_table(&bytes).unwrap(), Some(true));
                let all = zstd::decode_all(&*bytes).unwrap();
                assert_eq!(all.len(), contents.iter().sum::<usize>());
                let mut read_all = Vec::new();
                for frame in &known {
                    read_all.extend(read(&mut file, frame, 1 << 20).unwrap());
                }
                assert_eq!(read_all, all);
            }
        }
    }

    #[test]
    fn the_table_is_that_of_the_published_format() {
        let (bytes, frames) = written(&[1000, 5], false);
        let len = |at: usize| u32::try_from(frames[at].len).unwrap().to_le_bytes();
        // Magic number and length of the skippable frame, two entries of compressed and
        // decompressed lengths, the number of frames, the descriptor, the seekable magic number.
        let table = [
            &0x184D_2A5E_u32.to_le_bytes()[..],
            &(2 * 8 + 9_u32).to_le_bytes(),
            &len(0),
            &1000_u32.to_le_bytes(),
            &len(1),
            &5_u32.to_le_bytes(),
            &2_u32.to_le_bytes(),
            &[0],
            &0x8F92_EAB1_u32.to_le_bytes(),
        ];
        assert!(bytes.ends_with(&table.concat()));
    }

    #[test]
    fn the_frames_of_another_program_are_not_taken_for_blocks() {
        let (bytes, frames) = written(&[1000, 5], false);
        let table = table(&frames).unwrap();
        let mark = SKIPPED.len() + 4 + MARK.len();
        let theirs = [&bytes[..bytes.len() - table.len()], &table[mark..]].concat();
        assert_eq!(self::frames(&mut Cursor::new(theirs)).unwrap(), None);
        let plain = zstd::encode_all(&b"words"[..], 1).unwrap();
        assert_eq!(self::frames(&mut Cursor::new(plain)).unwrap(), None);
    }

    #[test]
    fn every_flipped_bit_of_the_table_is_noticed() {
        let (bytes, frames) = written(&[1000, 5, 70], false);
        let begin = bytes.len() - table(&frames).unwrap().len();
        for bit in begin * 8..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(right_table(&bytes).unwrap_or_default(), Some(true), "{bit}");
        }
    }
}
