//! `view trace`.

use std::path::PathBuf;

use antiphon_views::{TraceStep, trace, trace_forward};
use clap::Args;

use crate::failure::Outcome;
use crate::opened::Opened;
use crate::terminal::{Page, Style};

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// The session
    session: PathBuf,
    /// The message
    message: String,
    /// Show what it led to, instead of what led to it
    #[arg(long)]
    forward: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &TraceArgs) -> anyhow::Result<Outcome> {
    let opened = Opened::read(&args.session)?;
    let message = opened.event(&args.message)?;
    let steps = match args.forward {
        true => trace_forward(&opened.reading(), message)?,
        false => trace(&opened.reading(), message)?,
    };
    super::present(&opened, args.json, &steps, |page, steps| print(page, steps, args.forward))
}

pub(in crate::commands) fn print(
    page: &mut Page,
    steps: &[TraceStep],
    forward: bool,
) -> anyhow::Result<()> {
    for step in steps {
        if let Some(link) = &step.link {
            let basis = match link.rule {
                Some(rule) => format!("inferred: {rule}"),
                None => "recorded".to_owned(),
            };
            let kind = serde_json::to_value(link.kind)?;
            let kind = kind.as_str().unwrap_or_default();
            // Forward, what a step follows from need not be the line above.
            let from = if forward { format!(" of {}", link.from) } else { String::new() };
            page.faint(&format!("  │ {kind}{from} ({basis})")).end()?;
        }
        page.plain(&step.message_id).plain("  ");
        page.add(Style::Name, step.name.as_deref().unwrap_or_default());
        page.faint(&format!(" {} ", step.kind.as_str()));
        page.block(Style::Plain, &step.text, 4)?;
    }
    Ok(())
}
