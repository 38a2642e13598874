//! `view context`.

use antiphon_views::{Context, context};
use clap::Args;

use crate::commands::view::AgentArgs;
use crate::failure::Outcome;
use crate::terminal::{Page, Style, clip, count};

#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    of: AgentArgs,
    /// Up to this message; for one of the agent's own messages, the context before it
    #[arg(long, value_name = "ID")]
    at: Option<String>,
}

pub(crate) fn run(args: &ContextArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(&args.of.session)?;
    let agent = opened.agent_or_root(args.of.agent.as_deref())?;
    let at = args.at.as_deref().map(|id| opened.event(id)).transpose()?;
    let context = context(&opened.reading(), agent, at)?;
    super::present(&opened, args.of.session.json, &context, print)
}

fn print(page: &mut Page, context: &Context) -> anyhow::Result<()> {
    page.add(Style::Name, &context.name).plain(" has ");
    page.plain(&count(context.entries.len(), "message")).plain(" in context");
    if let Some(at) = &context.at {
        page.plain(&format!(" at {at}"));
    }
    page.end()?;
    let kept = || context.entries.iter().map(|entry| &entry.message_id);
    let gone = context.dropped.iter().map(|entry| &entry.message_id);
    let ids = kept().chain(gone).map(|id| id.chars().count()).max().unwrap_or_default().max(9) + 1;
    for entry in &context.entries {
        let head = format!("{:<ids$}{:<10}", entry.message_id, entry.role.as_str());
        page.plain("  ").faint(&head).plain(" ");
        page.block(Style::Plain, &entry.text, ids + 13)?;
    }
    if context.dropped.is_empty() {
        return page.faint("Nothing was dropped.").end();
    }
    page.end()?;
    page.plain(&format!("{} dropped", count(context.dropped.len(), "message"))).end()?;
    let room = page.width.map_or(100, |width| width.saturating_sub(40));
    for entry in &context.dropped {
        page.plain("  ").faint(&format!("{:<ids$}{:<10} ", entry.message_id, entry.role.as_str()));
        page.faint(&clip(&entry.text, room));
        page.plain(&format!("  ({} by {})", entry.action.as_str(), entry.by)).end()?;
    }
    Ok(())
}
