//! `view timeline`: a line per event, with a mark in the lane of its agent.

use std::collections::BTreeMap;

use antiphon_model::{Entry, EntryKind, Role, Session, Timestamp};
use antiphon_views::{
    Reading, TimelineFilter, TimelineKind, TimelineRow, timeline, timeline_lanes,
};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::cli::SessionArgs;
use crate::failure::Outcome;
use crate::opened::Opened;
use crate::terminal::{self, Page, Style, ago, clip, duration};

/// If there are more lanes than this, lanes are not drawn, and only names are shown.
const LANES_MAX: usize = 16;

#[derive(Debug, Args)]
pub(crate) struct TimelineArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// Only this agent's events, by name or id (every filter may be repeated)
    #[arg(long)]
    agent: Vec<String>,
    /// Only messages with this role
    #[arg(long, value_parser = ["user", "assistant", "tool", "system"])]
    role: Vec<String>,
    /// Only messages from this source: an agent's name or id, `external` or `system`
    #[arg(long)]
    source: Vec<String>,
    /// Only events of this kind
    #[arg(long, value_parser = timeline_kinds())]
    kind: Vec<TimelineKind>,
    /// Only calls of this tool, and their results
    #[arg(long)]
    tool: Vec<String>,
}

/// The kinds of events, by their names.
fn timeline_kinds() -> impl TypedValueParser<Value = TimelineKind> {
    let known = PossibleValuesParser::new(TimelineKind::ALL.map(TimelineKind::as_str));
    known.try_map(|word| TimelineKind::from_word(&word).ok_or("unknown kind"))
}

pub(crate) fn run(args: &TimelineArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(&args.session)?;
    let filter = filter(&opened, args)?;
    let rows = timeline(opened.reading(), &filter);
    if args.session.json {
        terminal::json_rows(rows.map(|row| Ok(row?)))?;
        return Ok(opened.outcome());
    }
    let mut page = Page::new();
    let mut chart = Chart::new(&opened.session, &filter);
    for row in rows {
        chart.print(&mut page, &row?)?;
    }
    if chart.is_empty {
        page.plain("No matching events.").end()?;
    }
    page.finish()?;
    Ok(opened.outcome())
}

fn filter(opened: &Opened, args: &TimelineArgs) -> anyhow::Result<TimelineFilter> {
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

/// Rows with a lane for each agent.
struct Chart<'s> {
    /// By agent: its lane.
    lanes: BTreeMap<&'s str, usize>,
    /// By lane that is drawn: whether its agent has had a row.
    begun: Vec<bool>,
    /// The width of the names.
    wide: usize,
    /// When the session began, even if that event is not shown.
    first: Option<Timestamp>,
    is_empty: bool,
}

impl<'s> Chart<'s> {
    fn new(session: &'s Session, filter: &TimelineFilter) -> Self {
        let agents = timeline_lanes(session, filter);
        let names = agents.iter().map(|&agent| session.agent_name(agent).chars().count());
        let lanes = agents.iter().map(|&agent| session.agent_id(agent)).zip(0..);
        Self {
            lanes: lanes.collect(),
            begun: vec![false; agents.len().min(LANES_MAX)],
            wide: names.max().unwrap_or(0).min(16),
            first: session.time_span().map(|(first, _)| first),
            is_empty: true,
        }
    }

    fn print(&mut self, page: &mut Page, row: &TimelineRow) -> anyhow::Result<()> {
        self.is_empty = false;
        let lane = row.agent_id.as_deref().and_then(|id| self.lanes.get(id).copied());
        let time = match (row.timestamp, self.first) {
            (Some(at), Some(first)) => ago(at.since(first)),
            _ => format!("{}", row.step),
        };
        page.faint(&format!("{time:>12} "));
        for (at, begun) in self.begun.iter_mut().enumerate() {
            if lane == Some(at) {
                *begun = true;
                let (mark, style) = mark(row);
                page.add(style, mark);
            } else {
                page.faint(if *begun { "│" } else { " " });
            }
            page.plain(" ");
        }
        let wide = self.wide;
        let name = clip(row.name.as_deref().unwrap_or_default(), 16);
        page.add(Style::Name, &format!("{name:<wide$}")).plain(" ");
        let used = 14 + self.begun.len() * 2 + wide + 1;
        let room = page.width.map_or(usize::MAX, |width| width.saturating_sub(used + 12).max(20));
        page.plain(&clip(&what(row.kind, &row.text), room));
        if let Some(millis) = row.duration_ms {
            page.faint(&format!("  {}", duration(millis)));
        }
        page.end()
    }
}

fn mark(row: &TimelineRow) -> (&'static str, Style) {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others have no mark of their own")]
    match row.kind {
        TimelineKind::Called => ("◆", Style::Call),
        TimelineKind::Said => ("●", Style::Head),
        TimelineKind::Received if row.is_error => ("✗", Style::Bad),
        TimelineKind::Received => ("◇", Style::Call),
        TimelineKind::Heard => ("○", Style::Plain),
        TimelineKind::AgentCreated => ("┬", Style::Faint),
        TimelineKind::AgentEnded => ("┴", Style::Faint),
        _ => ("·", Style::Faint),
    }
}

fn what(kind: TimelineKind, text: &str) -> String {
    use TimelineKind::{Called, Heard, Received, Said};

    let word = || kind.as_str().replace('_', " ");
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are called by their name")]
    match kind {
        Said | Called | Heard | Received => text.to_owned(),
        _ if text.is_empty() => word(),
        _ => format!("{}: {text}", word()),
    }
}

/// Prints an event as `tail` shows it: the time, the name, and the text.
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
    let text = reading.description(entry)?;
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are called by their name")]
    let (style, word) = match entry.kind() {
        EntryKind::Message(Role::Assistant) if entry.makes_calls() => (Style::Call, "calls"),
        EntryKind::Message(Role::Assistant) => (Style::Head, "says"),
        EntryKind::Message(Role::User) => (Style::Faint, "hears"),
        EntryKind::Message(Role::Tool) if entry.is_error() => (Style::Bad, "receives an error"),
        EntryKind::Message(Role::Tool) => (Style::Faint, "receives"),
        EntryKind::AgentCreated => (Style::Faint, "is created"),
        other => (Style::Faint, other.as_str()),
    };
    page.add(style, word);
    if text.is_empty() {
        return page.end();
    }
    page.plain(": ");
    page.block(Style::Plain, &text, 14)
}
