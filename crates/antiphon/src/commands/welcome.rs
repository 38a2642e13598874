//! `antiphon` alone: what is on this machine, what of it will go, and what to do next. It writes
//! nothing.

use antiphon_journal::{Clock, SystemClock};
use antiphon_library::{Environment, Recent, SourceReport, Store, recent, source_reports};

use crate::failure::Outcome;
use crate::terminal::{Page, Style, before_now, clip, count};

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
        (found, kept) if kept < found => ("antiphon sync", "keeps them all, for good"),
        _ => ("antiphon show latest", "is one page about the last one"),
    };
    page.plain("Next: ").add(Style::Call, command).plain(&format!(" {what}."));
    page.faint(" `antiphon --help` lists the rest.").end()?;
    page.finish()?;
    Ok(Outcome::Done)
}

fn tell(page: &mut Page, source: &SourceReport) -> anyhow::Result<()> {
    page.add(Style::Name, &format!("{:<14}", source.agent));
    page.plain(&count(source.sessions, "session"));
    if let (Some(days), Some(first)) = (source.deletes_after_days, source.first_goes_at) {
        let first = first.to_string();
        let day = first.split('T').next().unwrap_or_default();
        let soon = source.soon_deleted;
        page.add(Style::Bad, &format!("  {soon} will be deleted within a week"));
        page.plain(&format!(", the first on {day}: {days} days after its last change"));
    }
    page.end()
}
