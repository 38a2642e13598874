//! Files that are too long for one idea, and lines that are too long to read side by side.

use super::{Finding, Source};

const LINES_MAX: usize = 800;
const COLUMNS_MAX: usize = 100;

pub(super) fn check(file: &Source, findings: &mut Vec<Finding>) {
    if !file.is_rust() {
        return;
    }
    let count = file.lines().count();
    if count > LINES_MAX && !file.is_test() {
        let what = format!("{count} lines in one file");
        let instead = "split it by concern; 800 is the limit, 300 the aim";
        findings.push(file.finding_on_line(LINES_MAX + 1, what, instead));
    }
    // A literal may have any length: breaking it would change it.
    for (width, line) in file.widths_without_literals().into_iter().zip(1..) {
        if width > COLUMNS_MAX {
            let what = format!("{width} columns");
            findings.push(file.finding_on_line(line, what, "break the line at 100"));
        }
    }
}
