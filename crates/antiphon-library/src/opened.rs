//! Opening what may be a copy that is kept.
//!
//! How a path becomes a session is the same for a copy as for an agent's own file. Of a copy more
//! is known: whether it is what was written, and what people said about it. That is added here, so
//! whoever opens a session opens it here.

use std::path::{Path, PathBuf};

use antiphon_journal::{Log, Options, regular};
use antiphon_model::Problem;
use antiphon_sources::{
    All, Bundle, Error, Exported, LOG_FORMAT, Opened, Redacting, Tell, Wanted, copy_log,
    export_bundle, read_bytes,
};

use crate::{Store, annotations, archive};

/// Reads the session at `path`: a log, or a file of any known format with the files that belong to
/// it. What is of no known format is read as a log, and found wanting as one.
pub fn open(path: &Path) -> Result<Opened, Error> {
    open_with(path, None)
}

/// The same with what was said about the session at `path`, where that is an agent's own file of
/// which `store` keeps a copy.
pub fn open_with(path: &Path, store: Option<&Store>) -> Result<Opened, Error> {
    let mut opened = open_files(path)?;
    if opened.format != LOG_FORMAT {
        annotations::fold_in(&mut opened, path, store);
    }
    Ok(opened)
}

/// The same without annotations.
pub(crate) fn open_files(path: &Path) -> Result<Opened, Error> {
    let mut opened = antiphon_sources::open(path)?;
    complete(&mut opened, path);
    Ok(opened)
}

/// The same, for counting only: what was used is there, and perhaps nothing else.
pub fn open_usage(path: &Path) -> Result<Opened, Error> {
    let mut opened = antiphon_sources::open_usage(path)?;
    complete(&mut opened, path);
    Ok(opened)
}

/// The same without annotations, and tells what files there are.
pub(crate) fn open_telling(path: &Path, tell: Tell<'_>) -> Result<Opened, Error> {
    let mut opened = antiphon_sources::open_telling(path, tell)?;
    complete(&mut opened, path);
    Ok(opened)
}

/// Opens every session at these paths and below them, on as many threads as there are processors.
/// `make` takes what it needs of each; what it makes of files that belong to another session is
/// dropped.
pub fn open_all<T: Send>(
    paths: &[PathBuf],
    wanted: Wanted,
    make: &(dyn Fn(&Opened) -> T + Sync),
) -> All<T> {
    antiphon_sources::open_all(paths, wanted, &|opened| {
        if let Some(main) = opened.files.first().cloned() {
            complete(opened, &main);
        }
        make(opened)
    })
}

/// Adds what is known of a copy: what is wrong with it, and what its agent calls the session.
fn complete(opened: &mut Opened, path: &Path) {
    if opened.format == LOG_FORMAT {
        return;
    }
    if let Some(name) = archive::folder_of(path).and_then(archive::name_of) {
        opened.name = name;
    }
    archive::problems_of(path).into_iter().for_each(|it| opened.session.add_problem(it));
}

/// Reads the files of the session at `path`, if it is of a format that is not our own.
pub fn find_bundle(path: &Path) -> Result<Option<Bundle>, Error> {
    let Some(mut bundle) = Bundle::find(path)? else { return Ok(None) };
    if let Some(name) = archive::folder_of(path).and_then(archive::name_of) {
        bundle.set_name(name);
    }
    archive::problems_of(path).into_iter().for_each(|it| bundle.add_problem(it));
    Ok(Some(bundle))
}

/// What is wrong with the copies that a session was read from.
pub fn damages_of(bundle: &Bundle) -> impl Iterator<Item = &Problem> {
    bundle.problems().iter().filter(|problem| archive::is_damage(problem.code))
}

/// Every file of a session as the agent wrote it, the main one first, with its own name below the
/// session's root. What was read is checked against what was copied.
pub fn native_files(bundle: &Bundle) -> Result<Vec<(PathBuf, Vec<u8>)>, Error> {
    let main = bundle.files().next().unwrap_or(Path::new(""));
    let Some(copies) = archive::native_files_at(main) else { return bundle.native_files() };
    let read = |(name, path): (PathBuf, PathBuf)| {
        let is_packed = name.extension().is_some_and(|ending| ending == "zst");
        let bytes = if is_packed { regular::read(&path) } else { read_bytes(&path) };
        bytes.map(|bytes| (name, bytes)).map_err(|source| Error::Read { path, source })
    };
    copies.into_iter().map(read).collect()
}

/// Writes the session at `from` to a new log at `to`.
///
/// A log is copied event by event; of another format every event is written in the log's own
/// words, with the ids, the times and the usage of the source, and behind them what was said about
/// it, as far as that lies beside a copy in `store`. With a redactor, without secrets.
pub fn export_log(
    from: &Path,
    to: &Path,
    options: Options,
    redaction: Option<Redacting<'_>>,
    store: Option<&Store>,
) -> Result<Exported, Error> {
    match find_bundle(from)? {
        Some(bundle) => {
            let annotations = annotations::texts(from, bundle.format(), store);
            export_bundle(&bundle, &annotations, to, options, redaction)
        }
        None => copy_log(&Log::find(from)?, to, options, redaction),
    }
}
