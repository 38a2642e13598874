//! `antiphon validate`: checks session documents against their standard.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use antiphon_documents::{BYTES_MAX, DocumentFinding, Rules, ValidatedFile, validate_bytes};
use antiphon_journal::regular;
use antiphon_model::Severity;
use anyhow::Context;
use clap::Args;

use crate::failure::{Outcome, UserError};
use crate::terminal::{self, Page, Style, count};

#[derive(Debug, Args)]
#[command(after_help = "\
The content decides which standard applies to a document. An error violates the standard; a
warning is about something that the standard leaves open, or that cannot be determined.

Examples:
  antiphon validate data/sessions                    all documents below a folder
  antiphon validate run-multi.json --strict          to the letter of the standard")]
pub(crate) struct ValidateArgs {
    /// Documents, or folders of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Apply the standard to the letter
    #[arg(long)]
    strict: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ValidateArgs) -> anyhow::Result<Outcome> {
    let mut files = Vec::new();
    for path in &args.paths {
        find_documents(path, &mut files)?;
    }
    let rules = if args.strict { Rules::Strict } else { Rules::Usual };
    let mut rows = Vec::new();
    for path in files {
        let bytes = read(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let report = validate_bytes(&bytes, Some(&name), rules);
        rows.push(ValidatedFile { file: path.display().to_string(), report });
    }
    let passes = |row: &ValidatedFile| row.report.valid;
    if args.json {
        terminal::json(&rows)?;
    } else {
        let mut page = Page::new();
        for row in &rows {
            print(&mut page, row, passes(row))?;
        }
        if rows.len() > 1 {
            print_summary(&mut page, &rows, passes)?;
        }
        page.finish()?;
    }
    Ok(if rows.iter().all(passes) { Outcome::Done } else { Outcome::No })
}

/// The documents at a path: a file, or all `*.json` below a folder, in the order of their paths.
fn find_documents(path: &Path, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if !path.exists() {
        return Err(UserError::failed(format!("there is no file `{}`", path.display())).into());
    }
    if !path.is_dir() {
        found.push(path.to_owned());
        return Ok(());
    }
    let mut folders = vec![path.to_owned()];
    let mut below = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("`{}`", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                below.push(path);
            }
        }
    }
    if below.is_empty() {
        let what = format!("there are no `*.json` files in `{}`", path.display());
        return Err(UserError::not_found(what).into());
    }
    below.sort();
    found.append(&mut below);
    Ok(())
}

/// Reads a document, up to one byte more than `validate_bytes` accepts.
fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let shown = || format!("cannot read `{}`", path.display());
    let limit = u64::try_from(BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let file = regular::open(path).with_context(shown)?;
    file.take(limit).read_to_end(&mut bytes).with_context(shown)?;
    Ok(bytes)
}

fn print(page: &mut Page, row: &ValidatedFile, passes: bool) -> anyhow::Result<()> {
    let (style, mark) = if passes { (Style::Good, "✓ ") } else { (Style::Bad, "✗ ") };
    page.add(style, mark).plain(&row.file);
    match row.report.format {
        Some(standard) => page.faint(&format!("  {standard}")),
        None => page.faint("  no known standard"),
    };
    page.end()?;
    for (finding, more) in alike(&row.report.findings) {
        let style = match finding.severity {
            Severity::Error => Style::Bad,
            Severity::Warning => Style::Plain,
        };
        let severity = match finding.severity {
            Severity::Error => "error    ",
            Severity::Warning => "warning  ",
        };
        page.plain("  ").add(style, severity);
        if !finding.path.is_empty() {
            page.add(Style::Name, &finding.path);
            if more > 0 {
                page.faint(&format!(" and {}", count(more, "other place")));
            }
            page.plain(": ");
        }
        page.plain(&finding.message).faint(&format!("  {}", finding.code)).end()?;
    }
    Ok(())
}

/// Joins equal findings of several places into one, with the number of the other places.
fn alike(findings: &[DocumentFinding]) -> Vec<(&DocumentFinding, usize)> {
    let mut rows: Vec<(&DocumentFinding, usize)> = Vec::new();
    let mut places = BTreeMap::new();
    for finding in findings {
        let place =
            *places.entry((finding.severity, finding.code, &finding.message)).or_insert(rows.len());
        match rows.get_mut(place) {
            Some((_, more)) => *more += 1,
            None => rows.push((finding, 0)),
        }
    }
    rows
}

/// `34 documents: 20 valid, 14 not; 3 errors, 40 warnings`.
fn print_summary(
    page: &mut Page,
    rows: &[ValidatedFile],
    passes: impl Fn(&ValidatedFile) -> bool,
) -> anyhow::Result<()> {
    let valid = rows.iter().filter(|row| passes(row)).count();
    let (errors, warnings) = rows.iter().fold((0, 0), |(errors, warnings), row| {
        let (more_errors, more_warnings) = row.report.count();
        (errors + more_errors, warnings + more_warnings)
    });
    page.add(Style::Head, &count(rows.len(), "document"));
    page.plain(&format!(": {valid} valid, {} not; ", rows.len() - valid));
    page.plain(&format!("{}, {}", count(errors, "error"), count(warnings, "warning"))).end()
}
