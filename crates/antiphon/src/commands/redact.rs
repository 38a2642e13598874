//! `antiphon redact`: a copy without secrets.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use antiphon_journal::Options;
use antiphon_redact::Counts;
use antiphon_sources::{LOG_FORMAT, redact_log};
use anyhow::Context;
use clap::Args;

use crate::failure::{Outcome, UserError};
use crate::opened::find;
use crate::redaction::redactor;
use crate::terminal::{complain, lines};

#[derive(Debug, Args)]
#[command(after_help = "\
A log stays a log: each event is redacted, and the chain is re-sealed. Other text, JSON and JSON
Lines files keep their format. The original file is not changed and still contains the secrets.

Example:
  antiphon redact run.jsonl -o clean.jsonl")]
pub(crate) struct RedactArgs {
    /// The session, or any text file
    session: PathBuf,
    /// Where to write the copy: a file that does not exist yet
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
}

pub(crate) fn run(args: &RedactArgs) -> anyhow::Result<Outcome> {
    let from = &args.session;
    if !from.exists() {
        return Err(UserError::failed(format!("there is no file `{}`", from.display())).into());
    }
    if is_log(from) { redact_session(from, &args.output) } else { redact_text(from, &args.output) }
}

/// Whether it contains an event of an Antiphon log.
fn is_log(path: &Path) -> bool {
    let opened = antiphon_library::open_usage(path);
    opened.is_ok_and(|opened| opened.format == LOG_FORMAT && !opened.session.is_empty())
}

fn redact_session(from: &Path, to: &Path) -> anyhow::Result<Outcome> {
    let options = Options { program: "antiphon redact".to_owned(), ..Options::default() };
    let mut counts = Counts::default();
    let copied = redact_log(&find(from)?, to, options, &redactor(), &mut counts)?;
    lines(&format!("{} events written to {}", copied.events, to.display()))?;
    report(&counts)?;
    if copied.lost + copied.changed == 0 {
        return Ok(Outcome::Done);
    }
    complain(&format!(
        "{} lines are unreadable or missing, {} were modified after they were written",
        copied.lost, copied.changed
    ));
    Ok(Outcome::BadInput)
}

fn redact_text(from: &Path, to: &Path) -> anyhow::Result<Outcome> {
    let file = fs::OpenOptions::new().write(true).create_new(true).open(to);
    let file = file.map_err(|error| {
        let shown = to.display();
        match error.kind() == io::ErrorKind::AlreadyExists {
            true => {
                UserError::failed(format!("`{shown}` already exists")).hint("choose another file")
            }
            false => UserError::failed(format!("cannot write `{shown}`: {error}")),
        }
    })?;
    let written = write_redacted(from, file);
    if !matches!(written, Ok((Some(_), _))) {
        // An incomplete copy would look complete.
        let _ = fs::remove_file(to);
    }
    let (written, counts) = written?;
    let Some(written) = written else {
        let what = format!("`{}` is not a text file", from.display());
        return Err(UserError::failed(what).into());
    };
    lines(&format!("{written} bytes written to {}", to.display()))?;
    report(&counts)?;
    Ok(Outcome::Done)
}

/// The number of bytes written, if the file is text, and what was replaced.
fn write_redacted(from: &Path, to: File) -> anyhow::Result<(Option<u64>, Counts)> {
    let mut counts = Counts::default();
    let mut out = BufWriter::new(to);
    let written = antiphon_sources::redact_text(from, &mut out, &redactor(), &mut counts);
    let written = written.with_context(|| format!("cannot redact `{}`", from.display()))?;
    out.flush()?;
    Ok((written, counts))
}

fn report(counts: &Counts) -> anyhow::Result<()> {
    if counts.is_empty() {
        lines("no secrets found")
    } else {
        lines(&format!("redacted: {counts}"))
    }
}
