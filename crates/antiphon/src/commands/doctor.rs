//! `antiphon doctor`: what is where, and what agents will delete.

use std::path::Path;

use antiphon_journal::{Clock, SystemClock};
use antiphon_library::{Environment, SourceReport, Store, Trouble, source_reports, troubles};
use antiphon_model::Timestamp;
use serde::Serialize;

use super::welcome::deletions;
use crate::cli;
use crate::failure::Outcome;
use crate::terminal::{self, Bar, Page, Style, complain, count, product};

/// Who has more wants them from a program.
const PROBLEMS_SHOWN: usize = 20;

#[derive(Debug, Serialize)]
struct Report {
    store: String,
    kept: usize,
    sources: Vec<Source>,
    problems: Vec<Trouble>,
}

#[derive(Debug, Serialize)]
struct Source {
    agent: &'static str,
    path: String,
    sessions: usize,
    /// Files that lie among them and are none.
    other_files: usize,
    /// After how many days without a change the agent deletes one.
    deletes_after_days: Option<u32>,
    /// How many of those will be gone within a week.
    soon_deleted: usize,
    /// How many of those should be gone already.
    overdue: usize,
    /// When the first of the others goes.
    first_goes_at: Option<Timestamp>,
    #[serde(skip)]
    deletions: Option<String>,
}

pub(crate) fn run(args: &cli::Doctor) -> anyhow::Result<Outcome> {
    let environment = Environment::of_process();
    let store = Store::open_default(&environment)?;
    for session in store.finish_forgetting()? {
        complain(&format!("Finished an interrupted deletion of session {session}."));
    }
    let bar = Bar::new("sessions checked");
    let checked = args.deep.then(|| store.check(&|done, of| bar.show(done, of)));
    drop(bar);
    let kept = store.sessions().len();
    let mut problems = troubles(&environment, &store);
    let is_damaged = checked.as_ref().is_some_and(|damages| !damages.is_empty());
    problems.extend(checked.iter().flatten().map(|damage| Trouble {
        at: damage.path.display().to_string(),
        what: damage.what.clone(),
    }));
    let reports = source_reports(&environment, SystemClock.now());
    let sources = reports.iter().map(|report| Source::of(report, &problems)).collect();
    let report = Report { store: store.root().display().to_string(), kept, sources, problems };
    let outcome = if is_damaged { Outcome::BadInput } else { Outcome::Done };
    if args.json {
        terminal::json(&report)?;
        return Ok(outcome);
    }
    let mut page = Page::new();
    page.add(Style::Head, "store").plain(&format!("  {}", report.store)).end()?;
    page.plain(&format!("  {} kept", count(report.kept, "session"))).end()?;
    for source in &report.sources {
        page.add(Style::Head, source.agent).plain(&format!("  {}", source.path)).end()?;
        page.plain(&format!("  {}", count(source.sessions, "session")));
        if source.other_files > 0 {
            page.plain(&format!(", {}", count(source.other_files, "other file")));
        }
        if let Some(days) = source.deletes_after_days {
            let agent = product(source.agent);
            page.plain(&format!("; {agent} deletes sessions {days} days after the last change"));
        }
        page.end()?;
        if let Some(deletions) = &source.deletions {
            page.add(Style::Bad, &format!("  {deletions}"));
            page.plain("; `antiphon sync` copies them").end()?;
        }
    }
    if report.sources.is_empty() {
        page.plain("No agent's sessions were found on this machine.").end()?;
    }
    if !report.problems.is_empty() {
        page.add(Style::Bad, &count(report.problems.len(), "problem")).end()?;
    }
    for Trouble { at, what } in report.problems.iter().take(PROBLEMS_SHOWN) {
        page.plain(&format!("  {at}: {what}")).end()?;
    }
    if report.problems.len() > PROBLEMS_SHOWN {
        page.plain("  … (use --json to list all)").end()?;
    }
    if args.deep && !is_damaged {
        page.plain("All stored bytes match their hashes.").end()?;
    } else if is_damaged {
        page.plain("`antiphon sync` repairs copies whose original files still exist.").end()?;
    }
    page.finish()?;
    Ok(outcome)
}

impl Source {
    fn of(report: &SourceReport, problems: &[Trouble]) -> Self {
        let below = problems.iter().filter(|it| Path::new(&it.at) != report.path);
        let other_files = below.filter(|it| Path::new(&it.at).starts_with(&report.path)).count();
        Self {
            agent: report.agent,
            path: report.path.display().to_string(),
            sessions: report.sessions.saturating_sub(other_files),
            other_files,
            deletes_after_days: report.deletes_after_days,
            soon_deleted: report.soon_deleted,
            overdue: report.overdue,
            deletions: deletions(report),
            first_goes_at: report.first_goes_at,
        }
    }
}
