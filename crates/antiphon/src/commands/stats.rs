//! `antiphon stats`: tokens and cost over many sessions.

use std::path::{Path, PathBuf};

use antiphon_library::{Environment, LeftOut, Store, open_all};
use antiphon_views::{Group, Prices, SessionRequests, Stats, Totals};
use serde::Serialize;

use super::NOTHING_KEPT;
use crate::cli;
use crate::cost_note::cost_note;
use crate::failure::{Outcome, UserError, report_left_out};
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
        false => count_at(&args.paths, group, &price_table::load(args.prices.file.as_deref())?)?,
    };
    let Counted { stats, bad, others, left_out } = &counted;
    if !args.paths.is_empty() && stats.sessions == 0 {
        complain("no sessions found");
    }
    if args.json {
        let not_sessions = Some(*others).filter(|it| *it > 0);
        terminal::json(&Shown { stats, not_sessions, left_out })?;
    } else if args.csv {
        csv(stats)?;
        others_in_words(*others).iter().for_each(|text| complain(text));
    } else {
        print(stats, *others)?;
    }
    Ok(match (bad, stats.sessions) {
        (1.., _) => Outcome::BadInput,
        (0, 0) if !args.paths.is_empty() => Outcome::No,
        (0, _) => report_left_out(left_out),
    })
}

/// Counts all that is kept.
fn count_kept(group: Group, prices: Option<&Path>) -> anyhow::Result<Counted> {
    let store = Store::open_default(&Environment::of_process())?;
    let bar = Bar::new("sessions read");
    let prices = price_table::own(prices)?;
    let (stats, left_out) = store.stats(group, prices.as_ref(), &|done, of| bar.show(done, of))?;
    drop(bar);
    if stats.sessions == 0 && left_out.is_empty() {
        complain(NOTHING_KEPT);
    }
    Ok(Counted { stats, bad: 0, others: 0, left_out })
}

struct Counted {
    stats: Stats,
    /// How much was wrong with what was read.
    bad: usize,
    /// How many files below the folders are no sessions.
    others: usize,
    /// The kept sessions that could not be read, or are damaged.
    left_out: Vec<LeftOut>,
}

/// Counts the sessions at these paths and below them, each request once.
fn count_at(paths: &[PathBuf], group: Group, prices: &Prices) -> anyhow::Result<Counted> {
    if let Some(absent) = paths.iter().find(|path| !exists(path)) {
        let what = format!("there is no file `{}`", absent.display());
        return Err(UserError::failed(what).into());
    }
    // Agents are called by what stands beside their usage.
    let only_usage = match group {
        Group::Agent | Group::SubAgent | Group::Project => false,
        Group::Model | Group::Day | Group::Session => true,
    };
    let all = open_all(paths, only_usage, &|opened| {
        let session = &opened.session;
        let id = session.info().session_id.as_deref().unwrap_or(&opened.name);
        (SessionRequests::read(session, id, group, prices), session.problems().len())
    });
    let mut failed = all.failed;
    failed.sort_by(|a, b| a.0.cmp(&b.0));
    let failures = failed.len();
    for (path, error) in failed {
        complain(&format!("{}: {:#}", path.display(), anyhow::Error::from(error)));
    }
    let (sessions, problems): (Vec<_>, Vec<_>) = all.sessions.into_iter().unzip();
    let bad = failures + problems.iter().sum::<usize>();
    let stats = Stats::of(group, &sessions);
    Ok(Counted { stats, bad, others: all.others, left_out: Vec::new() })
}

/// A session of a database has a path that is no file's.
fn exists(path: &Path) -> bool {
    path.exists() || path.parent().is_some_and(Path::is_file)
}

/// What is printed as JSON.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    stats: &'a Stats,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_sessions: Option<usize>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    left_out: &'a [LeftOut],
}

/// Says how many files are no sessions.
fn others_in_words(others: usize) -> Option<String> {
    let are = if others == 1 { "is not a session" } else { "are not sessions" };
    (others > 0).then(|| format!("{} {are}", count(others, "file")))
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

fn print(stats: &Stats, others: usize) -> anyhow::Result<()> {
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
    if let Some(text) = others_in_words(others) {
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
