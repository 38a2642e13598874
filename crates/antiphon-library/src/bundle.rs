//! A session's files: the main one, and those that belong to it.
//!
//! Which do is the format's to say, by name and by how a file begins; where to look is said here:
//! beside the main file, in the folder that is named after it or that the format knows by its name,
//! and, where sessions lie in folders by day, in those of later days.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use antiphon_formats::{Format, Sink, Stream, detect};
use antiphon_model::{Place, Problem};

use crate::Error;
use crate::file::{self, PACKED, Stopped, Text};

/// How much of a file decides what it is.
const HEAD_BYTES: u64 = 64 << 10;

/// A session's files, read: its main file first, each with its name within the session.
#[derive(Debug)]
pub struct Bundle {
    format: &'static Format,
    stem: String,
    files: Vec<Member>,
    texts: Vec<String>,
    problems: Vec<Problem>,
}

/// A file of the session.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Member {
    /// Relative to the main file's folder, with `/` between folders.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// Which of the files beside a main file are looked into. There may be many, most of other
/// sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    All,
    ChangedSince(SystemTime),
    None,
}

impl Beside {
    fn wants(self, path: &Path) -> bool {
        match self {
            Self::All => true,
            Self::ChangedSince(time) => {
                let changed = fs::metadata(path).and_then(|metadata| metadata.modified());
                changed.is_ok_and(|changed| changed >= time)
            }
            Self::None => false,
        }
    }
}

impl Bundle {
    /// Reads the files of the session at `path`, if it is of a format that is not our own.
    pub fn find(path: &Path) -> Result<Option<Self>, Error> {
        let Some(format) = format_of(path)? else { return Ok(None) };
        let mut bundle = Self {
            format,
            stem: stem(path),
            files: Vec::new(),
            texts: Vec::new(),
            problems: Vec::new(),
        };
        let main = Member { name: file_name(path), path: path.to_owned() };
        let text = Text::read(path);
        let text = text.map_err(|source| Error::Read { path: path.to_owned(), source })?;
        bundle.add(main, text);
        for member in companions(path, format, Beside::All) {
            // One that cannot be read costs that one.
            let text = Text::read(&member.path).unwrap_or_else(|error| Text {
                text: String::new(),
                stopped: Some(Stopped::Unreadable(error)),
            });
            bundle.add(member, text);
        }
        bundle.add_from_later_days();
        Ok(Some(bundle))
    }

    fn add(&mut self, member: Member, Text { mut text, stopped }: Text) {
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        if let Some(lines) = self.format.lines {
            let lines = lines(&text);
            self.problems.extend(lines.problems);
            text = lines.text;
        }
        self.problems.extend(stopped.map(|stopped| stopped.at(number, &text, &member.name)));
        self.files.push(member);
        self.texts.push(text);
    }

    /// Files that those at hand name, and that lie in the folders of later days.
    fn add_from_later_days(&mut self) {
        let mut later = None;
        let mut at = 0;
        while let (Some(text), Some(member)) = (self.texts.get(at), self.files.get(at)) {
            at += 1;
            let named = (self.format.names)(text);
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
                let head = file::head(&path, HEAD_BYTES).unwrap_or_default();
                if (self.format.belongs)(&maker, &name, &head)
                    && let Ok(text) = Text::read(&path)
                {
                    self.add(Member { name, path }, text);
                }
            }
        }
    }

    /// The files of the session at `path` and how long they are: what changes when it goes on.
    pub fn stamp(path: &Path) -> Result<Option<Vec<(PathBuf, u64)>>, Error> {
        let Some((_, members)) = Self::members(path, Beside::All)? else { return Ok(None) };
        let len = |file: &Path| file.metadata().map_or(0, |metadata| metadata.len());
        let files = members.into_iter().map(|member| member.path);
        Ok(Some(files.map(|file| (len(&file), file)).map(|(len, file)| (file, len)).collect()))
    }

    /// The files of the session at `path`, its main file first, and the name of their format.
    pub(crate) fn members(
        path: &Path,
        beside: Beside,
    ) -> Result<Option<(&'static str, Vec<Member>)>, Error> {
        let Some(format) = format_of(path)? else { return Ok(None) };
        let mut members = vec![Member { name: file_name(path), path: path.to_owned() }];
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

    /// The main file's name, without what tells its kind.
    pub fn stem(&self) -> &str {
        &self.stem
    }

    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|member| &*member.path)
    }

    /// The texts of its files, or what they became.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(String::as_str)
    }

    pub(crate) fn into_streams(self) -> Vec<Vec<u8>> {
        self.texts.into_iter().map(String::into_bytes).collect()
    }
}

/// The format of the file at `path`, if it is a file, and of a format that is not our own.
fn format_of(path: &Path) -> Result<Option<&'static Format>, Error> {
    if !path.is_file() {
        return Ok(None);
    }
    let head = file::head(path, HEAD_BYTES);
    let head = head.map_err(|source| Error::Read { path: path.to_owned(), source })?;
    Ok(detect(&head))
}

/// The files that belong to the session, by name: beside its main file, and in its own folder.
fn companions(main: &Path, format: &Format, which: Beside) -> Vec<Member> {
    let folder = main.parent().unwrap_or(Path::new(""));
    let stem = stem(main);
    let mut found = match which {
        Beside::None => Vec::new(),
        Beside::All | Beside::ChangedSince(_) => beside(folder, &stem, main, format, which),
    };
    let mut folders = vec![folder.join(&stem)];
    let others = list(folder).into_iter().filter(|path| file_name(path) != stem);
    folders.extend(others.filter(|path| {
        let name = format!("{}/", file_name(path));
        (format.belongs)(&stem, &name, "") && path.is_dir() && !path.is_symlink()
    }));
    while let Some(below) = folders.pop() {
        for path in list(&below) {
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
                continue;
            }
            let name = relative(&path, folder);
            let name = name.strip_suffix(PACKED).map_or(name.clone(), str::to_owned);
            if is_outdated(&path) {
                continue;
            }
            if (format.belongs)(&stem, &name, "") {
                found.push(Member { name, path });
            }
        }
    }
    found.sort();
    found
}

/// The files beside the main file that belong to it, or to one that does.
fn beside(folder: &Path, stem: &str, main: &Path, format: &Format, which: Beside) -> Vec<Member> {
    let mut found: Vec<Member> = Vec::new();
    // Most files beside it are other sessions; only a likely one is looked into.
    let likely =
        likely(folder, stem, format).into_iter().filter(|path| path != main && which.wants(path));
    let mut others: Vec<(Member, String)> = likely
        .filter_map(|path| Some((file::head(&path, HEAD_BYTES).ok()?, path)))
        .map(|(head, path)| (Member { name: file_name(&path), path }, head))
        .collect();
    let mut stems = vec![stem.to_owned()];
    while let Some(stem) = stems.pop() {
        let is_ours =
            |(member, head): &mut (Member, String)| (format.belongs)(&stem, &member.name, head);
        for (member, _) in others.extract_if(.., is_ours) {
            stems.push(self::stem(&member.path));
            found.push(member);
        }
    }
    found
}

/// The files of a folder that may belong to a session in it. Where a file lies packed and
/// unpacked, the unpacked one is the newer.
fn likely(folder: &Path, stem: &str, format: &Format) -> Vec<PathBuf> {
    if format.beside.is_empty() {
        return Vec::new();
    }
    let beginnings = format.beside.iter().map(|beginning| beginning.replace("{}", stem));
    let beginnings: Vec<String> = beginnings.collect();
    let mut files = list(folder);
    files.retain(|path| {
        let name = file_name(path);
        beginnings.iter().any(|beginning| name.starts_with(&**beginning)) && path.is_file()
    });
    files.retain(|path| !is_outdated(path));
    files
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
    folders.iter().flat_map(|folder| likely(folder, "", format)).collect()
}

/// Year, month and day of a folder that is named by them.
fn day_of(folder: &Path) -> Option<[u16; 3]> {
    let mut parts = folder.iter().rev().map(|part| part.to_str()?.parse().ok());
    let (day, month, year) = (parts.next()??, parts.next()??, parts.next()??);
    Some([year, month, day])
}

/// What is in a folder; a folder that cannot be read has nothing in it.
pub(crate) fn list(folder: &Path) -> Vec<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The path below a folder, with `/` between folders.
pub(crate) fn relative(path: &Path, folder: &Path) -> String {
    let below = path.strip_prefix(folder).unwrap_or(path);
    below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn stem(path: &Path) -> String {
    let name = file_name(path);
    let stem = Path::new(&name).file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The name of what a file holds.
fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(PACKED).unwrap_or(&name).to_owned()
}
