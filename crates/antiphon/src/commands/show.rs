//! `antiphon show`: a session on one page.

use antiphon_model::Severity;
use antiphon_views::{Basis, Summary, summary};

use super::view::tree::print_nodes;
use crate::cli;
use crate::failure::Outcome;
use crate::opened::Opened;
use crate::price_table;
use crate::terminal::{self, Page, Style, count, duration};

pub(crate) fn run(args: &cli::Session) -> anyhow::Result<Outcome> {
    let opened = Opened::read(&args.session)?;
    let prices = price_table::load(None)?;
    let mut summary = summary(&opened.session, &opened.id(), opened.format, &prices);
    summary.interrupted = opened.was_interrupted;
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
    Ok(if opened.session.problems().is_empty() { Outcome::Done } else { Outcome::BadInput })
}

fn header(page: &mut Page, summary: &Summary) -> anyhow::Result<()> {
    let outcome = match (&summary.outcome, summary.ended) {
        (Some(outcome), _) => outcome.clone(),
        (None, true) => "ended".to_owned(),
        (None, false) if summary.interrupted => "interrupted".to_owned(),
        (None, false) => "open".to_owned(),
    };
    let style = match outcome.as_str() {
        "completed" => Style::Good,
        "failed" | "interrupted" => Style::Bad,
        _ => Style::Plain,
    };
    page.add(style, &outcome);
    for why in summary.reason.iter().chain(&summary.error) {
        page.plain(&format!(" ({why})"));
    }
    if let (Some(first), Some(last)) = (summary.started_at, summary.last_event_at) {
        page.plain(&format!(" · {first} · {}", duration(last.since(first))));
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
    if !usage.is_zero() || summary.declared_usd.is_some() {
        page.plain(&format!("tokens: {} in · {} out", usage.input, usage.output));
        if usage.cache_read + usage.cache_write > 0 {
            let (read, written) = (usage.cache_read, usage.cache_write);
            page.plain(&format!(" · {read} from cache · {written} to cache"));
        }
        match summary.cost_usd {
            Some(cost) => page.plain(&format!(" · ${cost:.4}")),
            None => page.plain(" · no price known"),
        };
        match (summary.basis, summary.declared_usd) {
            (Some(Basis::Declared), _) => drop(page.faint(" as declared by the agent")),
            (Some(_), Some(declared)) if Some(declared) != summary.cost_usd => {
                page.faint(&format!(" (the agent declares ${declared:.4})"));
            }
            _ => {}
        }
        if !summary.unpriced.is_empty() && summary.cost_usd.is_some() {
            page.faint(&format!(" (without {})", summary.unpriced.join(", ")));
        } else if summary.partial && summary.cost_usd.is_some() {
            page.faint(" (partial: the agent did not write down all tokens)");
        }
        page.end()?;
    }
    Ok(())
}

/// What state the record itself is in.
fn condition(page: &mut Page, opened: &Opened, summary: &Summary) -> anyhow::Result<()> {
    if summary.problems.is_empty() && summary.losses == 0 {
        page.add(Style::Good, "Nothing lost, nothing damaged.").end()?;
    }
    if summary.losses > 0 {
        let losses = count(summary.losses, "note");
        page.plain(&format!("{losses} of loss or repair in the log itself")).end()?;
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
