//! `cargo xtask tidy`: the rules of this repository, as code.
//!
//! Each rule is a function of files in memory, so it can be tested without a disk; only [`tree`]
//! reads files. A finding names its place and says what to do instead.

mod agents;
mod docs;
mod header;
mod home;
mod lexer;
mod names;
mod purity;
mod size;
mod source;
mod tree;
mod walls;
mod whitespace;
mod words;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use source::Source;

/// A rule that looks at one file at a time.
type Rule = fn(&Source, &mut Vec<Finding>);

const RULES: &[Rule] = &[
    size::check,
    whitespace::check,
    words::check,
    purity::check,
    names::check,
    header::check,
    walls::check,
    home::check,
];

/// A place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    what: String,
    instead: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.path, self.line, self.what, self.instead)
    }
}

pub(crate) fn run(root: &Path) -> crate::Outcome {
    let files = tree::read(root)?;
    let mut findings = Vec::new();
    for file in &files {
        for rule in RULES {
            rule(file, &mut findings);
        }
    }
    docs::check(&files, &mut findings);
    agents::check(&files, &mut findings);

    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        eprintln!("tidy: {} files, nothing to say", files.len());
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("tidy: {} files, {} findings", files.len(), findings.len());
    Ok(ExitCode::FAILURE)
}

#[cfg(test)]
mod tests;
