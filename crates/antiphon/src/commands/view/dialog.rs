//! `view dialog`.

use antiphon_views::{DialogFilter, Utterance, dialog};
use clap::Args;

use crate::cli::SessionArgs;
use crate::failure::Outcome;
use crate::terminal::{Page, Style};

#[derive(Debug, Args)]
pub(crate) struct DialogArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// Only what this agent said; may be repeated
    #[arg(long)]
    agent: Vec<String>,
    /// Only what this agent heard
    #[arg(long, value_name = "AGENT")]
    heard_by: Option<String>,
}

pub(crate) fn run(args: &DialogArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(&args.session)?;
    let speakers = args.agent.iter().map(|name| opened.agent(name));
    let filter = DialogFilter {
        speakers: speakers.collect::<Result<_, _>>()?,
        heard_by: args.heard_by.as_deref().map(|name| opened.agent(name)).transpose()?,
    };
    let rows = dialog(&opened.reading(), &filter)?;
    super::present(&opened, args.session.json, &rows, |page, rows| {
        print(page, rows, &|id| super::name_of(&opened, id))
    })
}

/// Prints what was said, with who heard it beside the speaker's name.
pub(crate) fn print(
    page: &mut Page,
    rows: &[Utterance],
    name_of: &dyn Fn(&str) -> String,
) -> anyhow::Result<()> {
    for row in rows {
        let heard: Vec<_> = row.heard_by.iter().map(|id| name_of(id)).collect();
        page.add(Style::Name, &row.name);
        match heard.as_slice() {
            [] => page.faint("  to you"),
            heard => page.faint(&format!("  → {}", heard.join(", "))),
        };
        page.faint(&format!("  {}", row.message_id)).end()?;
        page.plain("  ");
        page.block(Style::Plain, &row.content, 2)?;
        page.end()?;
    }
    Ok(())
}
