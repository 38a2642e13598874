//! White space that is invisible but shows up in every diff.

use super::{Finding, Source};

pub(super) fn check(file: &Source, findings: &mut Vec<Finding>) {
    if !file.has_extension(&["rs", "md", "toml"]) {
        return;
    }
    for (number, line) in file.lines() {
        if line.contains('\t') {
            let instead = "indent with spaces; in a literal, write the escape";
            findings.push(file.finding_on_line(number, "a tab".to_owned(), instead));
        }
        if line.ends_with(char::is_whitespace) {
            let what = "white space at the end of the line".to_owned();
            findings.push(file.finding_on_line(number, what, "remove it"));
        }
    }
}
