//! `antiphon ls`: the sessions that are kept, the last to change first.

use antiphon_catalog::{SessionQuery, SessionSort};
use antiphon_journal::{Clock, SystemClock};
use antiphon_library::{Asked, Environment, List, Listed, StoredSession, project_query};
use antiphon_model::Zone;
use antiphon_views::Totals;
use clap::{Args, ValueEnum};

use super::NOTHING_KEPT;
use super::show::status_style;
use crate::failure::{Outcome, report_left_out};
use crate::fresh;
use crate::range::RangeArgs;
use crate::terminal::{self, Bar, Column, Page, Style, Table, clip, count, dollars, when};

/// From this width on there is room for the folder of a session.
const WIDE: usize = 120;

/// So much of an id is shown at least; more where two begin alike.
const ID_MIN: usize = 8;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon ls
  antiphon ls --project shop --since 2026-03-01 --sort cost
  antiphon show latest      the first in the list
  antiphon show 0f0e        by the first few characters of its id")]
pub(crate) struct LsArgs {
    /// Filter by agent; as in every filter, part of the name is enough
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Filter by working folder; `.` is the repository around here
    #[arg(long, value_name = "FOLDER")]
    project: Option<String>,
    /// Filter by recorded role
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Filter by recorded issue
    #[arg(long, value_name = "ISSUE")]
    issue: Option<String>,
    /// Filter by status
    #[arg(long, value_name = "STATUS", value_parser = ["running", "completed", "failed", "timed-out", "cancelled", "interrupted"])]
    status: Option<String>,
    /// Filter by tool used
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Filter by a file that was mentioned or touched; part of the path is enough
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Filter by minimum cost in dollars
    #[arg(long, value_name = "USD")]
    min_cost: Option<f64>,
    #[command(flatten)]
    range: RangeArgs,
    /// Sort order
    #[arg(long, value_enum, default_value_t = LsSort::Changed)]
    sort: LsSort,
    /// Maximum number of sessions
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// In which order sessions are listed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LsSort {
    /// Most recently changed first
    Changed,
    /// Most recently started first
    Started,
    /// Most expensive first
    Cost,
    /// Longest first
    Events,
}

pub(crate) fn run(args: &LsArgs) -> anyhow::Result<Outcome> {
    let environment = Environment::of_process();
    let range = args.range.range()?;
    let store = fresh::store(Asked::Catalogue)?;
    let lower = |text: &Option<String>| text.as_ref().map(|text| text.to_lowercase());
    let query = SessionQuery {
        agent: lower(&args.agent),
        project: args.project.as_deref().map(|it| project_query(it, &environment)),
        role: lower(&args.role),
        issue: lower(&args.issue),
        tool: lower(&args.tool),
        file: lower(&args.file),
        min_cost_usd: args.min_cost,
        since: range.since,
        until: range.until,
    };
    let sort = match args.sort {
        LsSort::Changed => SessionSort::Changed,
        LsSort::Started => SessionSort::Started,
        LsSort::Cost => SessionSort::Cost,
        LsSort::Events => SessionSort::Events,
    };
    let bar = Bar::new("sessions read");
    let (status, progress) = (args.status.as_deref(), |done, of| bar.show(done, of));
    let List { sessions, ids, left_out } =
        store.list(&query, status, sort, args.limit, &progress)?;
    drop(bar);
    let outcome = report_left_out(&left_out);
    if args.json {
        terminal::json(&sessions.iter().map(Listed::shown).collect::<Vec<_>>())?;
        return Ok(outcome);
    }
    let mut page = Page::new();
    if ids.is_empty() {
        page.plain(match query == SessionQuery::default() && args.status.is_none() {
            true => NOTHING_KEPT,
            false => "No matching sessions.",
        });
        page.end()?;
    }
    print(&mut page, &sessions, &ids, &args.range.zone())?;
    if sessions.len() < ids.len() {
        let rest = count(ids.len() - sessions.len(), "session");
        page.faint(&format!("… and {rest} more: `antiphon ls --limit {}`", ids.len())).end()?;
    }
    page.finish()?;
    Ok(outcome)
}

fn print(page: &mut Page, shown: &[Listed], all: &[Box<str>], zone: &Zone) -> anyhow::Result<()> {
    if shown.is_empty() {
        return Ok(());
    }
    let now = SystemClock.now();
    // A narrow terminal has no room for the folder beside the title.
    let has_project = page.width.is_none_or(|width| width >= WIDE)
        && shown.iter().any(|it| it.session.project.is_some());
    let has_cost = shown.iter().any(|it| !cost(&it.totals).is_empty());
    let mut columns = vec![
        Column::text("WHEN"),
        Column::text("ID"),
        Column::text("AGENT").cut(),
        Column::text("STATUS"),
    ];
    columns.extend(has_cost.then_some(Column::number("COST")));
    columns.extend(has_project.then_some(Column::text("PROJECT").cut_in_the_middle()));
    columns.push(Column::text("TITLE").cut());
    let mut table = Table::new(&columns);
    for (listed, id) in shown.iter().zip(short_ids(shown, all)) {
        let Listed { session, totals, is_damaged } = listed;
        let status = session.standing().status;
        let title = session.short_title();
        let mut row = vec![
            (Style::Faint, when(session.at(), now, zone)),
            (Style::Call, id.to_owned()),
            (Style::Name, name(session)),
            (status_style(status), status.as_str().to_owned()),
        ];
        row.extend(has_cost.then(|| (Style::Plain, cost(totals))));
        let project = || session.project.as_deref().unwrap_or_default().to_owned();
        row.extend(has_project.then(|| (Style::Faint, project())));
        row.push(match (title, is_damaged) {
            (title, true) => (Style::Bad, format!("(damaged) {}", title.unwrap_or_default())),
            (Some(title), false) => (Style::Plain, title),
            (None, false) => (Style::Faint, "(no title)".to_owned()),
        });
        table.row(row);
    }
    table.print(page)
}

fn cost(totals: &Totals) -> String {
    let cost = totals.cost().filter(|_| totals.requests > 0);
    cost.map(dollars).unwrap_or_default()
}

/// The program, and the role in which it ran.
fn name(session: &StoredSession) -> String {
    let agent = clip(session.agent.as_deref().unwrap_or(session.format), 20);
    match session.role.as_deref() {
        Some(role) => format!("{agent}/{}", clip(role, 20)),
        None => agent,
    }
}

/// As much of each id as tells it from all others. Of a recorded and a copied session with the
/// same id that is the whole of it.
fn short_ids<'a>(shown: &'a [Listed], all: &[Box<str>]) -> Vec<&'a str> {
    let mut sorted: Vec<&str> = all.iter().map(|id| &**id).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let shorten = |listed: &'a Listed| {
        let id = listed.session.session_id.as_str();
        let at = sorted.partition_point(|&other| other < id);
        let neighbours =
            [at.checked_sub(1).and_then(|before| sorted.get(before)), sorted.get(at + 1)];
        let shared = neighbours.into_iter().flatten().map(|other| shared_len(id, other)).max();
        let wanted = (shared.unwrap_or_default() + 1).max(ID_MIN);
        id.char_indices().nth(wanted).map_or(id, |(end, _)| id.get(..end).unwrap_or(id))
    };
    shown.iter().map(shorten).collect()
}

/// How many characters two ids have in common at the beginning.
fn shared_len(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}
