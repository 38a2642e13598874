//! `antiphon migrate`: an older session document in the current shape.
//!
//! There is no migration beside reading and writing: every generation is read, and one is written.

use antiphon_documents::{PhaseDetail, Standard, WriteOptions};

use crate::cli;
use crate::failure::{Outcome, UserError};
use crate::opened::Opened;
use crate::redaction::Redaction;

/// What the registry calls documents.
const DOCUMENTS: &str = "std-session";

pub(crate) fn run(args: &cli::Migrate) -> anyhow::Result<Outcome> {
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
    // What is migrated stays where it was: it is the same document, secrets and all.
    let mut redaction = Redaction::unless(true);
    super::document::export(&opened, options, args.output.as_deref(), &mut redaction)?;
    // What was odd about an old document is what it was migrated for.
    Ok(Outcome::Done)
}
