//! `antiphon` without arguments: the sessions on this machine, what is running, what changed last,
//! what will be deleted, and what to do next. Nothing is written.

use antiphon_journal::{Clock, SystemClock};
use antiphon_library::{Environment, Recent, SourceReport, Store, recent, source_reports};
use antiphon_model::{Status, Timestamp, Zone};

use super::show::status_style;
use crate::failure::Outcome;
use crate::range::local_zone;
use crate::terminal::{Column, Page, Style, Table, clip, count, product, when};

const SHOWN: usize = 10;

pub(crate) fn run() -> anyhow::Result<Outcome> {
    let environment = Environment::of_process();
    let now = SystemClock.now();
    let sources = source_reports(&environment, now);
    let recent = recent(&environment, SHOWN, now);
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
    let is_running =
        |it: &&Recent| it.standing.is_some_and(|standing| standing.status == Status::Running);
    let (running, rest): (Vec<&Recent>, Vec<&Recent>) = recent.iter().partition(is_running);
    sessions(&mut page, "Running now", &running, now)?;
    let rest: Vec<&Recent> = rest.into_iter().take(SHOWN).collect();
    sessions(&mut page, "Latest sessions", &rest, now)?;
    page.end()?;
    let (command, what) = match (found, kept) {
        (0, 0) => ("antiphon demo", "shows what a session looks like"),
        (_, 0) => ("antiphon sync", "copies them so that they are not lost"),
        _ => ("antiphon show latest", "shows the latest session"),
    };
    page.plain("Next: ").add(Style::Call, command).plain(&format!(" {what}.")).end()?;
    page.faint("`antiphon --help` lists the rest.").end()?;
    page.finish()?;
    Ok(Outcome::Done)
}

fn tell(page: &mut Page, source: &SourceReport) -> anyhow::Result<()> {
    const INDENT: usize = 14;
    page.add(Style::Name, &format!("{:<INDENT$}", source.agent));
    page.plain(&count(source.sessions, "session")).end()?;
    if let Some(deletions) = deletions(source) {
        page.plain(&" ".repeat(INDENT));
        page.block(Style::Bad, &deletions, INDENT)?;
    }
    Ok(())
}

fn sessions(
    page: &mut Page,
    heading: &str,
    sessions: &[&Recent],
    now: Timestamp,
) -> anyhow::Result<()> {
    if sessions.is_empty() {
        return Ok(());
    }
    let zone: Zone = local_zone();
    page.end()?;
    page.add(Style::Head, heading).end()?;
    let mut table = Table::new(&[
        Column::text(""),
        Column::text(""),
        Column::text(""),
        Column::text("").cut_in_the_middle(),
        Column::text("").cut(),
    ]);
    for Recent { agent, changed_at, title, project, standing, .. } in sessions {
        let status = standing.map(|standing| standing.status);
        let folder = project.as_deref().and_then(|path| path.rsplit('/').next());
        let title = title.as_deref().map(|title| clip(title, 200));
        table.row(vec![
            (Style::Faint, format!("  {}", when(*changed_at, now, &zone))),
            (Style::Name, (*agent).to_owned()),
            (
                status.map_or(Style::Faint, status_style),
                status.map_or("unreadable", Status::as_str).to_owned(),
            ),
            (Style::Faint, folder.unwrap_or_default().to_owned()),
            (Style::Plain, title.unwrap_or_else(|| "(no title)".to_owned())),
        ]);
    }
    table.print_rows(page)
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
        let first = source.first_goes_at.and_then(|first| local_zone().minute_name(first));
        let first = first.unwrap_or_default();
        let day = first.split(' ').next().unwrap_or_default();
        told.push(format!("{soon} will be deleted within a week, the first on {day}"));
    }
    (!told.is_empty()).then(|| told.join("; "))
}
