//! Opening: a path becomes a bundle of named streams, a bundle events, and events a session.
//!
//! What agents wrote is kept in memory as long as the session is looked at: the bodies are read
//! from there.

use std::io;
use std::path::{Path, PathBuf};

use antiphon_formats::{Duplicate, Sink};
use antiphon_journal::{Log, LogBodies, Summary, regular};
use antiphon_model::{Activity, Bodies, Event, Problem, Session};
use thiserror::Error;

use crate::bundle::Bundle;
use crate::database::DatabaseError;
use crate::{activity, file, recorded};

/// The name of the log's own format.
pub const LOG_FORMAT: &str = "antiphon";

/// A session that was read.
pub struct Opened {
    pub session: Session,
    pub bodies: Box<dyn Bodies>,
    /// The format's name in the registry.
    pub format: &'static str,
    /// What the session is called when it says nothing itself.
    pub name: String,
    /// The streams, by their number.
    pub files: Vec<PathBuf>,
    /// Records that tell what others have told.
    pub duplicates: Vec<Duplicate>,
    /// How the log ends, if it is one.
    pub summary: Option<Summary>,
    /// Whether whoever wrote it died before it ended.
    pub was_interrupted: bool,
    /// What else is where it was found.
    pub note: Option<String>,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Opened({}, {} events)", self.format, self.session.len())
    }
}

#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    Log(#[from] antiphon_journal::Error),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error("cannot read `{path}`")]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write `{path}`")]
    Write { path: PathBuf, source: io::Error },
}

/// What is wanted of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Wanted {
    #[default]
    Everything,
    /// What was used; perhaps nothing else is there.
    Usage,
}

/// Is told the name of each file within its session, in the order of their streams, and its bytes,
/// if they are others than the stream's.
pub type Tell<'a> = &'a mut dyn FnMut(&str, Option<&[u8]>);

/// Reads the session at `path`: a log, or a file of any known format with the files that belong to
/// it. What is of no known format is read as a log, and found wanting as one.
pub fn open(path: &Path) -> Result<Opened, Error> {
    open_for(path, Wanted::Everything, None)
}

/// The same, and tells what files there are.
pub fn open_telling(path: &Path, tell: Tell<'_>) -> Result<Opened, Error> {
    open_for(path, Wanted::Everything, Some(tell))
}

/// The same, for counting only: what was used is there, and perhaps nothing else.
pub fn open_usage(path: &Path) -> Result<Opened, Error> {
    open_for(path, Wanted::Usage, None)
}

fn open_for(path: &Path, wanted: Wanted, tell: Option<Tell<'_>>) -> Result<Opened, Error> {
    let mut tell = tell;
    let bundle = Bundle::find_telling(path, &mut |name, bytes| {
        if let Some(tell) = &mut tell {
            tell(name, bytes);
        }
    });
    if let Some(bundle) = bundle? {
        return Ok(open_foreign(bundle, wanted));
    }
    if path.exists() && !path.is_dir() {
        let unread = |source| Error::Read { path: path.to_owned(), source };
        if file::is_packed(path).map_err(unread)? {
            let what = "it is compressed, and its content is not a session in a known format";
            return Err(unread(io::Error::other(what)));
        }
    }
    let log = Log::find(path)?;
    if let Some(tell) = tell {
        for segment in log.segments() {
            let name = segment.file_name().unwrap_or_default().to_string_lossy();
            tell(&name, Some(&regular::read(&segment).unwrap_or_default()));
        }
    }
    let (mut session, summary) = log.fold()?;
    let activity = activity::of_log(&log, &session);
    let was_interrupted = !session.info().ended && activity == Activity::Gone;
    session.set_activity(activity);
    if let Some(mut recorded) = recorded::read(&log, &session)? {
        recorded.session.set_activity(activity);
        return Ok(Opened {
            session: recorded.session,
            bodies: Box::new(recorded.bodies),
            format: LOG_FORMAT,
            name: log.name(),
            files: log.segments().collect(),
            duplicates: recorded.duplicates,
            summary: Some(summary),
            was_interrupted,
            note: None,
        });
    }
    Ok(Opened {
        session,
        bodies: Box::new(LogBodies::new(&log)),
        format: LOG_FORMAT,
        name: log.name(),
        files: log.segments().collect(),
        duplicates: Vec::new(),
        summary: Some(summary),
        was_interrupted,
        note: None,
    })
}

/// Reads a session of another program from its files.
pub fn open_foreign(bundle: Bundle, wanted: Wanted) -> Opened {
    let mut fold = Fold { wanted, ..Fold::default() };
    bundle.events(&mut fold);
    let Fold { mut session, duplicates, .. } = fold;
    // A session without times is as old as its files.
    let last = session.time_span().map(|(_, last)| last);
    session.set_activity(activity::since(last.or_else(|| bundle.changed_at())));
    Opened {
        session,
        format: bundle.format(),
        name: bundle.name().to_owned(),
        note: bundle.note().map(str::to_owned),
        files: bundle.files().map(Path::to_owned).collect(),
        bodies: Box::new(bundle),
        duplicates,
        summary: None,
        was_interrupted: false,
    }
}

/// Folds a format's events into a session.
#[derive(Debug, Default)]
pub struct Fold {
    pub session: Session,
    duplicates: Vec<Duplicate>,
    wanted: Wanted,
}

impl<'a> Sink<'a> for Fold {
    fn wants_only_usage(&self) -> bool {
        self.wanted == Wanted::Usage
    }

    fn event(&mut self, event: Event<'a>) {
        self.session.apply(&event);
    }

    fn problem(&mut self, problem: Problem) {
        self.session.add_problem(problem);
    }

    fn duplicate(&mut self, duplicate: Duplicate) {
        self.duplicates.push(duplicate);
    }
}
