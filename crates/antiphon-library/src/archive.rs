//! Copies of agents' own files, taken while the agents write them.
//!
//! ```text
//! archive/<agent>/<key>/
//! ├── session.json         whose files these are, where they came from, and what they hold
//! ├── 000001/              a generation: the files under their own names
//! │   ├── <id>.jsonl
//! │   └── <id>/subagents/…
//! ├── 000002/              begun when a file had been cut or rewritten; the one before stays
//! ├── annotations.jsonl    what people say about it: a log of ours, for all generations
//! ├── wanted               somebody asked for a copy since the last one began
//! ├── stamp                what the files were like when `sync` last copied them
//! └── unread               nothing was copied: these readers do not know what it is
//! ```
//!
//! The folder is locked by the one process that copies. Where folders cannot be locked, a file
//! `lock` in it is.
//!
//! A copy of lines is always a beginning of its source, so its own length says where to go on, and
//! after a crash nothing can disagree with it. A document is as it last was, unless it had been
//! longer before: then another generation begins, and no copy ever shrinks. What nobody adds to is
//! packed ([`pack`]): at once when it is new, and after a while when it has grown. A session of a
//! database is kept as a document.
//!
//! What every copy holds is written down as hashes ([`sums`]). A copy that is damaged is written
//! again where its source still begins with what the copy was; where it does not, another
//! generation begins, and the damaged copy stays for what can be read of it.

mod bytes;
mod check;
mod copy;
pub(crate) mod pack;
mod sizes;
mod state;
mod sums;

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use antiphon_catalog::Key;
use antiphon_formats::FORMATS;
use antiphon_journal::{Clock as _, SystemClock, regular};
use antiphon_sources::{
    Beside, Bundle, Database, DatabaseError, Error, Member, Near, list, name, tree,
};

use crate::Store;
use crate::store::make_folders;
use bytes::{Bytes, Settled};
pub(crate) use bytes::{Folder, replace};
pub use check::Damage;
pub(crate) use check::{Depth, damages, is_damage, problems_of, restore_record};
use copy::{Job, Step};
pub(crate) use sizes::{Sizes, size};
pub(crate) use state::STATE_FILE;
use state::{Found, Name, State};

/// What else an agent leaves is packed already, or no text.
const PACKED_ENDINGS: [&str; 3] = ["jsonl", "json", "md"];

/// How exact the times of files are, with room to spare.
const SLACK: Duration = Duration::from_secs(2);
/// A session that has grown stays unpacked until nothing has come for so long: to unpack and pack
/// it with every line would cost its length each time.
const QUIET: Duration = Duration::from_secs(600);

/// A session whose files are to be kept.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name of its format in the registry; files of others are not copied.
    pub agent: &'static str,
    /// What the agent calls it.
    pub session_id: String,
    /// Its main file.
    pub file: PathBuf,
    /// The folder that all its files lie in. Links that lead out of it are not followed.
    pub within: PathBuf,
}

impl Source {
    /// A session whose files lie in the folder of its main file.
    pub fn new(agent: &'static str, session_id: String, file: PathBuf) -> Self {
        let within = file.parent().unwrap_or(Path::new("")).to_owned();
        Self { agent, session_id, file, within }
    }
}

/// What whoever wants a copy knows of a session.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Known<'a> {
    Nothing,
    /// The database that it is in, open.
    Database(&'a Mutex<Database>),
    /// The main files of the sessions that it made, which lie beside its own.
    Children(&'a [PathBuf]),
    /// What lies beside its main file.
    Near(&'a Near),
}

/// What came of copying.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Copied {
    /// All that is there.
    #[default]
    All,
    /// As much as there was time for.
    Unfinished,
    /// Nothing: another process is at it, and knows that there is more.
    Busy,
    /// Nothing: it is not what that agent writes, as far as that is known.
    Unread,
}

/// What copying a session came to.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) copied: Copied,
    /// What the files were like before they were copied.
    pub(crate) found: Sizes,
    /// Whether more may come soon, so that the copies are not packed.
    pub(crate) is_open: bool,
    /// Their names and bytes, the main one first, if all of them are at hand.
    pub(crate) files: Option<Vec<(String, Vec<u8>)>>,
    /// Files that were not copied, and why: links that lead elsewhere, pipes.
    pub(crate) skipped: Vec<(PathBuf, String)>,
}

impl Store {
    /// Copies what is new of a session's files, until `deadline` if there is one. It never waits
    /// for another process.
    pub fn archive(&self, source: &Source, deadline: Option<Instant>) -> Result<Copied, Error> {
        let how = How { known: Known::Nothing, deadline, packs: false, is_doubted: false };
        self.copy(source, how).map(|done| done.copied)
    }

    /// The same with all the time it takes, and then packs the copy. Says what the files were like
    /// before they were copied. If the copy is doubted, all of it is compared with its source.
    pub(crate) fn archive_packed(
        &self,
        source: &Source,
        known: Known<'_>,
        is_doubted: bool,
    ) -> Result<Done, Error> {
        self.copy(source, How { known, deadline: None, packs: true, is_doubted })
    }

    fn copy(&self, source: &Source, how: How<'_>) -> Result<Done, Error> {
        let key = Key::of(source.agent, &source.session_id);
        if self.is_forgotten(&key) {
            return Ok(Done::default());
        }
        let folder = self.archive_folder(source.agent, &key);
        let copied = self.copy_locked(&folder, source, how);
        match copied {
            // It was forgotten meanwhile, and its folder is gone.
            Err(_) if self.is_forgotten(&key) => Ok(Done::default()),
            copied => copied,
        }
    }

    fn copy_locked(&self, folder: &Path, source: &Source, how: How<'_>) -> Result<Done, Error> {
        let mut done = Done::default();
        make_folders(folder).map_err(|error| cannot_write(folder, error))?;
        let key = Key::of(source.agent, &source.session_id);
        let copying = Copying { folder, bytes: Folder::new(folder), source, how };
        loop {
            let Some(lock) = copying.lock_or_want()? else {
                return Ok(Done { copied: Copied::Busy, files: None, ..done });
            };
            // Whoever forgets a session has its lock: what was waited for may be gone.
            if self.is_forgotten(&key) {
                let _ = fs::remove_dir(folder);
                return Ok(Done::default());
            }
            copying.takes_what_is_wanted();
            loop {
                if !copying.copy(&mut done)? {
                    copying.want()?;
                    return Ok(Done { copied: Copied::Unfinished, files: None, ..done });
                }
                if !copying.takes_what_is_wanted() {
                    break;
                }
            }
            if how.packs {
                copying.pack(done.is_open)?;
            }
            drop(lock);
            if !copying.is_wanted() {
                return Ok(done);
            }
        }
    }

    /// The same for a session that was archived before, if there is one with that key.
    pub fn catch_up(&self, agent: &'static str, key: &Key) -> Result<Copied, Error> {
        let folder = self.archive_folder(agent, key);
        let Some(State { session_id, source, .. }) = State::read(&folder) else {
            return Ok(Copied::All);
        };
        if source.as_os_str().is_empty() {
            return Ok(Copied::All);
        }
        self.archive(&Source::new(agent, session_id, source), None)
    }
}

/// Where an agent's sessions came from that are kept.
pub(crate) fn sources_of(store: &Path, agent: &str) -> Vec<PathBuf> {
    let folders = list(&store.join("archive").join(agent)).into_iter();
    folders.filter_map(|folder| Some(State::read(&folder)?.source)).collect()
}

/// The folder of the session of which a file is a copy.
pub(crate) fn folder_of(copy: &Path) -> Option<&Path> {
    let is_generation = |folder: &Path| {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.len() == 6 && name.bytes().all(|byte| byte.is_ascii_digit())
    };
    let generation = copy.ancestors().skip(1).find(|folder| is_generation(folder))?;
    generation.parent().filter(|folder| is_kept(folder))
}

impl Store {
    /// The copy of a session's main file, by the file that it is a copy of.
    pub fn copy_of(&self, source: &Path) -> Option<PathBuf> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let wanted = real(source);
        let agents = list(&self.root().join("archive"));
        let mut folders = agents.iter().flat_map(|agent| list(agent));
        let is_of = |folder: &PathBuf| {
            let state =
                State::read(folder).filter(|it| it.source.file_name() == source.file_name());
            state.is_some_and(|state| real(&state.source) == wanted)
        };
        folders.find(is_of).and_then(|folder| main_file(&folder))
    }
}

/// Whether there is a copy in a session's folder, be its `session.json` there or not.
pub(crate) fn is_kept(folder: &Path) -> bool {
    folder.join(STATE_FILE).is_file() || !generations(folder).is_empty()
}

/// Whether there are copies in a session's folder, and nothing that says whose they are.
pub(crate) fn has_lost_its_record(folder: &Path) -> bool {
    matches!(State::find(folder), Found::MadeUp(_))
}

/// The files of the copy whose main file this is, under the names that the agent gave them;
/// nothing, if it is no copy.
pub(crate) fn native_files_at(main: &Path) -> Option<Vec<(PathBuf, PathBuf)>> {
    folder_of(main).map(native_files)
}

/// The files of the newest copy under the names that the agent gave them, the main one first.
fn native_files(folder: &Path) -> Vec<(PathBuf, PathBuf)> {
    let newest = newest_copy(folder);
    let state = State::read(folder).unwrap_or_default();
    let main = main_file(folder);
    let mut files: Vec<(PathBuf, PathBuf)> = Vec::new();
    let bytes = Folder::new(&newest);
    for stored in bytes.list("").into_iter().filter(|name| !bytes::is_half_written(name)) {
        let path = newest.join(&stored);
        let plain = plain(&path);
        // Where both forms are there, the plain one counts.
        if plain != path && plain.is_file() {
            continue;
        }
        let known = state.files.get(&check::name_in(folder, &plain));
        let own = plain.strip_prefix(&newest).unwrap_or(&plain).to_owned();
        let name = known.and_then(|copy| Some(copy.was.clone()?.0)).unwrap_or(own);
        files.push((name, path));
    }
    files.sort_by_key(|(name, path)| (Some(path) != main.as_ref(), name.clone()));
    files
}

/// The names of the copies in a session's folder, and of what tells of them.
pub(crate) fn copies(folder: &Path) -> Vec<String> {
    let bytes = Folder::new(folder);
    let generations = generations(folder).into_iter();
    let names = generations.flat_map(|number| bytes.list(&generation_name(number)));
    names.chain([STATE_FILE.to_owned()]).collect()
}

/// The main file of the newest copy in a session's folder.
pub(crate) fn main_file(folder: &Path) -> Option<PathBuf> {
    let state = State::read(folder)?;
    let name = match &state.main {
        Some(name) => Path::new(name),
        None => Path::new(state.source.file_name()?),
    };
    let mut generations = generations(folder);
    generations.sort_unstable_by(|a, b| b.cmp(a));
    let files = generations.into_iter().map(|number| generation(folder, number).join(name));
    let files = files.map(|file| plain(&file));
    let mut forms = files.flat_map(|file| [pack::packed(&file), file].into_iter().rev());
    // A file that was cut to nothing says less than what was kept of it before.
    forms.find(|file| file.metadata().is_ok_and(|it| it.is_file() && it.len() > 0))
}

/// A source that its agent has packed has that in its name.
fn plain(file: &Path) -> PathBuf {
    match file.extension().is_some_and(|it| it == "zst") {
        true => file.with_extension(""),
        false => file.to_owned(),
    }
}

/// What files are like, and the folders that they lead to.
fn sizes(members: &[Member], agent: &str) -> Sizes {
    let files = members.iter().filter(|member| member.document.is_none());
    let files = files.map(|member| member.path.clone());
    let format = FORMATS.iter().find(|format| format.name == agent);
    let folders = format.map(|format| tree::folders(members, format)).unwrap_or_default();
    files.chain(folders).map(|path| (size(&path), path)).map(|(size, path)| (path, size)).collect()
}

/// Whether one of these files has changed so lately that it may go on.
pub(crate) fn is_fresh(files: &Sizes) -> bool {
    files.values().any(|(_, nanos)| has_changed_lately(*nanos))
}

/// Whether what was changed then may go on. The time is that of a file.
pub(crate) fn has_changed_lately(nanos: u128) -> bool {
    let now = u128::try_from(SystemClock.now().as_millis()).unwrap_or_default();
    let age = now.checked_sub(nanos / 1_000_000);
    age.is_some_and(|age| age < QUIET.as_millis())
}

/// The folder of the newest copy: names of files are relative to it.
pub(crate) fn newest_copy(folder: &Path) -> PathBuf {
    let main = main_file(folder).unwrap_or_default();
    let newest = main.ancestors().find(|it| it.parent() == Some(folder));
    newest.unwrap_or(folder).to_owned()
}

/// How a session is copied.
#[derive(Debug, Clone, Copy)]
struct How<'a> {
    known: Known<'a>,
    deadline: Option<Instant>,
    packs: bool,
    /// Whether the copies may be damaged.
    is_doubted: bool,
}

struct Copying<'a> {
    folder: &'a Path,
    bytes: Folder,
    source: &'a Source,
    how: How<'a>,
}

impl Copying<'_> {
    /// One round over all files; false if the time was not enough. Says what they were like before.
    fn copy(&self, done: &mut Done) -> Result<bool, Error> {
        let found = State::find(self.folder);
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
            // One that is not there, or empty, is one to come.
            if self.source.file.metadata().is_ok_and(|it| it.len() > 0) {
                done.copied = Copied::Unread;
            }
            return Ok(true);
        };
        done.found = sizes(&members, format);
        done.is_open = known.is_some() && is_fresh(&done.found);
        let own = self.source.file.file_name().map(|name| plain(Path::new(name)));
        for member in &mut members {
            member.name = name::stored(&member.name).into_owned();
        }
        let main = members.first().map(|main| main.name.clone());
        state.main = main.filter(|main| own.as_deref() != Some(Path::new(main)));
        let mut number = generations(self.folder).into_iter().max().unwrap_or(1);
        let mut is_mended = false;
        let mut step = self.copy_into(number, &members, &mut state, done, &mut is_mended);
        if matches!(step, Ok(Step::Rewritten)) {
            number += 1;
            state.bytes = 0;
            state.looked_beside = false;
            step = self.copy_into(number, &members, &mut state, done, &mut is_mended);
        }
        // What was rewritten while it was copied is for the next time.
        let is_done = matches!(step, Ok(Step::Done));
        state.looked_beside |= self.how.deadline.is_none() && is_done;
        // Whose files these are is written down even if not all of them could be copied. What was
        // damaged may have been read so: the file's time says that it is to be read again.
        let is_as_written = is_whole && !is_mended && known.as_ref() == Some(&state);
        if !is_as_written && !generations(self.folder).is_empty() {
            self.remember(&state)?;
        }
        Ok(step? != Step::OutOfTime && (state.looked_beside || self.how.deadline.is_none()))
    }

    /// The folder that all files must lie in: where sessions share folders, the one above those.
    fn within(&self) -> PathBuf {
        let format = FORMATS.iter().find(|format| format.name == self.source.agent);
        let root = format.and_then(|format| tree::root(&self.source.file, format));
        root.unwrap_or_else(|| self.source.within.clone())
    }

    /// Whether the main file is none that is read: a link that leads elsewhere, a pipe.
    fn is_irregular(&self, done: &mut Done) -> bool {
        if matches!(self.how.known, Known::Database(_)) {
            return false;
        }
        let file = &self.source.file;
        match regular::open_within(file, &self.within()) {
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
        let Known::Database(database) = self.how.known else {
            return Bundle::members(&self.source.file, self.beside(looked_at));
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

    /// Packs every file of every generation, but of the newest only if it is not open.
    fn pack(&self, is_open: bool) -> Result<(), Error> {
        let mut numbers = generations(self.folder);
        let newest = numbers.iter().max().copied();
        numbers.retain(|number| !is_open || Some(*number) != newest);
        if numbers.is_empty() {
            return Ok(());
        }
        let known = State::read(self.folder).unwrap_or_default().files;
        for name in numbers.iter().flat_map(|number| self.bytes.list(&generation_name(*number))) {
            let is_packable = |ending: &OsStr| PACKED_ENDINGS.iter().any(|it| ending == *it);
            if bytes::is_half_written(&name) {
                // By a process that was killed: whoever writes here has the lock.
                let _ = self.bytes.remove(&name);
            } else if Path::new(&name).extension().is_some_and(is_packable) {
                let packed = pack::pack(&self.bytes, &name, known.get(&name).map(|it| &it.sums));
                packed.map_err(|error| cannot_write(&self.folder.join(&name), error))?;
            }
        }
        Ok(())
    }

    /// Looking into all files takes its time. Where there is little, only those that changed since
    /// they were all looked into.
    fn beside(&self, looked_at: Option<SystemTime>) -> Beside<'_> {
        match (self.how.known, self.how.deadline, looked_at) {
            (Known::Children(paths), _, _) => Beside::Known(paths),
            (Known::Near(near), _, _) => Beside::Near(near),
            (Known::Nothing | Known::Database(_), None, _) => Beside::All,
            (Known::Nothing | Known::Database(_), Some(_), Some(time)) => {
                Beside::ChangedSince(time)
            }
            (Known::Nothing | Known::Database(_), Some(_), None) => Beside::None,
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
        let (into, within) = (generation(self.folder, number), self.within());
        let mut failed = None;
        for member in members {
            let path = into.join(&member.name);
            let parent = path.parent().unwrap_or(&into);
            let name = check::name_in(self.folder, &path);
            let mut job = Job {
                member,
                bytes: &self.bytes,
                name: &name,
                within: &within,
                deadline: self.how.deadline,
                packs: self.how.packs,
                is_doubted: self.how.is_doubted,
                known: state.files.get(&name).cloned(),
                is_mended: false,
            };
            // One that cannot be read is no reason to lose the others.
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
            let before = self.stored_len(&name);
            let step = make_folders(parent).and_then(|()| job.run());
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
                // The rest is still to come.
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

    /// Writes down whose files these are.
    fn remember(&self, state: &State) -> Result<(), Error> {
        let written = state.to_text().and_then(|text| {
            bytes::write(&self.bytes, STATE_FILE, Settled::Later, text.as_bytes())
        });
        written.map_err(|error| cannot_write(&self.folder.join(STATE_FILE), error))
    }

    /// How long a copy is on the disk, in whatever form.
    fn stored_len(&self, name: &str) -> u64 {
        let len = self.bytes.len(name).or_else(|| self.bytes.len(&pack::packed_name(name)));
        len.unwrap_or_default()
    }

    fn lock(&self) -> Result<Option<File>, Error> {
        let path = self.folder.join("lock");
        locked(File::open(self.folder)).or_else(|_| {
            let file = bytes::private(OpenOptions::new().write(true).create(true)).open(&path);
            locked(file).map_err(|error| cannot_write(&path, error))
        })
    }

    /// The lock; nothing, if another process has it and was asked to look again.
    fn lock_or_want(&self) -> Result<Option<File>, Error> {
        if let Some(lock) = self.lock()? {
            return Ok(Some(lock));
        }
        // First asked, then looked once more: either that one sees what was asked, or the lock is
        // free.
        self.want()?;
        self.lock()
    }

    fn want(&self) -> Result<(), Error> {
        let path = self.folder.join("wanted");
        let made = bytes::private(OpenOptions::new().write(true).create(true)).open(&path);
        made.map(drop).map_err(|error| cannot_write(&path, error))
    }

    fn is_wanted(&self) -> bool {
        self.folder.join("wanted").exists()
    }

    fn takes_what_is_wanted(&self) -> bool {
        fs::remove_file(self.folder.join("wanted")).is_ok()
    }
}

/// Whether a file was not opened for what it is, and would not be another time.
fn is_irregular(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidInput) || regular::leads_out(error)
}

fn generation(folder: &Path, number: u32) -> PathBuf {
    folder.join(generation_name(number))
}

fn generation_name(number: u32) -> String {
    format!("{number:06}")
}

fn generations(folder: &Path) -> Vec<u32> {
    let number =
        |path: &PathBuf| path.file_name()?.to_str().filter(|name| name.len() == 6)?.parse().ok();
    list(folder).iter().filter_map(number).collect()
}

/// The same, locked; nothing, if another process has locked it.
fn locked(file: io::Result<File>) -> io::Result<Option<File>> {
    let file = file?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn cannot_write(path: &Path, source: io::Error) -> Error {
    Error::Write { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
