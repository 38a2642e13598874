//! `view perspective`.

use antiphon_views::{Perspective, PerspectiveKind, PerspectiveOptions, perspective};
use clap::Args;

use crate::commands::view::AgentArgs;
use crate::failure::Outcome;
use crate::terminal::{Page, Style};

#[derive(Debug, Args)]
pub(crate) struct PerspectiveArgs {
    #[command(flatten)]
    of: AgentArgs,
    /// Up to this message
    #[arg(long, value_name = "ID")]
    at: Option<String>,
    /// Include the agents that it created
    #[arg(long)]
    inner: bool,
}

pub(crate) fn run(args: &PerspectiveArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(&args.of.session)?;
    let options = PerspectiveOptions {
        agent: opened.agent_or_root(args.of.agent.as_deref())?,
        at: args.at.as_deref().map(|id| opened.event(id)).transpose()?,
        inner: args.inner,
    };
    let rows = perspective(&opened.reading(), &options)?;
    super::present(&opened, args.of.session.json, &rows, |page, rows| print(page, rows))
}

/// Prints a perspective as the seed does: `[Heard]: …`. Inner voices are indented.
pub(crate) fn print(page: &mut Page, rows: &[Perspective]) -> anyhow::Result<()> {
    for row in rows {
        let indent = row.depth * 4;
        page.plain(&" ".repeat(indent));
        if row.depth > 0 {
            page.add(Style::Name, &row.name).plain(" ");
        }
        let style = match row.kind {
            PerspectiveKind::Said => Style::Head,
            PerspectiveKind::Action => Style::Call,
            PerspectiveKind::Heard | PerspectiveKind::Received | PerspectiveKind::System => {
                Style::Faint
            }
        };
        page.add(style, &format!("[{}]", row.kind.label())).plain(": ");
        page.block(Style::Plain, &row.text, indent + 2)?;
    }
    Ok(())
}
