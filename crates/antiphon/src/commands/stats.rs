//! `antiphon stats`: tokens, cost and calls over many sessions.

mod calls;
mod sums;

use std::path::{Path, PathBuf};

use antiphon_catalog::{CatalogError, SessionQuery};
use antiphon_journal::{Clock as _, SystemClock};
use antiphon_library::{
    Asked, Environment, Progress, StatsReport, Store, Trouble, call_stats_at, project_query,
    stats_at, with_causes,
};
use antiphon_views::{CallGroup, CallStatsQuery, Group, StatsQuery};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::NOTHING_KEPT;
use crate::cli::PriceArgs;
use crate::failure::{Outcome, UserError, report_left_out};
use crate::fresh;
use crate::price_table;
use crate::range::RangeArgs;
use crate::terminal::{self, Bar, complain, count};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon stats --by day --since 7d
  antiphon stats --by block --agent claude     five-hour windows, and what is left of this one
  antiphon stats --by tool --project .         which tools fail, and how long they take
  antiphon stats ~/.claude/projects --by model

A five-hour window begins at the full hour of its first request, as the limits of subscriptions count.")]
pub(crate) struct StatsArgs {
    /// Sessions, or folders of them; sub-agents' files are counted with their session. Default: all
    /// kept sessions
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What to group by
    #[arg(long, value_enum, default_value_t = By::Model)]
    by: By,
    #[command(flatten)]
    range: RangeArgs,
    /// Only sessions of this project; `.` is the repository around the current folder
    #[arg(long, value_name = "FOLDER")]
    project: Option<String>,
    /// Only sessions of this agent (a part of its name, such as claude or codex)
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only what this model did (a part of its name)
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
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
    Hour,
    Day,
    /// From Monday to Sunday
    Week,
    Month,
    /// The five-hour window in which subscriptions count
    Block,
    /// The working folder
    Project,
    Session,
    /// The tool: its calls, failures, times and output
    Tool,
    /// The program that a shell ran
    Command,
    /// What failed calls say
    Error,
}

/// The sums that a grouping is one of.
enum Grouping {
    Usage(Group),
    Calls(CallGroup),
}

impl By {
    fn grouping(self) -> Grouping {
        match self {
            Self::Model => Grouping::Usage(Group::Model),
            Self::Agent => Grouping::Usage(Group::Agent),
            Self::SubAgent => Grouping::Usage(Group::SubAgent),
            Self::Project => Grouping::Usage(Group::Project),
            Self::Hour => Grouping::Usage(Group::Hour),
            Self::Day => Grouping::Usage(Group::Day),
            Self::Week => Grouping::Usage(Group::Week),
            Self::Month => Grouping::Usage(Group::Month),
            Self::Block => Grouping::Usage(Group::Block),
            Self::Session => Grouping::Usage(Group::Session),
            Self::Tool => Grouping::Calls(CallGroup::Tool),
            Self::Command => Grouping::Calls(CallGroup::Command),
            Self::Error => Grouping::Calls(CallGroup::Error),
        }
    }
}

pub(crate) fn run(args: &StatsArgs) -> anyhow::Result<Outcome> {
    let range = args.range.range()?;
    let model = args.model.as_deref().map(str::to_lowercase);
    let environment = Environment::of_process();
    let wanted = SessionQuery {
        agent: args.agent.as_deref().map(str::to_lowercase),
        project: args.project.as_deref().map(|it| project_query(it, &environment)),
        ..SessionQuery::default()
    };
    match args.by.grouping() {
        Grouping::Usage(group) => {
            let (zone, now) = (args.range.zone(), SystemClock.now());
            let query = StatsQuery { group, zone, range, model, now };
            let file = args.prices.file.as_deref();
            let report = match args.paths.is_empty() {
                true => {
                    let prices = price_table::own(file)?;
                    of_kept(|store, progress| {
                        store.stats(&wanted, &query, prices.as_ref(), progress)
                    })?
                }
                false => {
                    let prices = price_table::load(file)?;
                    at(&args.paths, |paths| stats_at(paths, &wanted, &query, &prices))?
                }
            };
            let sessions = report.stats.sessions;
            present(args, &report, sessions, sums::csv, |report| sums::print(report, &query))
        }
        Grouping::Calls(group) => {
            let query = CallStatsQuery { group, range, model };
            let report = match args.paths.is_empty() {
                true => of_kept(|store, progress| store.call_stats(&wanted, &query, progress))?,
                false => at(&args.paths, |paths| call_stats_at(paths, &wanted, &query))?,
            };
            let sessions = report.stats.sessions;
            present(args, &report, sessions, calls::csv, calls::print)
        }
    }
}

/// Prints a report, and says what may be missing from it.
fn present<S: Serialize>(
    args: &StatsArgs,
    report: &StatsReport<S>,
    sessions: u64,
    csv: impl FnOnce(&S) -> anyhow::Result<()>,
    print: impl FnOnce(&StatsReport<S>) -> anyhow::Result<()>,
) -> anyhow::Result<Outcome> {
    let is_narrowed = args.project.is_some()
        || args.agent.is_some()
        || args.model.is_some()
        || !args.range.range()?.is_open();
    if sessions == 0 && is_narrowed {
        complain("nothing matches; `antiphon ls` lists what is kept");
    } else if sessions == 0 && !args.paths.is_empty() {
        complain("no sessions found");
    } else if sessions == 0 && report.left_out.is_empty() {
        complain(NOTHING_KEPT);
    }
    if args.json {
        terminal::json(report)?;
    } else if args.csv {
        csv(&report.stats)?;
        others_in_words(report).iter().for_each(|text| complain(text));
    } else if sessions > 0 || !is_narrowed {
        print(report)?;
    }
    report_problems(&report.with_problems);
    let is_bad = !report.failed.is_empty() || !report.with_problems.is_empty();
    Ok(match sessions {
        _ if !args.paths.is_empty() && is_bad => Outcome::BadInput,
        // What is wrong with a kept session was said when it was kept.
        _ if !report.left_out.is_empty() => report_left_out(&report.left_out),
        0 if is_narrowed || !args.paths.is_empty() => Outcome::No,
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

/// Counts what is kept.
fn of_kept<S>(
    sum: impl FnOnce(&Store, Progress<'_>) -> Result<StatsReport<S>, CatalogError>,
) -> anyhow::Result<StatsReport<S>> {
    let store = fresh::store(Asked::Catalogue)?;
    let bar = Bar::new("sessions read");
    Ok(sum(&store, &|done, of| bar.show(done, of))?)
}

/// Counts the sessions at these paths and below them.
fn at<S>(
    paths: &[PathBuf],
    sum: impl FnOnce(&[PathBuf]) -> StatsReport<S>,
) -> anyhow::Result<StatsReport<S>> {
    if let Some(absent) = paths.iter().find(|path| !exists(path)) {
        let what = format!("there is no file `{}`", absent.display());
        return Err(UserError::failed(what).into());
    }
    let report = sum(paths);
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
fn others_in_words<S>(report: &StatsReport<S>) -> Option<String> {
    report.not_sessions.map(|others| {
        let are = if others == 1 { "is not a session" } else { "are not sessions" };
        format!("{} {are}", count(others, "file"))
    })
}

/// A field of CSV: whatever it contains, it is one field.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
