//! Tool calls, as a table and as CSV.

use antiphon_library::StatsReport;
use antiphon_views::{CallStats, CallStatsRow, CallSums};

use super::{others_in_words, quoted};
use crate::terminal::{Column, Page, Style, Table, count, duration, tokens};

pub(super) fn csv(stats: &CallStats) -> anyhow::Result<()> {
    let mut page = Page::live();
    if matches!(stats.rows.first(), Some(CallStatsRow::Error { .. })) {
        page.plain("error,calls,tools").end()?;
    } else {
        page.plain("key,calls,failed,share,median_ms,p95_ms,output_tokens").end()?;
    }
    for row in &stats.rows {
        let line = match row {
            CallStatsRow::Tool { tool: key, sums }
            | CallStatsRow::Command { command: key, sums } => {
                let CallSums { calls, failed, share, median_ms, p95_ms, output_tokens } = sums;
                let [median, p95] = [median_ms, p95_ms]
                    .map(|it| it.map(|millis| millis.to_string()).unwrap_or_default());
                let key = quoted(key);
                format!("{key},{calls},{failed},{share:.4},{median},{p95},{output_tokens}")
            }
            CallStatsRow::Error { error, calls, tools } => {
                format!("{},{calls},{}", quoted(error), quoted(&tools.join(" ")))
            }
        };
        page.plain(&line).end()?;
    }
    page.finish()
}

pub(super) fn print(report: &StatsReport<CallStats>) -> anyhow::Result<()> {
    let stats = &report.stats;
    let mut page = Page::new();
    let sums_of = |head: &'static str| {
        Table::new(&[
            Column::text(head).cut(),
            Column::number("calls"),
            Column::number("failed"),
            Column::number("share"),
            Column::number("median"),
            Column::number("95 %"),
            Column::number("output"),
        ])
    };
    let mut table = match stats.rows.first() {
        Some(CallStatsRow::Error { .. }) => Table::new(&[
            Column::number("calls"),
            Column::text("tools").cut(),
            Column::text("error").cut(),
        ]),
        Some(CallStatsRow::Command { .. }) => sums_of("command"),
        Some(CallStatsRow::Tool { .. }) | None => sums_of("tool"),
    };
    for row in &stats.rows {
        match row {
            CallStatsRow::Tool { tool: key, sums }
            | CallStatsRow::Command { command: key, sums } => {
                table.row(cells(Style::Name, key.clone(), sums));
            }
            CallStatsRow::Error { error, calls, tools } => table.row(vec![
                (Style::Head, calls.to_string()),
                (Style::Call, tools.join(", ")),
                (Style::Plain, error.clone()),
            ]),
        }
    }
    let sessions = count(usize::try_from(stats.sessions).unwrap_or(usize::MAX), "session");
    match stats.rows.first() {
        Some(CallStatsRow::Error { .. }) => {
            table.print(&mut page)?;
            let failed = usize::try_from(stats.totals.failed).unwrap_or(usize::MAX);
            page.faint(&format!("{} in {sessions}", count(failed, "failed call"))).end()?;
        }
        _ => {
            table.row(cells(Style::Head, sessions, &stats.totals));
            table.print(&mut page)?;
            page.faint("output is in tokens, estimated from its length").end()?;
        }
    }
    if let Some(text) = others_in_words(report) {
        page.faint(&text).end()?;
    }
    page.finish()
}

fn cells(style: Style, key: String, sums: &CallSums) -> Vec<(Style, String)> {
    let time = |millis: Option<u64>| {
        let millis = millis.map(|millis| i64::try_from(millis).unwrap_or(i64::MAX));
        (Style::Plain, millis.map(duration).unwrap_or_default())
    };
    let failed = if sums.failed > 0 { Style::Bad } else { Style::Plain };
    vec![
        (style, key),
        (Style::Plain, sums.calls.to_string()),
        (failed, sums.failed.to_string()),
        (failed, format!("{:.0} %", sums.share * 100.0)),
        time(sums.median_ms),
        time(sums.p95_ms),
        (Style::Plain, tokens(sums.output_tokens)),
    ]
}
