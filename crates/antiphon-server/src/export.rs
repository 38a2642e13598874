//! A session in another form, piece by piece: for `antiphon export` and for the route of that name.
//!
//! Whoever calls has opened the session without its secrets, and passes a function that looks for
//! secrets in what is written once more.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use antiphon_documents::Document;
use antiphon_formats::{Piece, find};
use antiphon_journal::{Clock as _, Level, Options, SystemClock};
use antiphon_library::{Store, export_log};
use antiphon_model::{BodyError, Reading};
use antiphon_recorder::{Policy, Transcript};
use antiphon_sources::{Exported, LOG_FORMAT, Opened, Redacting, printed};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum ExportError {
    #[error(transparent)]
    Body(#[from] BodyError),
    #[error(transparent)]
    Session(#[from] antiphon_sources::Error),
    /// Whoever takes what is written has gone, or has no room.
    #[error(transparent)]
    Write(#[from] io::Error),
    #[error("this format cannot be written")]
    NoWriter,
    #[error("the session contains no messages")]
    NoMessages,
}

impl From<antiphon_recorder::ExportError> for ExportError {
    fn from(error: antiphon_recorder::ExportError) -> Self {
        match error {
            antiphon_recorder::ExportError::Body(error) => Self::Body(error),
            antiphon_recorder::ExportError::Write(error) => Self::Write(error),
        }
    }
}

/// Looks for secrets in a JSON text.
pub type Clean<'c> = &'c mut dyn FnMut(&str) -> String;

/// Writes what another program reads. `out` is not used before there is something to be written.
pub fn foreign(
    reading: &Reading<'_>,
    id: &str,
    format: &str,
    clean: Clean<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let write = find(format).and_then(|format| format.write).ok_or(ExportError::NoWriter)?;
    let (mut failure, mut is_empty) = (None, true);
    let written = write(reading, id, &mut |piece| {
        is_empty = false;
        let put = match piece {
            Piece::Frame(text) => out.write_all(text.as_bytes()),
            Piece::Value(text) => out.write_all(clean(text).as_bytes()),
        };
        failure = put.err();
        failure.is_none()
    });
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    match written {
        Ok(()) if is_empty => Err(ExportError::NoMessages),
        Ok(()) => Ok(out.flush()?),
        Err(antiphon_formats::WriteError::Body(error)) => Err(error.into()),
        Err(antiphon_formats::WriteError::Stopped) => Ok(()),
    }
}

/// Writes a session document.
pub fn document(
    document: &Document<'_>,
    clean: Clean<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let mut failure = None;
    let written = document.write(&mut |piece| {
        failure = out.write_all(clean(piece).as_bytes()).err();
        failure.is_none()
    });
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    match written {
        Ok(()) | Err(antiphon_documents::WriteError::Stopped) => {}
        Err(antiphon_documents::WriteError::Body(error)) => return Err(error.into()),
    }
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// Writes a transcript, piece by piece. `clean` looks for secrets in a line that a command printed.
pub fn transcript(
    opened: &Opened,
    id: &str,
    path: &Path,
    policy: Policy,
    clean: &dyn Fn(&str) -> String,
    out: &mut dyn FnMut(&str) -> io::Result<()>,
) -> Result<(), ExportError> {
    // A session that is a transcript is its own, unless another one is wanted.
    let own = opened.files.first().filter(|_| opened.format == "transcript");
    if let Some(file) = own.filter(|_| policy == Policy::Seed)
        && let Some(text) = antiphon_sources::read_text(file)?
    {
        return Ok(out(&text)?);
    }
    // Only a log may be a recording of what a command printed.
    let lines = if opened.format == LOG_FORMAT { printed(path)? } else { None };
    let lines = lines.map(|lines| {
        let timed = lines.into_iter().filter_map(|line| Some((line.at?, clean(&line.line))));
        timed.collect::<Vec<_>>()
    });
    let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
    Ok(antiphon_recorder::export(&reading, id, lines.as_deref(), Transcript { policy }, out)?)
}

/// The text of a log. A log is a file, so it is made in a folder of its own and read from there.
pub fn log(
    path: &Path,
    redacting: Option<Redacting<'_>>,
    store: Option<&Store>,
) -> Result<(String, Exported), ExportError> {
    let folder = private_folder()?;
    let file = folder.join("export.jsonl");
    let program = "antiphon export".to_owned();
    let options = Options { program, level: Level::Os, ..Options::default() };
    let exported = export_log(path, &file, options, redacting, store);
    let text = std::fs::read_to_string(&file);
    std::fs::remove_dir_all(&folder)?;
    Ok((
        match exported.as_ref().map(|it| it.events) {
            Ok(0) | Err(_) => String::new(),
            Ok(_) => text?,
        },
        exported?,
    ))
}

/// Makes a temporary folder that nobody else can have prepared, and nobody else can read.
fn private_folder() -> io::Result<PathBuf> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let (now, count) = (SystemClock.now().as_millis(), COUNT.fetch_add(1, Ordering::Relaxed));
    let name = format!("antiphon-export-{}-{now}-{count}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder)?;
    Ok(folder)
}
