//! A session that is open: folded, with the state of its files, and with marks by which events are
//! known again.
//!
//! The number of an event is its place. As long as a session only gets more events at its end, the
//! numbers stay; if something arrives late that belongs before the end, a new epoch begins. Every
//! event has a mark, a hash of the ids of all events up to it: it is the same for every server and
//! says whether what somebody has read is still a beginning of what there is.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use antiphon_formats::Duplicate;
use antiphon_journal::{Log, regular};
use antiphon_library::{annotations_of, open_with, stamp};
use antiphon_model::{Activity, Entry, Reading, Session};
use antiphon_redact::Redactor;
use antiphon_sources::{LOG_FORMAT, Live, News, Opened, activity};

use crate::library::Located;
use crate::problem::Problem;

/// An open session.
#[derive(Debug)]
pub(crate) struct Folded {
    source: Source,
    name: String,
    files: Files,
    epoch: u64,
    marks: Vec<Mark>,
    /// Events of this epoch that are not what they were, by their place.
    changed: Vec<usize>,
    /// How often that happened.
    changes: u64,
}

#[derive(Debug)]
enum Source {
    Opened(Box<Opened>),
    /// A log that can be folded further.
    Log(Box<Live>),
}

/// What changes on the disk when a session does.
type Files = Vec<(PathBuf, u64, Option<SystemTime>)>;

/// By what an event is known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// A hash of the ids of all events up to this one.
    pub(crate) chain: u64,
    /// A hash of what the event looks like.
    look: u64,
}

/// What was known of a session before it was opened again.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    epoch: u64,
    changes: u64,
    marks: Vec<Mark>,
}

/// The state of a session's files; nothing, if they cannot be looked at.
fn files(path: &Path) -> Option<Files> {
    let state = |path: PathBuf| {
        let metadata = std::fs::metadata(&path).ok();
        let len = metadata.as_ref().map_or(0, std::fs::Metadata::len);
        (path, len, metadata.and_then(|it| it.modified().ok()))
    };
    let paths = match stamp(path).ok()? {
        Some(files) => {
            let notes = annotations_of(path);
            let sized = files.into_iter().map(|(path, len)| {
                let (path, _, changed) = state(path);
                (path, len, changed)
            });
            return Some(sized.chain(notes.map(state)).collect());
        }
        None => Log::find(path).ok()?.segments().last(),
    };
    Some(paths.into_iter().map(state).collect())
}

impl Folded {
    /// Opens a session; nothing, if it has no events.
    pub(crate) fn open(at: &Located, redactor: Option<&Redactor>) -> Result<Option<Self>, Problem> {
        // Before it is read: what comes meanwhile is then read again.
        let files = files(&at.path).unwrap_or_default();
        let unread = |error: antiphon_sources::Error| match error {
            antiphon_sources::Error::Log(_) => Problem::not_found("there is no such session"),
            other @ (antiphon_sources::Error::Database(_)
            | antiphon_sources::Error::Read { .. }
            | antiphon_sources::Error::Write { .. }) => {
                Problem::failed("the session cannot be read", &other)
            }
        };
        let is_log = stamp(&at.path).is_ok_and(|files| files.is_none());
        let live = match is_log && redactor.is_none() && ends_whole(&at.path) {
            true => antiphon_library::live(&at.path, Duration::ZERO, &mut |_| {}).ok(),
            false => None,
        };
        let (source, name) = match live.filter(Live::is_plain_log) {
            Some(live) => {
                let name = Log::find(&at.path).map(|log| log.name()).unwrap_or_default();
                (Source::Log(Box::new(live)), name)
            }
            None => {
                let mut opened = open_with(&at.path, None).map_err(unread)?;
                if let Some(end) = at.end {
                    opened.session.note_end(end);
                }
                if let Some(redactor) = redactor {
                    opened = opened.redacted(redactor);
                }
                let name = opened.name.clone();
                (Source::Opened(Box::new(opened)), name)
            }
        };
        let changed = Vec::new();
        let mut folded =
            Self { source, name, files, epoch: 0, marks: Vec::new(), changed, changes: 0 };
        if folded.session().is_empty() {
            return Ok(None);
        }
        folded.mark();
        // A log only gets more lines, so that its first one says enough: the epoch is the same on
        // every server.
        let start = match &folded.source {
            Source::Log(_) => folded.marks.first(),
            Source::Opened(_) => folded.marks.last(),
        };
        folded.epoch = start.map_or(0, |mark| mark.chain) & JSON_SAFE;
        Ok(Some(folded))
    }

    /// Takes the epoch of what was known, if that is a beginning of what there is now.
    pub(crate) fn follow(&mut self, known: &Known) {
        let is_beginning = match known.marks.last() {
            Some(last) => {
                self.marks.get(known.marks.len() - 1).is_some_and(|it| it.chain == last.chain)
            }
            None => true,
        };
        if is_beginning {
            self.epoch = known.epoch;
            let pairs = self.marks.iter().zip(&known.marks).enumerate();
            let changed = pairs.filter(|(_, (new, old))| new.look != old.look);
            self.changed = changed.map(|(at, _)| at).collect();
            self.changes = known.changes + u64::from(!self.changed.is_empty());
        }
    }

    /// The same session with what has come since; or what was known of it, if it has to be opened
    /// anew.
    pub(crate) fn grown(self, at: &Located) -> Result<Self, Known> {
        let Self { source, name, files: before, epoch, marks, changed, changes } = self;
        let known = Known { epoch, changes, marks };
        let Some(files) = files(&at.path) else { return Err(known) };
        let source = match source {
            Source::Log(mut live) if ends_whole(&at.path) => {
                let is_same = live.poll(&mut |_| {}).is_ok_and(|news| news != News::Anew);
                if !is_same || !live.is_plain_log() {
                    return Err(known);
                }
                Source::Log(live)
            }
            // Only whether somebody writes has changed.
            Source::Opened(mut opened) if files == before => {
                let activity = activity_of(&at.path, &opened.session, opened.format == LOG_FORMAT);
                opened.session.set_activity(activity);
                Source::Opened(opened)
            }
            Source::Log(_) | Source::Opened(_) => return Err(known),
        };
        let Known { epoch, changes, marks } = known;
        let mut folded = Self { source, name, files, epoch, marks, changed, changes };
        folded.mark();
        Ok(folded)
    }

    pub(crate) fn known(&self) -> Known {
        Known { epoch: self.epoch, changes: self.changes, marks: self.marks.clone() }
    }

    /// Whether this is what the disk has.
    pub(crate) fn is_current(&self, at: &Located) -> bool {
        let is_log = matches!(self.source, Source::Log(_)) || self.format() == LOG_FORMAT;
        files(&at.path).is_some_and(|files| files == self.files)
            && activity_of(&at.path, self.session(), is_log) == self.session().activity()
    }

    fn mark(&mut self) {
        let mut marks = std::mem::take(&mut self.marks);
        let mut chain = marks.last().map_or(0, |mark| mark.chain);
        for entry in self.session().entries_from(marks.len()) {
            chain = next(chain, entry.id());
            marks.push(Mark { chain, look: look(entry) });
        }
        self.marks = marks;
    }

    pub(crate) fn session(&self) -> &Session {
        self.reading().session
    }

    pub(crate) fn reading(&self) -> Reading<'_> {
        match &self.source {
            Source::Opened(opened) => Reading { session: &opened.session, bodies: &*opened.bodies },
            Source::Log(live) => live.reading(),
        }
    }

    /// The session's own id, or else the name of its file.
    pub(crate) fn id(&self) -> String {
        let own = self.session().info().session_id.as_deref();
        own.map_or_else(|| self.name.clone(), Into::into)
    }

    pub(crate) fn format(&self) -> &'static str {
        match &self.source {
            Source::Opened(opened) => opened.format,
            Source::Log(_) => LOG_FORMAT,
        }
    }

    /// The streams, by their number.
    pub(crate) fn streams(&self, at: &Located) -> Vec<PathBuf> {
        match &self.source {
            Source::Opened(opened) => opened.files.clone(),
            Source::Log(_) => {
                Log::find(&at.path).map(|log| log.segments().collect()).unwrap_or_default()
            }
        }
    }

    /// Records that repeat what others say.
    pub(crate) fn duplicates(&self) -> &[Duplicate] {
        match &self.source {
            Source::Opened(opened) => &opened.duplicates,
            Source::Log(_) => &[],
        }
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The mark behind that many events; nothing, if there are not so many.
    pub(crate) fn chain(&self, events: usize) -> Option<u64> {
        match events.checked_sub(1) {
            None => Some(0),
            Some(last) => self.marks.get(last).map(|mark| mark.chain),
        }
    }

    /// The places of events that are not what they were when the session was last opened.
    pub(crate) fn changed(&self) -> &[usize] {
        &self.changed
    }

    /// How often events have changed that were there before.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        // Another program's files are held as they are; of a log only the fold is.
        let texts: u64 = match &self.source {
            Source::Opened(opened) if opened.format != LOG_FORMAT => {
                self.files.iter().map(|(_, len, _)| len).sum()
            }
            Source::Opened(_) | Source::Log(_) => 0,
        };
        let marks = self.marks.len() * size_of::<Mark>();
        self.session().heap_bytes() + marks + usize::try_from(texts).unwrap_or(usize::MAX / 4)
    }
}

/// Numbers beyond this are not exact in JavaScript.
const JSON_SAFE: u64 = (1 << 53) - 1;

/// The mark behind one more event. The same on every machine: it outlives the server.
fn next(chain: u64, id: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&chain.to_le_bytes()).update(id.as_bytes());
    let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// What an event looks like, without its text.
fn look(entry: Entry<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    entry.kind().as_str().hash(&mut hasher);
    entry.line().len.hash(&mut hasher);
    entry.contents().for_each(|place| place.len.hash(&mut hasher));
    entry.calls().count().hash(&mut hasher);
    hasher.finish()
}

fn activity_of(path: &Path, session: &Session, is_log: bool) -> Activity {
    let log = if is_log { Log::find(path).ok() } else { None };
    match log {
        Some(log) => activity::of_log(&log, session),
        None => match session.time_span() {
            Some((_, last)) => activity::since(Some(last)),
            None => session.activity(),
        },
    }
}

/// Whether a log ends with a whole line, so that reading on and reading anew say the same.
fn ends_whole(path: &Path) -> bool {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let Some(last) = Log::find(path).ok().and_then(|log| log.segments().last()) else {
        return false;
    };
    let Ok(mut file) = regular::open(&last) else { return false };
    let mut byte = [0];
    let read = file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut byte));
    read.is_ok() && byte == *b"\n"
}
