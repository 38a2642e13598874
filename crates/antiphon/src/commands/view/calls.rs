//! `view calls`.

use antiphon_views::{CallRow, CallStatus, calls};
use clap::Args;

use crate::cli::SessionArgs;
use crate::failure::Outcome;
use crate::terminal::{Page, Style, clip, duration};

#[derive(Debug, Args)]
pub(crate) struct CallsArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// Only failed calls
    #[arg(long)]
    failed: bool,
    /// Only calls of this tool
    #[arg(long)]
    tool: Option<String>,
}

pub(crate) fn run(args: &CallsArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(&args.session)?;
    let mut rows = calls(&opened.reading())?;
    rows.retain(|row| !args.failed || row.status == CallStatus::Failed);
    rows.retain(|row| args.tool.as_ref().is_none_or(|tool| row.tool_name == *tool));
    super::present(&opened, args.session.json, &rows, |page, rows| print(page, rows))
}

fn print(page: &mut Page, rows: &[CallRow]) -> anyhow::Result<()> {
    let room = page.width.map_or(usize::MAX, |width| width.saturating_sub(36).max(20));
    for row in rows {
        let (mark, style) = match row.status {
            CallStatus::Failed => ("✗", Style::Bad),
            CallStatus::Open => ("…", Style::Plain),
            CallStatus::Success => ("✓", Style::Good),
        };
        let took = row.duration_ms.map(duration).unwrap_or_default();
        page.add(style, mark).faint(&format!(" {took:>12}  "));
        page.add(Style::Name, &clip(&row.name, 16)).plain("  ");
        page.add(Style::Call, &clip(&row.text, room)).end()?;
    }
    Ok(())
}
