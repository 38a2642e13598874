//! Opening: a path becomes a bundle of named streams, a bundle events, and events a session.
//!
//! Only this file opens what agents wrote. What it reads it keeps in memory as long as the session
//! is looked at: the bodies are read from there.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use antiphon_formats::{Duplicate, Format, HEAD_LINES, Sink, Stream, detect};
use antiphon_journal::{Log, LogBodies, Summary};
use antiphon_model::{Bodies, Event, MemoryBodies, Place, Problem, Session};
use thiserror::Error;

/// The name of the log's own format.
pub const LOG_FORMAT: &str = "antiphon";

/// How much of a file decides what it is.
const HEAD_BYTES: u64 = 64 << 10;

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
    #[error("cannot read `{path}`")]
    Read { path: PathBuf, source: io::Error },
}

/// Reads the session at `path`: a log, or a file of any known format with the files that belong to
/// it. What is of no known format is read as a log, and found wanting as one.
pub fn open(path: &Path) -> Result<Opened, Error> {
    open_for(path, false)
}

/// The same, for counting only: what was used is there, and perhaps nothing else.
pub fn open_usage(path: &Path) -> Result<Opened, Error> {
    open_for(path, true)
}

fn open_for(path: &Path, only_usage: bool) -> Result<Opened, Error> {
    if path.is_file()
        && let Some(format) = detect_file(path)?
    {
        return open_foreign(path, format, only_usage);
    }
    let log = Log::find(path)?;
    let (session, summary) = log.fold()?;
    Ok(Opened {
        session,
        bodies: Box::new(LogBodies::new(&log)),
        format: LOG_FORMAT,
        name: log.name(),
        files: log.segments().collect(),
        duplicates: Vec::new(),
        summary: Some(summary),
    })
}

fn detect_file(path: &Path) -> Result<Option<&'static Format>, Error> {
    let head = head(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let lines: Vec<&str> = head.lines().take(HEAD_LINES).collect();
    Ok(detect(&lines))
}

/// How a file begins. What is not UTF-8 is replaced: only the shape matters here.
fn head(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(HEAD_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn open_foreign(path: &Path, format: &'static Format, only_usage: bool) -> Result<Opened, Error> {
    let bundle = Bundle::read(path, format)?;
    let mut fold = Fold { only_usage, ..Fold::default() };
    bundle.events(&mut fold);
    let Fold { session, duplicates, .. } = fold;
    let Bundle { files, texts, stem, .. } = bundle;
    let streams = texts.into_iter().map(String::into_bytes).collect();
    Ok(Opened {
        session,
        bodies: Box::new(MemoryBodies::new(streams)),
        format: format.name,
        name: stem,
        files: files.into_iter().map(|(_, file)| file).collect(),
        duplicates,
        summary: None,
    })
}

/// A session's files, read: its main file first, each with its name within the session.
#[derive(Debug)]
pub struct Bundle {
    format: &'static Format,
    stem: String,
    files: Vec<(String, PathBuf)>,
    texts: Vec<String>,
}

impl Bundle {
    /// Reads the files of the session at `path`, if it is of a format that is not our own.
    pub fn find(path: &Path) -> Result<Option<Self>, Error> {
        if !path.is_file() {
            return Ok(None);
        }
        detect_file(path)?.map(|format| Self::read(path, format)).transpose()
    }

    fn read(path: &Path, format: &'static Format) -> Result<Self, Error> {
        let files = Self::files(path, format);
        let mut texts = Vec::with_capacity(files.len());
        for (_, file) in &files {
            let bytes = fs::read(file);
            let bytes = bytes.map_err(|source| Error::Read { path: file.clone(), source })?;
            texts.push(text(bytes));
        }
        Ok(Self { format, stem: stem(path), files, texts })
    }

    /// The main file, and those that belong to it, by name.
    fn files(path: &Path, format: &Format) -> Vec<(String, PathBuf)> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut files = vec![(file_name(path), path.to_owned())];
        files.extend(companions(folder, &stem(path), path, format));
        files
    }

    /// The files of the session at `path` and how long they are: what changes when it goes on.
    pub fn stamp(path: &Path) -> Result<Option<Vec<(PathBuf, u64)>>, Error> {
        if !path.is_file() {
            return Ok(None);
        }
        let Some(format) = detect_file(path)? else { return Ok(None) };
        let files = Self::files(path, format).into_iter();
        let len = |file: &Path| file.metadata().map_or(0, |metadata| metadata.len());
        Ok(Some(files.map(|(_, file)| (len(&file), file)).map(|(len, file)| (file, len)).collect()))
    }

    /// Hands every event of the session on, in order.
    pub fn events<'a>(&'a self, sink: &mut dyn Sink<'a>) {
        let names = self.files.iter().map(|(name, _)| name.as_str());
        let streams: Vec<Stream<'a>> =
            names.zip(&self.texts).map(|(name, text)| Stream { name, text }).collect();
        (self.format.read)(&streams, sink);
    }

    /// The text at a place, as it stands in its file.
    pub fn text(&self, place: Place) -> Option<&str> {
        let text = self.texts.get(place.stream as usize)?;
        let start = usize::try_from(place.offset).ok()?;
        text.get(start..start.checked_add(place.len as usize)?)
    }
}

/// The text of a file; a byte that is not UTF-8 is read as `?`, one for one, so that places hold.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let bytes = error.into_bytes();
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| '?'));
        }
        text
    })
}

/// The files that belong to the session, by name: beside its main file, and in its own folder.
fn companions(folder: &Path, stem: &str, main: &Path, format: &Format) -> Vec<(String, PathBuf)> {
    let mut found = beside(folder, stem, main, format);
    let mut folders = vec![folder.join(stem)];
    while let Some(below) = folders.pop() {
        for path in list(&below) {
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
                continue;
            }
            let relative = path.strip_prefix(folder).unwrap_or(&path);
            let parts = relative.iter().map(|part| part.to_string_lossy());
            let name = parts.collect::<Vec<_>>().join("/");
            if (format.belongs)(stem, &name, "") {
                found.push((name, path));
            }
        }
    }
    found.sort();
    found
}

/// The files beside the main file that belong to it, or to one that does.
fn beside(folder: &Path, stem: &str, main: &Path, format: &Format) -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    if format.beside.is_empty() {
        return found;
    }
    // Most files beside it are other sessions; only a likely one is looked into.
    let named = list(folder).into_iter().map(|path| (file_name(&path), path));
    let likely = named
        .filter(|(name, _)| name.starts_with(format.beside))
        .filter(|(_, path)| path != main && path.is_file());
    let mut others: Vec<(String, PathBuf, String)> = likely
        .filter_map(|(name, path)| Some((name, head(&path).ok()?, path)))
        .map(|(name, head, path)| (name, path, head))
        .collect();
    let mut stems = vec![stem.to_owned()];
    while let Some(stem) = stems.pop() {
        let is_ours =
            |(name, _, head): &(String, PathBuf, String)| (format.belongs)(&stem, name, head);
        let (ours, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(is_ours);
        others = rest;
        for (name, path, _) in ours {
            stems.push(self::stem(&path));
            found.push((name, path));
        }
    }
    found
}

/// What is in a folder; a folder that cannot be read has nothing in it.
pub(crate) fn list(folder: &Path) -> Vec<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[derive(Default)]
struct Fold {
    session: Session,
    duplicates: Vec<Duplicate>,
    only_usage: bool,
}

impl<'a> Sink<'a> for Fold {
    fn wants_only_usage(&self) -> bool {
        self.only_usage
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
