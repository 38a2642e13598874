//! `antiphon` without arguments: the sessions on this machine, what will be deleted, and what to do
//! next. Nothing is written.

use antiphon_journal::{Clock, SystemClock};
use antiphon_library::{Environment, Recent, SourceReport, Store, recent, source_reports};

use crate::failure::Outcome;
use crate::terminal::{Page, Style, before_now, clip, count, product};

const SHOWN: usize = 10;
const TITLE_WIDTH: usize = 70;

pub(crate) fn run() -> anyhow::Result<Outcome> {
    let environment = Environment::of_process();
    let now = SystemClock.now();
    let sources = source_reports(&environment, now);
    let recent = recent(&environment, SHOWN);
    let store = Store::open_default(&environment).ok();
    let kept = store.map_or(0, |store| store.count());
    let found: usize = sources.iter().map(|source| source.sessions).sum();
    let mut page = Page::live();
    page.add(Style::Head, "antiphon").plain(" is the record of what AI agents said, did and cost.");
    page.end()?;
    page.end()?;
    if recent.is_empty() {
        page.plain("No agent's sessions were found on this machine.").end()?;
    }
    for source in &sources {
        tell(&mut page, source)?;
    }
    if kept > 0 {
        page.plain(&format!("{:<14}{} in the store", "kept", count(kept, "session"))).end()?;
    }
    if !recent.is_empty() {
        page.end()?;
        let width = recent.iter().map(|it| it.agent.len()).max().unwrap_or_default();
        for Recent { agent, changed_at, title, .. } in &recent {
            page.faint(&format!("{:>12}  ", before_now(now.since(*changed_at))));
            page.add(Style::Name, &format!("{agent:<width$}  "));
            let title = title.as_deref().map(|title| clip(title, TITLE_WIDTH));
            page.plain(title.as_deref().unwrap_or("(no title)")).end()?;
        }
    }
    page.end()?;
    let (command, what) = match (found, kept) {
        (0, 0) => ("antiphon demo", "shows what a session looks like"),
        (found, kept) if kept < found => ("antiphon sync", "copies them so that they are not lost"),
        _ => ("antiphon show latest", "shows the latest session"),
    };
    page.plain("Next: ").add(Style::Call, command).plain(&format!(" {what}."));
    page.faint(" `antiphon --help` lists the rest.").end()?;
    page.finish()?;
    Ok(Outcome::Done)
}

fn tell(page: &mut Page, source: &SourceReport) -> anyhow::Result<()> {
    page.add(Style::Name, &format!("{:<14}", source.agent));
    page.plain(&count(source.sessions, "session"));
    if let Some(deletions) = deletions(source) {
        page.add(Style::Bad, &format!("  {deletions}"));
    }
    page.end()
}

/// A sentence about the sessions that the agent will delete soon.
pub(super) fn deletions(source: &SourceReport) -> Option<String> {
    let days = source.deletes_after_days?;
    let mut told = Vec::new();
    if source.overdue > 0 {
        let are = if source.overdue == 1 { "is" } else { "are" };
        let agent = product(source.agent);
        let overdue = source.overdue;
        told.push(format!(
            "{overdue} {are} past {agent}'s limit of {days} days and may be deleted at any time"
        ));
    }
    let soon = source.soon_deleted.saturating_sub(source.overdue);
    if soon > 0 {
        let first = source.first_goes_at.map(|first| first.to_string()).unwrap_or_default();
        let day = first.split('T').next().unwrap_or_default();
        told.push(format!("{soon} will be deleted within a week, the first on {day}"));
    }
    (!told.is_empty()).then(|| told.join("; "))
}
