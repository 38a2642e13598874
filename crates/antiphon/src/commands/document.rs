//! Writing session documents: for `export --as std…` and `migrate`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use antiphon_documents::{Document, WriteOptions};

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
    let reading = opened.reading();
    let mut document = Document::of(&reading, options)?;
    match output {
        None => write(&document, terminal::stdout(), redaction)?,
        Some(folder) if is_folder(folder) => {
            fs::create_dir_all(folder).map_err(|error| {
                UserError::failed(format!("cannot create `{}`: {error}", folder.display()))
            })?;
            let path = into_folder(&mut document, folder, redaction)?;
            complain(&format!("wrote {}", path.display()));
        }
        Some(path) => create(path, &document, redaction)?.ok_or_else(|| exists(path))?,
    }
    Ok(opened.outcome())
}

/// Whether the path is an existing folder, or ends like one.
fn is_folder(path: &Path) -> bool {
    let ends_in_slash = path.as_os_str().as_encoded_bytes().last() == Some(&b'/');
    path.is_dir() || (ends_in_slash && !path.exists())
}

/// Another writer may take the number first; then the next number is tried.
fn into_folder(
    document: &mut Document<'_>,
    folder: &Path,
    redaction: &mut Redaction,
) -> anyhow::Result<PathBuf> {
    loop {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        document.number(document.name.free(names.iter().map(String::as_str)));
        let path = folder.join(format!("{}.json", document.name.stem()));
        if create(&path, document, redaction)?.is_some() {
            return Ok(path);
        }
    }
}

/// Creates a file; `None` if it exists. After an error nothing is left behind, because an
/// incomplete document is useless.
fn create(
    path: &Path,
    document: &Document<'_>,
    redaction: &mut Redaction,
) -> anyhow::Result<Option<()>> {
    let file = fs::OpenOptions::new().write(true).create_new(true).open(path);
    let file = match file {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => {
            return Err(
                UserError::failed(format!("cannot write `{}`: {error}", path.display())).into()
            );
        }
    };
    let written = write(document, file, redaction);
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written.map(Some)
}

/// Writes a document piece by piece.
pub(super) fn write(
    document: &Document<'_>,
    mut out: impl io::Write,
    redaction: &mut Redaction,
) -> anyhow::Result<()> {
    let clean = &mut |piece: &str| redaction.json(piece.to_owned());
    Ok(antiphon_server::export::document(document, clean, &mut out)?)
}

pub(super) fn exists(path: &Path) -> anyhow::Error {
    UserError::failed(format!("`{}` already exists", path.display()))
        .hint("choose another file, or a folder (the file gets its standard name)")
        .into()
}
