//! Opening a session: a path becomes a bundle of named streams, a bundle becomes events, and events
//! become a session.
//!
//! Agents' files stay in memory as long as the session is open, because bodies are read from them.

use std::io;
use std::path::{Path, PathBuf};

use antiphon_formats::{Duplicate, Sink};
use antiphon_journal::{Log, LogBodies, LogSummary, regular};
use antiphon_model::{Activity, Bodies, Event, Problem, Reading, Session};

use crate::bundle::{Bundle, OnFile};
use crate::error::Error;
use crate::{activity, file, recorded};

/// The name of the log's own format.
pub const LOG_FORMAT: &str = "antiphon";

/// An opened session.
pub struct Opened {
    pub session: Session,
    pub bodies: Box<dyn Bodies>,
    /// The format's name in the registry.
    pub format: &'static str,
    /// The name of the session, for one that does not name itself.
    pub name: String,
    /// The files, by stream number.
    pub files: Vec<PathBuf>,
    /// Records that repeat others.
    pub duplicates: Vec<Duplicate>,
    /// The state at the end of the log, if it is one.
    pub summary: Option<LogSummary>,
    /// Whether the process that wrote it died before it ended.
    pub was_interrupted: bool,
    /// A hint for the user about other sessions in the same place.
    pub note: Option<String>,
}

impl Opened {
    /// The session's own id, or else the name of its file.
    pub fn id(&self) -> String {
        let own = self.session.info().session_id.as_deref();
        own.map_or_else(|| self.name.clone(), Into::into)
    }

    pub fn reading(&self) -> Reading<'_> {
        Reading { session: &self.session, bodies: &*self.bodies }
    }
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Opened({}, {} events)", self.format, self.session.len())
    }
}

/// What the caller needs of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Wanted {
    #[default]
    Everything,
    /// Usage; anything else may be missing.
    Usage,
}

/// Reads the session at `path`: a log, or a file of any known format with the files that belong to
/// it. A file of no known format is read as a log, whose problems then say what is wrong.
pub fn open(path: &Path) -> Result<Opened, Error> {
    open_for(path, Wanted::Everything, None)
}

/// Like [`open`], and passes each file to `on_file`.
pub fn open_with_files(path: &Path, on_file: OnFile<'_>) -> Result<Opened, Error> {
    open_for(path, Wanted::Everything, Some(on_file))
}

/// Like [`open`], for counting: only usage is certain to be there.
pub fn open_usage(path: &Path) -> Result<Opened, Error> {
    open_for(path, Wanted::Usage, None)
}

fn open_for(path: &Path, wanted: Wanted, on_file: Option<OnFile<'_>>) -> Result<Opened, Error> {
    let mut on_file = on_file;
    let bundle = Bundle::find_with_files(path, &mut |name, bytes| {
        if let Some(on_file) = &mut on_file {
            on_file(name, bytes);
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
    if let Some(on_file) = on_file {
        for segment in log.segments() {
            let name = segment.file_name().unwrap_or_default().to_string_lossy();
            on_file(&name, Some(&regular::read(&segment).unwrap_or_default()));
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
    // A session without times counts as being as old as its files.
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
