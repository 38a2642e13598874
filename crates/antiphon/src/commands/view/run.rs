//! `view run`: a run over all of its sessions, or over the logs that are named.

use std::path::{Path, PathBuf};

use antiphon_library::Asked;
use antiphon_views::{
    Prices, Reading, Run, RunPart, RunStatus, SpanNode, run as run_of, span_tree,
};
use clap::Args;

use super::spans::{line, nodes};
use crate::cli::PriceArgs;
use crate::failure::{Outcome, UserError};
use crate::fresh;
use crate::price_table;
use crate::terminal::{self, Page, Style, complain, count, duration};

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The id of a run, or a log that belongs to one
    run: String,
    /// Logs or folders of logs to search, instead of the kept sessions
    paths: Vec<PathBuf>,
    /// Nest spans, with totals
    #[arg(long)]
    tree: bool,
    #[command(flatten)]
    prices: PriceArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Outcome> {
    let prices = price_table::load(args.prices.file.as_deref())?;
    let named = Path::new(&args.run);
    let (paths, run_id) = match (args.paths.as_slice(), named.exists()) {
        ([], true) => (logs(named), None),
        ([], false) => (kept(&args.run)?, Some(args.run.clone())),
        (paths, _) => (paths.iter().flat_map(|path| logs(path)).collect(), Some(args.run.clone())),
    };
    let mut outcome = Outcome::Done;
    let mut parts = Vec::new();
    for path in paths {
        match read(&path, &prices) {
            Ok(part) => parts.push(part),
            Err(error) => {
                complain(&format!("`{}`: {error:#}", path.display()));
                outcome = Outcome::BadInput;
            }
        }
    }
    let run_id = match run_id {
        Some(run_id) => run_id,
        None => only_run(&parts, named)?,
    };
    let found = run_of(&run_id, &parts);
    let run = found.ok_or_else(|| {
        UserError::not_found(format!("no session belongs to run `{run_id}`")).hint(
            "`antiphon record --run-id ID` records one; list logs after the id to search them",
        )
    })?;
    if args.json {
        match args.tree {
            true => terminal::json(&run.into_tree())?,
            false => terminal::json(&run)?,
        }
        return Ok(outcome);
    }
    let mut page = Page::new();
    print(&mut page, &run, args.tree)?;
    page.finish()?;
    Ok(outcome)
}

/// The sessions of a run that are kept.
fn kept(run_id: &str) -> anyhow::Result<Vec<PathBuf>> {
    let store = fresh::store(Asked::Session)?;
    let sessions = store.sessions().into_iter();
    Ok(sessions
        .filter(|session| session.run_id.as_deref() == Some(run_id))
        .map(|session| session.path())
        .collect())
}

/// The logs at a path: itself, or those in a folder that is none.
fn logs(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() || antiphon_journal::Log::find(path).is_ok() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut logs: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file() && path.extension().is_some_and(|it| it == "jsonl"))
        .collect();
    logs.sort_unstable();
    logs
}

fn read(path: &Path, prices: &Prices) -> anyhow::Result<RunPart> {
    let opened = antiphon_library::open(path)?;
    let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
    let own = opened.session.info().session_id.as_deref();
    Ok(RunPart::read(&reading, own.unwrap_or(&opened.name), prices)?)
}

/// The run that logs tell of, where they tell of one alone.
fn only_run(parts: &[RunPart], path: &Path) -> anyhow::Result<String> {
    let mut ids: Vec<&str> = parts.iter().flat_map(RunPart::run_ids).collect();
    ids.sort_unstable();
    ids.dedup();
    let path = path.display();
    match ids.as_slice() {
        [id] => Ok((*id).to_owned()),
        [] => Err(UserError::not_found(format!("`{path}` does not belong to a run")).into()),
        several => {
            let shown = several.iter().take(10).copied().collect::<Vec<_>>().join(", ");
            let error = UserError::usage(format!("`{path}` contains {} runs", several.len()));
            Err(error.hint(format!("put one of their ids before the path: {shown}")).into())
        }
    }
}

fn print(page: &mut Page, Run { run, spans }: &Run, as_tree: bool) -> anyhow::Result<()> {
    page.add(Style::Head, run.title.as_deref().unwrap_or(&run.run_id));
    page.faint(&format!("  {}", run.run_id)).end()?;
    let style = match run.status {
        RunStatus::Done => Style::Good,
        RunStatus::Failed | RunStatus::Cancelled | RunStatus::Interrupted => Style::Bad,
        RunStatus::Accepted
        | RunStatus::Decomposing
        | RunStatus::Executing
        | RunStatus::Merging
        | RunStatus::ReadyForPr => Style::Plain,
    };
    page.add(style, run.status.as_str());
    if let (Some(start), Some(end)) = (run.started_at, run.completed_at) {
        page.plain(&format!(" · {start} · {}", duration(end.since(start))));
    }
    page.plain(&format!(" · {}", count(run.sessions.len(), "session")));
    if let Some(cost) = run.total_cost_usd {
        page.plain(&format!(" · ${cost:.4}"));
    }
    page.end()?;
    let branches = [("branch", &run.feature_branch), ("based on", &run.base_branch)];
    for (what, branch) in branches {
        if let Some(branch) = branch {
            page.faint(&format!("{what} {branch}")).end()?;
        }
    }
    let way: Vec<&str> = run.history.iter().map(|step| step.status.as_str()).collect();
    if !way.is_empty() {
        page.faint(&way.join(" → ")).end()?;
    }
    page.end()?;
    if as_tree {
        let tree: Vec<SpanNode> = span_tree(spans);
        return nodes(page, &tree, 0);
    }
    spans.iter().try_for_each(|span| line(page, span, span.level))
}
