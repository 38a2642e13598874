//! Every session below some paths, each once.
//!
//! A file is recognised by its content, never by its name alone. The format decides which files
//! belong together: a file that belongs to a session is not a session of its own. So the files that
//! an agent's layout names as main files are read first, and the others only if no session has
//! claimed them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use antiphon_formats::Format;
use antiphon_model::on_every_processor;

use crate::Error;
use crate::bundle::{Bundle, FolderListings, format_of, is_outdated};
use crate::database::{self, Database, DatabaseError};
use crate::file::COMPRESSED_SUFFIX;
use crate::open::{Opened, Wanted, open, open_foreign, open_usage};

/// The sessions at some paths and below them.
#[derive(Debug)]
pub struct AllSessions<T> {
    /// The result of `make` for each session.
    pub sessions: Vec<T>,
    /// The number of files that are not sessions and do not belong to one.
    pub others: usize,
    /// The paths that could not be read.
    pub failed: Vec<(PathBuf, Error)>,
}

/// Opens every session at these paths and below them, on all processors. `make` turns each opened
/// session into a result, and may add to the session first; the results of files that belong to
/// another session are dropped.
pub fn open_all<T: Send>(
    paths: &[PathBuf],
    wanted: Wanted,
    make: &(dyn Fn(&mut Opened) -> T + Sync),
) -> AllSessions<T> {
    let (mut named, mut below, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for path in paths {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        match path.is_dir() {
            true => walk(path, &mut below, &mut failed),
            false => named.push(path),
        }
    }
    below.sort();
    below.dedup();
    let reader = Reader { nearby: FolderListings::default(), wanted, make };
    let mut found = Found { read: Vec::new(), parts: Vec::new(), others: Vec::new(), failed };
    found.add(on_threads(&named, &|path| reader.named(path)));
    found.add(on_threads(&below, &|path| reader.below(path)));
    // A file that belongs to no session that was found is read as a session of its own.
    let mut paths = RealPaths::default();
    let taken = found.taken(&mut paths);
    let mut left = std::mem::take(&mut found.parts);
    left.retain(|part| !taken.contains(&paths.of(part)));
    found.add(on_threads(&left, &|path| reader.alone(path)));
    let taken = found.taken(&mut paths);
    let others = found.others.iter().filter(|other| !taken.contains(&paths.of(other))).count();
    AllSessions { sessions: once(found.read, &mut paths), others, failed: found.failed }
}

/// A session that was read, and the files that were read for it.
struct Read<T> {
    files: Vec<PathBuf>,
    made: T,
}

/// The result of examining a file.
enum Examined<T> {
    Sessions(Vec<Read<T>>),
    /// According to its agent's layout it belongs to the session of another file.
    Part,
    Other,
}

struct Found<T> {
    read: Vec<Read<T>>,
    parts: Vec<PathBuf>,
    others: Vec<PathBuf>,
    failed: Vec<(PathBuf, Error)>,
}

impl<T> Found<T> {
    fn add(&mut self, looked: Vec<(PathBuf, Result<Examined<T>, Error>)>) {
        for (path, looked) in looked {
            match looked {
                Ok(Examined::Sessions(mut sessions)) => self.read.append(&mut sessions),
                Ok(Examined::Part) => self.parts.push(path),
                Ok(Examined::Other) => self.others.push(path),
                Err(error) => self.failed.push((path, error)),
            }
        }
    }

    /// The files that were read.
    fn taken(&self, paths: &mut RealPaths) -> BTreeSet<PathBuf> {
        self.read.iter().flat_map(|read| &read.files).map(|file| paths.of(file)).collect()
    }
}

/// Each session once: a file that another session contains, or that was found twice, does not count
/// again. Sessions with the most files come first, so that of two that claim each other one
/// remains.
fn once<T>(mut read: Vec<Read<T>>, paths: &mut RealPaths) -> Vec<T> {
    read.sort_by(|a, b| b.files.len().cmp(&a.files.len()).then_with(|| a.files.cmp(&b.files)));
    let mut taken = BTreeSet::new();
    let mut sessions = Vec::new();
    for Read { files, made } in read {
        if files.first().is_some_and(|main| taken.contains(&paths.of(main))) {
            continue;
        }
        taken.extend(files.iter().map(|file| paths.of(file)));
        sessions.push((files, made));
    }
    sessions.sort_by(|a, b| a.0.cmp(&b.0));
    sessions.into_iter().map(|(_, made)| made).collect()
}

/// Canonical paths, so that a file counts once however it was reached.
///
/// Resolving a path takes a system call for each of its parts, and many sessions are in one folder,
/// so each folder is resolved only once.
#[derive(Debug, Default)]
struct RealPaths {
    folders: BTreeMap<PathBuf, PathBuf>,
}

impl RealPaths {
    fn of(&mut self, path: &Path) -> PathBuf {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return real(path);
        };
        if path.is_symlink() {
            return real(path);
        }
        if let Some(folder) = self.folders.get(folder) {
            return folder.join(name);
        }
        let resolved = real(folder);
        let path = resolved.join(name);
        self.folders.insert(folder.to_owned(), resolved);
        path
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The regular files below a folder. Links to folders are not followed, because they may form a
/// cycle.
fn walk(folder: PathBuf, files: &mut Vec<PathBuf>, failed: &mut Vec<(PathBuf, Error)>) {
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(source) => {
                failed.push((folder.clone(), Error::Read { path: folder, source }));
                continue;
            }
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                if !path.is_symlink() {
                    folders.push(path);
                }
            } else if path.is_file() && !is_outdated(&path) {
                files.push(path);
            }
        }
    }
}

struct Reader<'m, T> {
    nearby: FolderListings,
    wanted: Wanted,
    make: &'m (dyn Fn(&mut Opened) -> T + Sync),
}

impl<T> Reader<'_, T> {
    /// Reads a file that was named explicitly: it is a session, or an error.
    fn named(&self, path: &Path) -> Result<Examined<T>, Error> {
        match database::named(path) {
            Some((database, None)) => self.database(&database),
            _ => self.alone(path),
        }
    }

    fn below(&self, path: &Path) -> Result<Examined<T>, Error> {
        if database::named(path).is_some() {
            return match self.database(path) {
                Err(Error::Database(
                    DatabaseError::Unknown { .. } | DatabaseError::Empty { .. },
                )) => Ok(Examined::Other),
                other => other,
            };
        }
        match format_of(path)? {
            Some(format) if !is_main(format, path) => Ok(Examined::Part),
            Some(format) => self.foreign(path, format),
            // An Antiphon log may begin with any event, but it has at least one.
            None if plain(path).ends_with(".jsonl") => {
                let mut opened = self.open(path)?;
                let is_session = !opened.session.is_empty();
                Ok(if is_session { self.one(&mut opened) } else { Examined::Other })
            }
            None => Ok(Examined::Other),
        }
    }

    fn alone(&self, path: &Path) -> Result<Examined<T>, Error> {
        let format = if database::named(path).is_some() { None } else { format_of(path)? };
        match format {
            Some(format) => self.foreign(path, format),
            None => Ok(self.one(&mut self.open(path)?)),
        }
    }

    /// All sessions of a database.
    fn database(&self, path: &Path) -> Result<Examined<T>, Error> {
        let mut database = Database::open(path)?;
        let ids: Vec<String> = database.sessions().map(|row| row.id.clone()).collect();
        let mut sessions = Vec::new();
        for id in ids {
            let bundle = match Bundle::of_open_database(path, &database, &id) {
                Err(Error::Database(DatabaseError::Changed { .. })) => {
                    database.reopen()?;
                    Bundle::of_open_database(path, &database, &id)
                }
                other => other,
            };
            let mut opened = open_foreign(bundle?, self.wanted);
            sessions.push(Read { files: opened.files.clone(), made: (self.make)(&mut opened) });
        }
        Ok(Examined::Sessions(sessions))
    }

    fn foreign(&self, path: &Path, format: &'static Format) -> Result<Examined<T>, Error> {
        let bundle = Bundle::read_near(path, format, &self.nearby.of(path))?;
        Ok(self.one(&mut open_foreign(bundle, self.wanted)))
    }

    fn open(&self, path: &Path) -> Result<Opened, Error> {
        match self.wanted {
            Wanted::Usage => open_usage(path),
            Wanted::Everything => open(path),
        }
    }

    fn one(&self, opened: &mut Opened) -> Examined<T> {
        let files = opened.files.clone();
        Examined::Sessions(vec![Read { files, made: (self.make)(opened) }])
    }
}

/// Whether the layout of the format names such a file as the main file of a session.
fn is_main(format: &Format, path: &Path) -> bool {
    let name = plain(path);
    format.layout.kept.as_ref().is_none_or(|kept| (kept.session)(&name).is_some())
}

/// The path of the file without compression suffix, with `/` between folders.
fn plain(path: &Path) -> String {
    let name = path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
    name.strip_suffix(COMPRESSED_SUFFIX).map_or_else(|| name.clone(), str::to_owned)
}

/// Calls `look` for each file, on all processors.
fn on_threads<T: Send>(files: &[PathBuf], look: &(dyn Fn(&Path) -> T + Sync)) -> Vec<(PathBuf, T)> {
    let looked: Mutex<Vec<(PathBuf, T)>> = Mutex::default();
    on_every_processor(files, |_, file| {
        let found = look(file);
        looked.lock().unwrap_or_else(PoisonError::into_inner).push((file.clone(), found));
        ControlFlow::Continue(())
    });
    looked.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
