//! Finding the sessions of every agent on this machine, and keeping what is new of them.
//!
//! Where an agent keeps its sessions is the format's to say ([`antiphon_formats::Kept`]). A session
//! whose files have the sizes and times that they had when it was last copied is not opened.

mod disks;
mod report;
mod settle;
mod sources;
mod stamp;

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use antiphon_catalog::Key;
use antiphon_model::on_every_processor;
use antiphon_sources::{Error, Nearby};

use crate::archive::{self, Copied, Depth, Done, Sizes, is_fresh};
use crate::{Environment, Store};
use settle::{Settling, Waiting};
use sources::{Found, Wanted, is_sub_agents, look, one_of_each};
use stamp::Stamp;

pub use report::SyncReport;
pub use sources::{SourceFolder, source_folders};
pub(crate) use sources::{files, main_files};

/// Says which readers could not read what was found; nothing was copied of it.
const UNREAD_FILE: &str = "unread";
/// Says what the files were like when they were last copied.
const STAMP_FILE: &str = "stamp";

/// What a round of keeping came to.
#[derive(Debug, Default)]
pub struct Synced {
    /// Sessions that were found.
    pub found: usize,
    /// Files that lie where sessions do and are none, as far as can be told.
    pub unread: usize,
    /// Those of them that were not seen before, and whose they should be.
    pub newly_unread: Vec<(PathBuf, &'static str)>,
    /// Files that were not copied for what they are (a link that leads elsewhere, a pipe), and why.
    pub skipped: Vec<(PathBuf, String)>,
    /// Sessions that had been begun to be forgotten, and now are.
    pub forgotten: Vec<String>,
    /// Those of which something was new.
    pub copied: usize,
    /// Those that another process is copying just now.
    pub busy: usize,
    pub failed: Vec<(PathBuf, Error)>,
    /// Files of sub-agents whose sessions are not there: they are not kept.
    pub orphans: Vec<PathBuf>,
}

/// Is handed what was copied, by whichever thread copied it.
pub(crate) trait Sink: Sync {
    /// A session whose copy is in that folder, and is all that there is. Its files, by their names,
    /// have just been written.
    fn kept(&self, folder: &Path, files: Vec<(String, Vec<u8>)>);
}

/// A session that was copied.
struct Kept {
    /// Whether anything of it was new; otherwise it was packed.
    is_new: bool,
    copied: Copied,
    folder: PathBuf,
    /// What says that it need not be looked at again, once it is on the disk.
    stamp: Option<Stamp>,
    /// Its files, if they are at hand.
    files: Option<Vec<(String, Vec<u8>)>>,
    skipped: Vec<(PathBuf, String)>,
}

/// The files beside main files that belong to sessions.
#[derive(Debug, Default)]
struct Taken(Mutex<BTreeSet<PathBuf>>);

impl Taken {
    fn add(&self, files: &Sizes) {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.extend(files.keys().cloned());
    }
}

/// What came of looking at a session.
enum Outcome {
    Kept(Kept),
    /// There is nothing new.
    Same,
    Busy,
    Unread {
        is_new: bool,
        skipped: Vec<(PathBuf, String)>,
    },
}

impl Synced {
    fn add(&mut self, wanted: &Wanted, outcome: Result<Outcome, Error>) {
        let file = || wanted.source.file.clone();
        match outcome {
            Ok(Outcome::Unread { is_new, skipped }) => {
                self.unread += 1;
                if skipped.is_empty() {
                    self.newly_unread.extend(is_new.then(|| (file(), wanted.source.agent)));
                }
                self.skipped.extend(skipped.into_iter().filter(|_| is_new));
                return;
            }
            Ok(Outcome::Kept(mut kept)) => {
                self.copied += usize::from(kept.is_new);
                self.skipped.append(&mut kept.skipped);
            }
            Ok(Outcome::Same) => {}
            Ok(Outcome::Busy) => self.busy += 1,
            Err(error) => self.failed.push((file(), error)),
        }
        self.found += 1;
    }
}

impl Kept {
    fn waiting(&mut self, source: &Path) -> Option<Waiting> {
        Some(Waiting {
            source: source.to_owned(),
            folder: self.folder.clone(),
            stamp_file: self.folder.join(STAMP_FILE),
            stamp: self.stamp.take()?.to_text(),
        })
    }

    fn hand_on(&mut self, sink: &dyn Sink) {
        let files = self.files.take().filter(|_| self.copied == Copied::All);
        files.into_iter().for_each(|files| sink.kept(&self.folder, files));
    }
}

/// One look at every session on this machine.
#[derive(Debug)]
pub(crate) struct Round<'a> {
    store: &'a Store,
    agent: Option<&'a str>,
    sources: Vec<Wanted>,
    /// Files beside main files of which no session is known yet.
    orphans: Vec<(PathBuf, &'static str)>,
    synced: Synced,
}

impl<'a> Round<'a> {
    /// Finishes what was begun to be forgotten, and looks for sessions.
    pub(crate) fn begin(
        store: &'a Store,
        environment: &Environment,
        agent: Option<&'a str>,
    ) -> Self {
        store.make_private();
        let mut synced = Synced::default();
        match store.finish_forgetting() {
            Ok(forgotten) => synced.forgotten = forgotten,
            Err(error) => synced.failed.push((store.root().to_owned(), error)),
        }
        let folders = source_folders(environment);
        let wanted = folders.iter().filter(|it| agent.is_none_or(|agent| agent == it.agent));
        let (mut found, mut orphans) = (Vec::new(), Vec::new());
        for folder in wanted {
            match look(folder) {
                Ok(Found { mut sessions, others, links }) => {
                    found.append(&mut sessions);
                    orphans.extend(others.into_iter().map(|path| (path, folder.agent)));
                    let why = "a link to a folder outside the agent's folder";
                    synced.skipped.extend(links.into_iter().map(|path| (path, why.to_owned())));
                }
                Err(error) => synced.failed.push((folder.path.clone(), error)),
            }
        }
        Self { store, agent, sources: one_of_each(found), orphans, synced }
    }

    /// Copies what is new of every session, on as many threads as there are processors. `each` is
    /// told after each session how many are done, of how many.
    pub(crate) fn keep(self, sink: &dyn Sink, each: &(dyn Fn(usize, usize) + Sync)) -> Synced {
        let Self { store, agent, sources, orphans, synced } = self;
        let synced = Mutex::new(synced);
        let taken = Taken::default();
        let done = AtomicUsize::new(0);
        let (settling, nearby) = (Settling::default(), Nearby::default());
        on_every_processor(&sources, |_, wanted| {
            let mut outcome = store.keep(wanted, &nearby, &taken);
            if let Ok(Outcome::Kept(kept)) = &mut outcome {
                kept.hand_on(sink);
                kept.waiting(&wanted.source.file).into_iter().for_each(|it| settling.add(it));
            }
            let mut synced = synced.lock().unwrap_or_else(PoisonError::into_inner);
            synced.add(wanted, outcome);
            drop(synced);
            each(done.fetch_add(1, Ordering::Relaxed) + 1, sources.len());
            ControlFlow::Continue(())
        });
        let mut synced = synced.into_inner().unwrap_or_else(PoisonError::into_inner);
        store.restore_records(agent);
        let taken = taken.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let left = orphans.into_iter().filter(|(path, _)| !taken.contains(path));
        let left = left.filter(|(path, agent)| is_sub_agents(path, agent));
        synced.orphans = left.map(|(path, _)| path).collect();
        synced.failed.append(&mut settling.finish());
        synced.failed.sort_by(|a, b| a.0.cmp(&b.0));
        synced.newly_unread.sort();
        synced.skipped.sort();
        synced
    }
}

impl Store {
    /// Copies a session, unless it is as it was.
    fn keep(&self, wanted: &Wanted, nearby: &Nearby, taken: &Taken) -> Result<Outcome, Error> {
        let Wanted { source, database, .. } = wanted;
        let key = Key::of(source.agent, &source.session_id);
        if self.is_forgotten(&key) {
            return Ok(Outcome::Same);
        }
        let folder = self.archive_folder(source.agent, &key);
        let stamp_file = folder.join(STAMP_FILE);
        let own = stamp::own(&source.file);
        let known = Stamp::read(&stamp_file);
        let others = known.others();
        taken.add(&others);
        let now = match database {
            Some((_, stamp)) => Stamp::of_text(stamp),
            None => known.now(&own, &others),
        };
        // Of a kept session the file may be anything now.
        let unread_file = folder.join(UNREAD_FILE);
        let is_kept = archive::is_kept(&folder);
        let unread_by = match is_kept {
            true => None,
            false => fs::read_to_string(&unread_file).ok(),
        };
        let was_unread = unread_by.as_deref() == Some(&*readers());
        if known == now && was_unread {
            return Ok(Outcome::Unread { is_new: false, skipped: Vec::new() });
        }
        // Newer readers may know what those before did not.
        let has_all = wanted.children().iter().all(|child| known.has(child));
        let is_new = known != now || !has_all || unread_by.is_some();
        // A copy that is not as it was left may be damaged: then all of it is compared.
        let is_marked = self.is_marked(&key);
        let is_doubted = is_marked || is_kept && known.doubts(&folder);
        let is_open = known.is_open && ![&own, &others].into_iter().any(is_fresh);
        if !is_new && !is_open && !is_doubted {
            return Ok(Outcome::Same);
        }
        let near = nearby.of(&source.file);
        let Done { copied, found, is_open, files, skipped } =
            self.archive_packed(source, wanted.known(&near), is_doubted)?;
        taken.add(&found);
        if is_marked && archive::damages(&folder, Depth::All).is_empty() {
            self.unmark(&key);
        }
        let write = |path: PathBuf, text: &str| {
            let written = archive::replace(&path, text.as_bytes());
            written.map_err(|error| Error::Write { path, source: error })
        };
        // What has changed meanwhile has another stamp, and is looked at next time.
        let stamp = if database.is_some() { now } else { Stamp::of(&own, &found) };
        let stamp = stamp.of_open(is_open).with_copies(&folder);
        let is_kept = archive::is_kept(&folder);
        Ok(match copied {
            Copied::Busy => Outcome::Busy,
            Copied::Unread => {
                write(stamp_file, &stamp.to_text())?;
                if is_kept {
                    return Ok(Outcome::Same);
                }
                write(unread_file, &readers())?;
                Outcome::Unread { is_new: !was_unread, skipped }
            }
            // Nothing was said yet.
            Copied::All if !is_kept => {
                write(stamp_file, &stamp.to_text())?;
                let _ = fs::remove_file(unread_file);
                Outcome::Same
            }
            Copied::All => {
                Outcome::Kept(Kept { is_new, copied, folder, stamp: Some(stamp), files, skipped })
            }
            Copied::Unfinished => {
                Outcome::Kept(Kept { is_new, copied, folder, stamp: None, files, skipped })
            }
        })
    }
}

/// The version of the readers, as it is written down.
fn readers() -> String {
    antiphon_formats::READERS.to_string()
}

#[cfg(test)]
mod tests;
