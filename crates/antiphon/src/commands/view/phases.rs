//! `view phases`.

use antiphon_model::CallIx;
use antiphon_views::{CallIndex, CallRange, Phase, Reading, phases_of, phases_of_all};
use clap::Args;
use serde_json::Value;

use crate::cli::SessionArgs;
use crate::failure::Outcome;
use crate::opened::Opened;
use crate::terminal::{Page, Style, clip, count};

/// If a phase has more calls than this, the rest is only counted; `view calls` shows all.
const CALLS_SHOWN: usize = 12;

#[derive(Debug, Args)]
pub(crate) struct PhasesArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// Only this agent's calls, by name or id
    #[arg(long, conflicts_with = "all")]
    agent: Option<String>,
    /// The calls of every agent (the default)
    #[arg(long, hide = true)]
    all: bool,
}

pub(crate) fn run(args: &PhasesArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(&args.session)?;
    let rows = rows(&opened, args)?;
    super::present(&opened, args.session.json, &rows, |page, rows| {
        if rows.is_empty() {
            return page.plain("No tool calls, so no phases.").end();
        }
        let reading = opened.reading();
        let index = CallIndex::new(reading.session);
        rows.iter().try_for_each(|phase| print(page, &reading, &index, phase))
    })
}

fn rows(opened: &Opened, args: &PhasesArgs) -> anyhow::Result<Vec<Phase>> {
    let reading = opened.reading();
    Ok(match &args.agent {
        Some(agent) => phases_of(&reading, opened.agent(agent)?)?,
        None => phases_of_all(&reading)?,
    })
}

fn print(
    page: &mut Page,
    reading: &Reading<'_>,
    index: &CallIndex<'_>,
    phase: &Phase,
) -> anyhow::Result<()> {
    let name = phase.phase_type.as_deref().or(phase.note.as_ref().map(|_| "note"));
    page.add(Style::Head, name.unwrap_or("annotation"));
    if let Some(agent) = phase.agent_id.as_deref().and_then(|id| reading.session.find_agent(id)) {
        page.plain("  ").add(Style::Name, reading.session.agent_name(agent));
    }
    let mut about: Vec<String> = Vec::new();
    about.extend(phase.confidence.iter().map(|sure| format!("{sure} confidence")));
    about.extend(phase.annotated_by.iter().map(|by| format!("by {by}")));
    if phase.calls > 0 {
        about.push(count(phase.calls, "call"));
    }
    if !about.is_empty() {
        page.plain("  ").plain(&about.join(" · "));
    }
    if let Some(range) = &phase.tool_call_range {
        page.faint(&format!("  {}", range_text(range)));
    }
    page.end()?;
    for text in phase.note.iter().chain(&phase.description) {
        page.plain("  ");
        page.block(Style::Plain, text, 2)?;
    }
    if let Some(reason) = &phase.reason {
        page.plain("  ").add(Style::Bad, "broken").plain(&format!(": {reason}")).end()?;
    }
    print_calls(page, reading, phase.calls(index))?;
    for (label, list) in [("decided", &phase.decisions), ("used", &phase.context_used)] {
        for item in list.iter().flat_map(items) {
            page.faint(&format!("    {label} {item}")).end()?;
        }
    }
    page.end()
}

fn range_text(range: &CallRange) -> String {
    match range.start_call_id == range.end_call_id {
        true => range.start_call_id.clone(),
        false => format!("{} … {}", range.start_call_id, range.end_call_id),
    }
}

fn print_calls(page: &mut Page, reading: &Reading<'_>, calls: &[CallIx]) -> anyhow::Result<()> {
    let room = page.width.map_or(usize::MAX, |width| width.saturating_sub(4).max(20));
    for &ix in calls.iter().take(CALLS_SHOWN) {
        let session = reading.session;
        let text = reading.call_text(session.tool_name(ix), session.call(ix))?;
        page.plain("  ").add(Style::Call, &clip(&text, room)).end()?;
    }
    let rest = calls.len().saturating_sub(CALLS_SHOWN);
    if rest > 0 {
        page.faint(&format!("  … and {rest} more")).end()?;
    }
    Ok(())
}

/// The items of a list, one line each; a value that is not a list is one item.
fn items(list: &Value) -> Vec<String> {
    match list.as_array() {
        Some(items) => items.iter().map(item).collect(),
        None => vec![item(list)],
    }
}

/// A decision or a reference, by the members that identify it.
fn item(value: &Value) -> String {
    const TELLING: &[&str] = &["type", "title", "source", "description", "choice", "usage_mode"];
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    let words = TELLING.iter().filter_map(|name| value.get(name)?.as_str());
    let words = words.collect::<Vec<_>>().join(" · ");
    if words.is_empty() { value.to_string() } else { words }
}
