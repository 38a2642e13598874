//! The documents that a reader may rely on, and whether the map of the code is still true.

use std::collections::BTreeSet;

use super::{Finding, Source};

const MAP: &str = "ARCHITECTURE.md";

const REQUIRED: &[&str] =
    &[MAP, "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "docs/format.md", "docs/json.md"];

pub(super) fn check(files: &[Source], findings: &mut Vec<Finding>) {
    for &path in REQUIRED {
        if !files.iter().any(|file| file.path == path) {
            let what = "no such document".to_owned();
            let instead = "write it; other documents point at it";
            findings.push(Finding { path: path.to_owned(), line: 1, what, instead });
        }
    }
    if let Some(map) = files.iter().find(|file| file.path == MAP) {
        check_map(map, files, findings);
    }
}

/// Every source file that the map names must exist, and every crate must be on the map.
fn check_map(map: &Source, files: &[Source], findings: &mut Vec<Finding>) {
    for (line, text) in map.lines() {
        let quoted = text.split('`').skip(1).step_by(2);
        for name in quoted.filter(|name| name.ends_with(".rs") && !name.contains('<')) {
            let end = format!("/{name}");
            if !files.iter().any(|file| file.path == name || file.path.ends_with(&end)) {
                let what = format!("`{name}` does not exist");
                let instead = "name the file where this is now";
                findings.push(Finding { path: MAP.to_owned(), line, what, instead });
            }
        }
    }
    let crates =
        files.iter().filter_map(|file| file.path.strip_prefix("crates/")?.split('/').next());
    for name in crates.collect::<BTreeSet<_>>() {
        if !map.text.contains(&format!("| `{name}` |")) {
            let what = format!("the crate `{name}` is not in the table of crates");
            let instead = "add a row that says what it does and where to start reading";
            findings.push(Finding { path: MAP.to_owned(), line: 1, what, instead });
        }
    }
}
