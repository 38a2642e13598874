//! Finding the sessions of every agent on this machine, and keeping what is new of them.
//!
//! Where an agent keeps its sessions is the format's to say ([`antiphon_formats::Kept`]). A session
//! whose files have the sizes and times that they had when it was last copied is not opened.

mod sources;
pub(crate) mod stamp;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::archive::{self, Copied};
use crate::{Environment, Error, Key, Store};
use sources::{Wanted, one_of_each, sessions};
use stamp::Stamp;

pub use sources::{SourceFolder, main_files, source_folders};

/// What a round of keeping came to.
#[derive(Debug, Default)]
pub struct Synced {
    /// Sessions that were found.
    pub found: usize,
    /// Those of which something was new.
    pub copied: usize,
    /// Those that another process is copying just now.
    pub busy: usize,
    pub failed: Vec<(PathBuf, Error)>,
}

impl Store {
    /// Copies what is new of every session, on as many threads as there are processors. `each` is
    /// told after each session how many are done, of how many.
    pub fn sync(
        &self,
        environment: &Environment,
        agent: Option<&str>,
        each: &(dyn Fn(usize, usize) + Sync),
    ) -> Synced {
        let folders = source_folders(environment);
        let wanted = folders.iter().filter(|it| agent.is_none_or(|agent| agent == it.agent));
        let (mut found, mut failed) = (Vec::new(), Vec::new());
        for folder in wanted {
            match sessions(folder) {
                Ok(mut sessions) => found.append(&mut sessions),
                Err(error) => failed.push((folder.path.clone(), error)),
            }
        }
        let sources = one_of_each(found);
        let synced = Mutex::new(Synced { found: sources.len(), failed, ..Synced::default() });
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads.min(sources.len()) {
                scope.spawn(|| {
                    while let Some(wanted) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let outcome = self.keep(wanted);
                        let mut synced = synced.lock().unwrap_or_else(PoisonError::into_inner);
                        match outcome {
                            Ok(None) => {}
                            Ok(Some(Copied::All | Copied::Unfinished)) => synced.copied += 1,
                            Ok(Some(Copied::Busy)) => synced.busy += 1,
                            Err(error) => synced.failed.push((wanted.source.file.clone(), error)),
                        }
                        drop(synced);
                        each(done.fetch_add(1, Ordering::Relaxed) + 1, sources.len());
                    }
                });
            }
        });
        let mut synced = synced.into_inner().unwrap_or_else(PoisonError::into_inner);
        synced.failed.sort_by(|a, b| a.0.cmp(&b.0));
        synced
    }

    /// Copies a session, unless it is as it was.
    fn keep(
        &self,
        wanted @ Wanted { source, database, .. }: &Wanted,
    ) -> Result<Option<Copied>, Error> {
        let key = Key::of(source.agent, &source.session_id);
        if self.is_forgotten(&key) {
            return Ok(None);
        }
        let folder = self.archive_folder(source.agent, &key);
        let stamp_file = folder.join("stamp");
        let own = stamp::own(&source.file);
        let known = Stamp::read(&stamp_file);
        let now = match database {
            Some((_, stamp)) => Stamp::of_text(stamp),
            None => known.now(&own),
        };
        if known == now && wanted.children().iter().all(|child| known.has(child)) {
            return Ok(None);
        }
        let (copied, found) = self.archive_packed(source, wanted.known())?;
        if copied == Copied::All {
            // What has changed meanwhile has another stamp, and is looked at next time.
            let stamp = if database.is_some() { now } else { Stamp::of(&own, &found) };
            archive::replace(&stamp_file, stamp.to_text().as_bytes())
                .map_err(|error| Error::Write { path: stamp_file, source: error })?;
            self.note_digest(&folder);
        }
        Ok(Some(copied))
    }
}

#[cfg(test)]
mod tests;
