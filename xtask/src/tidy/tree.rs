//! The files of the repository: what git tracks, and what it would track if it were added.

use std::path::Path;
use std::process::Command;
use std::{error, fs, io};

use super::Source;

/// Reads all text files below `root`, in the order of their paths.
pub(super) fn read(root: &Path) -> Result<Vec<Source>, Box<dyn error::Error>> {
    let mut files = Vec::new();
    for path in list(root)? {
        let whole = root.join(&path);
        // A file that was deleted and not yet committed is still listed; a folder is another
        // repository inside this one.
        if !whole.is_file() {
            continue;
        }
        let bytes = fs::read(&whole).map_err(|error| format!("cannot read `{path}`: {error}"))?;
        // What is not UTF-8 is not text, and no rule applies to it.
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(Source::new(path, text));
        }
    }
    Ok(files)
}

fn list(root: &Path) -> Result<Vec<String>, Box<dyn error::Error>> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root)
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("cannot run git: {error}")))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!("git ls-files failed: {}", reason.trim()).into());
    }
    let paths = String::from_utf8(output.stdout)?;
    let mut paths: Vec<String> =
        paths.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}
