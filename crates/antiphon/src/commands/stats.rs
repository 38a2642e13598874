//! `antiphon stats`: tokens and cost over many sessions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_views::{Group, Prices, Stats, Totals};

use crate::cli;
use crate::failure::{Outcome, UserError};
use crate::price_table;
use crate::terminal::{self, Page, Style, complain, count};

pub(crate) fn run(args: &cli::Stats) -> anyhow::Result<Outcome> {
    let prices = price_table::load(args.prices.file.as_deref())?;
    let mut files = Vec::new();
    for path in &args.paths {
        find_sessions(path, &mut files)?;
    }
    let group = match args.by {
        cli::By::Model => Group::Model,
        cli::By::Agent => Group::Agent,
        cli::By::Day => Group::Day,
        cli::By::Session => Group::Session,
    };
    let counted = count_all(&files, group, &prices);
    if args.json {
        terminal::json(&counted.stats)?;
    } else {
        print(&counted.stats, files.len())?;
    }
    Ok(if counted.bad > 0 { Outcome::BadInput } else { Outcome::Done })
}

/// The sessions at a path: a file, or all below a folder but those that belong to another.
fn find_sessions(path: &Path, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if !path.exists() {
        return Err(UserError::failed(format!("there is no file `{}`", path.display())).into());
    }
    if path.is_file() {
        found.push(path.to_owned());
        return Ok(());
    }
    let mut folders = vec![path.to_owned()];
    let start = found.len();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if name.ends_with(".jsonl") && !name.starts_with("agent-") {
                found.push(path);
            }
        }
    }
    if let Some(new) = found.get_mut(start..) {
        new.sort();
    }
    Ok(())
}

struct Counted {
    stats: Stats,
    bad: usize,
}

/// Reads all files on as many threads as there are processors, and counts each request once.
fn count_all(files: &[PathBuf], group: Group, prices: &Prices) -> Counted {
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Counted { stats: Stats::new(group), bad: 0 });
    let seen: Mutex<BTreeSet<String>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut own = Counted { stats: Stats::new(group), bad: 0 };
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // Agents are called by what stands beside their usage.
                    let opened = match group {
                        Group::Agent => antiphon_library::open(file),
                        Group::Model | Group::Day | Group::Session => {
                            antiphon_library::open_usage(file)
                        }
                    };
                    match opened {
                        Ok(opened) => {
                            let session = &opened.session;
                            own.bad += session.problems().len();
                            let id = session.info().session_id.as_deref().unwrap_or(&opened.name);
                            own.stats.add_new(session, id, prices, &mut |request| {
                                let mut seen = seen.lock().unwrap_or_else(|e| e.into_inner());
                                seen.insert(request.to_owned())
                            });
                        }
                        Err(error) => {
                            own.bad += 1;
                            complain(&format!("{}: {error}", file.display()));
                        }
                    }
                }
                let mut total = total.lock().unwrap_or_else(|e| e.into_inner());
                total.bad += own.bad;
                total.stats.merge(own.stats);
            });
        }
    });
    total.into_inner().unwrap_or_else(|e| e.into_inner())
}

fn print(stats: &Stats, files: usize) -> anyhow::Result<()> {
    let mut page = Page::new();
    let picos = |totals: &Totals| totals.cost().unwrap_or_default().as_picos();
    let most = stats.rows.values().map(picos).max().unwrap_or_default().max(1);
    for (key, totals) in &stats.rows {
        let bar = "█".repeat(usize::try_from(picos(totals) * 24 / most).unwrap_or_default());
        page.add(Style::Name, &format!("{:<32}", key.to_string())).plain(&line(totals));
        page.faint(&format!("  {bar}")).end()?;
    }
    page.add(Style::Head, &format!("{:<32}", count(files, "session"))).plain(&line(&stats.totals));
    page.end()?;
    if !stats.unpriced.is_empty() {
        let models: Vec<_> = stats.unpriced.iter().map(String::as_str).collect();
        page.add(Style::Bad, "no price known: ").plain(&models.join(", ")).end()?;
    }
    page.finish()
}

fn line(totals: &Totals) -> String {
    let usage = totals.usage;
    let cost = totals.cost().map_or_else(|| "unpriced".to_owned(), |cost| format!("${cost:.2}"));
    let cached = usage.cache_read + usage.cache_write;
    format!("{:>12} in {:>12} out {cached:>14} cached {cost:>12}", usage.input, usage.output)
}
