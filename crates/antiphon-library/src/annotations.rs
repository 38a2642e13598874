//! Annotations of sessions whose files belong to another program.
//!
//! Nothing is ever added to an agent's own files, nor to their copies. Annotations of such a
//! session are in an Antiphon log beside the copies, `annotations.jsonl`, which belongs to all
//! generations and is deleted with them. Opening a copy folds it in, and so does opening the
//! original file.

use std::path::{Path, PathBuf};

use antiphon_journal::{Damage, Log, LogBodies, Seal, Sink, regular};
use antiphon_model::{Bodies, Body, BodyError, Event, EventKind, Line, Place, Session};
use antiphon_sources::{Error, Opened, list};

use crate::Store;
use crate::archive::{self, Copies};

/// The name of the log in the folder of a session.
pub(crate) const FILE: &str = "annotations.jsonl";

/// Where the annotations of a stored session are, or would be, given any file of its copy; `None`
/// for a file that is not a copy.
pub fn annotations_of(copy: &Path) -> Option<PathBuf> {
    Copies::of_copy(copy).map(|copies| copies.folder().join(FILE))
}

/// Like [`annotations_of`], for writing: a session that shares a pack gets a folder of its own.
pub fn annotations_to_write(copy: &Path) -> Result<Option<PathBuf>, Error> {
    let Some(copies) = Copies::of_copy(copy) else { return Ok(None) };
    Store::give_folder(copies.folder())?;
    Ok(Some(copies.folder().join(FILE)))
}

/// The annotations of a copy, or of an agent's own file that `store` has a copy of; `None` if there
/// are none.
fn find(path: &Path, agent: &str, store: Option<&Store>) -> Option<PathBuf> {
    match annotations_of(path) {
        Some(of_copy) => Some(of_copy).filter(|it| it.is_file()),
        None => of_source(path, &store?.root().join("archive").join(agent)),
    }
}

/// The annotations of the session whose main file the agent has at `source`. Few sessions have any,
/// so only those are compared with it.
fn of_source(source: &Path, copies: &Path) -> Option<PathBuf> {
    #[derive(serde::Deserialize)]
    struct State {
        #[serde(with = "antiphon_sources::name::path")]
        source: PathBuf,
    }
    let real = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    let wanted = real(source)?;
    let is_of = |annotations: &PathBuf| {
        let state = regular::read(&annotations.with_file_name(archive::STATE_FILE)).ok();
        let state: Option<State> = state.and_then(|state| serde_json::from_slice(&state).ok());
        state.is_some_and(|it| {
            it.source.file_name() == source.file_name() && real(&it.source) == Some(wanted.clone())
        })
    };
    let logs = list(copies).into_iter().map(|folder| folder.join(FILE));
    logs.filter(|log| log.is_file()).find(is_of)
}

/// Adds the annotations of a session to the opened session, if there are any.
pub(crate) fn fold_in(opened: &mut Opened, path: &Path, store: Option<&Store>) {
    let Some(path) = find(path, opened.format, store) else { return };
    let Ok(log) = Log::find(&path) else { return };
    let first = u32::try_from(opened.files.len()).unwrap_or(u32::MAX);
    let mut notes = Notes { session: &mut opened.session, first };
    // Annotations that cannot be read are no reason not to show the session.
    let _ = log.read(&mut notes);
    opened.files.extend(log.segments());
    let nothing: Box<dyn Bodies> = Box::new(Nothing);
    let files = std::mem::replace(&mut opened.bodies, nothing);
    opened.bodies = Box::new(WithNotes { files, notes: LogBodies::new(&log), first });
}

/// The annotations of a session as events of a log, in order.
pub(crate) fn texts(path: &Path, agent: &str, store: Option<&Store>) -> Vec<String> {
    let path = find(path, agent, store);
    let mut texts = Texts(Vec::new());
    if let Some(log) = path.and_then(|path| Log::find(&path).ok()) {
        let _ = log.read(&mut texts);
    }
    texts.0
}

struct Texts(Vec<String>);

impl Sink for Texts {
    fn event(&mut self, event: &Event<'_>, _: &Line<'_>, _: Option<&Seal>) {
        if matches!(event.kind, EventKind::Annotation(_)) {
            self.0.push(event.to_json());
        }
    }

    fn damage(&mut self, _: Damage) {}
}

/// Adds the annotations in a log to a session, and ignores everything else in the log.
struct Notes<'s> {
    session: &'s mut Session,
    /// The stream number of the log's first segment in the session.
    first: u32,
}

impl Notes<'_> {
    fn behind(&self, place: Place) -> Place {
        Place { stream: place.stream.saturating_add(self.first), ..place }
    }
}

impl Sink for Notes<'_> {
    fn event(&mut self, event: &Event<'_>, _: &Line<'_>, _: Option<&Seal>) {
        let EventKind::Annotation(annotation) = &event.kind else { return };
        let mut annotation = annotation.clone();
        let Body { json, place } = annotation.annotation;
        annotation.annotation = Body { json, place: self.behind(place) };
        let mut event = event.clone();
        event.place = self.behind(event.place);
        event.extra = None;
        event.kind = EventKind::Annotation(annotation);
        self.session.apply(&event);
    }

    fn damage(&mut self, damage: Damage) {
        let mut problem = damage.problem();
        problem.place = self.behind(problem.place);
        self.session.add_problem(problem);
    }
}

/// The bodies of a session's files, followed by those of its annotations.
struct WithNotes {
    files: Box<dyn Bodies>,
    notes: LogBodies,
    first: u32,
}

impl Bodies for WithNotes {
    fn read(&self, place: Place) -> Result<String, BodyError> {
        match place.stream.checked_sub(self.first) {
            Some(stream) => self.notes.read(Place { stream, ..place }),
            None => self.files.read(place),
        }
    }

    fn stream(&self, number: u32) -> Option<&[u8]> {
        self.files.stream(number).filter(|_| number < self.first)
    }
}

/// Empty bodies, used while the real ones are replaced.
struct Nothing;

impl Bodies for Nothing {
    fn read(&self, place: Place) -> Result<String, BodyError> {
        Err(BodyError::NoStream(place.stream))
    }
}

#[cfg(test)]
mod tests;
