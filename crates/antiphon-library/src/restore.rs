//! Putting an agent's own files back where it looks for them.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use antiphon_sources::Error as SourceError;
use thiserror::Error;

use crate::archive::{Copies, replace};
use crate::{Environment, find_bundle, native_files};

/// How often a file that changes meanwhile is looked at.
const TRIES: usize = 3;

/// The result of restoring a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// The main file was written here.
    Written(PathBuf),
    /// It exists, is at least as long, and was left as it is.
    There(PathBuf),
}

#[derive(Debug, Error)]
pub enum RestoreError {
    #[error("this session was recorded by Antiphon: no agent has a file of it")]
    NoNativeFile,
    #[error("`{0}` is not in a folder where its agent keeps sessions")]
    ElsewhereKept(PathBuf),
    #[error("the session is in a database of its agent, `{0}`, to which nothing can be added")]
    InDatabase(PathBuf),
    #[error("`{0}` has different content; move it away first")]
    Different(PathBuf),
    #[error("cannot write `{path}`")]
    Write { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Read(#[from] SourceError),
}

/// Puts the files of the session at `path` back where its agent keeps them. Files that exist and
/// are at least as long are left as they are.
pub fn restore(path: &Path, environment: &Environment) -> Result<Restored, RestoreError> {
    let bundle = find_bundle(path)?.ok_or(RestoreError::NoNativeFile)?;
    let main = bundle.files().next().unwrap_or(path).to_owned();
    // An agent's own file is already in place.
    let Some(copies) = Copies::of_copy(&main) else { return Ok(Restored::There(main)) };
    let source = copies.source().ok_or(RestoreError::NoNativeFile)?;
    // A session of a database is called by a path that is not a file's.
    if let Some(database) = source.parent().filter(|it| it.is_file()) {
        return Err(RestoreError::InDatabase(database.to_owned()));
    }
    let format = antiphon_formats::find(bundle.format());
    let kept = format.and_then(|format| format.layout.kept.as_ref());
    let mut folders =
        kept.map(|kept| environment.agent_folders(kept)).unwrap_or_default().into_iter();
    if !is_plain(&source) || !folders.any(|folder| source.starts_with(folder)) {
        return Err(RestoreError::ElsewhereKept(source));
    }
    let files = native_files(&bundle)?;
    let name = files.first().map(|(name, _)| name.clone()).unwrap_or_default();
    // Names are relative to the session's root, which may be above the main file's folder.
    let above = name.components().count();
    let root = source.ancestors().nth(above).unwrap_or(Path::new("")).to_owned();
    let mut main = None;
    for (name, bytes) in files {
        if !is_plain(&name) || name.is_absolute() {
            return Err(RestoreError::ElsewhereKept(name));
        }
        let restored = put(&root.join(name), &bytes)?;
        main = main.or(Some(restored));
    }
    main.ok_or(RestoreError::NoNativeFile)
}

/// Whether a path has only ordinary components, so that it cannot lead upwards.
fn is_plain(path: &Path) -> bool {
    path.components().all(|part| !matches!(part, Component::ParentDir | Component::CurDir))
}

fn put(path: &Path, bytes: &[u8]) -> Result<Restored, RestoreError> {
    let failed = |source| RestoreError::Write { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    // The agent may be writing it at this moment, so that it is looked at again.
    for _ in 0..TRIES {
        let there = match antiphon_journal::regular::read(path) {
            Ok(there) => Some(there),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        let written = match there {
            Some(there) if there.len() >= bytes.len() => {
                return Ok(Restored::There(path.to_owned()));
            }
            Some(there) if !bytes.starts_with(&there) => {
                return Err(RestoreError::Different(path.to_owned()));
            }
            // What is there stays, even if it grows meanwhile: only the rest is added.
            Some(there) => complete(path, &there, bytes),
            None => create(path, bytes),
        };
        match written {
            Ok(true) => return Ok(Restored::Written(path.to_owned())),
            Ok(false) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err(RestoreError::Different(path.to_owned()))
}

/// Writes a file that is not there; false, if it has come meanwhile.
fn create(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    // It is written beside first, so that it is never there by half.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}.restored", std::process::id()));
    replace(&draft, bytes)?;
    let linked = match fs::hard_link(&draft, path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // Some disks have no links.
        Err(_) if !path.exists() => fs::rename(&draft, path).map(|()| true),
        Err(error) => Err(error),
    };
    let _ = fs::remove_file(&draft);
    linked
}

/// Adds to a file what it lacks; false, if it is not what it was.
fn complete(path: &Path, there: &[u8], bytes: &[u8]) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    let mut file = antiphon_journal::regular::open_by(path, options.append(true))?;
    if file.metadata()?.len() != there.len() as u64 {
        return Ok(false);
    }
    file.write_all(bytes.get(there.len()..).unwrap_or_default())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_is_completed_and_never_replaced_by_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.jsonl");
        assert_eq!(put(&path, b"one\ntwo\n").unwrap(), Restored::Written(path.clone()));
        assert_eq!(put(&path, b"one\n").unwrap(), Restored::There(path.clone()));
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
        assert_eq!(put(&path, b"one\ntwo\nthree\n").unwrap(), Restored::Written(path.clone()));
        assert!(matches!(put(&path, b"another, which is longer"), Err(RestoreError::Different(_))));
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\nthree\n");
        let names = fs::read_dir(folder.path().join("a")).unwrap();
        assert_eq!(names.count(), 1, "nothing is left beside it");
        assert!(!create(&path, b"new").unwrap(), "what has come meanwhile is not replaced");
        assert!(!complete(&path, b"one\n", b"one\ntwo\n").unwrap(), "nor added to");
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\nthree\n");
    }
}
