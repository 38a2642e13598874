//! One writer per session: a file beside the log, locked for as long as the writer lives.
//!
//! The kernel releases the lock when its holder dies, so there is nothing stale to clean up. The
//! file says who holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use antiphon_model::Activity;

use crate::{Error, regular};

/// Held while a log is being written.
#[derive(Debug)]
pub(crate) struct Lock {
    file: Option<File>,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock at `path` for the log at `log`, waiting at most `wait` for another holder.
    pub(crate) fn take(
        path: &Path,
        log: &Path,
        holder: &str,
        wait: Duration,
    ) -> Result<Self, Error> {
        let begun = Instant::now();
        loop {
            let mut file = open(path).map_err(|source| Error::open(path, source))?;
            match file.try_lock() {
                Ok(()) if is_still_there(&file, path) => {
                    // A lock without its holder's name is still a lock.
                    let _ = sign(&mut file, holder);
                    return Ok(Self { file: Some(file), path: path.to_owned() });
                }
                // The previous holder removed the file between our opening and locking it.
                Ok(()) => {}
                Err(TryLockError::Error(source)) => return Err(Error::open(path, source)),
                Err(TryLockError::WouldBlock) if begun.elapsed() >= wait => {
                    return Err(Error::Locked { path: log.to_owned(), holder: read(&mut file) });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }
}

impl Lock {
    /// Releases the lock and leaves the file there.
    pub(crate) fn abandon(&mut self) {
        self.file.take();
    }
}

/// What the lock says about its writer: it is active, or it died holding the lock. A writer that
/// ends removes the file, and then nothing is known.
pub(crate) fn activity(path: &Path) -> Activity {
    let Ok(file) = regular::open_by(path, OpenOptions::new().read(true).write(true)) else {
        return Activity::Unknown;
    };
    // Released at once; another process that tries at this moment tries again.
    match file.try_lock() {
        Ok(()) => Activity::Gone,
        Err(TryLockError::WouldBlock) => Activity::Writing,
        Err(TryLockError::Error(_)) => Activity::Unknown,
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is still locked, so that a waiting process notices and creates a new
        // one. If a locked file cannot be removed, it stays, unlocked, and does no harm. If another
        // process has removed it, the file that is there now is not ours.
        if self.file.as_ref().is_some_and(|file| is_still_there(file, &self.path)) {
            let _ = std::fs::remove_file(&self.path);
        }
        self.file.take();
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    regular::open_by(path, &mut options)
}

#[cfg(unix)]
fn is_still_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(ours), Ok(there)) = (file.metadata(), std::fs::metadata(path)) else {
        return false;
    };
    (ours.dev(), ours.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn is_still_there(_: &File, path: &Path) -> bool {
    path.exists()
}

fn sign(file: &mut File, holder: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(format!("process {} ({holder})\n", std::process::id()).as_bytes())
}

fn read(file: &mut File) -> String {
    let mut text = String::new();
    let _ = file.rewind().and_then(|()| file.take(200).read_to_string(&mut text));
    match text.trim() {
        "" => "another process".to_owned(),
        holder => holder.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_that_was_removed_is_none_even_if_there_is_another_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let waiting = open(&path).unwrap();
        assert!(is_still_there(&waiting, &path));
        // What happens between the opening and the locking of one that waits.
        let holder = Lock::take(&path, &path, "holder", Duration::ZERO).unwrap();
        drop(holder);
        assert!(!is_still_there(&waiting, &path));
        let next = Lock::take(&path, &path, "next", Duration::ZERO).unwrap();
        assert!(!is_still_there(&waiting, &path));
        assert!(waiting.try_lock().is_ok(), "it could be locked, and would lock nothing");
        drop(next);
    }
}
