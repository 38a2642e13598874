//! Putting an agent's own files back where it looks for them.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use antiphon_sources::Error as SourceError;
use thiserror::Error;

use crate::archive::{Copies, replace};
use crate::{Environment, find_bundle, native_files};

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
    match antiphon_journal::regular::read(path) {
        Ok(there) if there.len() >= bytes.len() => return Ok(Restored::There(path.to_owned())),
        Ok(there) if !bytes.starts_with(&there) => {
            return Err(RestoreError::Different(path.to_owned()));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    replace(path, bytes).map_err(failed)?;
    Ok(Restored::Written(path.to_owned()))
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
    }
}
