//! `antiphon doctor`: what is where, and what agents will delete.

use antiphon_journal::{Clock, SystemClock};
use antiphon_library::{Environment, Examination, Store, Trouble, doctor};
use clap::Args;

use super::welcome::deletions;
use crate::failure::Outcome;
use crate::terminal::{self, Bar, Page, Style, complain, count, product};

/// Who has more wants them from a program.
const PROBLEMS_SHOWN: usize = 20;

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Check every stored byte against its hash
    #[arg(long)]
    deep: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<Outcome> {
    let environment = Environment::of_process();
    let store = Store::open_default(&environment)?;
    for session in store.finish_forgetting()? {
        complain(&format!("Finished an interrupted deletion of session {session}."));
    }
    let examination = if args.deep { Examination::EveryByte } else { Examination::Known };
    let bar = Bar::new("sessions checked");
    let each = |done, of| bar.show(done, of);
    let report = doctor(&environment, &store, examination, SystemClock.now(), &each);
    drop(bar);
    let outcome = if report.is_damaged { Outcome::BadInput } else { Outcome::Done };
    if args.json {
        terminal::json(&report)?;
        return Ok(outcome);
    }
    let mut page = Page::new();
    page.add(Style::Head, "store").plain(&format!("  {}", report.store)).end()?;
    page.plain(&format!("  {} kept", count(report.kept, "session"))).end()?;
    for source in &report.sources {
        page.add(Style::Head, source.agent).plain(&format!("  {}", source.path.display())).end()?;
        page.plain(&format!("  {}", count(source.sessions, "session")));
        if source.other_files > 0 {
            page.plain(&format!(", {}", count(source.other_files, "other file")));
        }
        if let Some(days) = source.deletes_after_days {
            let agent = product(source.agent);
            page.plain(&format!("; {agent} deletes sessions {days} days after the last change"));
        }
        page.end()?;
        if let Some(deletions) = deletions(source) {
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
    if args.deep && !report.is_damaged {
        page.plain("All stored bytes match their hashes.").end()?;
    } else if report.is_damaged {
        page.plain("`antiphon sync` repairs copies whose original files still exist.").end()?;
    }
    page.finish()?;
    Ok(outcome)
}
