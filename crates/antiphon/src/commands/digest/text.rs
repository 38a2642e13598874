//! A digest for a terminal.

use std::path::Path;

use antiphon_model::{Status, Zone};
use antiphon_views::{CostFigures, Digest, DigestedProject, DigestedSession};

use crate::terminal::{Page, Style, clip, clip_path, count, duration};

/// So many files, commits and failures of a session are named.
const SHOWN: usize = 5;

/// Facts about a session are indented by this much.
const INDENT: usize = 7;

pub(super) fn print(digest: &Digest, zone: &Zone) -> anyhow::Result<()> {
    let mut page = Page::new();
    for project in &digest.projects {
        print_project(&mut page, project, zone)?;
        page.end()?;
    }
    page.add(Style::Head, &totals(digest)).end()?;
    page.finish()
}

/// All of it in one line.
pub(super) fn totals(digest: &Digest) -> String {
    let all = &digest.totals;
    let parts = [
        Some(count(all.sessions, "session")),
        (all.files > 0)
            .then(|| format!("{} (+{} -{})", count(all.files, "file"), all.added, all.removed)),
        (all.commits > 0).then(|| count(all.commits, "commit")),
        (all.failures > 0).then(|| count(all.failures, "failed call")),
        Some(money(&all.cost)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What something cost. What has no price comes on top of it.
pub(super) fn money(cost: &CostFigures) -> String {
    match cost.cost_usd {
        None => "unpriced".to_owned(),
        Some(cost_usd) if cost.partial => format!("≥ ${cost_usd:.2}"),
        Some(cost_usd) => format!("${cost_usd:.2}"),
    }
}

/// The last part of a project's path, which is what people call it.
pub(super) fn project_name(project: &DigestedProject) -> &str {
    let path = project.project.as_deref().unwrap_or("(no project)");
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}

/// The first line of a text that is not empty.
pub(super) fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

fn print_project(page: &mut Page, project: &DigestedProject, zone: &Zone) -> anyhow::Result<()> {
    let room = page.width.unwrap_or(120);
    let name = clip(project_name(project), room);
    page.add(Style::Name, &name);
    if let Some(path) = &project.project {
        let left = room.saturating_sub(name.chars().count() + 2).max(10);
        page.faint(&format!("  {}", clip_path(path, left)));
    }
    page.end()?;
    project.sessions.iter().try_for_each(|session| print_session(page, session, zone))
}

fn print_session(page: &mut Page, session: &DigestedSession, zone: &Zone) -> anyhow::Result<()> {
    let room = page.width.unwrap_or(120);
    let minute = session.started_at.and_then(|at| zone.minute_name(at)).unwrap_or_default();
    let time = minute.split_once(' ').map_or("", |(_, time)| time);
    let prompt = session.prompt.as_deref().map_or("(no prompt)", first_line);
    let took = session.wall_ms.map(|millis| format!(", {}", duration(millis))).unwrap_or_default();
    let end = format!("{}{took}, {}", session.status.as_str(), money(&session.cost));
    page.faint(&format!("{time:<5}  "));
    page.add(Style::Head, &clip(prompt, room.saturating_sub(INDENT + 2))).end()?;
    let style = match session.status {
        Status::Completed => Style::Good,
        Status::Failed | Status::TimedOut => Style::Bad,
        Status::Running => Style::Call,
        Status::Cancelled | Status::Interrupted => Style::Plain,
    };
    page.plain(&" ".repeat(INDENT)).add(style, &end);
    if session.prompts > 1 {
        page.faint(&format!(", {}", count(session.prompts, "prompt")));
    }
    page.faint(&format!("  {}", session.id.get(..8).unwrap_or(&session.id))).end()?;
    let inner = room.saturating_sub(INDENT + 24).max(20);
    for file in session.files.iter().take(SHOWN) {
        page.plain(&" ".repeat(INDENT)).plain(&clip_path(&file.path, inner)).plain(" ");
        page.add(Style::Good, &format!("+{}", file.added)).plain(" ");
        page.add(Style::Removed, &format!("-{}", file.removed)).end()?;
    }
    more(page, session.files.len(), "file")?;
    for commit in session.commits.iter().take(SHOWN) {
        page.plain(&" ".repeat(INDENT)).faint("commit ").add(Style::Call, &commit.sha);
        page.plain(&format!(" {}", clip(&commit.subject, inner))).end()?;
    }
    more(page, session.commits.len(), "commit")?;
    for failure in session.failures.iter().take(SHOWN) {
        page.plain(&" ".repeat(INDENT)).add(Style::Bad, "failed ");
        page.plain(&clip(first_line(&failure.text), inner));
        page.faint(&format!(" ({})", clip(&failure.tool_name, 12))).end()?;
    }
    more(page, session.failures.len(), "failed call")?;
    if let Some(answer) = &session.last_answer {
        let text = clip(first_line(&answer.text), room.saturating_sub(INDENT + 4));
        page.plain(&" ".repeat(INDENT)).faint(&format!("“{text}”")).end()?;
    }
    Ok(())
}

fn more(page: &mut Page, all: usize, noun: &str) -> anyhow::Result<()> {
    match all.saturating_sub(SHOWN) {
        0 => Ok(()),
        left => {
            page.faint(&format!("{}… and {} more", " ".repeat(INDENT), count(left, noun))).end()
        }
    }
}
