//! `view context`.

use antiphon_views::{Context, ContextTokens, KindTokens, TokenBasis, context};
use clap::Args;

use crate::commands::view::AgentArgs;
use crate::failure::Outcome;
use crate::terminal::{Column, Page, Style, Table, clip, count, tokens};

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
    print_tokens(page, &context.tokens)?;
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
    page.plain(&format!("{} dropped", count(context.dropped.len(), "message")));
    page.faint(&format!(" ({} tokens, estimated)", tokens(context.tokens.dropped_tokens))).end()?;
    let room = page.width.map_or(100, |width| width.saturating_sub(40));
    for entry in &context.dropped {
        page.plain("  ").faint(&format!("{:<ids$}{:<10} ", entry.message_id, entry.role.as_str()));
        page.faint(&clip(&entry.text, room));
        page.plain(&format!("  ({} by {})", entry.action.as_str(), entry.by)).end()?;
    }
    Ok(())
}

/// How wide the longest bar is.
const BAR_WIDTH: u64 = 24;

/// What fills the context.
fn print_tokens(page: &mut Page, told: &ContextTokens) -> anyhow::Result<()> {
    let of = |part: u64, whole: u64| {
        let per_mille = u128::from(part) * 1000 / u128::from(whole.max(1));
        format!("{}.{} %", per_mille / 10, per_mille % 10)
    };
    let words = match told.basis {
        TokenBasis::Measured => "tokens in the last request",
        TokenBasis::Estimated => "tokens, estimated",
    };
    page.add(Style::Head, &tokens(told.tokens)).plain(&format!(" {words}"));
    if let Some(window) = told.window {
        page.plain(&format!(", {} of a window of {}", of(told.tokens, window), tokens(window)));
    }
    page.end()?;
    let mut table = Table::new(&[
        Column::text("kind").cut(),
        Column::number("tokens"),
        Column::number("share"),
        Column::text(""),
    ]);
    let most = told.kinds.iter().map(|kind| kind.tokens).max().unwrap_or_default().max(1);
    for kind in &told.kinds {
        let bar = u128::from(kind.tokens) * u128::from(BAR_WIDTH) / u128::from(most);
        table.row(vec![
            (Style::Name, name(kind)),
            (Style::Plain, tokens(kind.tokens)),
            (Style::Plain, of(kind.tokens, told.tokens)),
            (Style::Faint, "█".repeat(usize::try_from(bar).unwrap_or_default())),
        ]);
    }
    table.print(page)?;
    page.faint("The division into kinds is estimated from the length of texts.").end()?;
    page.end()
}

fn name(kind: &KindTokens) -> String {
    match &kind.tool {
        Some(tool) => format!("output of {tool}"),
        None => kind.kind.as_str().to_owned(),
    }
}
