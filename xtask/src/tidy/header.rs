//! Each module says first what it is.

use super::{Finding, Source};

pub(super) fn check(file: &Source, findings: &mut Vec<Finding>) {
    let is_exempt = file.is_test() || file.is_below("examples") || file.file_name() == "build.rs";
    if !file.is_rust() || is_exempt || file.text.starts_with("//!") {
        return;
    }
    let what = "a module without a first line that begins with `//!`".to_owned();
    let instead = "say what it is, and the one idea that is needed to read it";
    findings.push(file.finding_on_line(1, what, instead));
}
