//! Copies of agents' own files, taken while the agents write them.
//!
//! ```text
//! archive/<agent>/<key>/
//! ├── session.json         whose files these are, and where they came from
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

mod copy;
pub(crate) mod pack;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use antiphon_formats::FORMATS;
use antiphon_journal::{Clock as _, SystemClock};
use serde::{Deserialize, Serialize};

use crate::bundle::{Beside, Bundle, Member, Near, list, tree};
use crate::database::{Database, DatabaseError};
use crate::store::make_folders;
use crate::sync::stamp::{Sizes, size};
use crate::{Error, Key, Store};
use copy::Step;
pub(crate) use copy::replace;

/// Whose files a folder holds.
pub(crate) const STATE_FILE: &str = "session.json";

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copied {
    /// All whole lines that are there.
    All,
    /// As much as there was time for.
    Unfinished,
    /// Nothing: another process is at it, and knows that there is more.
    Busy,
    /// Nothing: it is not what that agent writes, as far as that is known.
    Unread,
}

/// What copying a session came to.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) copied: Copied,
    /// What the files were like before they were copied.
    pub(crate) found: Sizes,
    /// Whether more may come soon, so that the copies are not packed.
    pub(crate) is_open: bool,
    /// Their names and bytes, the main one first, if all of them are at hand.
    pub(crate) files: Option<Vec<(String, Vec<u8>)>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    session_id: String,
    source: PathBuf,
    /// The main file's name within a generation; nothing, where it is the source's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    main: Option<String>,
    /// How much was copied into the newest generation.
    bytes: u64,
    /// Whether every file beside the main one was looked into, for this generation.
    looked_beside: bool,
}

impl Store {
    /// Copies what is new of a session's files, until `deadline` if there is one. It never waits
    /// for another process.
    pub fn archive(&self, source: &Source, deadline: Option<Instant>) -> Result<Copied, Error> {
        self.copy(source, Known::Nothing, deadline, false).map(|done| done.copied)
    }

    /// The same with all the time it takes, and then packs the copy. Says what the files were like
    /// before they were copied.
    pub(crate) fn archive_packed(&self, source: &Source, known: Known<'_>) -> Result<Done, Error> {
        self.copy(source, known, None, true)
    }

    fn copy(
        &self,
        source: &Source,
        known: Known<'_>,
        deadline: Option<Instant>,
        packs: bool,
    ) -> Result<Done, Error> {
        let mut done =
            Done { copied: Copied::All, found: Sizes::new(), is_open: false, files: None };
        let key = Key::of(source.agent, &source.session_id);
        if self.is_forgotten(&key) {
            return Ok(done);
        }
        let folder = self.archive_folder(source.agent, &key);
        make_folders(&folder).map_err(|error| cannot_write(&folder, error))?;
        let copying = Copying { folder: &folder, source, known, deadline, packs };
        loop {
            let Some(lock) = copying.lock_or_want()? else {
                return Ok(Done { copied: Copied::Busy, files: None, ..done });
            };
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
            if packs {
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
        self.archive(&Source { agent, session_id, file: source }, None)
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

/// Whether there is a copy in a session's folder.
pub(crate) fn is_kept(folder: &Path) -> bool {
    folder.join(STATE_FILE).is_file()
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

struct Copying<'a> {
    folder: &'a Path,
    source: &'a Source,
    known: Known<'a>,
    deadline: Option<Instant>,
    packs: bool,
}

impl Copying<'_> {
    /// One round over all files; false if the time was not enough. Says what they were like before.
    fn copy(&self, done: &mut Done) -> Result<bool, Error> {
        let known = State::read(self.folder);
        let looked_at = known.as_ref().filter(|state| state.looked_beside).and_then(|_| {
            let changed = fs::metadata(self.folder.join(STATE_FILE)).ok()?.modified().ok()?;
            changed.checked_sub(SLACK)
        });
        let mut state = State {
            session_id: self.source.session_id.clone(),
            source: self.source.file.clone(),
            ..known.clone().unwrap_or_default()
        };
        let members = self.members(looked_at)?.filter(|(format, _)| *format == self.source.agent);
        done.copied = Copied::All;
        let Some((format, mut members)) = members else {
            // One that is not there, or empty, is one to come.
            if self.source.file.metadata().is_ok_and(|it| it.len() > 0) {
                done.copied = Copied::Unread;
            }
            return Ok(true);
        };
        done.found = sizes(&members, format);
        done.is_open = known.is_some() && is_fresh(&done.found);
        // A name that is not text could come out as another's.
        members.retain(|member| !member.name.contains(char::REPLACEMENT_CHARACTER));
        let own = self.source.file.file_name().map(|name| plain(Path::new(name)));
        let main = members.first().map(|main| main.name.clone());
        state.main = main.filter(|main| own.as_deref() != Some(Path::new(main)));
        let mut number = generations(self.folder).into_iter().max().unwrap_or(1);
        let mut step = self.copy_into(number, &members, &mut state.bytes, &mut done.files);
        if matches!(step, Ok(Step::Rewritten)) {
            number += 1;
            state.bytes = 0;
            state.looked_beside = false;
            step = self.copy_into(number, &members, &mut state.bytes, &mut done.files);
        }
        // What was rewritten while it was copied is for the next time.
        state.looked_beside |= self.deadline.is_none() && matches!(step, Ok(Step::Done));
        // Whose files these are is written down even if not all of them could be copied.
        self.remember(&state, known.as_ref())?;
        Ok(step? != Step::OutOfTime && (state.looked_beside || self.deadline.is_none()))
    }

    fn members(
        &self,
        looked_at: Option<SystemTime>,
    ) -> Result<Option<(&'static str, Vec<Member>)>, Error> {
        let Known::Database(database) = self.known else {
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
        let mut folders: Vec<PathBuf> =
            numbers.into_iter().map(|it| generation(self.folder, it)).collect();
        while let Some(folder) = folders.pop() {
            for path in list(&folder) {
                if path.is_dir() {
                    folders.push(path);
                } else if copy::is_half_written(&path) {
                    // By a process that was killed: whoever writes here has the lock.
                    let _ = fs::remove_file(&path);
                } else if path
                    .extension()
                    .is_some_and(|it| PACKED_ENDINGS.iter().any(|known| it == *known))
                {
                    pack::pack(&path).map_err(|error| cannot_write(&path, error))?;
                }
            }
        }
        Ok(())
    }

    /// Looking into all files takes its time. Where there is little, only those that changed since
    /// they were all looked into.
    fn beside(&self, looked_at: Option<SystemTime>) -> Beside<'_> {
        match (self.known, self.deadline, looked_at) {
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
        bytes: &mut u64,
        files: &mut Option<Vec<(String, Vec<u8>)>>,
    ) -> Result<Step, Error> {
        let mut all = Some(Vec::new());
        let into = generation(self.folder, number);
        let len = |path: &Path| {
            let plain = fs::metadata(path).or_else(|_| fs::metadata(pack::packed(path)));
            plain.map_or(0, |metadata| metadata.len())
        };
        let mut failed = None;
        for member in members {
            let path = into.join(&member.name);
            let parent = path.parent().unwrap_or(&into);
            let before = len(&path);
            // One that cannot be read is no reason to lose the others.
            if let Err(error) = copy::can_be_read(member) {
                let cannot_read = Error::Read { path: member.path.clone(), source: error };
                failed = failed.or(Some(cannot_read));
                continue;
            }
            let step = make_folders(parent)
                .and_then(|()| copy::member(member, &path, self.deadline, self.packs));
            *bytes = bytes.saturating_add(len(&path)).saturating_sub(before);
            match step.map_err(|error| cannot_write(&path, error))? {
                Step::New(bytes) => {
                    if let Some(all) = &mut all {
                        all.push((member.name.clone(), bytes));
                    }
                }
                Step::Done => all = None,
                step @ (Step::OutOfTime | Step::Rewritten) => return Ok(step),
            }
        }
        *files = all;
        if let Some(failed) = failed {
            return Err(failed);
        }
        Ok(Step::Done)
    }

    /// Writes down whose files these are, if that is not what is written already.
    fn remember(&self, state: &State, known: Option<&State>) -> Result<(), Error> {
        if known == Some(state) {
            return Ok(());
        }
        let path = self.folder.join(STATE_FILE);
        let text = serde_json::to_vec(state).map_err(io::Error::other);
        let written = text.and_then(|text| copy::replace(&path, &text));
        written.map_err(|error| cannot_write(&path, error))
    }

    fn lock(&self) -> Result<Option<File>, Error> {
        let path = self.folder.join("lock");
        locked(File::open(self.folder)).or_else(|_| {
            let file = copy::private(OpenOptions::new().write(true).create(true)).open(&path);
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
        let made = copy::private(OpenOptions::new().write(true).create(true)).open(&path);
        made.map(drop).map_err(|error| cannot_write(&path, error))
    }

    fn is_wanted(&self) -> bool {
        self.folder.join("wanted").exists()
    }

    fn takes_what_is_wanted(&self) -> bool {
        fs::remove_file(self.folder.join("wanted")).is_ok()
    }
}

impl State {
    fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(STATE_FILE)).ok()?).ok()
    }
}

fn generation(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("{number:06}"))
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
