//! `view calls`.

use antiphon_views::{CallRow, CallStatus, calls};
use clap::Args;

use crate::cli::SessionArgs;
use crate::failure::Outcome;
use crate::terminal::{Column, Page, Style, Table, clip, duration};

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
    let is_one = rows.iter().all(|row| rows.first().is_none_or(|it| it.agent_id == row.agent_id));
    let mut columns = vec![Column::text("STATUS"), Column::number("TIME")];
    columns.extend((!is_one).then_some(Column::text("AGENT").cut()));
    columns.extend([Column::text("TOOL"), Column::text("WHAT").cut()]);
    let mut table = Table::new(&columns);
    for row in rows {
        let style = match row.status {
            CallStatus::Failed => Style::Bad,
            CallStatus::Open => Style::Plain,
            CallStatus::Success => Style::Good,
        };
        let mut cells = vec![
            (style, row.status.as_str().to_owned()),
            (Style::Faint, row.duration_ms.map(duration).unwrap_or_default()),
        ];
        cells.extend((!is_one).then(|| (Style::Name, clip(&row.name, 16))));
        cells.push((Style::Call, clip(&row.tool_name, 24)));
        cells.push((Style::Plain, clip(&row.subject, 500)));
        table.row(cells);
    }
    table.print(page)
}
