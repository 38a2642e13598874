//! `antiphon stats`: tokens and cost over many sessions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use antiphon_library::{Environment, Store};
use antiphon_views::{Group, Prices, SessionRequests, Stats, Totals};

use super::NOTHING_KEPT;
use crate::cli;
use crate::cost_note::cost_note;
use crate::failure::{Outcome, UserError};
use crate::price_table;
use crate::terminal::{self, Bar, Page, Style, complain, count};

pub(crate) fn run(args: &cli::Stats) -> anyhow::Result<Outcome> {
    let group = match args.by {
        cli::By::Model => Group::Model,
        cli::By::Agent => Group::Agent,
        cli::By::SubAgent => Group::SubAgent,
        cli::By::Project => Group::Project,
        cli::By::Day => Group::Day,
        cli::By::Session => Group::Session,
    };
    let counted = match args.paths.is_empty() {
        true => count_kept(group, args.prices.file.as_deref())?,
        false => {
            let mut files = Vec::new();
            for path in &args.paths {
                find_sessions(path, &mut files)?;
            }
            count_all(&files, group, &price_table::load(args.prices.file.as_deref())?)
        }
    };
    if args.json {
        terminal::json(&counted.stats)?;
    } else if args.csv {
        csv(&counted.stats)?;
    } else {
        print(&counted.stats)?;
    }
    Ok(if counted.bad > 0 { Outcome::BadInput } else { Outcome::Done })
}

/// Counts all that is kept.
fn count_kept(group: Group, prices: Option<&Path>) -> anyhow::Result<Counted> {
    let store = Store::open_default(&Environment::of_process())?;
    let bar = Bar::new("sessions read");
    let prices = price_table::own(prices)?;
    let stats = store.stats(group, prices.as_ref(), &|done, of| bar.show(done, of))?;
    drop(bar);
    if stats.sessions == 0 {
        complain(NOTHING_KEPT);
    }
    Ok(Counted { stats, bad: 0 })
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
            } else if is_session(&name) && !antiphon_library::is_outdated(&path) {
                found.push(path);
            }
        }
    }
    if let Some(new) = found.get_mut(start..) {
        new.sort();
    }
    Ok(())
}

fn is_session(name: &str) -> bool {
    let plain = name.strip_suffix(antiphon_library::PACKED).unwrap_or(name);
    plain.ends_with(".jsonl") && !name.starts_with("agent-")
}

struct Counted {
    stats: Stats,
    bad: usize,
}

/// A session that was read, and the files that were read with it.
struct Part {
    file: PathBuf,
    with: Vec<PathBuf>,
    requests: SessionRequests,
}

/// Reads all files on as many threads as there are processors, and counts each request once.
fn count_all(files: &[PathBuf], group: Group, prices: &Prices) -> Counted {
    let next = AtomicUsize::new(0);
    let parts: Mutex<Vec<Part>> = Mutex::default();
    let bad = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match count_one(file, group, prices) {
                        Ok((part, problems)) => {
                            bad.fetch_add(problems, Ordering::Relaxed);
                            parts.lock().unwrap_or_else(PoisonError::into_inner).push(part);
                        }
                        Err(error) => {
                            bad.fetch_add(1, Ordering::Relaxed);
                            complain(&format!("{}: {error}", file.display()));
                        }
                    }
                }
            });
        }
    });
    let parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
    // A file that belongs to another session was found by itself, too.
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let covered: BTreeSet<PathBuf> = parts.iter().flat_map(|part| &part.with).map(real).collect();
    let own = parts.into_iter().filter(|part| !covered.contains(&real(&part.file)));
    let sessions: Vec<SessionRequests> = own.map(|part| part.requests).collect();
    Counted { stats: Stats::of(group, &sessions), bad: bad.into_inner() }
}

fn count_one(
    file: &Path,
    group: Group,
    prices: &Prices,
) -> Result<(Part, usize), antiphon_library::Error> {
    // Agents are called by what stands beside their usage.
    let opened = match group {
        Group::Agent | Group::SubAgent | Group::Project => antiphon_library::open(file)?,
        Group::Model | Group::Day | Group::Session => antiphon_library::open_usage(file)?,
    };
    let session = &opened.session;
    let id = session.info().session_id.as_deref().unwrap_or(&opened.name);
    let requests = SessionRequests::read(session, id, group, prices);
    let with = opened.files.iter().skip(1).cloned().collect();
    Ok((Part { file: file.to_owned(), with, requests }, session.problems().len()))
}

fn csv(stats: &Stats) -> anyhow::Result<()> {
    let mut page = Page::live();
    let head = "key,input,output,reasoning,cache_read,cache_write,cache_write_1h,requests,\
                cost_usd,declared_usd";
    page.plain(head).end()?;
    for (key, totals) in &stats.rows {
        let usage = totals.usage;
        let numbers = [
            usage.input,
            usage.output,
            usage.reasoning,
            usage.cache_read,
            usage.cache_write,
            usage.cache_write_1h,
            totals.requests,
        ];
        let numbers = numbers.map(|number| number.to_string()).join(",");
        let [cost, declared] = [totals.cost(), totals.declared()]
            .map(|cost| cost.map(|cost| format!("{:.6}", cost.as_f64())).unwrap_or_default());
        let key = key.to_string().replace('"', "\"\"");
        page.plain(&format!("\"{key}\",{numbers},{cost},{declared}")).end()?;
    }
    page.finish()
}

fn print(stats: &Stats) -> anyhow::Result<()> {
    let mut page = Page::new();
    let sessions = usize::try_from(stats.sessions).unwrap_or(usize::MAX);
    let picos = |totals: &Totals| totals.cost().unwrap_or_default().as_picos();
    let most = stats.rows.values().map(picos).max().unwrap_or_default().max(1);
    for (key, totals) in &stats.rows {
        let bar = "█".repeat(usize::try_from(picos(totals) * 24 / most).unwrap_or_default());
        page.add(Style::Name, &format!("{:<32}", key.to_string())).plain(&line(totals));
        page.faint(&format!("  {bar}")).end()?;
    }
    page.add(Style::Head, &format!("{:<32}", count(sessions, "session")))
        .plain(&line(&stats.totals));
    page.end()?;
    if !stats.unpriced.is_empty() {
        let models: Vec<_> = stats.unpriced.iter().map(String::as_str).collect();
        page.add(Style::Bad, "no price known: ").plain(&models.join(", ")).end()?;
    }
    if let Some(note) = cost_note(&stats.totals) {
        page.plain(&note).end()?;
    }
    if stats.totals.incomplete > 0 {
        let requests = usize::try_from(stats.totals.incomplete).unwrap_or(usize::MAX);
        let requests = count(requests, "request");
        page.add(Style::Bad, "partial: ").plain(&format!("not all tokens of {requests} are known"));
        page.end()?;
    }
    page.finish()
}

fn line(totals: &Totals) -> String {
    let usage = totals.usage;
    let cost = totals.cost().map_or_else(|| "unpriced".to_owned(), |cost| format!("${cost:.2}"));
    let cached = usage.cache_read + usage.cache_write;
    format!("{:>12} in {:>12} out {cached:>14} cached {cost:>12}", usage.input, usage.output)
}
