//! Locks on folders. Where folders cannot be locked, a file `lock` in them is.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use antiphon_journal::regular;

use super::bytes;

/// The name of the file that is locked where a folder cannot be.
pub(super) const LOCK_FILE: &str = "lock";

/// What to do where another process has a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Wait for it.
    Waits,
    /// Fail at once.
    None,
}

/// The lock. If another process has it, that is waited for, or an error.
pub(super) fn take(folder: &Path, patience: Patience) -> io::Result<File> {
    match patience {
        Patience::Waits => wait(folder),
        Patience::None => now(folder)?.ok_or_else(|| io::ErrorKind::WouldBlock.into()),
    }
}

/// Waits until nobody else has the lock.
pub(super) fn wait(folder: &Path) -> io::Result<File> {
    let locked = |file: io::Result<File>| file.and_then(|file| file.lock().map(|()| file));
    locked(File::open(folder)).or_else(|_| locked(lock_file(folder)))
}

/// The lock; nothing, if another process has it.
pub(super) fn now(folder: &Path) -> io::Result<Option<File>> {
    locked(File::open(folder), File::try_lock)
        .or_else(|_| locked(lock_file(folder), File::try_lock))
}

/// The same for one of several who only ask that nobody has the lock alone.
pub(super) fn shared_now(folder: &Path) -> io::Result<Option<File>> {
    locked(File::open(folder), File::try_lock_shared)
}

fn lock_file(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = bytes::private(options.write(true).create(true));
    regular::open_by(&folder.join(LOCK_FILE), options)
}

fn locked(
    file: io::Result<File>,
    lock: impl FnOnce(&File) -> Result<(), TryLockError>,
) -> io::Result<Option<File>> {
    let file = file?;
    match lock(&file) {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
