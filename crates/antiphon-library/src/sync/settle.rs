//! When copies are on the disk.
//!
//! A stamp says that a session need not be looked at again, so it is written when the copy is on
//! the disk. To wait for each file takes most disks longer than everything else that `sync` does:
//! where there are many they are waited for together.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::Error;
use crate::archive::replace;
use crate::bundle::list;

/// After a crash so many sessions, and no more, are looked at again.
const WAITING_MAX: usize = 256;
/// For fewer, whatever else the disk has to write is not waited for.
const TOGETHER_MIN: usize = 16;

/// A session whose files were written, and the stamp that says so.
pub(super) struct Waiting {
    pub(super) source: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) stamp_file: PathBuf,
    pub(super) stamp: String,
}

/// Sessions that wait for the disk.
pub(super) struct Settling<'a> {
    store: &'a Path,
    waiting: Mutex<Vec<Waiting>>,
    failed: Mutex<Vec<(PathBuf, Error)>>,
}

impl<'a> Settling<'a> {
    pub(super) fn new(store: &'a Path) -> Self {
        Self { store, waiting: Mutex::default(), failed: Mutex::default() }
    }

    pub(super) fn add(&self, session: Waiting) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(session);
        if waiting.len() >= WAITING_MAX {
            let enough = mem::take(&mut *waiting);
            drop(waiting);
            self.settle(enough);
        }
    }

    /// Settles what is left, and says what could not be.
    pub(super) fn finish(self) -> Vec<(PathBuf, Error)> {
        let left = mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        self.settle(left);
        self.failed.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self, sessions: Vec<Waiting>) {
        let are_written = sessions.len() >= TOGETHER_MIN && write_back_all(self.store);
        for Waiting { source, folder, stamp_file, stamp } in sessions {
            let written = if are_written { Ok(()) } else { write_back(folder) };
            let stamped = written.and_then(|()| {
                let stamped = replace(&stamp_file, stamp.as_bytes());
                stamped.map_err(|error| Error::Write { path: stamp_file, source: error })
            });
            if let Err(error) = stamped {
                let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.push((source, error));
            }
        }
    }
}

/// Waits for everything that the disk of a folder has to write; false, where that cannot be asked.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn write_back_all(folder: &Path) -> bool {
    File::open(folder).is_ok_and(|folder| rustix::fs::syncfs(folder).is_ok())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn write_back_all(_: &Path) -> bool {
    false
}

/// Waits for every file in a session's folder.
fn write_back(folder: PathBuf) -> Result<(), Error> {
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for path in list(&folder) {
            if path.is_dir() {
                folders.push(path);
            } else {
                sync(&path).map_err(|source| Error::Write { path, source })?;
            }
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "no log: a failure is told, and no stamp written")]
fn sync(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).open(path) {
        // Another process has replaced it, and waits for what it wrote.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        file => file?.sync_data(),
    }
}
