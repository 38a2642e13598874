//! Compares the files that a summary declares with those that the calls wrote.
//!
//! A summary often has base names where a call has a path, so two paths are the same file if one is
//! a suffix of the other, by whole components.

use std::collections::BTreeSet;

use super::at::{At, enumerated};
use super::document::Document;
use super::{Code, Findings};

pub(super) fn check(document: &Document<'_>, findings: &mut Findings) {
    let Some(summary) = document.root.member("summary") else {
        return;
    };
    let written = Paths::new(document.calls().filter_map(|(_, call)| written_by(call)));
    let mut declared = Vec::new();
    for key in ["files_created", "files_modified"] {
        let files: Vec<&str> =
            summary.list(key).iter().filter_map(|file| file.value.as_str()).collect();
        let unseen: Vec<&str> =
            files.iter().copied().filter(|file| !written.have(&steady(file))).collect();
        if !unseen.is_empty() {
            let names = enumerated(unseen.into_iter());
            let message = format!("declared, but not written by any recorded call: {names}");
            findings.warning(Code::FilesDiffer, summary.path_of(key), message);
        }
        declared.extend(files);
    }
    // If nothing is declared at all, the structure rule has reported it.
    if summary.member("files_created").is_none() && summary.member("files_modified").is_none() {
        return;
    }
    let declared = Paths::new(declared.into_iter());
    let undeclared: Vec<_> = written.whole.iter().filter(|file| !declared.have(file)).collect();
    if !undeclared.is_empty() {
        let names = enumerated(undeclared.into_iter().map(String::as_str));
        let message = format!("written by a recorded call, but not declared: {names}");
        findings.warning(Code::FilesDiffer, summary.path, message);
    }
}

/// The file that a call wrote; the files that a shell command wrote are unknown.
fn written_by<'d>(call: &At<'d>) -> Option<&'d str> {
    let tool = call.text("tool_name")?;
    let failed = call.member("output").and_then(|output| output.text("status")) == Some("failed");
    let params = call.member("input")?.member("params")?;
    match tool {
        "Write" | "Edit" | "MultiEdit" if !failed => params.text("file_path"),
        "NotebookEdit" if !failed => params.text("notebook_path"),
        _ => None,
    }
}

fn steady(path: &str) -> String {
    path.replace('\\', "/")
}

/// A set of paths, and of their suffixes.
struct Paths {
    whole: BTreeSet<String>,
    ends: BTreeSet<String>,
}

impl Paths {
    fn new<'p>(paths: impl Iterator<Item = &'p str>) -> Self {
        let whole: BTreeSet<String> = paths.map(steady).collect();
        let ends = whole.iter().flat_map(|path| ends(path)).map(Into::into).collect();
        Self { whole, ends }
    }

    fn have(&self, path: &str) -> bool {
        self.ends.contains(path) || ends(path).any(|end| self.whole.contains(end))
    }
}

/// The path itself and its suffixes, up to a plausible number of components.
fn ends(path: &str) -> impl Iterator<Item = &str> {
    const STEPS: usize = 32;
    let path = path.trim_start_matches("./");
    let starts = path.rmatch_indices('/').map(|(slash, _)| slash + 1).take(STEPS);
    std::iter::once(path).chain(starts.filter_map(|start| path.get(start..)))
}
