//! `antiphon export --follow`: a document that grows with its session.
//!
//! The document is rewritten as a whole each time, under a temporary name, and then replaces the
//! old one, so a reader never sees an incomplete document.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use antiphon_documents::{Document, WriteOptions};
use antiphon_journal::{Log, regular};

use crate::commands::export::ExportArgs;
use crate::failure::{Outcome, UserError};
use crate::opened::locate;
use crate::redaction::Redaction;

const INTERVAL: Duration = Duration::from_millis(100);

pub(super) fn run(args: &ExportArgs, options: WriteOptions) -> anyhow::Result<Outcome> {
    let Some(path) = args.output.as_deref().filter(|path| !path.is_dir()) else {
        let error = UserError::usage("--follow rewrites one file");
        return Err(error.hint("pass a file that does not exist yet with -o").into());
    };
    let session = locate(&args.session)?;
    let mut is_ours = false;
    loop {
        let stamp = stamp(&session)?;
        let begun = Instant::now();
        // While its agent rewrites it, a file may be empty or absent.
        let mut redaction = Redaction::unless(args.no_redact);
        match redaction.open(&args.session) {
            Ok(opened) => {
                let reading = opened.reading();
                put(path, &Document::of(&reading, options)?, &mut redaction, is_ours)?;
                is_ours = true;
                if opened.session.info().ended {
                    redaction.report();
                    return Ok(opened.outcome());
                }
            }
            Err(error) if !is_ours => return Err(error),
            Err(_) => {}
        }
        // Reading a long session takes time, so most of the processor is left to others.
        std::thread::sleep(begun.elapsed() * 3);
        while self::stamp(&session)? == stamp {
            std::thread::sleep(INTERVAL);
        }
    }
}

/// The files of the session and their sizes, which change when the session continues.
fn stamp(session: &Path) -> anyhow::Result<Vec<(PathBuf, u64)>> {
    if let Some(stamp) = antiphon_library::stamp(session)? {
        return Ok(stamp);
    }
    let log = Log::find(session)?;
    let with_length = |file: PathBuf| {
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        (file, length)
    };
    Ok(log.segments().map(with_length).collect())
}

/// Writes the file: the first time it must not exist, later it is replaced.
fn put(
    path: &Path,
    document: &Document<'_>,
    redaction: &mut Redaction,
    is_ours: bool,
) -> anyhow::Result<()> {
    let failed = |error: std::io::Error| {
        UserError::failed(format!("cannot write `{}`: {error}", path.display()))
    };
    if !is_ours {
        // Reserves the name, so that other programs see that it is taken.
        let there = fs::OpenOptions::new().write(true).create_new(true).open(path);
        there.map_err(|error| match error.kind() == std::io::ErrorKind::AlreadyExists {
            true => super::document::exists(path),
            false => failed(error).into(),
        })?;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = PathBuf::from(beside);
    let mut options = fs::OpenOptions::new();
    let file = regular::open_by(&beside, options.write(true).create(true).truncate(false));
    let file = file.and_then(|file| file.set_len(0).map(|()| file)).map_err(failed)?;
    let written = super::document::write(document, file, redaction);
    let done = written.and_then(|()| Ok(fs::rename(&beside, path).map_err(failed)?));
    if done.is_err() {
        let _ = fs::remove_file(&beside);
    }
    done
}
