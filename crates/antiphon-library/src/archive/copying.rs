//! Copying a session's files, under the lock of the session.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::{Duration, Instant, SystemTime};

use antiphon_journal::regular;
use antiphon_sources::{Bundle, DatabaseError, Error, Member, Siblings, name, relative, tree};

use super::bytes::{self, Bytes, Settled};
use super::copy::{Form, Job, Step};
use super::generation::{generation_name, generations, plain_name};
use super::sizes::{Sizes, is_fresh, size};
use super::small::is_small;
use super::state::{Found, Name, STATE_FILE, State};
use super::{Copied, Done, Known, Source, cannot_write, lock, pack};

/// Only these are compressed; other files are compressed already, or not text.
pub(super) const COMPRESSED_ENDINGS: [&str; 3] = ["jsonl", "json", "md"];

/// The precision of file times, with a margin.
const SLACK: Duration = Duration::from_secs(2);
/// The options for copying a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct How<'a> {
    pub(super) known: Known<'a>,
    pub(super) deadline: Option<Instant>,
    pub(super) form: Form,
    /// Whether the copies may be damaged.
    pub(super) is_doubted: bool,
}

pub(super) struct Copying<'a> {
    pub(super) folder: &'a Path,
    pub(super) bytes: &'a dyn Bytes,
    pub(super) source: &'a Source,
    pub(super) how: How<'a>,
}

impl Copying<'_> {
    /// Copies all files once; returns `false` if there was not enough time. Records what they were
    /// like before.
    pub(super) fn copy(&self, done: &mut Done) -> Result<bool, Error> {
        let found = State::find(self.bytes, self.folder);
        let is_whole = matches!(found, Found::Whole(_));
        let known = found.state();
        let looked_at = known.as_ref().filter(|state| state.looked_beside).and_then(|_| {
            let changed = fs::metadata(self.folder.join(STATE_FILE)).ok()?.modified().ok()?;
            changed.checked_sub(SLACK)
        });
        let mut state = State {
            session_id: self.source.session_id.clone(),
            source: self.source.file.clone(),
            ..known.clone().unwrap_or_default()
        };
        done.copied = Copied::All;
        if self.is_irregular(done) {
            done.copied = Copied::Unread;
            return Ok(true);
        }
        let members = self.members(looked_at)?.filter(|(format, _)| *format == self.source.agent);
        let Some((format, mut members)) = members else {
            // A main file that is missing or empty may still come.
            if self.source.file.metadata().is_ok_and(|it| it.len() > 0) {
                done.copied = Copied::Unread;
            }
            return Ok(true);
        };
        done.found = sizes(&members, format);
        done.is_open = known.is_some() && is_fresh(&done.found);
        let own = self.source.file.file_name().map(|own| name::text(own).into_owned());
        let own = own.as_deref().map(plain_name);
        for member in &mut members {
            member.name = name::stored(&member.name).into_owned();
        }
        let main = members.first().map(|main| main.name.clone());
        state.main = main.filter(|main| own != Some(&**main));
        let mut number = generations(self.bytes).into_iter().max().unwrap_or(1);
        let mut is_mended = false;
        let mut step = self.copy_into(number, &members, &mut state, done, &mut is_mended);
        if matches!(step, Ok(Step::Rewritten)) {
            number += 1;
            state.bytes = 0;
            state.looked_beside = false;
            step = self.copy_into(number, &members, &mut state, done, &mut is_mended);
        }
        // A file that was rewritten meanwhile is copied again next time.
        let is_done = matches!(step, Ok(Step::Done));
        state.looked_beside |= self.how.deadline.is_none() && is_done;
        // The record is written even if not all files could be copied. A damaged copy may have been
        // indexed, so a rewritten copy gets a new time and is read again.
        let is_as_written = is_whole && !is_mended && known.as_ref() == Some(&state);
        if !is_as_written && !generations(self.bytes).is_empty() {
            self.remember(&state)?;
        }
        Ok(step? != Step::OutOfTime && (state.looked_beside || self.how.deadline.is_none()))
    }

    /// The folder that all files must be in; if sessions share folders, the one above those.
    fn within(&self) -> PathBuf {
        let format = antiphon_formats::find(self.source.agent);
        let root = format.and_then(|format| tree::root(&self.source.file, format));
        root.unwrap_or_else(|| self.source.within.clone())
    }

    /// Whether the main file cannot be read because of what it is: a link that leads elsewhere, or
    /// a pipe.
    fn is_irregular(&self, done: &mut Done) -> bool {
        if matches!(self.how.known, Known::Database(_)) {
            return false;
        }
        let (file, within) = (&self.source.file, self.within());
        if regular::is_plainly_within(file, &within) {
            return false;
        }
        match regular::open_within(file, &within) {
            Err(error) if is_irregular(&error) => {
                done.skipped.push((file.clone(), error.to_string()));
                true
            }
            Ok(_) | Err(_) => false,
        }
    }

    fn members(
        &self,
        looked_at: Option<SystemTime>,
    ) -> Result<Option<(&'static str, Vec<Member>)>, Error> {
        let (file, beside) = (&self.source.file, self.beside(looked_at));
        let database = match self.how.known {
            Known::Database(database) => database,
            Known::Children(_) | Known::FolderListing(_) => {
                return Bundle::members_of_file(file, beside);
            }
            Known::Nothing => return Bundle::members(file, beside),
        };
        let mut database = database.lock().unwrap_or_else(PoisonError::into_inner);
        let members = match database.members(&self.source.session_id) {
            Err(DatabaseError::Changed { .. }) => {
                database.reopen()?;
                database.members(&self.source.session_id)?
            }
            members => members?,
        };
        Ok((!members.is_empty()).then_some((database.agent(), members)))
    }

    /// Compresses every file of every generation; in the newest one only if it is not still
    /// growing.
    pub(super) fn pack(&self, is_open: bool) -> Result<(), Error> {
        let mut numbers = generations(self.bytes);
        let newest = numbers.iter().max().copied();
        numbers.retain(|number| !is_open || Some(*number) != newest);
        if numbers.is_empty() {
            return Ok(());
        }
        let state = State::find(self.bytes, self.folder).state().unwrap_or_default();
        // It will be compressed together with others.
        if is_small(&state) {
            return Ok(());
        }
        let known = state.files;
        for name in numbers.iter().flat_map(|number| self.bytes.list(&generation_name(*number))) {
            let is_packable = |ending: &OsStr| COMPRESSED_ENDINGS.iter().any(|it| ending == *it);
            if bytes::is_half_written(&name) {
                // Left by a process that was killed; whoever writes here has the lock.
                let _ = self.bytes.remove(&name);
            } else if Path::new(&name).extension().is_some_and(is_packable) {
                let packed = pack::pack(self.bytes, &name, known.get(&name).map(|it| &it.sums));
                packed.map_err(|error| cannot_write(&self.folder.join(&name), error))?;
            }
        }
        Ok(())
    }

    /// Examining all files takes time. If there is little, only files that changed since the last
    /// complete examination are read.
    fn beside(&self, looked_at: Option<SystemTime>) -> Siblings<'_> {
        match (self.how.known, self.how.deadline, looked_at) {
            (Known::Children(paths), _, _) => Siblings::Known(paths),
            (Known::FolderListing(near), _, _) => Siblings::Listed(near),
            (Known::Nothing | Known::Database(_), None, _) => Siblings::All,
            (Known::Nothing | Known::Database(_), Some(_), Some(time)) => {
                Siblings::ChangedSince(time)
            }
            (Known::Nothing | Known::Database(_), Some(_), None) => Siblings::None,
        }
    }

    fn copy_into(
        &self,
        number: u32,
        members: &[Member],
        state: &mut State,
        done: &mut Done,
        is_mended: &mut bool,
    ) -> Result<Step, Error> {
        let mut all = Some(Vec::new());
        let (into, within) = (generation_name(number), self.within());
        let mut failed = None;
        for member in members {
            let name = relative(&Path::new(&into).join(&member.name), Path::new(""));
            let mut job = Job {
                member,
                bytes: self.bytes,
                name: &name,
                within: &within,
                deadline: self.how.deadline,
                form: self.how.form,
                is_doubted: self.how.is_doubted,
                known: state.files.get(&name).cloned(),
                is_mended: false,
                opened: None,
            };
            // A file that cannot be read is no reason to lose the others.
            match job.can_be_read() {
                Ok(()) => {}
                Err(error) if is_irregular(&error) => {
                    done.skipped.push((member.path.clone(), error.to_string()));
                    continue;
                }
                Err(error) => {
                    let cannot_read = Error::Read { path: member.path.clone(), source: error };
                    failed = failed.or(Some(cannot_read));
                    continue;
                }
            }
            let (before, path) = (self.stored_len(&name), self.folder.join(&name));
            let step = job.run();
            *is_mended |= job.is_mended;
            state.bytes = state.bytes.saturating_add(self.stored_len(&name)).saturating_sub(before);
            if let Some(mut copy) = job.known {
                let own = name::last_parts(&member.path, &member.name);
                let is_other = member.document.is_none() && own != Path::new(&member.name);
                copy.was = is_other.then_some(Name(own));
                state.files.insert(name, copy);
            }
            match step.map_err(|error| cannot_write(&path, error))? {
                Step::New(bytes) => {
                    if let Some(all) = &mut all {
                        all.push((member.name.clone(), bytes));
                    }
                }
                Step::Done => all = None,
                // The rest of the document is still to come.
                Step::Half => {
                    all = None;
                    done.is_open = true;
                }
                step @ (Step::OutOfTime | Step::Rewritten) => return Ok(step),
            }
        }
        done.files = all;
        if let Some(failed) = failed {
            return Err(failed);
        }
        Ok(Step::Done)
    }

    /// Writes the record of the session.
    fn remember(&self, state: &State) -> Result<(), Error> {
        let written = state
            .to_text()
            .and_then(|text| bytes::write(self.bytes, STATE_FILE, Settled::Later, text.as_bytes()));
        written.map_err(|error| cannot_write(&self.folder.join(STATE_FILE), error))
    }

    /// The stored length of a copy, in whichever form.
    fn stored_len(&self, name: &str) -> u64 {
        let len = self.bytes.len(name).or_else(|| self.bytes.len(&pack::packed_name(name)));
        len.unwrap_or_default()
    }

    fn lock(&self) -> Result<Option<File>, Error> {
        lock::now(self.folder).map_err(|error| cannot_write(self.folder, error))
    }

    /// Takes the lock; `None` if another process has it and was asked to copy again.
    pub(super) fn lock_or_want(&self) -> Result<Option<File>, Error> {
        if let Some(lock) = self.lock()? {
            return Ok(Some(lock));
        }
        // The request is made before trying again: either the other process sees it, or the lock is
        // free.
        self.want()?;
        self.lock()
    }

    pub(super) fn want(&self) -> Result<(), Error> {
        let path = self.folder.join("wanted");
        let mut options = OpenOptions::new();
        let made = regular::open_by(&path, bytes::private(options.write(true).create(true)));
        made.map(drop).map_err(|error| cannot_write(&path, error))
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.folder.join("wanted").exists()
    }

    pub(super) fn takes_what_is_wanted(&self) -> bool {
        fs::remove_file(self.folder.join("wanted")).is_ok()
    }
}

/// The sizes and times of files, and of the folders that they refer to.
fn sizes(members: &[Member], agent: &str) -> Sizes {
    let files = members.iter().filter(|member| member.document.is_none());
    let files = files.map(|member| member.path.clone());
    let format = antiphon_formats::find(agent);
    let folders = format.map(|format| tree::folders(members, format)).unwrap_or_default();
    files.chain(folders).map(|path| (size(&path), path)).map(|(size, path)| (path, size)).collect()
}

/// Whether a file cannot be opened because of what it is, so that trying again is useless.
fn is_irregular(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidInput) || regular::leads_out(error)
}
