//! `antiphon migrate`: converts an older session document to the current version.
//!
//! A migration is reading and writing: every version is read, and the current one is written.

use std::path::PathBuf;

use antiphon_documents::{PhaseDetail, Standard, WriteOptions};
use clap::Args;

use crate::failure::{Outcome, UserError};
use crate::opened::Opened;
use crate::redaction::Redaction;

/// The name of session documents in the registry.
const DOCUMENTS: &str = "std-session";

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// The document
    file: PathBuf,
    /// Write a multi-agent document, even for one agent
    #[arg(long)]
    multi: bool,
    /// A file that does not exist yet, or a folder (created if it ends in /)
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &MigrateArgs) -> anyhow::Result<Outcome> {
    let opened = Opened::read(&args.file)?;
    if opened.format != DOCUMENTS {
        let what = format!(
            "`{}` is not a session document; its format is {}",
            args.file.display(),
            opened.format
        );
        let hint = "`antiphon export --as std` converts any session to a document";
        return Err(UserError::failed(what).hint(hint).into());
    }
    let standard = args.multi.then_some(Standard::Std008);
    let options = WriteOptions { standard, phases: PhaseDetail::Advised };
    // The result is the same document in the same place, so secrets are not redacted.
    let mut redaction = Redaction::off();
    super::document::export(&opened, options, args.output.as_deref(), &mut redaction)?;
    // Problems of an old document are the reason to migrate it.
    Ok(Outcome::Done)
}
