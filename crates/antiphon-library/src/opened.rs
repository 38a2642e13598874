//! Opening what may be a copy that is kept.
//!
//! How a path becomes a session is the same for a copy as for an agent's own file. Of a copy more
//! is known: whether it is what was written, and what people said about it. That is added here, so
//! whoever opens a session opens it here.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_journal::{Log, Options};
use antiphon_model::Problem;
use antiphon_model::Timestamp;
use antiphon_sources::{
    AllSessions, Bundle, Each, Error, Exported, Finder, LOG_FORMAT, Live, OnFile, Opened,
    Redacting, Wanted, copy_log, export_bundle, open_foreign, read_bytes_of,
};

use crate::archive::{self, Copies};
use crate::{Store, annotations};

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
    let mut opened = match packed(path, &mut |_, _| {}) {
        Some(bundle) => open_foreign(bundle, Wanted::Everything),
        None => antiphon_sources::open(path)?,
    };
    complete(&mut opened, path);
    Ok(opened)
}

/// The files of a session that is kept with others, if it is one.
fn packed(path: &Path, tell: OnFile<'_>) -> Option<Bundle> {
    let copies = Copies::of_copy(path)?;
    let (packed, files) = (copies.packed()?, copies.files()?);
    let below = copies.folder().join(copies.newest()?);
    let agent = copies.folder().parent()?.file_name()?.to_str()?;
    let bundle = Bundle::of_copy(agent, &below, files, tell)?;
    let changed = i64::try_from(packed.entry()?.time).ok()?;
    Some(bundle.changed(Timestamp::from_millis(changed)))
}

/// The same, for counting only: what was used is there, and perhaps nothing else.
pub fn open_usage(path: &Path) -> Result<Opened, Error> {
    let mut opened = match packed(path, &mut |_, _| {}) {
        Some(bundle) => open_foreign(bundle, Wanted::Usage),
        None => antiphon_sources::open_usage(path)?,
    };
    complete(&mut opened, path);
    Ok(opened)
}

/// The same without annotations, and tells what files there are.
pub(crate) fn open_with_files(path: &Path, tell: OnFile<'_>) -> Result<Opened, Error> {
    let mut opened = match packed(path, tell) {
        Some(bundle) => open_foreign(bundle, Wanted::Everything),
        None => antiphon_sources::open_with_files(path, tell)?,
    };
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
) -> AllSessions<T> {
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
    if let Some(name) = Copies::of_copy(path).and_then(|copies| copies.name()) {
        opened.name = name;
    }
    archive::problems_of(path).into_iter().for_each(|it| opened.session.add_problem(it));
}

/// Reads the files of the session at `path`, if it is of a format that is not our own.
pub fn find_bundle(path: &Path) -> Result<Option<Bundle>, Error> {
    let found = match packed(path, &mut |_, _| {}) {
        Some(bundle) => Some(bundle),
        None => Bundle::find(path)?,
    };
    let Some(mut bundle) = found else { return Ok(None) };
    if let Some(name) = Copies::of_copy(path).and_then(|copies| copies.name()) {
        bundle.set_name(name);
    }
    archive::problems_of(path).into_iter().for_each(|it| bundle.add_problem(it));
    Ok(Some(bundle))
}

/// Opens the session at `path` as one that may go on.
pub fn live(path: &Path, quiet: Duration, each: Each<'_>) -> Result<Live, Error> {
    Live::open(path, Finder { bundle: find_bundle, stamp }, quiet, each)
}

/// The agent's own file of which the one at `path` is a copy, if it is there and no shorter: what
/// an agent writes is in its own file first.
pub fn original(path: &Path) -> Option<PathBuf> {
    let copies = Copies::of_copy(path)?;
    let source = copies.source()?;
    // A session of a database is called by a path that is not a file's.
    let is_in_database = || source.parent().is_some_and(Path::is_file);
    let is_longer = || source.metadata().is_ok_and(|it| Some(it.len()) >= copies.main_len());
    let is_there = if source.is_file() { is_longer() } else { is_in_database() };
    is_there.then_some(source)
}

/// What is wrong with the copies that a session was read from.
pub fn damages_of(bundle: &Bundle) -> impl Iterator<Item = &Problem> {
    bundle.problems().iter().filter(|problem| archive::is_damage(problem.code))
}

/// The bytes that the agent wrote as the session's main file; out of a database the document.
pub fn native(bundle: &Bundle) -> Result<Vec<u8>, Error> {
    let main = bundle.files().next().unwrap_or(Path::new(""));
    let packed = Copies::of_copy(main).filter(|copies| copies.packed().is_some());
    match packed.and_then(|copies| copies.files()?.into_iter().next()) {
        Some((_, bytes)) => Ok(bytes),
        None => bundle.native(),
    }
}

/// Every file of a session as the agent wrote it, the main one first, with its own name below the
/// session's root. What was read is checked against what was copied.
pub fn native_files(bundle: &Bundle) -> Result<Vec<(PathBuf, Vec<u8>)>, Error> {
    let main = bundle.files().next().unwrap_or(Path::new(""));
    let Some(copies) = Copies::of_copy(main) else { return bundle.native_files() };
    let bytes = copies.bytes();
    let read = |(name, stored): (PathBuf, String)| {
        let is_packed = name.extension().is_some_and(|ending| ending == "zst");
        let read = bytes.open(&stored).and_then(|mut file| match is_packed {
            true => {
                let mut all = Vec::new();
                file.read_to_end(&mut all).map(|_| all)
            }
            false => read_bytes_of(Box::new(file), bytes.len(&stored).unwrap_or_default()),
        });
        let path = copies.folder().join(&stored);
        read.map(|bytes| (name, bytes)).map_err(|source| Error::Read { path, source })
    };
    copies.native_names().into_iter().map(read).collect()
}

/// The files of the session at `path` and how long they are: what changes when it goes on. Nothing,
/// if it is a log.
pub fn stamp(path: &Path) -> Result<Option<Vec<(PathBuf, u64)>>, Error> {
    let packed = Copies::of_copy(path).filter(|copies| copies.packed().is_some());
    let Some(copies) = packed else { return Bundle::stamp(path) };
    let len = |name: &String| copies.bytes().len(name).unwrap_or_default();
    let files = copies.names().into_iter();
    Ok(Some(files.map(|name| (copies.folder().join(&name), len(&name))).collect()))
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
