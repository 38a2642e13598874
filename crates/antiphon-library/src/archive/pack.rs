//! Copies that are packed: zstd in frames of a megabyte, so that an end can be read without the
//! rest.
//!
//! Behind the last frame stands one that a decoder passes over. It says where the last frame
//! begins. A file that goes on growing is unpacked first; where both forms are there, the plain one
//! counts.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::copy::private;
use crate::file::PACKED;

const FRAME_BYTES: usize = 1 << 20;
/// What a smaller file would save is not worth the work.
const WORTH_BYTES: u64 = 4 << 10;
const LEVEL: i32 = 3;
/// A frame that decoders pass over, of eight bytes.
const TRAILER: [u8; 8] = [0x50, 0x2a, 0x4d, 0x18, 8, 0, 0, 0];
const TRAILER_BYTES: usize = 16;

/// The name of a file's packed form.
pub(crate) fn packed(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PACKED);
    name.into()
}

/// Packs a file, if it is worth it. It is there in one form or the other at any moment.
pub(super) fn pack(path: &Path) -> io::Result<()> {
    let mut plain = File::open(path)?;
    if plain.metadata()?.len() < WORTH_BYTES {
        return Ok(());
    }
    let to = packed(path);
    write_new(&to, |out| {
        let mut chunk = Vec::with_capacity(FRAME_BYTES);
        let (mut written, mut last) = (0, 0);
        loop {
            chunk.clear();
            Read::by_ref(&mut plain).take(FRAME_BYTES as u64).read_to_end(&mut chunk)?;
            if chunk.is_empty() {
                break;
            }
            let frame = zstd::bulk::compress(&chunk, LEVEL)?;
            out.write_all(&frame)?;
            last = written;
            written += frame.len() as u64;
        }
        out.write_all(&TRAILER)?;
        out.write_all(&last.to_le_bytes())
    })?;
    fs::remove_file(path)
}

/// Whether a file is there only packed.
pub(super) fn is_packed(path: &Path) -> bool {
    !path.exists() && packed(path).is_file()
}

/// Unpacks a file that is there only packed, so that it can grow.
pub(super) fn unpack(path: &Path) -> io::Result<()> {
    if !is_packed(path) {
        return Ok(());
    }
    let from = packed(path);
    let mut decoder = zstd::stream::read::Decoder::new(File::open(&from)?)?;
    write_new(path, |out| io::copy(&mut decoder, out).map(drop))?;
    fs::remove_file(&from)
}

/// Writes a file that is whole when it has its name.
#[expect(clippy::disallowed_methods, reason = "no log: there is one sync, and its failure is told")]
fn write_new(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(name);
    let mut options = OpenOptions::new();
    let mut file = private(options.write(true).create(true).truncate(true)).open(&new)?;
    // The plain form is removed next: what stands for it must be on the disk.
    let written = write(&mut file).and_then(|()| file.sync_data());
    let written = written.and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// The last bytes of a packed file, from a place at most a frame before its end; all, if it was not
/// packed here.
pub(crate) fn end(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    let mut start = 0;
    if len > TRAILER_BYTES as u64 {
        let mut trailer = [0; TRAILER_BYTES];
        file.seek(SeekFrom::End(-(TRAILER_BYTES as i64)))?;
        file.read_exact(&mut trailer)?;
        if let Some(offset) = trailer.strip_prefix(&TRAILER)
            && let Ok(offset) = offset.try_into().map(u64::from_le_bytes)
            && offset < len
        {
            start = offset;
        }
    }
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    zstd::stream::read::Decoder::new(file)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_after_packing_and_unpacking() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        for len in [0, 100, 5000, FRAME_BYTES, 2 * FRAME_BYTES + 7] {
            let text: Vec<u8> = (0..len).map(|at| b'a' + u8::try_from(at % 7).unwrap()).collect();
            fs::write(&path, &text).unwrap();
            pack(&path).unwrap();
            assert_eq!(path.exists(), (len as u64) < WORTH_BYTES);
            if !path.exists() {
                let end = end(&packed(&path)).unwrap();
                assert!(text.ends_with(&end) && !end.is_empty());
                assert!(end.len() <= FRAME_BYTES);
            }
            unpack(&path).unwrap();
            assert_eq!(fs::read(&path).unwrap(), text);
            assert!(!packed(&path).exists());
        }
    }
}
