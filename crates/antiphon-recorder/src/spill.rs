//! A file without a name for output that does not fit into the scribe's memory.
//!
//! Everything else that reaches the disk has been redacted; this has not been yet. So the file is
//! readable by the user only, has no name from the beginning, and is encrypted with a key that
//! exists only in this process's memory. Reader and writer go through one key stream, forwards; no
//! part of it is ever used twice, because nothing is ever overwritten.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use chacha20::ChaCha20Legacy;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};

/// How much room is left for the log on the same disk.
const LEAVE_FREE: u64 = 256 << 20;
/// How often the free space is checked, and space that was read is freed.
const STEP: u64 = 16 << 20;

/// The writer's end.
pub(crate) struct SpillWriter {
    file: Arc<File>,
    cipher: ChaCha20Legacy,
    at: u64,
    checked: u64,
}

/// The reader's end.
pub(crate) struct SpillReader {
    file: Arc<File>,
    cipher: ChaCha20Legacy,
    at: u64,
    freed: u64,
}

impl std::fmt::Debug for SpillReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SpillReader({})", self.at)
    }
}

/// Creates a spill in a folder.
pub(crate) fn create(folder: &Path) -> io::Result<(SpillWriter, SpillReader)> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    // The counter has 64 bits, so that the key stream does not end after 256 GiB; the key is new,
    // so any nonce will do.
    let cipher = || ChaCha20Legacy::new(&key.into(), &[0; 8].into());
    let file = Arc::new(nameless(folder)?);
    let writer = SpillWriter { file: Arc::clone(&file), cipher: cipher(), at: 0, checked: 0 };
    Ok((writer, SpillReader { file, cipher: cipher(), at: 0, freed: 0 }))
}

fn nameless(folder: &Path) -> io::Result<File> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!(".spill-{}-{count}", std::process::id()));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    let file = options.open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

impl SpillWriter {
    /// Writes all of it, or nothing; in that case the piece is unchanged.
    pub(crate) fn write(&mut self, piece: &mut [u8]) -> io::Result<()> {
        self.look_for_room()?;
        self.cipher.apply_keystream(piece);
        if let Err(error) = self.file.write_all_at(piece, self.at) {
            self.cipher.try_seek(self.at).map_err(io::Error::other)?;
            self.cipher.apply_keystream(piece);
            self.cipher.try_seek(self.at).map_err(io::Error::other)?;
            return Err(error);
        }
        self.at += piece.len() as u64;
        Ok(())
    }

    fn look_for_room(&mut self) -> io::Result<()> {
        if self.at >= self.checked {
            let disk = rustix::fs::fstatvfs(&*self.file)?;
            if disk.f_bavail.saturating_mul(disk.f_frsize) < LEAVE_FREE {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.checked = self.at + STEP;
        }
        Ok(())
    }
}

impl SpillReader {
    /// Reads the next `len` bytes that were written.
    pub(crate) fn read(&mut self, len: usize) -> io::Result<Vec<u8>> {
        let mut piece = vec![0; len];
        self.file.read_exact_at(&mut piece, self.at)?;
        self.cipher.apply_keystream(&mut piece);
        self.at += len as u64;
        if self.at - self.freed >= STEP {
            self.free();
        }
        Ok(piece)
    }

    /// Frees the space of what was read, if the system supports that.
    #[cfg(target_os = "linux")]
    fn free(&mut self) {
        use rustix::fs::{FallocateFlags, fallocate};
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let _ = fallocate(&*self.file, how, self.freed, self.at - self.freed);
        self.freed = self.at;
    }

    #[cfg(not(target_os = "linux"))]
    fn free(&mut self) {
        self.freed = self.at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spilled_comes_back_and_nobody_can_read_it_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let (mut writer, mut reader) = create(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "it has no name");
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&writer.file.metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        let words = b"a secret, a secret, a secret".repeat(1000);
        for _ in 0..3 {
            writer.write(&mut words.clone()).unwrap();
        }
        let mut stored = vec![0; words.len() * 3];
        writer.file.read_exact_at(&mut stored, 0).unwrap();
        assert_eq!(memchr::memmem::find(&stored, b"secret"), None);
        let (first, second) = stored.split_at(words.len());
        assert_ne!(first, &second[..words.len()], "no part of the key stream is used twice");
        // In other pieces than it was written.
        let mut back = reader.read(10).unwrap();
        back.extend(reader.read(words.len() * 3 - 10).unwrap());
        assert_eq!(back, words.repeat(3));
    }

    #[test]
    fn a_write_that_fails_leaves_everything_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (mut writer, mut reader) = create(folder.path()).unwrap();
        writer.write(&mut b"before ".to_vec()).unwrap();
        let path = folder.path().join("read-only");
        std::fs::write(&path, "").unwrap();
        let whole = std::mem::replace(&mut writer.file, Arc::new(File::open(&path).unwrap()));
        let mut piece = b"piece".to_vec();
        assert!(writer.write(&mut piece).is_err());
        assert_eq!(piece, b"piece");
        writer.file = whole;
        writer.write(&mut piece).unwrap();
        assert_eq!(reader.read(12).unwrap(), b"before piece");
    }
}
