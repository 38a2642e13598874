//! `view flow`.

use antiphon_views::{Flow, FlowKind, flow, mermaid, svg};
use clap::Args;

use crate::cli::SessionArgs;
use crate::failure::Outcome;
use crate::terminal::{self, Page, Style, clip};

#[derive(Debug, Args)]
pub(crate) struct FlowArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// Print a Mermaid sequence diagram
    #[arg(long, conflicts_with_all = ["svg", "json"])]
    mermaid: bool,
    /// Print a self-contained SVG picture
    #[arg(long, conflicts_with = "json")]
    svg: bool,
}

pub(crate) fn run(args: &FlowArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(&args.session)?;
    let reading = opened.reading();
    if args.svg {
        terminal::document(&svg(&reading, &opened.title())?)?;
        return Ok(opened.outcome());
    }
    let flow = flow(&reading)?;
    if args.mermaid {
        terminal::lines(mermaid(&flow).trim_end())?;
        return Ok(opened.outcome());
    }
    super::present(&opened, args.session.json, &flow, print)
}

/// Prints one message per line: from whom, to whom, and what.
pub(crate) fn print(page: &mut Page, flow: &Flow) -> anyhow::Result<()> {
    let wide = |name: &str| name.chars().count().min(24);
    let from_wide = flow.messages.iter().map(|row| wide(flow.name(&row.from))).max().unwrap_or(0);
    let to_wide = flow.messages.iter().map(|row| wide(flow.name(&row.to))).max().unwrap_or(0);
    let room = page
        .width
        .map_or(usize::MAX, |width| width.saturating_sub(from_wide + to_wide + 8).max(20));
    for row in &flow.messages {
        let from = format!("{:>from_wide$}", clip(flow.name(&row.from), 24));
        let to = format!("{:<to_wide$}", clip(flow.name(&row.to), 24));
        let arrow = match row.kind {
            FlowKind::Created => " ┄┄▶ ",
            FlowKind::Notice => " ──! ",
            FlowKind::Message | FlowKind::Delivery | FlowKind::Answer => " ──▶ ",
        };
        page.add(Style::Name, &from).faint(arrow).add(Style::Name, &to).plain("  ");
        match row.kind {
            FlowKind::Created => page.faint("(made)"),
            FlowKind::Notice => page.add(Style::Call, &clip(&row.text, room)),
            FlowKind::Message | FlowKind::Delivery | FlowKind::Answer => {
                page.plain(&clip(&row.text, room))
            }
        };
        page.end()?;
    }
    Ok(())
}
