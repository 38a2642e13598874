//! `antiphon salvage`: a clean copy of a damaged log, or the readable lines of another session.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use antiphon_journal::{Options, salvage};
use antiphon_library::find_bundle;
use antiphon_model::json;
use antiphon_sources::Bundle;
use clap::Args;

use crate::failure::{Outcome, UserError};
use crate::opened::{find, locate, not_opened};
use crate::terminal::{self, complain, count};

#[derive(Debug, Args)]
pub(crate) struct SalvageArgs {
    /// The damaged log, or another session (its readable lines are kept)
    session: PathBuf,
    /// Where to write the copy
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
}

pub(crate) fn run(args: &SalvageArgs) -> anyhow::Result<Outcome> {
    let path = &locate(&args.session)?;
    if let Some(bundle) = find_bundle(path).map_err(|error| not_opened(path, error))? {
        return lines_of(args, &bundle);
    }
    let log = find(&args.session)?;
    let options = Options { program: "antiphon salvage".to_owned(), ..Options::default() };
    let found = salvage(&log, &args.output, options)?;
    let path = args.output.display();
    terminal::lines(&format!("{} events written to {path}", found.events))?;
    if found.changed > 0 {
        complain(&format!(
            "{} of them were modified after they were written and are marked `salvaged`",
            found.changed
        ));
    }
    if found.lost > 0 {
        complain(&format!("{} lines are unreadable or missing", found.lost));
    }
    Ok(if found.lost + found.changed > 0 { Outcome::BadInput } else { Outcome::Done })
}

/// Copies the complete lines of another program's file, decompressed.
fn lines_of(args: &SalvageArgs, bundle: &Bundle) -> anyhow::Result<Outcome> {
    let format = bundle.format();
    let text = bundle.texts().next().filter(|_| bundle.is_stream());
    let Some(text) = text else {
        let what =
            format!("this {format} session is a single document; there are no lines to salvage");
        let hint = "`antiphon export --as antiphon` writes its readable content as a log";
        return Err(UserError::failed(what).hint(hint).into());
    };
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let output = args.output.display();
    let file = options
        .open(&args.output)
        .map_err(|error| UserError::failed(format!("cannot write `{output}`: {error}")))?;
    let mut out = BufWriter::new(file);
    let (mut kept, mut lost) = (0, 0);
    for line in text.lines().filter(|line| !line.is_empty()) {
        match json::check(line.trim_start_matches('\u{feff}')) {
            Ok(()) => {
                writeln!(out, "{line}")?;
                kept += 1;
            }
            Err(_) => lost += 1,
        }
    }
    out.flush()?;
    terminal::lines(&format!("{} ({format}) written to {output}", count(kept, "line")))?;
    let others = bundle.files().count().saturating_sub(1);
    if others > 0 {
        let others = count(others, "other file");
        complain(&format!("{others} of the session not included; salvage each by its own path"));
    }
    if lost > 0 {
        complain(&format!("{} could not be read", count(lost, "line")));
    }
    Ok(if lost > 0 { Outcome::BadInput } else { Outcome::Done })
}
