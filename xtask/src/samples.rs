//! `cargo xtask samples`: writes the logs in `samples/`, with the same writer as everything else.
//!
//! A session of `drafts/` was written by hand and is sealed; it has its own ids and times. A
//! session of `casts/` is played. The result never changes.

mod played;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use antiphon_journal::{Draft, Level, Options, Writer};

use crate::Outcome;

pub(crate) fn run(root: &Path) -> Outcome {
    let samples = root.join("samples");
    for name in write(&samples, &samples)? {
        println!("samples/{name}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes all logs into a folder; gives their names.
fn write(samples: &Path, to: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut names = Vec::new();
    for draft in files(&samples.join("drafts"), "jsonl")? {
        let log = new_log(&draft, to, &mut names)?;
        seal(&draft, &log)?;
    }
    for cast in files(&samples.join("casts"), "toml")? {
        let log = new_log(&cast, to, &mut names)?;
        played::play(&cast, &log)?;
    }
    Ok(names)
}

fn files(folder: &Path, extension: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.retain(|path| path.extension().is_some_and(|it| it == extension));
    files.sort();
    Ok(files)
}

/// Makes room for the log of a draft or a cast.
fn new_log(of: &Path, to: &Path, names: &mut Vec<String>) -> Result<PathBuf, Box<dyn Error>> {
    let name = of.with_extension("jsonl");
    let name = name.file_name().ok_or("a sample without a name")?;
    let log = to.join(name);
    if log.exists() {
        fs::remove_file(&log)?;
    }
    names.push(name.to_string_lossy().into_owned());
    Ok(log)
}

fn seal(draft: &Path, sealed: &Path) -> Result<(), Box<dyn Error>> {
    let options = Options { level: Level::Os, ..Options::default() };
    let writer = Writer::open(sealed, options)?;
    for (number, line) in (1..).zip(fs::read_to_string(draft)?.lines()) {
        let event = Draft::from_json(line)
            .map_err(|error| format!("{}:{number}: {error}", draft.display()))?;
        writer.append(&event)?;
    }
    Ok(writer.close()?)
}

#[cfg(test)]
mod tests;
