//! The documents that a reader may rely on.

use super::{Finding, Source};

const REQUIRED: &[&str] = &[
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "docs/format.md",
    "docs/json.md",
];

pub(super) fn check(files: &[Source], findings: &mut Vec<Finding>) {
    for &path in REQUIRED {
        if !files.iter().any(|file| file.path == path) {
            let what = "no such document".to_owned();
            let instead = "write it; other documents point at it";
            findings.push(Finding { path: path.to_owned(), line: 1, what, instead });
        }
    }
}
