//! `antiphon stats`: tokens and cost over many sessions.

use std::path::{Path, PathBuf};

use antiphon_library::{Environment, StatsReport, Store, Trouble, stats_at, with_causes};
use antiphon_views::{Group, Prices, Stats, Totals};
use clap::{Args, ValueEnum};

use super::NOTHING_KEPT;
use crate::cli::PriceArgs;
use crate::cost_note::cost_note;
use crate::failure::{Outcome, UserError, report_left_out};
use crate::price_table;
use crate::terminal::{self, Bar, Page, Style, complain, count};

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Sessions, or folders of them; sub-agents' files are counted with their session. Default: all
    /// kept sessions
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What to group by
    #[arg(long, value_enum, default_value_t = By::Model)]
    by: By,
    #[command(flatten)]
    prices: PriceArgs,
    /// Print CSV, for a spreadsheet
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum By {
    Model,
    /// The program that ran the session
    Agent,
    /// The kind of sub-agent
    SubAgent,
    Day,
    /// The working folder
    Project,
    Session,
}

pub(crate) fn run(args: &StatsArgs) -> anyhow::Result<Outcome> {
    let group = match args.by {
        By::Model => Group::Model,
        By::Agent => Group::Agent,
        By::SubAgent => Group::SubAgent,
        By::Project => Group::Project,
        By::Day => Group::Day,
        By::Session => Group::Session,
    };
    let report = match args.paths.is_empty() {
        true => count_kept(group, args.prices.file.as_deref())?,
        false => count_at(&args.paths, group, &price_table::load(args.prices.file.as_deref())?)?,
    };
    let stats = &report.stats;
    if !args.paths.is_empty() && stats.sessions == 0 {
        complain("no sessions found");
    }
    if args.json {
        terminal::json(&report)?;
    } else if args.csv {
        csv(stats)?;
        others_in_words(&report).iter().for_each(|text| complain(text));
    } else {
        print(&report)?;
    }
    report_problems(&report.with_problems);
    let is_bad = !report.failed.is_empty() || !report.with_problems.is_empty();
    Ok(match stats.sessions {
        // What is wrong with a kept session was said when it was kept.
        _ if args.paths.is_empty() => report_left_out(&report.left_out),
        _ if is_bad => Outcome::BadInput,
        0 => Outcome::No,
        _ => Outcome::Done,
    })
}

/// Says which sessions may have used more than was counted.
fn report_problems(troubles: &[Trouble]) {
    const SHOWN: usize = 3;
    if troubles.is_empty() {
        return;
    }
    let sessions = count(troubles.len(), "session");
    let (have, missing) = if troubles.len() == 1 { ("has", "its") } else { ("have", "their") };
    complain(&format!("{sessions} {have} problems; some of {missing} tokens may be missing:"));
    for Trouble { at, what } in troubles.iter().take(SHOWN) {
        complain(&format!("  {at}: {what}"));
    }
    if troubles.len() > SHOWN {
        complain("  … `antiphon doctor` names all kept sessions with problems");
    }
}

/// Counts all that is kept.
fn count_kept(group: Group, prices: Option<&Path>) -> anyhow::Result<StatsReport> {
    let store = Store::open_default(&Environment::of_process())?;
    let bar = Bar::new("sessions read");
    let prices = price_table::own(prices)?;
    let report = store.stats(group, prices.as_ref(), &|done, of| bar.show(done, of))?;
    drop(bar);
    if report.stats.sessions == 0 && report.left_out.is_empty() {
        complain(NOTHING_KEPT);
    }
    Ok(report)
}

/// Counts the sessions at these paths and below them, each request once.
fn count_at(paths: &[PathBuf], group: Group, prices: &Prices) -> anyhow::Result<StatsReport> {
    if let Some(absent) = paths.iter().find(|path| !exists(path)) {
        let what = format!("there is no file `{}`", absent.display());
        return Err(UserError::failed(what).into());
    }
    let report = stats_at(paths, group, prices);
    for (path, error) in &report.failed {
        complain(&format!("{}: {}", path.display(), with_causes(error)));
    }
    Ok(report)
}

/// A session of a database has a path that is no file's.
fn exists(path: &Path) -> bool {
    path.exists() || path.parent().is_some_and(Path::is_file)
}

/// Says how many files are no sessions.
fn others_in_words(report: &StatsReport) -> Option<String> {
    report.not_sessions.map(|others| {
        let are = if others == 1 { "is not a session" } else { "are not sessions" };
        format!("{} {are}", count(others, "file"))
    })
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

fn print(report: &StatsReport) -> anyhow::Result<()> {
    let stats = &report.stats;
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
        page.add(Style::Bad, "unknown price: ").plain(&models.join(", ")).end()?;
    }
    if let Some(note) = cost_note(&stats.totals) {
        page.plain(&note).end()?;
    }
    if stats.totals.incomplete > 0 {
        let requests = usize::try_from(stats.totals.incomplete).unwrap_or(usize::MAX);
        let requests = count(requests, "request");
        page.add(Style::Bad, "partial: ").plain(&format!("some tokens of {requests} are unknown"));
        page.end()?;
    }
    if let Some(text) = others_in_words(report) {
        page.faint(&text).end()?;
    }
    page.finish()
}

fn line(totals: &Totals) -> String {
    let usage = totals.usage;
    let cost = totals.cost().map_or_else(|| "unpriced".to_owned(), |cost| format!("${cost:.2}"));
    let cached = usage.cache_read + usage.cache_write;
    format!("{:>12} in {:>12} out {cached:>14} cached {cost:>12}", usage.input, usage.output)
}
