//! One session that was found: whether anything of it is new, and where its copy goes.

use std::fs;
use std::path::PathBuf;

use antiphon_catalog::Key;
use antiphon_journal::regular;
use antiphon_sources::{Error, FolderListing, FolderListings};

use super::before::Before;
use super::sources::Wanted;
use super::stamp::{self, Stamp};
use super::{Kept, Outcome, Taken};
use crate::Store;
use crate::archive::{
    self, Copied, Copies, Depth, Done, Incoming, SMALL_BYTES_MAX, STAMP_FILE, Sizes, entry_of,
    is_fresh,
};

/// Says which readers could not read what was found; nothing was copied of it.
const UNREAD_FILE: &str = "unread";

/// What a look at a session came to, before anything is copied.
pub(super) enum Looked<'a> {
    /// There is nothing to copy.
    Settled(Outcome),
    New(Box<Found<'a>>),
}

/// A session of which something may be new.
pub(super) struct Found<'a> {
    store: &'a Store,
    wanted: &'a Wanted,
    taken: &'a Taken,
    key: Key,
    folder: PathBuf,
    /// Its main file and those in its own folder, as they are now.
    own: Sizes,
    /// What says how its sources are, if they do not change meanwhile.
    now: Stamp,
    is_kept: bool,
    is_new: bool,
    /// Whether these readers could not read it before.
    was_unread: bool,
    is_marked: bool,
    is_doubted: bool,
}

impl Store {
    /// Copies a session, unless it is as it was.
    pub(super) fn keep(
        &self,
        wanted: &Wanted,
        before: &Before,
        nearby: &FolderListings,
        taken: &Taken,
    ) -> Result<Outcome, Error> {
        match self.look_at(wanted, before, taken) {
            Looked::Settled(outcome) => Ok(outcome),
            Looked::New(found) => found.keep(&nearby.of(&wanted.source.file)),
        }
    }

    /// Looks whether something of a session is new.
    pub(super) fn look_at<'a>(
        &'a self,
        wanted: &'a Wanted,
        before: &Before,
        taken: &'a Taken,
    ) -> Looked<'a> {
        let same = || Looked::Settled(Outcome::Same);
        let Wanted { source, .. } = wanted;
        let key = Key::of(source.agent, &source.session_id);
        let own = stamp::own(&source.file, wanted.has_folder);
        if let Some(known) = before.stamp(&key).map(|text| Stamp::parse(&text)) {
            let others = known.others();
            taken.add(&others);
            if wanted.children().iter().all(|child| known.has(child))
                && known == wanted.stamp(&known, &own, &others)
                && !known.is_open
            {
                return same();
            }
        }
        let folder = self.archive_folder(source.agent, &key);
        if before.is_unknown(&key) {
            return Looked::New(Box::new(Found::new(self, wanted, taken, key, folder, own)));
        }
        if self.is_forgotten(&key) {
            return same();
        }
        let copies = Copies::at(&folder);
        let known = Stamp::read(&copies);
        let others = known.others();
        taken.add(&others);
        let now = wanted.stamp(&known, &own, &others);
        // Of a kept session the file may be anything now.
        let is_kept = copies.are_kept();
        let unread_by = match is_kept {
            true => None,
            false => regular::read_text(&folder.join(UNREAD_FILE)).ok(),
        };
        let was_unread = unread_by.as_deref() == Some(&*readers());
        if known == now && was_unread {
            return Looked::Settled(Outcome::Unread { is_new: false, skipped: Vec::new() });
        }
        // Newer readers may know what those before did not.
        let has_all = wanted.children().iter().all(|child| known.has(child));
        let is_new = known != now || !has_all || unread_by.is_some();
        // A copy that is not as it was left may be damaged: then all of it is compared.
        let is_marked = self.is_marked(&key);
        let is_doubted = is_marked || is_kept && known.doubts(&copies);
        let is_open = known.is_open && ![&own, &others].into_iter().any(is_fresh);
        if !is_new && !is_open && !is_doubted {
            return same();
        }
        let found = Found::new(self, wanted, taken, key, folder, own);
        let found = Found { now, is_kept, is_new, was_unread, is_marked, is_doubted, ..found };
        Looked::New(Box::new(found))
    }
}

impl Wanted {
    /// What its sources are like now, as far as is known where they are.
    fn stamp(&self, known: &Stamp, own: &Sizes, others: &Sizes) -> Stamp {
        match &self.database {
            Some((_, stamp)) => Stamp::of_text(stamp),
            None => known.now(own, others),
        }
    }
}

impl<'a> Found<'a> {
    pub(super) fn wanted(&self) -> &'a Wanted {
        self.wanted
    }

    /// Whether there is a copy of it.
    pub(super) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// One of which nothing is kept.
    fn new(
        store: &'a Store,
        wanted: &'a Wanted,
        taken: &'a Taken,
        key: Key,
        folder: PathBuf,
        own: Sizes,
    ) -> Self {
        let now = wanted.stamp(&Stamp::default(), &own, &Sizes::new());
        let (is_kept, is_new, was_unread) = (false, true, false);
        let (is_marked, is_doubted) = (false, false);
        Self {
            store,
            wanted,
            taken,
            key,
            folder,
            own,
            now,
            is_kept,
            is_new,
            was_unread,
            is_marked,
            is_doubted,
        }
    }
}

impl Found<'_> {
    /// How long its own files are.
    pub(super) fn len(&self) -> u64 {
        self.own.values().map(|(len, _)| len).sum()
    }

    /// When the last of its own files changed.
    pub(super) fn changed(&self) -> u128 {
        self.own.values().map(|(_, nanos)| *nanos).max().unwrap_or_default()
    }

    /// Whether its source has something that its copy lacks. Otherwise the copy is to be packed or
    /// compared.
    pub(super) fn is_newer(&self) -> bool {
        self.is_new
    }

    pub(super) fn keep(self, near: &FolderListing) -> Result<Outcome, Error> {
        let len = self.len();
        if !self.is_kept && len <= SMALL_BYTES_MAX && !self.folder.exists() {
            let small = self.store.archive_small(&self.wanted.source, self.wanted.known(near));
            if let Some((done, entry)) = small {
                self.taken.add(&done.found);
                let stamp = self.stamp(&done.found);
                let incoming = Incoming { entry, folder: self.folder.clone(), has_folder: false };
                return Ok(self.packed(incoming, &stamp, done));
            }
        }
        self.keep_in_folder(near)
    }

    /// What the sources were like when they were copied. What has changed meanwhile has another
    /// stamp, and is looked at next time.
    fn stamp(&self, found: &Sizes) -> Stamp {
        match self.wanted.database {
            Some(_) => self.now.clone(),
            None => Stamp::of(&self.own, found),
        }
    }

    fn packed(self, mut incoming: Incoming, stamp: &Stamp, done: Done) -> Outcome {
        incoming.entry.stamp = stamp.to_text().into_bytes();
        self.kept(Some(incoming), None, done)
    }

    fn kept(self, incoming: Option<Incoming>, stamp: Option<Stamp>, done: Done) -> Outcome {
        let Done { copied, files, skipped, .. } = done;
        let Self { is_new, folder, .. } = self;
        Outcome::Kept(Box::new(Kept { is_new, copied, folder, incoming, stamp, files, skipped }))
    }

    fn keep_in_folder(self, near: &FolderListing) -> Result<Outcome, Error> {
        let known = self.wanted.known(near);
        let done = self.store.archive_packed(&self.wanted.source, known, self.is_doubted)?;
        self.taken.add(&done.found);
        if self.is_marked && archive::damages(&self.folder, Depth::All).is_empty() {
            self.store.unmark(&self.key);
        }
        let stamp = self.stamp(&done.found).of_open(done.is_open);
        let is_kept = Copies::at(&self.folder).are_kept();
        // What is small, and is not expected to grow, is packed with others.
        let is_ready = done.copied == Copied::All && !done.is_open;
        let entry = is_ready.then(|| entry_of(&self.folder)).flatten();
        if let Some(entry) = entry.filter(|_| !self.store.is_marked(&self.key)) {
            let incoming = Incoming { entry, folder: self.folder.clone(), has_folder: true };
            return Ok(self.packed(incoming, &stamp, done));
        }
        let stamp = stamp.with_copies(&self.folder);
        Ok(match done.copied {
            Copied::Busy => Outcome::Busy,
            Copied::Unread => {
                self.write(STAMP_FILE, &stamp.to_text())?;
                if is_kept {
                    return Ok(Outcome::Same);
                }
                self.write(UNREAD_FILE, &readers())?;
                Outcome::Unread { is_new: !self.was_unread, skipped: done.skipped }
            }
            // Nothing was said yet.
            Copied::All if !is_kept => {
                self.write(STAMP_FILE, &stamp.to_text())?;
                let _ = fs::remove_file(self.folder.join(UNREAD_FILE));
                Outcome::Same
            }
            Copied::All => self.kept(None, Some(stamp), done),
            Copied::Unfinished => self.kept(None, None, done),
        })
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.folder.join(name);
        let written = archive::replace(&path, text.as_bytes());
        written.map_err(|error| Error::Write { path, source: error })
    }
}

/// The version of the readers, as it is written down.
fn readers() -> String {
    antiphon_formats::READERS.to_string()
}
