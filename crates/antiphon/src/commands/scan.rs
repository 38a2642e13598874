//! `antiphon scan`: finds secrets.

use std::fs;
use std::path::{Path, PathBuf};

use antiphon_library::{ScanReport, scan, with_causes};
use anyhow::Context;
use clap::Args;

use crate::failure::{Outcome, UserError};
use crate::redaction::redactor;
use crate::terminal::{self, Page, Style, complain, count};

#[derive(Debug, Args)]
#[command(after_help = "\
A finding shows the place of a secret, the rule that found it and its first four characters. Exit
code 1 means that secrets were found: rotate them, because anyone who read the file has them.

Examples:
  antiphon scan ~/.claude/projects          everything ever said to an agent
  antiphon scan run.jsonl notes.md --json")]
pub(crate) struct ScanArgs {
    /// Files of any kind, or folders
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ScanArgs) -> anyhow::Result<Outcome> {
    let mut files = Vec::new();
    for path in &args.paths {
        find_files(path, &mut files)?;
    }
    let report = scan(&files, &redactor());
    for (path, error) in &report.failed {
        complain(&format!("cannot read `{}`: {}", path.display(), with_causes(error)));
    }
    if args.json {
        terminal::json(&report)?;
    } else {
        print(&report)?;
    }
    Ok(match (report.findings.is_empty(), report.failed.is_empty()) {
        (false, _) => Outcome::No,
        (true, true) => Outcome::Done,
        (true, false) => Outcome::BadInput,
    })
}

/// The files at a path, in the order of their paths.
fn find_files(path: &Path, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if !path.exists() {
        return Err(UserError::failed(format!("there is no file `{}`", path.display())).into());
    }
    let start = found.len();
    let mut paths = vec![path.to_owned()];
    while let Some(path) = paths.pop() {
        if !path.is_dir() {
            found.push(path);
            continue;
        }
        let entries = fs::read_dir(&path).with_context(|| format!("`{}`", path.display()))?;
        for entry in entries {
            let below = entry?.path();
            // A link may lead anywhere, even in a cycle; a pipe or a device may have no end.
            if !below.is_symlink() && (below.is_dir() || below.is_file()) {
                paths.push(below);
            }
        }
    }
    if let Some(new) = found.get_mut(start..) {
        new.sort();
    }
    Ok(())
}

fn print(report: &ScanReport) -> anyhow::Result<()> {
    let mut page = Page::new();
    for secret in &report.findings {
        page.plain(&format!("{}:{}: ", secret.file, secret.line)).add(Style::Bad, secret.rule);
        page.faint(&format!("  {}", secret.excerpt)).end()?;
    }
    let secrets = count(report.findings.len(), "secret");
    page.add(Style::Head, &format!("{secrets} in {}", count(report.files, "file")));
    if !report.counts.is_empty() {
        page.plain(&format!(": {}", report.counts));
    }
    page.end()?;
    page.finish()
}
