//! Tokens and cost, as a table and as CSV.

use antiphon_library::StatsReport;
use antiphon_model::{Timestamp, Zone};
use antiphon_views::{Group, Stats, StatsKey, StatsQuery, Totals};

use super::{others_in_words, quoted};
use crate::cost_note::cost_note;
use crate::terminal::{Column, Page, Style, Table, count, duration, tokens};

/// How wide the longest bar is.
const BAR_WIDTH: u128 = 20;

/// The narrowest terminal that has room for bars.
const BARS_FROM: usize = 100;

pub(super) fn csv(stats: &Stats) -> anyhow::Result<()> {
    let mut page = Page::live();
    let head = "key,input,output,reasoning,cache_read,cache_write,cache_write_1h,requests,\
                cost_usd,declared_usd";
    page.plain(head).end()?;
    for (key, totals) in &stats.rows {
        let usage = totals.usage;
        let numbers = [
            usage.input,
            usage.output,
            usage.reasoning,
            usage.cache_read,
            usage.cache_write,
            usage.cache_write_1h,
            totals.requests,
        ];
        let numbers = numbers.map(|number| number.to_string()).join(",");
        let [cost, declared] = [totals.cost(), totals.declared()]
            .map(|cost| cost.map(|cost| format!("{:.6}", cost.as_f64())).unwrap_or_default());
        let key = quoted(&key.to_string());
        page.plain(&format!("{key},{numbers},{cost},{declared}")).end()?;
    }
    page.finish()
}

pub(super) fn print(report: &StatsReport, query: &StatsQuery) -> anyhow::Result<()> {
    let stats = &report.stats;
    let mut page = Page::new();
    let mut columns = vec![
        first_column(query.group),
        Column::number("requests"),
        Column::number("input"),
        Column::number("output"),
        Column::number("cached"),
        Column::number("cost"),
    ];
    let has_bars = page.width.is_none_or(|width| width >= BARS_FROM);
    if query.group == Group::Block {
        columns.push(Column::text("left"));
    } else if has_bars {
        columns.push(Column::text(""));
    }
    let mut table = Table::new(&columns);
    let picos = |totals: &Totals| totals.cost().unwrap_or_default().as_picos();
    let most = stats.rows.values().map(picos).max().unwrap_or_default().max(1);
    for (key, totals) in &stats.rows {
        let mut cells = vec![(Style::Name, name(key, &query.zone))];
        cells.extend(numbers(totals));
        let bar = usize::try_from(picos(totals) * BAR_WIDTH / most).unwrap_or_default();
        cells.push(match left_of(key) {
            Some(left) => (Style::Good, format!("{} (running)", duration(left))),
            None if has_bars && query.group != Group::Block => (Style::Faint, "█".repeat(bar)),
            None => (Style::Plain, String::new()),
        });
        table.row(cells);
    }
    let sessions = usize::try_from(stats.sessions).unwrap_or(usize::MAX);
    let mut cells = vec![(Style::Head, count(sessions, "session"))];
    cells.extend(numbers(&stats.totals));
    table.row(cells);
    table.print(&mut page)?;
    print_notes(&mut page, stats)?;
    if let Some(text) = others_in_words(report) {
        page.faint(&text).end()?;
    }
    page.finish()
}

/// What a cost leaves out, and what it is based on.
fn print_notes(page: &mut Page, stats: &Stats) -> anyhow::Result<()> {
    let totals = &stats.totals;
    let requests = |number: u64| count(usize::try_from(number).unwrap_or(usize::MAX), "request");
    if totals.unpriced > 0 {
        let models: Vec<_> = stats.unpriced.iter().map(String::as_str).collect();
        page.add(Style::Bad, "unknown price: ").plain(&models.join(", "));
        page.plain(&format!(" ({} not in the cost)", requests(totals.unpriced))).end()?;
    }
    if let Some(note) = cost_note(totals) {
        page.plain(&note).end()?;
    }
    if totals.incomplete > 0 {
        let requests = requests(totals.incomplete);
        page.add(Style::Bad, "partial: ").plain(&format!("some tokens of {requests} are unknown"));
        page.end()?;
    }
    Ok(())
}

fn first_column(group: Group) -> Column {
    match group {
        Group::Model => Column::text("model").cut(),
        Group::Agent => Column::text("agent").cut(),
        Group::SubAgent => Column::text("sub-agent").cut(),
        Group::Project => Column::text("project").cut_in_the_middle(),
        Group::Session => Column::text("session").cut(),
        Group::Hour => Column::text("hour"),
        Group::Day => Column::text("day"),
        Group::Week => Column::text("week"),
        Group::Month => Column::text("month"),
        Group::Block => Column::text("block"),
    }
}

/// How long a running block still lasts.
fn left_of(key: &StatsKey) -> Option<i64> {
    if let StatsKey::Block { left_ms, .. } = key { *left_ms } else { None }
}

/// What a row is about. A block is shown in the local time.
fn name(key: &StatsKey, zone: &Zone) -> String {
    let minute = |at: Timestamp| zone.minute_name(at);
    if let StatsKey::Block { block: Some(block), until: Some(until), .. } = key
        && let Some((from, to)) = minute(*block).zip(minute(*until))
    {
        let time = to.split_once(' ').map_or(&*to, |(_, time)| time);
        return format!("{from} – {time}");
    }
    let name = key.to_string();
    // `2026-11-01T14:00+05:30`: the offset matters to programs only.
    let hour = name.get(..16).filter(|_| matches!(key, StatsKey::Hour { hour: Some(_) }));
    hour.map_or_else(|| name.clone(), |hour| hour.replace('T', " "))
}

fn numbers(totals: &Totals) -> [(Style, String); 5] {
    let usage = totals.usage;
    let cached = usage.cache_read.saturating_add(usage.cache_write);
    let cost = match (totals.cost(), totals.unpriced > 0) {
        (None, _) => "unpriced".to_owned(),
        (Some(cost), false) => format!("${cost:.2}"),
        // What cannot be priced comes on top of it.
        (Some(cost), true) => format!("≥ ${cost:.2}"),
    };
    let plain = |text: String| (Style::Plain, text);
    [
        plain(totals.requests.to_string()),
        plain(tokens(usage.input)),
        plain(tokens(usage.output)),
        plain(tokens(cached)),
        (Style::Head, cost),
    ]
}
