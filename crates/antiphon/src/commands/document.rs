//! Writing session documents: for `export --as std…` and `migrate`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use antiphon_documents::{WriteOptions, Written, write};

use crate::failure::{Outcome, UserError};
use crate::opened::Opened;
use crate::redaction::Redaction;
use crate::terminal::{self, complain};

/// Writes the session as a document: to stdout, to a new file, or into a folder under the name that
/// the convention gives it.
pub(super) fn export(
    opened: &Opened,
    options: WriteOptions,
    output: Option<&Path>,
    redaction: &mut Redaction,
) -> anyhow::Result<Outcome> {
    let mut written = write(&opened.reading(), options)?;
    match output {
        None => terminal::document(&text(&written, redaction))?,
        Some(folder) if is_folder(folder) => {
            fs::create_dir_all(folder).map_err(|error| {
                UserError::failed(format!("cannot create `{}`: {error}", folder.display()))
            })?;
            let path = into_folder(&mut written, folder, redaction)?;
            complain(&format!("wrote {}", path.display()));
        }
        Some(path) => create(path, &written, redaction)?.ok_or_else(|| exists(path))?,
    }
    Ok(opened.outcome())
}

/// A folder that is there, or one that is written as a folder.
fn is_folder(path: &Path) -> bool {
    let ends_in_slash = path.as_os_str().as_encoded_bytes().last() == Some(&b'/');
    path.is_dir() || (ends_in_slash && !path.exists())
}

/// Another writer may take the number first; then it is the next one's turn.
fn into_folder(
    written: &mut Written,
    folder: &Path,
    redaction: &mut Redaction,
) -> anyhow::Result<PathBuf> {
    loop {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        written.number(written.name.free(names.iter().map(String::as_str)));
        let path = folder.join(format!("{}.json", written.name.stem()));
        if create(&path, written, redaction)?.is_some() {
            return Ok(path);
        }
    }
}

/// Writes a file that is not there yet; nothing, if it is.
fn create(path: &Path, written: &Written, redaction: &mut Redaction) -> anyhow::Result<Option<()>> {
    let file = fs::OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = match file {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => {
            return Err(
                UserError::failed(format!("cannot write `{}`: {error}", path.display())).into()
            );
        }
    };
    file.write_all(text(written, redaction).as_bytes())?;
    Ok(Some(()))
}

pub(super) fn text(written: &Written, redaction: &mut Redaction) -> String {
    redaction.json(written.to_json()) + "\n"
}

pub(super) fn exists(path: &Path) -> anyhow::Error {
    UserError::failed(format!("`{}` already exists", path.display()))
        .hint("choose another file, or a folder (the file gets its standard name)")
        .into()
}
