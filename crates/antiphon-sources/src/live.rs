//! A session that continues: new events are read and folded in, and nothing is read from disk
//! twice.
//!
//! A log knows where reading stopped. Of another program's files only what they have gained is read
//! from disk. A reader puts the events of all streams in one order and may join several lines into
//! one event, so it goes over the text in memory again; an event that it yields as before is
//! recognised by its fingerprint, and only the events after the last such one are folded in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_formats::{Duplicate, Sink};
use antiphon_journal::{Damage, Follower, Log, LogBodies, Seal, Sink as LogSink};
use antiphon_model::{Event, EventIx, Line, Problem, Reading, Session};

use crate::bundle::{Bundle, Growth, Progress};
use crate::recorded::{self, Recorded};
use crate::{Error, activity};

/// What polling a session found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    None,
    /// New events after those that were known; this is the first of them.
    Events(EventIx),
    /// Something has changed that was known before, so all events must be looked at again. The ids
    /// of events stay the same.
    Anew,
}

/// Called with each event that is folded in.
pub type Each<'e> = &'e mut dyn FnMut(&Event<'_>);

/// Files and their sizes.
pub type FileSizes = Vec<(PathBuf, u64)>;

/// How the files of another program's session are found. The store knows more about its copies than
/// their paths tell.
#[derive(Debug, Clone, Copy)]
pub struct Finder {
    /// Reads the files; `None` for an Antiphon log.
    pub bundle: fn(&Path) -> Result<Option<Bundle>, Error>,
    /// The sizes of the files, which change when the session continues.
    pub stamp: fn(&Path) -> Result<Option<FileSizes>, Error>,
}

impl Finder {
    /// The files as they are on disk.
    pub const FILES: Self = Self { bundle: Bundle::find, stamp: Bundle::stamp };
}

/// An open session that may continue.
pub struct Live {
    path: PathBuf,
    finder: Finder,
    /// How long a message must stay unchanged before it counts as complete, because agents write a
    /// message in several steps.
    quiet: Duration,
    source: Source,
}

enum Source {
    Log(Box<Following>),
    Files(Box<Files>),
}

/// A session that is an Antiphon log.
struct Following {
    follower: Follower,
    /// The fold of the log itself.
    session: Session,
    bodies: LogBodies,
    /// What the recorded output means, if the log is a recording of an agent.
    recorded: Option<Recorded>,
}

/// A session that consists of another program's files.
struct Files {
    bundle: Bundle,
    session: Session,
    problems: Vec<Problem>,
    can_grow: bool,
    progress: Progress,
    /// The fingerprints of the events that were folded, in order.
    folded: Vec<u64>,
    /// Whether events are waiting until they count as complete.
    are_held: bool,
    /// The sizes of the files when they were last read, for files that must be read from the
    /// beginning.
    stamp: FileSizes,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Live({}, {} events)", self.path.display(), self.reading().session.len())
    }
}

impl Live {
    /// Opens the session at `path`, and passes each of its events to `each`.
    pub fn open(
        path: &Path,
        finder: Finder,
        quiet: Duration,
        each: Each<'_>,
    ) -> Result<Self, Error> {
        let source = match (finder.bundle)(path)? {
            Some(bundle) => Source::Files(Box::new(Files::open(path, finder, bundle, each)?)),
            None => Source::Log(Box::new(Following::open(path, each)?)),
        };
        Ok(Self { path: path.to_owned(), finder, quiet, source })
    }

    /// The session as far as it is known.
    pub fn reading(&self) -> Reading<'_> {
        match &self.source {
            Source::Files(files) => Reading { session: &files.session, bodies: &files.bundle },
            Source::Log(log) => match &log.recorded {
                Some(recorded) => Reading { session: &recorded.session, bodies: &recorded.bodies },
                None => Reading { session: &log.session, bodies: &log.bodies },
            },
        }
    }

    /// Whether it is a log, and not a recording of what another program printed.
    pub fn is_plain_log(&self) -> bool {
        match &self.source {
            Source::Log(log) => log.recorded.is_none(),
            Source::Files(_) => false,
        }
    }

    /// Problems in another program's files, as far as they were read.
    pub fn problems(&self) -> &[Problem] {
        match &self.source {
            Source::Log(_) => &[],
            Source::Files(files) => &files.problems,
        }
    }

    /// Reads what is new, and passes each new event to `each`; all events, if known ones have
    /// changed.
    pub fn poll(&mut self, each: Each<'_>) -> Result<News, Error> {
        let before = self.reading().session.len();
        let is_other = match &mut self.source {
            Source::Log(log) => log.poll(&self.path, each)?,
            Source::Files(files) => match files.grow(&self.path, self.finder, self.quiet)? {
                Growth::None => return Ok(News::None),
                Growth::More => files.fold(self.quiet, each),
                Growth::Other => {
                    // While its agent rewrites it, a file may be empty or absent.
                    let Some(bundle) = (self.finder.bundle)(&self.path).ok().flatten() else {
                        return Ok(News::None);
                    };
                    **files = Files::open(&self.path, self.finder, bundle, each)?;
                    true
                }
            },
        };
        let first = self.reading().session.entries().nth(before);
        Ok(match first.map(|entry| entry.ix()) {
            _ if is_other => News::Anew,
            Some(first) => News::Events(first),
            None => News::None,
        })
    }
}

impl Following {
    fn open(path: &Path, each: Each<'_>) -> Result<Self, Error> {
        let bodies = LogBodies::new(&Log::find(path)?);
        let (follower, session) = (Follower::new(path), Session::default());
        let mut log = Self { follower, session, bodies, recorded: None };
        log.poll(path, each)?;
        Ok(log)
    }

    /// Reads what is new. Returns whether known events have changed.
    fn poll(&mut self, path: &Path, each: Each<'_>) -> Result<bool, Error> {
        let before = self.session.len();
        let mut lines = LogLines { session: &mut self.session, each };
        let followed = self.follower.poll(&mut lines)?;
        if followed.restarted {
            *self = Self::open(path, each)?;
            return Ok(true);
        }
        let log = Log::find(path)?;
        let activity = activity::of_log(&log, &self.session);
        self.session.set_activity(activity);
        if self.session.len() > before {
            self.bodies = LogBodies::new(&log);
            self.recorded = recorded::read(&log, &self.session)?;
        }
        if let Some(recorded) = &mut self.recorded {
            recorded.session.set_activity(activity);
        }
        // The output of a recorded command is interpreted as a whole each time.
        Ok(self.recorded.is_some() && self.session.len() > before)
    }
}

impl Files {
    fn open(
        path: &Path,
        finder: Finder,
        mut bundle: Bundle,
        each: Each<'_>,
    ) -> Result<Self, Error> {
        let can_grow = bundle.can_grow();
        let stamp = if can_grow { Vec::new() } else { (finder.stamp)(path)?.unwrap_or_default() };
        if can_grow {
            bundle.hold_unfinished_lines(0);
        }
        let mut files = Self {
            bundle,
            session: Session::default(),
            problems: Vec::new(),
            can_grow,
            progress: Progress::default(),
            folded: Vec::new(),
            are_held: false,
            stamp,
        };
        files.fold_anew(each);
        Ok(files)
    }

    fn grow(&mut self, path: &Path, finder: Finder, quiet: Duration) -> Result<Growth, Error> {
        if self.can_grow {
            let growth = self.bundle.grow(&mut self.progress, quiet);
            let may_be_whole = growth == Growth::None && self.are_held;
            return Ok(if may_be_whole { Growth::More } else { growth });
        }
        let stamp = (finder.stamp)(path)?.unwrap_or_default();
        if stamp == self.stamp {
            return Ok(Growth::None);
        }
        // While its agent rewrites it, a file may be empty or absent.
        let Some(bundle) = (finder.bundle)(path).ok().flatten() else {
            return Ok(Growth::None);
        };
        (self.bundle, self.stamp) = (bundle, stamp);
        Ok(Growth::More)
    }

    /// Folds in the events that the reader yields beyond the known ones. Returns whether known
    /// events have changed, so that the session was folded again.
    fn fold(&mut self, quiet: Duration, each: Each<'_>) -> bool {
        let mut again = Again { known: &self.folded, ..Again::default() };
        self.bundle.events(&mut again);
        let Again { known, at, has_changed, new, problems } = again;
        if has_changed || at < known.len() {
            self.fold_anew(each);
            return true;
        }
        let whole = whole(&new, |stream| self.progress.is_quiet(stream, quiet));
        self.are_held = whole < new.len();
        for event in new.iter().take(whole) {
            self.session.apply(event);
            each(event);
        }
        let marks: Vec<u64> = new.iter().take(whole).map(Event::fingerprint).collect();
        self.folded.extend(marks);
        self.problems = problems;
        self.set_activity();
        false
    }

    fn fold_anew(&mut self, each: Each<'_>) {
        let (session, folded, problems) = (Session::default(), Vec::new(), Vec::new());
        let mut anew = Anew { each, session, folded, problems };
        self.bundle.events(&mut anew);
        let Anew { session, folded, problems, .. } = anew;
        (self.session, self.folded, self.problems) = (session, folded, problems);
        self.are_held = false;
        self.set_activity();
    }

    fn set_activity(&mut self) {
        let last = self.session.time_span().map(|(_, last)| last);
        let last = last.or_else(|| self.bundle.changed_at());
        self.session.set_activity(activity::since(last));
    }
}

/// How many of these events are complete. The last event of a stream that is being written may not
/// be, and those after it wait with it.
fn whole(events: &[Event<'_>], is_quiet: impl Fn(u32) -> bool) -> usize {
    let mut last: BTreeMap<u32, usize> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        last.insert(event.place.stream, at);
    }
    let open = last.into_iter().filter(|(stream, _)| !is_quiet(*stream)).map(|(_, at)| at);
    open.min().unwrap_or(events.len())
}

/// Folds the events of a log.
struct LogLines<'l> {
    session: &'l mut Session,
    each: Each<'l>,
}

impl LogSink for LogLines<'_> {
    fn event(&mut self, event: &Event<'_>, _: &Line<'_>, _: Option<&Seal>) {
        self.session.apply(event);
        (self.each)(event);
    }

    fn damage(&mut self, damage: Damage) {
        self.session.add_problem(damage.problem());
    }
}

/// Folds a session from its beginning.
struct Anew<'e> {
    each: Each<'e>,
    session: Session,
    folded: Vec<u64>,
    problems: Vec<Problem>,
}

impl<'a> Sink<'a> for Anew<'_> {
    fn event(&mut self, event: Event<'a>) {
        self.folded.push(event.fingerprint());
        self.session.apply(&event);
        (self.each)(&event);
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn duplicate(&mut self, _: Duplicate) {}
}

/// Skips the known events, and collects those that follow.
#[derive(Default)]
struct Again<'k, 'a> {
    known: &'k [u64],
    at: usize,
    has_changed: bool,
    new: Vec<Event<'a>>,
    problems: Vec<Problem>,
}

impl<'a> Sink<'a> for Again<'_, 'a> {
    fn event(&mut self, event: Event<'a>) {
        match self.known.get(self.at) {
            _ if self.has_changed => {}
            Some(known) if *known == event.fingerprint() => self.at += 1,
            Some(_) => self.has_changed = true,
            None => self.new.push(event),
        }
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn duplicate(&mut self, _: Duplicate) {}
}

#[cfg(test)]
mod tests;
