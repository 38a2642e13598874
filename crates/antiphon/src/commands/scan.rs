//! `antiphon scan`: where secrets are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use antiphon_redact::{Counts, Redactor};
use antiphon_sources::each_piece;
use anyhow::Context;
use serde::Serialize;

use crate::cli;
use crate::failure::{Outcome, UserError};
use crate::redaction::redactor;
use crate::terminal::{self, Page, Style, complain, count};

pub(crate) fn run(args: &cli::Scan) -> anyhow::Result<Outcome> {
    let mut files = Vec::new();
    for path in &args.paths {
        find_files(path, &mut files)?;
    }
    let mut scanned =
        Scanned { redactor: redactor(), found: Vec::new(), counts: Counts::default() };
    let mut bad = 0;
    for path in &files {
        if let Err(error) = scanned.add(path) {
            complain(&format!("{error:#}"));
            bad += 1;
        }
    }
    scanned.print(args.json, files.len())?;
    Ok(match (scanned.found.is_empty(), bad) {
        (false, _) => Outcome::No,
        (true, 0) => Outcome::Done,
        (true, _) => Outcome::BadInput,
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
            // A link may lead anywhere, and round in a circle; a pipe or a device has no end.
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

#[derive(Debug, Serialize)]
struct Row {
    file: String,
    line: usize,
    rule: &'static str,
    /// How it begins.
    excerpt: String,
}

#[derive(Debug, Serialize)]
struct Report<'s> {
    findings: &'s [Row],
    counts: &'s BTreeMap<&'static str, u64>,
    files: usize,
}

struct Scanned {
    redactor: Redactor,
    found: Vec<Row>,
    counts: Counts,
}

impl Scanned {
    fn add(&mut self, path: &Path) -> anyhow::Result<()> {
        let Self { redactor, found, counts } = self;
        let scanned = each_piece(path, |piece| {
            let (mut line, mut at) = (piece.line, 0);
            for finding in redactor.find_document(piece.text) {
                if !(piece.from..piece.to).contains(&finding.range.start) {
                    continue;
                }
                let passed = piece.text.get(at..finding.range.start).unwrap_or_default();
                line += passed.bytes().filter(|&byte| byte == b'\n').count();
                at = finding.range.start;
                let secret = piece.text.get(finding.range).unwrap_or_default();
                counts.add(finding.rule);
                let (file, rule) = (path.display().to_string(), finding.rule);
                found.push(Row { file, line, rule, excerpt: excerpt(secret) });
            }
        });
        scanned.with_context(|| format!("cannot read `{}`", path.display()))
    }

    fn print(&self, as_json: bool, files: usize) -> anyhow::Result<()> {
        if as_json {
            let counts = self.counts.by_rule();
            return terminal::json(&Report { findings: &self.found, counts, files });
        }
        let mut page = Page::new();
        for row in &self.found {
            page.plain(&format!("{}:{}: ", row.file, row.line)).add(Style::Bad, row.rule);
            page.faint(&format!("  {}", row.excerpt)).end()?;
        }
        let secrets = count(self.found.len(), "secret");
        page.add(Style::Head, &format!("{secrets} in {}", count(files, "file")));
        if !self.counts.is_empty() {
            page.plain(&format!(": {}", self.counts));
        }
        page.end()?;
        page.finish()
    }
}

/// The first characters: enough to know which it is, and too few to use. Of a short one fewer.
fn excerpt(secret: &str) -> String {
    const SHOWN: usize = 4;
    let shown = SHOWN.min(secret.chars().count() / 4);
    secret.chars().take(shown).chain(['…']).collect()
}
