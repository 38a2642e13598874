//! The files of a session: the main file, and those that belong to it.
//!
//! The format decides which files belong to a session, by their names and by how they begin. This
//! module decides where to look: beside the main file; in the folder that is named after it, or
//! that the format names; in folders that all sessions share ([`tree`]); and, if sessions are in
//! folders by day, in the folders of later days.

mod growth;
mod listings;
mod long_lines;
mod siblings;
pub mod tree;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use antiphon_formats::{Format, Sink, Stream, detect};
use antiphon_model::{Bodies, BodyError, Place, Problem, Timestamp};

use crate::database::{self, Database, DatabaseError};
use crate::file::{self, COMPRESSED_SUFFIX, Text};
use crate::member::Member;
use crate::name;
use crate::regular;
use crate::{Error, activity};
pub(crate) use growth::{Growth, Progress};
pub use listings::FolderListings;
use siblings::companions;
pub use siblings::{FolderListing, Siblings};

/// The contents of a session's files, the main file first, each with its name within the session.
#[derive(Debug)]
pub struct Bundle {
    format: &'static Format,
    /// The name of the session.
    name: String,
    files: Vec<Member>,
    texts: Vec<String>,
    problems: Vec<Problem>,
    /// The database that contains the session, and its id there.
    database: Option<(PathBuf, String)>,
    /// When it last changed, if that cannot be seen from a file.
    changed_at: Option<Timestamp>,
    note: Option<String>,
}

/// Called with the name of each file within its session, in the order of streams, and with its
/// bytes if they differ from the stream's.
pub type OnFile<'a> = &'a mut dyn FnMut(&str, Option<&[u8]>);

impl Bundle {
    /// Reads the files of the session at `path`; `None` for an Antiphon log.
    pub fn find(path: &Path) -> Result<Option<Self>, Error> {
        Self::find_with_files(path, &mut |_, _| {})
    }

    /// Like [`find`](Self::find), and passes each file to `on_file`.
    pub(crate) fn find_with_files(path: &Path, on_file: OnFile<'_>) -> Result<Option<Self>, Error> {
        if let Some((database, id)) = database::named(path) {
            return Self::of_database(&database, id.as_deref(), on_file).map(Some);
        }
        let Some(format) = format_of(path)? else { return Ok(None) };
        Self::read(path, format, Siblings::All, on_file).map(Some)
    }

    /// Reads the files of one of many sessions in a folder, if its format is already known.
    pub(crate) fn read_near(
        path: &Path,
        format: &'static Format,
        near: &FolderListing,
    ) -> Result<Self, Error> {
        Self::read(path, format, Siblings::Listed(near), &mut |_, _| {})
    }

    fn read(
        path: &Path,
        format: &'static Format,
        beside: Siblings<'_>,
        on_file: OnFile<'_>,
    ) -> Result<Self, Error> {
        let main = tree::main(path, format);
        let mut bundle = Self::new(format, session_name(format, &main));
        let text = read(path, format);
        let text = text.map_err(|source| Error::Read { path: path.to_owned(), source })?;
        bundle.add(main, text, on_file);
        for member in companions(path, format, beside) {
            // A file that cannot be read does not affect the others.
            let text = read(&member.path, format).unwrap_or_else(Text::unreadable);
            bundle.add(member, text, on_file);
        }
        bundle.add_from_later_days(on_file);
        Ok(bundle)
    }

    /// A session whose files are in memory, the main file first, with their names within the
    /// session.
    pub fn of(format: &str, files: Vec<(String, Vec<u8>)>, on_file: OnFile<'_>) -> Option<Self> {
        Self::of_copy(format, Path::new(""), files, on_file)
    }

    /// Like [`of`](Self::of); `root` is the folder that the names are relative to.
    pub fn of_copy(
        format: &str,
        root: &Path,
        files: Vec<(String, Vec<u8>)>,
        on_file: OnFile<'_>,
    ) -> Option<Self> {
        let format = antiphon_formats::find(format)?;
        let member = |name: &str| Member::file(name.to_owned(), root.join(name));
        let (main, _) = files.first()?;
        let mut bundle = Self::new(format, session_name(format, &member(main)));
        for (name, bytes) in files {
            let text = Text::of(bytes)?.bounded(format.lines.is_some());
            bundle.add(member(&name), text.unwrap_or_else(Text::unreadable), on_file);
        }
        Some(bundle)
    }

    fn new(format: &'static Format, name: String) -> Self {
        Self {
            format,
            name,
            files: Vec::new(),
            texts: Vec::new(),
            problems: Vec::new(),
            database: None,
            changed_at: None,
            note: None,
        }
    }

    /// Sets when the session last changed.
    pub fn changed(self, at: Timestamp) -> Self {
        Self { changed_at: Some(at), ..self }
    }

    /// A session from a database, with the sessions that it created: the one with this id, or else
    /// the newest.
    fn of_database(path: &Path, id: Option<&str>, on_file: OnFile<'_>) -> Result<Self, Error> {
        let (database, members) = out_of_database(path, id)?;
        let session = database.find(id)?.id.clone();
        let mut bundle = Self::of_members(path, database.agent(), session, members, on_file)?;
        bundle.note = database.others().filter(|_| id.is_none());
        Ok(bundle)
    }

    /// Like [`of_database`](Self::of_database), from a database that is already open.
    pub(crate) fn of_open_database(
        path: &Path,
        database: &Database,
        id: &str,
    ) -> Result<Self, Error> {
        let members = database.members(id)?;
        Self::of_members(path, database.agent(), id.to_owned(), members, &mut |_, _| {})
    }

    fn of_members(
        path: &Path,
        agent: &'static str,
        session: String,
        members: Vec<Member>,
        on_file: OnFile<'_>,
    ) -> Result<Self, Error> {
        let Some(format) = antiphon_formats::find(agent) else {
            return Err(DatabaseError::Unread { path: path.to_owned(), agent }.into());
        };
        let mut bundle = Self::new(format, session.clone());
        bundle.database = Some((path.to_owned(), session));
        for mut member in members {
            let text = member.document.take().unwrap_or_default();
            let text = Text::plain(text).bounded(format.lines.is_some());
            bundle.add(member, text.unwrap_or_else(Text::unreadable), on_file);
        }
        Ok(bundle)
    }

    /// The bytes that the agent wrote as the session's main file; for a session from a database,
    /// its document.
    pub fn native(&self) -> Result<Vec<u8>, Error> {
        if let Some((path, id)) = &self.database {
            let (_, members) = out_of_database(path, Some(id))?;
            let main = members.into_iter().next().and_then(|main| main.document);
            return Ok(main.unwrap_or_default().into_bytes());
        }
        let main = self.files().next().unwrap_or(Path::new(""));
        file::read_bytes(main).map_err(|source| Error::Read { path: main.to_owned(), source })
    }

    /// Every file of the session as the agent wrote it, the main file first, with its path below
    /// the session's root.
    pub fn native_files(&self) -> Result<Vec<(PathBuf, Vec<u8>)>, Error> {
        let documents = match &self.database {
            Some((path, id)) => out_of_database(path, Some(id))?.1,
            None => self.files.clone(),
        };
        let read = |member: Member| {
            let name = name::last_parts(&member.path, &member.name);
            match member.document {
                Some(text) => Ok((PathBuf::from(member.name), text.into_bytes())),
                None => regular::read(&member.path)
                    .map(|bytes| (name, bytes))
                    .map_err(|source| Error::Read { path: member.path, source }),
            }
        };
        documents.into_iter().map(read).collect()
    }

    /// Problems that were found while the files were read, before any format interpreted them.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Adds a problem that the caller has found.
    pub fn add_problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// When one of its files last changed.
    pub(crate) fn changed_at(&self) -> Option<Timestamp> {
        self.files().filter_map(activity::changed_at).max().or(self.changed_at)
    }

    /// A hint for the user about other sessions in the same place.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    fn add(&mut self, member: Member, Text { mut text, stopped, .. }: Text, on_file: OnFile<'_>) {
        on_file(&member.name, self.format.lines.map(|_| text.as_bytes()));
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        if self.format.lines.is_none() {
            let (passed, problems) = long_lines::pass_over(text, number, &member.name);
            text = passed;
            self.problems.extend(problems);
        }
        if let Some(lines) = self.format.lines {
            let lines = lines(&text);
            let mut problems = lines.problems;
            for problem in problems.iter_mut().filter(|_| number > 0) {
                problem.message = format!("`{}`: {}", member.name, problem.message);
            }
            self.problems.append(&mut problems);
            text = lines.text;
        }
        self.problems.extend(stopped.map(|stopped| stopped.at(number, &text, &member.name)));
        self.files.push(member);
        self.texts.push(text);
    }

    /// Adds files in the folders of later days that the files read so far refer to.
    fn add_from_later_days(&mut self, on_file: OnFile<'_>) {
        let mut later = None;
        let mut at = 0;
        while let (Some(text), Some(member)) = (self.texts.get(at), self.files.get(at)) {
            at += 1;
            let named = (self.format.layout.names)(text);
            if named.is_empty() {
                continue;
            }
            let maker = stem(&member.path);
            let later = later.get_or_insert_with(|| later_files(&self.files, self.format));
            let is_named = |path: &mut PathBuf| {
                let stem = stem(path);
                named.iter().any(|end| stem.ends_with(end.as_str()))
            };
            let found: Vec<PathBuf> = later.extract_if(.., is_named).collect();
            for path in found {
                let name = file_name(&path);
                let head = file::head(&path).unwrap_or_default();
                let is_known = self.files.iter().any(|known| known.path == path);
                if !is_known
                    && (self.format.layout.belongs)(&maker, &name, &head)
                    && let Ok(text) = read(&path, self.format)
                {
                    self.add(Member::file(name, path), text, on_file);
                }
            }
        }
    }

    /// The files of the session at `path` and their sizes. They change when the session continues.
    pub fn stamp(path: &Path) -> Result<Option<Vec<(PathBuf, u64)>>, Error> {
        let len = |file: &Path| file.metadata().map_or(0, |metadata| metadata.len());
        if let Some((database, id)) = database::named(path) {
            // The size of a database does not show it, so its stamp is used.
            let open = Database::open(&database)?;
            let stamp = open.stamp(&open.find(id.as_deref())?.id);
            return Ok(Some(vec![(database.join(stamp), 0)]));
        }
        let Some((_, members)) = Self::members(path, Siblings::All)? else { return Ok(None) };
        let files = members.into_iter().map(|member| member.path);
        Ok(Some(files.map(|file| (len(&file), file)).map(|(len, file)| (file, len)).collect()))
    }

    /// The files of the session at `path`, its main file first, and the name of their format.
    pub fn members(
        path: &Path,
        beside: Siblings<'_>,
    ) -> Result<Option<(&'static str, Vec<Member>)>, Error> {
        if let Some((path, id)) = database::named(path) {
            let (database, members) = out_of_database(&path, id.as_deref())?;
            return Ok(Some((database.agent(), members)));
        }
        Self::members_of_file(path, beside)
    }

    /// Like [`members`](Self::members), for a session that is known not to be in a database.
    pub fn members_of_file(
        path: &Path,
        beside: Siblings<'_>,
    ) -> Result<Option<(&'static str, Vec<Member>)>, Error> {
        let Some(format) = format_of(path)? else { return Ok(None) };
        let mut members = vec![tree::main(path, format)];
        members.append(&mut companions(path, format, beside));
        Ok(Some((format.name, members)))
    }

    /// Passes every event of the session to `sink`, in order.
    pub fn events<'a>(&'a self, sink: &mut dyn Sink<'a>) {
        let names = self.files.iter().map(|member| member.name.as_str());
        let streams: Vec<Stream<'a>> =
            names.zip(&self.texts).map(|(name, text)| Stream { name, text }).collect();
        (self.format.read)(&streams, sink);
        for problem in &self.problems {
            sink.problem(problem.clone());
        }
    }

    /// The text at a place, as it is in its file.
    pub fn text(&self, place: Place) -> Option<&str> {
        let text = self.texts.get(place.stream as usize)?;
        let start = usize::try_from(place.offset).ok()?;
        text.get(start..start.checked_add(place.len as usize)?)
    }

    /// The format's name in the registry.
    pub fn format(&self) -> &'static str {
        self.format.name
    }

    /// The name of the session, for one that does not name itself.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the name, for a caller that knows it better than the path tells.
    pub fn set_name(&mut self, name: String) {
        self.name = name;
    }

    /// Whether its main file is a stream of JSON lines that is read unchanged.
    pub fn is_stream(&self) -> bool {
        self.format.lines.is_none()
    }

    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|member| &*member.path)
    }

    /// The texts of its files; for a document, the lines that it was converted to.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(String::as_str)
    }
}

impl Bodies for Bundle {
    fn read(&self, place: Place) -> Result<String, BodyError> {
        let end = place.offset.saturating_add(u64::from(place.len));
        let text = self.text(place).map(str::to_owned);
        text.ok_or(BodyError::Gone { offset: place.offset, end })
    }

    fn stream(&self, number: u32) -> Option<&[u8]> {
        self.texts.get(number as usize).map(String::as_bytes)
    }
}

/// Reads a file of a session in this format.
fn read(path: &Path, format: &Format) -> io::Result<Text> {
    match format.lines {
        Some(_) => Text::read_document(path)?.bounded(true),
        None => Text::read(path)?.bounded(false),
    }
}

/// Opens a database, and reads the documents of a session in it.
fn out_of_database(path: &Path, id: Option<&str>) -> Result<(Database, Vec<Member>), Error> {
    // A database that changes while it is read is read once more.
    for _ in 0..2 {
        let database = Database::open(path)?;
        match database.members(&database.find(id)?.id) {
            Ok(members) => return Ok((database, members)),
            Err(DatabaseError::Changed { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(DatabaseError::Changed { path: path.to_owned() }.into())
}

/// The format of the file at `path`; `None` if it is not a file, or is an Antiphon log.
pub fn format_of(path: &Path) -> Result<Option<&'static Format>, Error> {
    if !path.is_file() {
        return Ok(None);
    }
    let found = file::look_at(path, detect);
    found.map_err(|source| Error::Read { path: path.to_owned(), source })
}

/// The agent's name for the session, which may come from the folders above its main file; otherwise
/// the name of the main file.
fn session_name(format: &Format, main: &Member) -> String {
    /// A layout derives the name of a session from at most these parts of a path: two folders and
    /// the file.
    const PARTS: usize = 3;
    let path = relative(&main.path, Path::new(""));
    let ends = path.rmatch_indices('/').skip(1).take(PARTS - 1).map(|(at, _)| at + 1);
    let ends: Vec<&str> = ends.filter_map(|at| path.get(at..)).collect();
    let names = ends.into_iter().rev().chain([&*main.name]);
    let known = format.layout.kept.as_ref().and_then(|kept| names.filter_map(kept.session).next());
    known.map_or_else(|| stem(&main.path), str::to_owned)
}

/// Whether this is the compressed copy of a file that exists uncompressed beside it.
pub fn is_outdated(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.strip_suffix(COMPRESSED_SUFFIX).is_some_and(|plain| Path::new(plain).is_file())
}

/// The likely files in the folders of later days, if sessions are in folders by day
/// (`2026/05/01/`).
fn later_files(files: &[Member], format: &Format) -> Vec<PathBuf> {
    let Some(main) = files.first().and_then(|main| main.path.canonicalize().ok()) else {
        return Vec::new();
    };
    let Some(today) = main.parent().and_then(day_of) else { return Vec::new() };
    let Some(root) = main.ancestors().nth(4) else { return Vec::new() };
    let mut folders = vec![root.to_owned()];
    for _ in 0..3 {
        folders = folders.iter().flat_map(|folder| list(folder)).collect();
    }
    folders.retain(|folder| day_of(folder).is_some_and(|day| day > today));
    folders.sort();
    let likely = |folder: &PathBuf| -> Vec<PathBuf> {
        FolderListing::of(folder).likely("", format).cloned().collect()
    };
    folders.iter().flat_map(likely).collect()
}

/// The year, month and day that the folder is named after.
fn day_of(folder: &Path) -> Option<[u16; 3]> {
    let mut parts = folder.iter().rev().map(|part| part.to_str()?.parse().ok());
    let (day, month, year) = (parts.next()??, parts.next()??, parts.next()??);
    Some([year, month, day])
}

/// The entries of a folder; none, if it cannot be read.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The path relative to a folder, with `/` between folders.
pub fn relative(path: &Path, folder: &Path) -> String {
    let below = path.strip_prefix(folder).unwrap_or(path);
    below.iter().map(name::text).collect::<Vec<_>>().join("/")
}

fn stem(path: &Path) -> String {
    let name = file_name(path);
    let stem = Path::new(&name).file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The name of a file without compression suffix.
fn file_name(path: &Path) -> String {
    let name = name::text(path.file_name().unwrap_or_default());
    name.strip_suffix(COMPRESSED_SUFFIX).unwrap_or(&name).to_owned()
}
