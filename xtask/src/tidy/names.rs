//! Names of files that say nothing about what is in them.

use super::{Finding, Source};

const EMPTY_NAMES: &[&str] =
    &["utils.rs", "util.rs", "helpers.rs", "helper.rs", "common.rs", "misc.rs"];

pub(super) fn check(file: &Source, findings: &mut Vec<Finding>) {
    if EMPTY_NAMES.contains(&file.file_name()) {
        let what = format!("a file called {}", file.file_name());
        let instead = "name it after what it holds, or put its parts beside their users";
        findings.push(file.finding_on_line(1, what, instead));
    }
}
