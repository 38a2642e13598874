//! The few things that the journal asks of a file system, behind a trait, so that tests can make
//! each of them fail.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use crate::regular;

/// Whether opening a file creates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// Creates it; it must not exist.
    New,
    /// Creates it if it does not exist.
    IfMissing,
}

/// A file system.
pub trait Disk: Debug + Send + Sync {
    /// Opens a log for appending.
    fn append(&self, path: &Path, creation: Creation) -> io::Result<Box<dyn LogFile>>;
    fn read(&self, path: &Path) -> io::Result<Box<dyn Read + Send>>;

    /// Opens a file for reading, from an offset on.
    fn read_from(&self, path: &Path, offset: u64) -> io::Result<Box<dyn Read + Send>>;
    /// Reads up to `len` bytes from `offset` on.
    fn read_at(&self, path: &Path, offset: u64, len: usize) -> io::Result<Vec<u8>>;
    /// Gives a file its final name, atomically.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file that never got its final name.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names of new files in `folder` durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// A log that is open for appending. Writing and syncing may happen on different threads.
pub trait LogFile: Debug + Send + Sync {
    /// One `write(2)`, which may write fewer bytes than it is given.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;
    /// Makes what was written durable. After a failure it is never called again on this file.
    fn sync(&self) -> io::Result<()>;
}

/// The machine's own file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsDisk;

impl Disk for OsDisk {
    fn append(&self, path: &Path, creation: Creation) -> io::Result<Box<dyn LogFile>> {
        let mut options = OpenOptions::new();
        match creation {
            Creation::New => options.append(true).create_new(true),
            Creation::IfMissing => options.append(true).create(true),
        };
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Box::new(OsFile(regular::open_by(path, &mut options)?)))
    }

    fn read(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(regular::open(path)?))
    }

    fn read_from(&self, path: &Path, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        let mut file = regular::open(path)?;
        file.seek(io::SeekFrom::Start(offset))?;
        Ok(Box::new(file))
    }

    fn read_at(&self, path: &Path, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        regular::read_range(path, offset..offset.saturating_add(len as u64))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that syncs")]
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }
}

#[derive(Debug)]
struct OsFile(File);

impl LogFile for OsFile {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        (&self.0).write(bytes)
    }

    // On macOS the standard library uses F_FULLFSYNC here, which surviving a power cut requires.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that syncs")]
    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}
