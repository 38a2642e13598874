//! `antiphon show`: a session on one page.

use antiphon_library::session_overview;
use antiphon_model::{Severity, Status, StatusRule};
use antiphon_views::{CostBasis, SessionOverview};

use super::view::tree::print_nodes;
use crate::cli::SessionArgs;
use crate::failure::{Outcome, outcome_of};
use crate::opened::Opened;
use crate::price_table;
use crate::terminal::{self, Page, Style, count, duration};

pub(crate) fn run(args: &SessionArgs) -> anyhow::Result<Outcome> {
    let opened = Opened::read(&args.session)?;
    let prices = price_table::load(None)?;
    let summary = session_overview(&opened, &prices)?;
    if args.json {
        terminal::json(&summary)?;
        return Ok(opened.outcome());
    }
    let mut page = Page::new();
    page.add(Style::Head, &opened.title());
    page.faint(&format!("  {}", summary.session_id)).end()?;
    header(&mut page, &summary)?;
    page.end()?;
    print_nodes(&mut page, &summary.tree)?;
    page.end()?;
    condition(&mut page, &opened, &summary)?;
    page.finish()?;
    Ok(outcome_of(opened.session.problems()))
}

fn header(page: &mut Page, summary: &SessionOverview) -> anyhow::Result<()> {
    page.add(status_style(summary.status), summary.status.as_str());
    if let Some(why) = status_reason(summary.status_rule) {
        page.faint(&format!(" ({why})"));
    }
    for why in summary.reason.iter().chain(&summary.error) {
        page.plain(&format!(" ({why})"));
    }
    if let (Some(first), Some(last)) = (summary.started_at, summary.last_event_at) {
        page.plain(&format!(" · {first} · {}", duration(last.since(first))));
    }
    if let Some(busy) = summary.busy.as_ref().filter(|busy| busy.busy_ms < busy.wall_ms) {
        page.plain(&format!(" ({} busy)", duration(busy.busy_ms)));
    }
    page.end()?;
    page.plain(&format!(
        "{} · {} · {} · {}",
        count(summary.agents, "agent"),
        count(summary.events, "event"),
        count(summary.utterances, "utterance"),
        count(summary.calls, "call"),
    ));
    if summary.open_calls > 0 {
        page.add(Style::Bad, &format!(" ({} without a result)", summary.open_calls));
    }
    page.end()?;
    let usage = summary.usage;
    if !usage.is_zero() || summary.cost.declared_usd.is_some() {
        page.plain(&format!("tokens: {} in · {} out", usage.input, usage.output));
        if usage.cache_read + usage.cache_write > 0 {
            let (read, written) = (usage.cache_read, usage.cache_write);
            page.plain(&format!(" · {read} from cache · {written} to cache"));
        }
        match summary.cost.cost_usd {
            Some(cost) => page.plain(&format!(" · ${cost:.4}")),
            None => page.plain(" · unknown price"),
        };
        match (summary.cost.basis, summary.cost.declared_usd) {
            (Some(CostBasis::Declared), _) => drop(page.faint(" as reported by the agent")),
            (Some(_), Some(declared)) if Some(declared) != summary.cost.cost_usd => {
                page.faint(&format!(" (the agent reports ${declared:.4})"));
            }
            _ => {}
        }
        if !summary.unpriced.is_empty() && summary.cost.cost_usd.is_some() {
            page.faint(&format!(" (not including {})", summary.unpriced.join(", ")));
        } else if summary.cost.partial && summary.cost.cost_usd.is_some() {
            page.faint(" (partial: the agent did not record all tokens)");
        }
        page.end()?;
    }
    Ok(())
}

/// How a status is shown, wherever it is.
pub(super) fn status_style(status: Status) -> Style {
    match status {
        Status::Completed => Style::Good,
        Status::Failed | Status::TimedOut | Status::Interrupted => Style::Bad,
        Status::Running | Status::Cancelled => Style::Plain,
    }
}

/// Why a session is said to stand so, where it does not say so itself.
fn status_reason(rule: StatusRule) -> Option<&'static str> {
    match rule {
        StatusRule::RecordedEnd | StatusRule::LastAnswer => None,
        StatusRule::BeingWritten => Some("being written by a process"),
        StatusRule::WriterGone => Some("the process that wrote it died"),
        StatusRule::Quiet => Some("unfinished, no activity for two minutes"),
        StatusRule::Unfinished => Some("unfinished"),
    }
}

/// What state the record itself is in.
fn condition(page: &mut Page, opened: &Opened, summary: &SessionOverview) -> anyhow::Result<()> {
    if summary.problems.is_empty() && summary.losses == 0 {
        page.add(Style::Good, "Nothing lost, nothing damaged.").end()?;
    }
    if summary.losses > 0 {
        let losses = count(summary.losses, "record");
        page.plain(&format!("{losses} of losses or repairs in this log")).end()?;
    }
    if !summary.problems.is_empty() {
        page.add(Style::Bad, &count(summary.problems.len(), "problem")).end()?;
    }
    for problem in summary.problems.iter().take(10) {
        let style = match problem.severity {
            Severity::Error => Style::Bad,
            Severity::Warning => Style::Faint,
        };
        page.plain("  ").add(style, &format!("{:<13}", problem.code));
        page.plain(&format!("line {}: {}", problem.line, problem.message)).end()?;
    }
    if let Some(head) = opened.summary.and_then(|summary| summary.head) {
        page.faint(&format!("head {}:{}", head.n, head.hash)).end()?;
    }
    Ok(())
}
