//! A session's files: the main one, and those that belong to it.
//!
//! Which do is the format's to say, by name and by how a file begins; where to look is said here:
//! beside the main file, in the folder that is named after it or that the format knows by its name,
//! where all sessions share some folders in those ([`tree`]), and, where sessions lie in folders by
//! day, in those of later days.

mod beside;
mod growth;
mod long_lines;
mod nearby;
pub mod tree;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use antiphon_formats::{Format, Sink, Stream, detect};
use antiphon_model::{Bodies, BodyError, Place, Problem, Timestamp};

use crate::Error;
use crate::database::{self, Database, DatabaseError};
use crate::file::{self, PACKED, Text};
use crate::name;
use crate::open::Tell;
use crate::regular;
use beside::companions;
pub use beside::{Beside, Near};
pub(crate) use growth::{Growth, Progress};
pub use nearby::Nearby;

/// A session's files, read: its main file first, each with its name within the session.
#[derive(Debug)]
pub struct Bundle {
    format: &'static Format,
    /// What the session is called.
    name: String,
    files: Vec<Member>,
    texts: Vec<String>,
    problems: Vec<Problem>,
    /// The database that it came out of, and its id there.
    database: Option<(PathBuf, String)>,
    /// When it last changed, where no file tells.
    changed_at: Option<Timestamp>,
    note: Option<String>,
}

/// A file of the session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// Relative to the session's root, which is mostly the main file's folder, with `/` between
    /// folders.
    pub name: String,
    pub path: PathBuf,
    /// What it holds, where that is no file: a session of a database.
    pub document: Option<String>,
}

impl Member {
    pub(crate) fn file(name: String, path: PathBuf) -> Self {
        Self { name, path, document: None }
    }
}

impl Bundle {
    /// Reads the files of the session at `path`, if it is of a format that is not our own.
    pub fn find(path: &Path) -> Result<Option<Self>, Error> {
        Self::find_telling(path, &mut |_, _| {})
    }

    /// The same, and tells what files there are.
    pub(crate) fn find_telling(path: &Path, tell: Tell<'_>) -> Result<Option<Self>, Error> {
        if let Some((database, id)) = database::named(path) {
            return Self::of_database(&database, id.as_deref(), tell).map(Some);
        }
        let Some(format) = format_of(path)? else { return Ok(None) };
        Self::read(path, format, Beside::All, tell).map(Some)
    }

    /// Reads the files of one of many sessions in a folder, of which the format is known.
    pub(crate) fn read_near(
        path: &Path,
        format: &'static Format,
        near: &Near,
    ) -> Result<Self, Error> {
        Self::read(path, format, Beside::Near(near), &mut |_, _| {})
    }

    fn read(
        path: &Path,
        format: &'static Format,
        beside: Beside<'_>,
        tell: Tell<'_>,
    ) -> Result<Self, Error> {
        let main = tree::main(path, format);
        let mut bundle = Self::new(format, session_name(format, &main));
        let text = read(path, format);
        let text = text.map_err(|source| Error::Read { path: path.to_owned(), source })?;
        bundle.add(main, text, tell);
        for member in companions(path, format, beside) {
            // One that cannot be read costs that one.
            let text = read(&member.path, format).unwrap_or_else(Text::unreadable);
            bundle.add(member, text, tell);
        }
        bundle.add_from_later_days(tell);
        Ok(bundle)
    }

    /// A session whose files are at hand, the main one first, with their names within it.
    pub fn of(format: &str, files: Vec<(String, Vec<u8>)>, tell: Tell<'_>) -> Option<Self> {
        Self::of_copy(format, Path::new(""), files, tell)
    }

    /// The same, where the files are called by their paths below a folder.
    pub fn of_copy(
        format: &str,
        below: &Path,
        files: Vec<(String, Vec<u8>)>,
        tell: Tell<'_>,
    ) -> Option<Self> {
        let format = antiphon_formats::find(format)?;
        let member = |name: &str| Member::file(name.to_owned(), below.join(name));
        let (main, _) = files.first()?;
        let mut bundle = Self::new(format, session_name(format, &member(main)));
        for (name, bytes) in files {
            let text = Text::of(bytes)?.bounded(format.lines.is_some());
            bundle.add(member(&name), text.unwrap_or_else(Text::unreadable), tell);
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

    /// The same, which last changed then.
    pub fn changed(self, at: Timestamp) -> Self {
        Self { changed_at: Some(at), ..self }
    }

    /// A session of a database, and those that it made: that of an id, or the newest.
    fn of_database(path: &Path, id: Option<&str>, tell: Tell<'_>) -> Result<Self, Error> {
        let (database, members) = out_of_database(path, id)?;
        let session = database.find(id)?.id.clone();
        let mut bundle = Self::of_members(path, database.agent(), session, members, tell)?;
        bundle.note = database.others().filter(|_| id.is_none());
        Ok(bundle)
    }

    /// The same of a database that is open.
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
        tell: Tell<'_>,
    ) -> Result<Self, Error> {
        let Some(format) = antiphon_formats::find(agent) else {
            return Err(DatabaseError::Unread { path: path.to_owned(), agent }.into());
        };
        let mut bundle = Self::new(format, session.clone());
        bundle.database = Some((path.to_owned(), session));
        for mut member in members {
            let text = member.document.take().unwrap_or_default();
            let text = Text::plain(text).bounded(format.lines.is_some());
            bundle.add(member, text.unwrap_or_else(Text::unreadable), tell);
        }
        Ok(bundle)
    }

    /// The bytes that the agent wrote as the session's main file; out of a database the document.
    pub fn native(&self) -> Result<Vec<u8>, Error> {
        if let Some((path, id)) = &self.database {
            let (_, members) = out_of_database(path, Some(id))?;
            let main = members.into_iter().next().and_then(|main| main.document);
            return Ok(main.unwrap_or_default().into_bytes());
        }
        let main = self.files().next().unwrap_or(Path::new(""));
        file::read_bytes(main).map_err(|source| Error::Read { path: main.to_owned(), source })
    }

    /// Every file of the session as the agent wrote it, the main one first, with its own name below
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

    /// What is wrong with its files, as far as that can be told before they are understood.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Adds what somebody else knows to be wrong with its files.
    pub fn add_problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// When one of its files was last changed.
    pub(crate) fn changed_at(&self) -> Option<Timestamp> {
        let times = self.files().filter_map(|file| file.metadata().ok()?.modified().ok());
        let Some(last) = times.max() else { return self.changed_at };
        let since = last.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(Timestamp::from_millis(i64::try_from(since.as_millis()).ok()?))
    }

    /// What else is where it was found.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    fn add(&mut self, member: Member, Text { mut text, stopped, .. }: Text, tell: Tell<'_>) {
        tell(&member.name, self.format.lines.map(|_| text.as_bytes()));
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

    /// Files that those at hand name, and that lie in the folders of later days.
    fn add_from_later_days(&mut self, tell: Tell<'_>) {
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
                    self.add(Member::file(name, path), text, tell);
                }
            }
        }
    }

    /// The files of the session at `path` and how long they are: what changes when it goes on.
    pub fn stamp(path: &Path) -> Result<Option<Vec<(PathBuf, u64)>>, Error> {
        let len = |file: &Path| file.metadata().map_or(0, |metadata| metadata.len());
        if let Some((database, id)) = database::named(path) {
            // No length says it; the database does.
            let open = Database::open(&database)?;
            let stamp = open.stamp(&open.find(id.as_deref())?.id);
            return Ok(Some(vec![(database.join(stamp), 0)]));
        }
        let Some((_, members)) = Self::members(path, Beside::All)? else { return Ok(None) };
        let files = members.into_iter().map(|member| member.path);
        Ok(Some(files.map(|file| (len(&file), file)).map(|(len, file)| (file, len)).collect()))
    }

    /// The files of the session at `path`, its main file first, and the name of their format.
    pub fn members(
        path: &Path,
        beside: Beside<'_>,
    ) -> Result<Option<(&'static str, Vec<Member>)>, Error> {
        if let Some((path, id)) = database::named(path) {
            let (database, members) = out_of_database(&path, id.as_deref())?;
            return Ok(Some((database.agent(), members)));
        }
        Self::members_of_file(path, beside)
    }

    /// The same of a session that is known to be in no database.
    pub fn members_of_file(
        path: &Path,
        beside: Beside<'_>,
    ) -> Result<Option<(&'static str, Vec<Member>)>, Error> {
        let Some(format) = format_of(path)? else { return Ok(None) };
        let mut members = vec![tree::main(path, format)];
        members.append(&mut companions(path, format, beside));
        Ok(Some((format.name, members)))
    }

    /// Hands every event of the session on, in order.
    pub fn events<'a>(&'a self, sink: &mut dyn Sink<'a>) {
        let names = self.files.iter().map(|member| member.name.as_str());
        let streams: Vec<Stream<'a>> =
            names.zip(&self.texts).map(|(name, text)| Stream { name, text }).collect();
        (self.format.read)(&streams, sink);
        for problem in &self.problems {
            sink.problem(problem.clone());
        }
    }

    /// The text at a place, as it stands in its file.
    pub fn text(&self, place: Place) -> Option<&str> {
        let text = self.texts.get(place.stream as usize)?;
        let start = usize::try_from(place.offset).ok()?;
        text.get(start..start.checked_add(place.len as usize)?)
    }

    /// The format's name in the registry.
    pub fn format(&self) -> &'static str {
        self.format.name
    }

    /// What the session is called where it says nothing itself.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// For whoever knows better than the path what the session is called.
    pub fn set_name(&mut self, name: String) {
        self.name = name;
    }

    /// Whether its main file is a stream of JSON lines, read as it stands.
    pub fn is_stream(&self) -> bool {
        self.format.lines.is_none()
    }

    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|member| &*member.path)
    }

    /// The texts of its files, or what they became.
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

/// Reads a file of a session in that format.
fn read(path: &Path, format: &Format) -> io::Result<Text> {
    match format.lines {
        Some(_) => Text::read_document(path)?.bounded(true),
        None => Text::read(path)?.bounded(false),
    }
}

/// A database, and the documents of a session in it.
fn out_of_database(path: &Path, id: Option<&str>) -> Result<(Database, Vec<Member>), Error> {
    // What changes while it is read is read once more.
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

/// The format of the file at `path`, if it is a file, and of a format that is not our own.
pub fn format_of(path: &Path) -> Result<Option<&'static Format>, Error> {
    if !path.is_file() {
        return Ok(None);
    }
    let found = file::look_at(path, detect);
    found.map_err(|source| Error::Read { path: path.to_owned(), source })
}

/// What the agent calls the session, which the folders above its main file may say; the main
/// file's name, where nothing is known.
fn session_name(format: &Format, main: &Member) -> String {
    /// A layout names a session by no more than these: a folder, one in it, and the file.
    const PARTS: usize = 3;
    let path = relative(&main.path, Path::new(""));
    let ends = path.rmatch_indices('/').skip(1).take(PARTS - 1).map(|(at, _)| at + 1);
    let ends: Vec<&str> = ends.filter_map(|at| path.get(at..)).collect();
    let names = ends.into_iter().rev().chain([&*main.name]);
    let known = format.layout.kept.as_ref().and_then(|kept| names.filter_map(kept.session).next());
    known.map_or_else(|| stem(&main.path), str::to_owned)
}

/// Whether this is the packed copy of a file that lies unpacked beside it.
pub fn is_outdated(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.strip_suffix(PACKED).is_some_and(|plain| Path::new(plain).is_file())
}

/// Where sessions lie in folders by day (`2026/05/01/`), the likely files of the later days.
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
        Near::of(folder).likely("", format).cloned().collect()
    };
    folders.iter().flat_map(likely).collect()
}

/// Year, month and day of a folder that is named by them.
fn day_of(folder: &Path) -> Option<[u16; 3]> {
    let mut parts = folder.iter().rev().map(|part| part.to_str()?.parse().ok());
    let (day, month, year) = (parts.next()??, parts.next()??, parts.next()??);
    Some([year, month, day])
}

/// What is in a folder; a folder that cannot be read has nothing in it.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The path below a folder, with `/` between folders.
pub fn relative(path: &Path, folder: &Path) -> String {
    let below = path.strip_prefix(folder).unwrap_or(path);
    below.iter().map(name::text).collect::<Vec<_>>().join("/")
}

fn stem(path: &Path) -> String {
    let name = file_name(path);
    let stem = Path::new(&name).file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The name of what a file holds.
fn file_name(path: &Path) -> String {
    let name = name::text(path.file_name().unwrap_or_default());
    name.strip_suffix(PACKED).unwrap_or(&name).to_owned()
}
