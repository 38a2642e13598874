//! Finding the sessions of every agent on this machine, and keeping what is new of them.
//!
//! Where an agent keeps its sessions is the format's to say ([`antiphon_formats::Kept`]). A session
//! whose files have the sizes and times that they had when it was last copied is not opened.

mod before;
mod brief;
mod disks;
mod keep;
mod packing;
mod report;
mod settle;
mod sources;
mod stamp;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use antiphon_model::on_every_processor;
use antiphon_sources::{Error, FolderListings};

use crate::archive::{Copied, Incoming, PACKS, Packs, Patience, STAMP_FILE, Sizes, called};
use crate::stored::{Place, archived};
use crate::{Environment, Store};
use before::Before;
pub(crate) use brief::{Brief, Time};
use packing::Packing;
use settle::{Settling, Waiting};
use sources::{Found, Wanted, is_sub_agents, look, one_of_each};
use stamp::Stamp;

pub use report::SyncReport;
pub use sources::{SourceFolder, source_folders};
pub(crate) use sources::{files, main_files};

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
    /// A session whose copy is at that place, or will be, and is all that there is. Its files, by
    /// their names, have just been copied. `name` is what it is called where it says nothing
    /// itself.
    fn kept(&self, place: &Place, name: &str, files: Vec<(String, Vec<u8>)>);
}

/// A session that was copied.
struct Kept {
    /// Whether anything of it was new; otherwise it was packed.
    is_new: bool,
    copied: Copied,
    folder: PathBuf,
    /// What is to be packed.
    incoming: Option<Incoming>,
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
        if files.is_empty() {
            return;
        }
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.extend(files.keys().cloned());
    }
}

/// What came of looking at a session.
enum Outcome {
    Kept(Box<Kept>),
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

    fn hand_on(&mut self, session_id: &str, sink: &dyn Sink) {
        let Some(files) = self.files.take().filter(|_| self.copied == Copied::All) else { return };
        let place = match &self.incoming {
            Some(Incoming { entry, folder, .. }) => {
                let (key, hash) = (entry.key.clone(), entry.hash());
                Some(Place::packed(folder.clone(), key, &entry.agent, entry.time, hash))
            }
            None => archived(&self.folder),
        };
        let Some(place) = place else { return };
        let name = called(session_id, &place.key);
        sink.kept(&place, &name, files);
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
    taken: Taken,
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
        if let Err(source) = store.repair_packs() {
            let path = store.root().join(PACKS);
            synced.failed.push((path.clone(), Error::Write { path, source }));
        }
        match store.finish_forgetting() {
            Ok(forgotten) => synced.forgotten = forgotten,
            Err(error) => synced.failed.push((store.root().to_owned(), error)),
        }
        Self::look(store, environment, agent, synced)
    }

    /// Looks for sessions.
    fn look(
        store: &'a Store,
        environment: &Environment,
        agent: Option<&'a str>,
        mut synced: Synced,
    ) -> Self {
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
        let (sources, taken) = (one_of_each(found), Taken::default());
        Self { store, agent, sources, orphans, synced, taken }
    }

    /// Copies what is new of every session, on as many threads as there are processors. `each` is
    /// told after each session how many are done, of how many.
    pub(crate) fn keep(self, sink: &dyn Sink, each: &(dyn Fn(usize, usize) + Sync)) -> Synced {
        let Self { store, agent, sources, orphans, synced, taken } = self;
        let synced = Mutex::new(synced);
        let done = AtomicUsize::new(0);
        let (settling, nearby) = (Settling::default(), FolderListings::default());
        let (packing, before) = (Packing::new(store, Patience::Waits), Before::of(store));
        on_every_processor(&sources, |_, wanted| {
            let mut outcome = store.keep(wanted, &before, &nearby, &taken);
            if let Ok(Outcome::Kept(kept)) = &mut outcome {
                kept.hand_on(&wanted.source.session_id, sink);
                kept.incoming.take().into_iter().for_each(|it| packing.add(it));
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
        synced.failed.append(&mut packing.finish());
        // Whoever cannot write this looks at them once more.
        let _ = Packs::leave(store.root());
        synced.failed.append(&mut settling.finish());
        synced.failed.sort_by(|a, b| a.0.cmp(&b.0));
        synced.newly_unread.sort();
        synced.skipped.sort();
        synced
    }
}

#[cfg(test)]
mod tests;
