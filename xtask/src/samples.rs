//! `cargo xtask samples`: seals the drafts in `samples/drafts/`, with the same writer as everything
//! else. A draft has its own ids and times, so the result never changes.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use antiphon_journal::{Draft, Level, Options, Writer};

use crate::Outcome;

pub(crate) fn run(root: &Path) -> Outcome {
    let samples = root.join("samples");
    let mut drafts = fs::read_dir(samples.join("drafts"))?.collect::<Result<Vec<_>, _>>()?;
    drafts.sort_by_key(fs::DirEntry::file_name);
    for draft in drafts {
        let sealed = samples.join(draft.file_name());
        if sealed.exists() {
            fs::remove_file(&sealed)?;
        }
        seal(&draft.path(), &sealed)?;
        println!("{}", sealed.strip_prefix(root).unwrap_or(&sealed).display());
    }
    Ok(ExitCode::SUCCESS)
}

fn seal(draft: &Path, sealed: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let options = Options { level: Level::Os, ..Options::default() };
    let writer = Writer::open(sealed, options)?;
    for (number, line) in (1..).zip(fs::read_to_string(draft)?.lines()) {
        let event = Draft::from_json(line)
            .map_err(|error| format!("{}:{number}: {error}", draft.display()))?;
        writer.append(&event)?;
    }
    Ok(writer.close()?)
}
