//! When copies are on the disk.
//!
//! A stamp says that a session need not be looked at again, so it is written when the copy is on
//! the disk. To wait for each file takes most disks longer than everything else that `sync` does:
//! where there are many they are waited for together.

use std::mem;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use antiphon_sources::Error;

use super::disks::Disks;
use crate::archive::{replace, write_back};

/// When so many sessions wait, they are settled.
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
#[derive(Default)]
pub(super) struct Settling {
    waiting: Mutex<Vec<Waiting>>,
    disks: Disks,
    failed: Mutex<Vec<(PathBuf, Error)>>,
}

impl Settling {
    pub(super) fn add(&self, session: Waiting) {
        self.disks.note(&session.folder);
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
        let are_written = sessions.len() >= TOGETHER_MIN && self.disks.write_back();
        for Waiting { source, folder, stamp_file, stamp } in sessions {
            // It may have been forgotten meanwhile.
            if !folder.is_dir() {
                continue;
            }
            let written = match are_written {
                true => Ok(()),
                false => write_back(&folder)
                    .map_err(|source| Error::Write { path: folder.clone(), source }),
            };
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
