//! `view timeline`: a line per event, with a mark in the lane of its agent.

use std::collections::BTreeMap;

use antiphon_model::{Entry, EntryKind, Role, Timestamp};
use antiphon_views::{Reading, TimelineFilter, TimelineRow, timeline};

use crate::cli;
use crate::failure::Outcome;
use crate::opened::Opened;
use crate::terminal::{Page, Style, ago, clip, duration};

/// More lanes than this are not drawn side by side; the name is then all there is.
const LANES_MAX: usize = 16;

pub(crate) fn run(args: &cli::Timeline) -> anyhow::Result<Outcome> {
    let opened = super::open(&args.session)?;
    let filter = filter(&opened, args)?;
    let rows = timeline(&opened.reading(), &filter)?;
    super::present(&opened, args.session.json, &rows, |page, rows| {
        if rows.is_empty() {
            return page.plain("No matching events.").end();
        }
        print(page, rows, opened.session.time_span().map(|(first, _)| first))
    })
}

fn filter(opened: &Opened, args: &cli::Timeline) -> anyhow::Result<TimelineFilter> {
    let agents = args.agent.iter().map(|agent| opened.agent(agent));
    let source = |source: &String| match source.as_str() {
        "external" | "system" => Ok(source.clone()),
        agent => opened.agent(agent).map(|it| opened.session.agent_id(it).to_owned()),
    };
    Ok(TimelineFilter {
        agents: agents.collect::<Result<_, _>>()?,
        roles: args.role.clone(),
        sources: args.source.iter().map(source).collect::<Result<_, _>>()?,
        kinds: args.kind.clone(),
        tools: args.tool.clone(),
    })
}

/// `first` is when the session began, be that among the rows or not.
fn print(page: &mut Page, rows: &[TimelineRow], first: Option<Timestamp>) -> anyhow::Result<()> {
    let mut lanes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut names = Vec::new();
    for row in rows {
        if let (Some(id), Some(name)) = (&row.agent_id, &row.name)
            && !lanes.contains_key(id.as_str())
        {
            lanes.insert(id, names.len());
            names.push(name.as_str());
        }
    }
    let drawn = names.len().min(LANES_MAX);
    let wide = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(16);
    let mut begun = vec![false; drawn];
    for row in rows {
        let lane = row.agent_id.as_deref().and_then(|id| lanes.get(id).copied());
        let time = match (row.timestamp, first) {
            (Some(at), Some(first)) => ago(at.since(first)),
            _ => format!("{}", row.step),
        };
        page.faint(&format!("{time:>12} "));
        for at in 0..drawn {
            if lane == Some(at) {
                if let Some(begun) = begun.get_mut(at) {
                    *begun = true;
                }
                let (mark, style) = mark(row);
                page.add(style, mark);
            } else {
                page.faint(if begun.get(at) == Some(&true) { "│" } else { " " });
            }
            page.plain(" ");
        }
        let name = clip(row.name.as_deref().unwrap_or_default(), 16);
        page.add(Style::Name, &format!("{name:<wide$}")).plain(" ");
        let used = 14 + drawn * 2 + wide + 1;
        let room = page.width.map_or(usize::MAX, |width| width.saturating_sub(used + 12).max(20));
        page.plain(&clip(&what(row.kind, &row.text), room));
        if let Some(millis) = row.duration_ms {
            page.faint(&format!("  {}", duration(millis)));
        }
        page.end()?;
    }
    Ok(())
}

fn mark(row: &TimelineRow) -> (&'static str, Style) {
    match row.kind {
        "called" => ("◆", Style::Call),
        "said" => ("●", Style::Head),
        "received" if row.is_error => ("✗", Style::Bad),
        "received" => ("◇", Style::Call),
        "heard" => ("○", Style::Plain),
        "agent_created" => ("┬", Style::Faint),
        "agent_ended" => ("┴", Style::Faint),
        _ => ("·", Style::Faint),
    }
}

fn what(kind: &str, text: &str) -> String {
    match kind {
        "said" | "called" | "heard" | "received" => text.to_owned(),
        kind if text.is_empty() => kind.replace('_', " "),
        kind => format!("{}: {text}", kind.replace('_', " ")),
    }
}

/// One event as `tail` shows it: when, who by that name, what.
pub(crate) fn event_line(
    page: &mut Page,
    reading: &Reading<'_>,
    entry: Entry<'_>,
    first: Option<Timestamp>,
    name: Option<&str>,
) -> anyhow::Result<()> {
    let time = match (entry.at(), first) {
        (Some(at), Some(first)) => ago(at.since(first)),
        _ => format!("line {}", entry.line_number()),
    };
    page.faint(&format!("{time:>12}  "));
    if let Some(name) = name {
        page.add(Style::Name, name).plain(" ");
    }
    let text = reading.deed(entry)?;
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are called by their name")]
    let (style, word) = match entry.kind() {
        EntryKind::Message(Role::Assistant) if entry.makes_calls() => (Style::Call, "calls"),
        EntryKind::Message(Role::Assistant) => (Style::Head, "says"),
        EntryKind::Message(Role::User) => (Style::Faint, "hears"),
        EntryKind::Message(Role::Tool) if entry.is_error() => (Style::Bad, "receives an error"),
        EntryKind::Message(Role::Tool) => (Style::Faint, "receives"),
        EntryKind::AgentCreated => (Style::Faint, "is made"),
        other => (Style::Faint, other.as_str()),
    };
    page.add(style, word);
    if text.is_empty() {
        return page.end();
    }
    page.plain(": ");
    page.block(Style::Plain, &text, 14)
}
