//! Paths that exist on one machine only.

use super::{Finding, Source};

/// The folders below `/` in which people work. Written without their slashes, so that this file
/// passes its own rule.
const FOLDERS: &[&str] = &["work", "home", "root"];

pub(super) fn check(file: &Source, findings: &mut Vec<Finding>) {
    for folder in FOLDERS {
        let path = format!("/{folder}/");
        for (byte, _) in file.text.match_indices(&path) {
            let before = file.text.get(..byte).unwrap_or_default();
            if is_absolute_after(before) {
                let instead = "write it from the root of the repository, or invent a neutral one";
                findings.push(file.finding(byte, format!("the absolute path `{path}`"), instead));
            }
        }
    }
}

/// Whether a slash after this text begins a path: not in `a/b` and `~/b`, but after the escape of
/// a line feed in a literal.
fn is_absolute_after(before: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || "._-~}*".contains(c);
    before.ends_with("\\n") || !before.ends_with(continues)
}
