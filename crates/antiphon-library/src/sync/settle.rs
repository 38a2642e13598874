//! Making sure that copies are on the disk.
//!
//! A stamp says that a session need not be checked again, so it is written after the copy is on the
//! disk. On most disks, waiting for each file takes longer than everything else that `sync` does,
//! so with many files there is one wait for all.

use std::mem;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use antiphon_sources::Error;

use super::disks::Disks;
use crate::archive::{replace, write_back};

/// When this many sessions are waiting, the disk is waited for.
const WAITING_MAX: usize = 256;
/// For fewer sessions, their files are synced one by one rather than the whole disk.
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

    /// Waits for the rest, and returns what failed.
    pub(super) fn finish(self) -> Vec<(PathBuf, Error)> {
        let left = mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        self.settle(left);
        self.failed.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self, sessions: Vec<Waiting>) {
        let are_written = sessions.len() >= TOGETHER_MIN && self.disks.write_back();
        for Waiting { source, folder, stamp_file, stamp } in sessions {
            // It may have been deleted meanwhile.
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
