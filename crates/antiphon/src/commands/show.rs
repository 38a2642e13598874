//! `antiphon show`: a session on one page. What the person asked for comes first, then what came of
//! it, then the state of the record.

use std::collections::BTreeSet;
use std::path::PathBuf;

use antiphon_library::session_overview;
use antiphon_model::{Severity, Span, Status, StatusRule, Timestamp, Zone};
use antiphon_views::{
    ChangedFile, CostBasis, FailedCall, LastAnswer, Prompt, SessionOverview, SubAgent,
};
use clap::Args;

use super::view::tree::print_nodes;
use crate::failure::{Outcome, outcome_of};
use crate::opened::Opened;
use crate::price_table;
use crate::range::zone;
use crate::terminal::{
    self, Column, Page, Style, Table, clip, count, dollars, duration, product, tokens,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon show latest
  antiphon show latest~1                 the session before that
  antiphon show 0f0e --json")]
pub(crate) struct ShowArgs {
    /// The session
    session: PathBuf,
    /// Show times in UTC instead of local time
    #[arg(long)]
    utc: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ShowArgs) -> anyhow::Result<Outcome> {
    let opened = Opened::read(&args.session)?;
    let prices = price_table::load(None)?;
    let summary = session_overview(&opened.reading(), &opened.id(), opened.format, &prices)?;
    if args.json {
        terminal::json(&summary)?;
        return Ok(opened.outcome());
    }
    let zone = zone(args.utc);
    let mut page = Page::new();
    page.add(Style::Head, &clip(&opened.title(), page.width.unwrap_or(100))).end()?;
    header(&mut page, &summary, &zone)?;
    prompts(&mut page, &summary.prompts, &zone)?;
    files(&mut page, &summary)?;
    failures(&mut page, &summary)?;
    if opened.is_conversation() {
        sub_agents(&mut page, &summary.sub_agents)?;
    } else {
        heading(&mut page, "Agents")?;
        print_nodes(&mut page, &summary.tree)?;
    }
    if let Some(answer) = &summary.last_answer {
        last_answer(&mut page, &summary.session_id, answer)?;
    }
    page.end()?;
    condition(&mut page, &opened, &summary)?;
    if let Some(command) = &summary.continue_with {
        page.end()?;
        page.plain("Continue: ").add(Style::Call, command).end()?;
    }
    page.finish()?;
    Ok(outcome_of(opened.session.problems()))
}

fn heading(page: &mut Page, text: &str) -> anyhow::Result<()> {
    page.end()?;
    page.add(Style::Head, text).end()
}

/// What, where, when, by whom, how long and how much.
fn header(page: &mut Page, summary: &SessionOverview, zone: &Zone) -> anyhow::Result<()> {
    page.add(status_style(summary.status), summary.status.as_str());
    if let Some(why) = status_reason(summary.status_rule) {
        page.faint(&format!(" ({why})"));
    }
    for why in summary.reason.iter().chain(&summary.error) {
        page.plain(&format!(" ({})", clip(why, 60)));
    }
    page.faint(&format!("  {}", summary.session_id)).end()?;
    if let Some(project) = &summary.project {
        page.plain(project);
        if let Some(branch) = summary.branch.as_deref().filter(|branch| !branch.is_empty()) {
            page.faint(" on ").plain(branch);
        }
        page.end()?;
    }
    page.plain(product(summary.program.as_deref().unwrap_or(&summary.format)));
    if !summary.models.is_empty() {
        page.faint(" with ").plain(&summary.models.join(", "));
    }
    page.end()?;
    times(page, summary, zone)?;
    amounts(page, summary)
}

fn times(page: &mut Page, summary: &SessionOverview, zone: &Zone) -> anyhow::Result<()> {
    let (Some(first), Some(last)) = (summary.started_at, summary.last_event_at) else {
        return Ok(());
    };
    let day = |at: Timestamp| zone.minute_name(at).unwrap_or_else(|| at.to_string());
    let (from, to) = (day(first), day(last));
    page.plain(&from);
    // The same day is not said twice.
    match to.split_once(' ') {
        _ if from == to => {}
        Some((date, clock)) if from.starts_with(date) => drop(page.plain(&format!(" – {clock}"))),
        Some(_) | None => drop(page.plain(&format!(" – {to}"))),
    }
    page.plain(&format!(" · {}", duration(last.since(first))));
    if let Some(busy) = summary.busy.as_ref().filter(|busy| busy.busy_ms < busy.wall_ms) {
        page.faint(&format!(" ({} busy)", duration(busy.busy_ms)));
    }
    page.end()
}

fn amounts(page: &mut Page, summary: &SessionOverview) -> anyhow::Result<()> {
    page.plain(&count(summary.calls, "call"));
    if summary.open_calls > 0 {
        page.add(Style::Bad, &format!(" ({} without a result)", summary.open_calls));
    }
    page.plain(&format!(" · {}", count(summary.events, "event")));
    if summary.agents > 1 {
        page.plain(&format!(" · {}", count(summary.agents, "agent")));
    }
    let (usage, cost) = (summary.usage, &summary.cost);
    if usage.is_zero() && cost.declared_usd.is_none() {
        return page.end();
    }
    let sent = usage.input + usage.cache_read + usage.cache_write;
    page.end()?;
    page.plain(&format!("{} tokens in", tokens(sent)));
    if usage.cache_read > 0 {
        page.faint(&format!(" ({} from cache)", tokens(usage.cache_read)));
    }
    page.plain(&format!(", {} out", tokens(usage.output)));
    match cost.cost_usd {
        Some(cost) => page.plain(&format!(" · {}", dollars(cost))),
        None => page.plain(" · unknown price"),
    };
    page.end()?;
    match (cost.basis, cost.declared_usd) {
        (Some(CostBasis::Declared), _) => page.faint("cost as reported by the agent").end()?,
        (Some(_), Some(declared)) if Some(declared) != cost.cost_usd => {
            page.faint(&format!("cost by list prices; the agent reports {}", dollars(declared)))
                .end()?;
        }
        _ => {}
    }
    if !summary.unpriced.is_empty() && cost.cost_usd.is_some() {
        page.faint(&format!("cost without {}", summary.unpriced.join(", "))).end()?;
    } else if cost.partial && cost.cost_usd.is_some() {
        page.faint("cost in part: the agent did not record all tokens").end()?;
    }
    Ok(())
}

/// How a status is shown, wherever it is.
pub(super) fn status_style(status: Status) -> Style {
    match status {
        Status::Completed => Style::Good,
        Status::Failed | Status::TimedOut | Status::Interrupted => Style::Bad,
        Status::Running => Style::Name,
        Status::Cancelled => Style::Plain,
    }
}

/// Why a session is said to stand so, where it does not say so itself.
fn status_reason(rule: StatusRule) -> Option<&'static str> {
    match rule {
        StatusRule::RecordedEnd | StatusRule::LastAnswer => None,
        StatusRule::BeingWritten => Some("being written by a process"),
        StatusRule::WriterGone => Some("the process that wrote it died"),
        StatusRule::Quiet => Some("unfinished, no activity for two minutes"),
        StatusRule::Unfinished => Some("unfinished"),
    }
}

/// Of more prompts than this, the first and the last are shown.
const PROMPTS: usize = 20;

fn prompts(page: &mut Page, prompts: &[Prompt], zone: &Zone) -> anyhow::Result<()> {
    if prompts.is_empty() {
        return Ok(());
    }
    heading(page, "Prompts")?;
    let days = prompts.iter().filter_map(|it| zone.span_name(it.timestamp?, Span::Day));
    let is_one_day = days.collect::<BTreeSet<_>>().len() == 1;
    let time = |at| if is_one_day { zone.clock_name(at) } else { zone.minute_name(at) };
    let times = prompts.iter().map(|it| it.timestamp.and_then(time).unwrap_or_default());
    let times: Vec<String> = times.collect();
    let width = times.iter().map(String::len).max().unwrap_or_default();
    let hidden = prompts.len().saturating_sub(PROMPTS);
    // One or two prompts have room for more of their words.
    let lines = if prompts.len() <= 3 { 4 } else { 2 };
    for (at, (prompt, time)) in prompts.iter().zip(&times).enumerate() {
        let is_hidden = hidden > 0 && (PROMPTS / 2..PROMPTS / 2 + hidden).contains(&at);
        if is_hidden {
            if at == PROMPTS / 2 {
                page.faint(&format!("  … {hidden} more")).end()?;
            }
            continue;
        }
        page.plain("  ").faint(&format!("{time:<width$}"));
        let indent = if width > 0 { width + 4 } else { 2 };
        page.plain(&" ".repeat(indent - 2 - width));
        folded(page, Style::Plain, &prompt.text, indent, lines)?;
    }
    Ok(())
}

/// Prints the first lines of a text, and how many more there are.
fn folded(
    page: &mut Page,
    style: Style,
    text: &str,
    indent: usize,
    most: usize,
) -> anyhow::Result<()> {
    let lines = page.lines(text.trim(), indent);
    // A note about one line takes a line.
    let shown = if lines.len() <= most + 1 { lines.len() } else { most };
    for (at, line) in lines.iter().take(shown).enumerate() {
        if at > 0 && !line.is_empty() {
            page.plain(&" ".repeat(indent));
        }
        page.add_line(style, line)?;
    }
    if shown < lines.len() {
        let more = count(lines.len() - shown, "more line");
        page.plain(&" ".repeat(indent)).faint(&format!("… {more}")).end()?;
    }
    Ok(())
}

/// So many of each kind are listed.
const LISTED: usize = 20;

fn files(page: &mut Page, summary: &SessionOverview) -> anyhow::Result<()> {
    let files = &summary.files;
    if files.is_empty() {
        return Ok(());
    }
    heading(page, "Files changed")?;
    let sums = |number: fn(&ChangedFile) -> usize| files.iter().map(number).sum::<usize>();
    let mut table = Table::new(&[
        Column::text("").cut_in_the_middle(),
        Column::text(""),
        Column::number(""),
        Column::number(""),
    ]);
    for file in files.iter().take(LISTED) {
        table.row(vec![
            (Style::Plain, format!("  {}", file.path)),
            (Style::Faint, file.status.as_str().to_owned()),
            (Style::Good, format!("+{}", file.added)),
            (Style::Removed, format!("-{}", file.removed)),
        ]);
    }
    table.print_rows(page)?;
    if files.len() > LISTED {
        let (added, removed) = (sums(|file| file.added), sums(|file| file.removed));
        page.faint(&format!("  … {} more, ", files.len() - LISTED));
        page.faint(&format!("+{added} -{removed} in all: "));
        page.faint(&format!("`antiphon changes {} --stat`", short(&summary.session_id))).end()?;
    }
    Ok(())
}

fn failures(page: &mut Page, summary: &SessionOverview) -> anyhow::Result<()> {
    const SHOWN: usize = 8;
    let failures = &summary.failures;
    if failures.is_empty() {
        return Ok(());
    }
    heading(page, "Failures")?;
    let room = page.width.unwrap_or(100).saturating_sub(6).max(20);
    for failed in failures.iter().take(SHOWN) {
        let FailedCall { tool_name, text, .. } = failed;
        page.plain("  ").add(Style::Bad, "✗ ").add(Style::Call, tool_name).plain("  ");
        page.plain(&clip(text, room.saturating_sub(tool_name.chars().count()).max(20))).end()?;
        let error = clip(failed.gist(), room);
        if !error.is_empty() {
            page.plain("    ").faint(&error).end()?;
        }
    }
    if failures.len() > SHOWN {
        let more = failures.len() - SHOWN;
        let command = format!("`antiphon view calls {} --failed`", short(&summary.session_id));
        page.faint(&format!("  … {more} more: {command}")).end()?;
    }
    Ok(())
}

fn sub_agents(page: &mut Page, agents: &[SubAgent]) -> anyhow::Result<()> {
    if agents.is_empty() {
        return Ok(());
    }
    heading(page, "Sub-agents")?;
    let mut table = Table::new(&[
        Column::text("").cut(),
        Column::text(""),
        Column::number(""),
        Column::number(""),
        Column::number(""),
    ]);
    for agent in agents.iter().take(LISTED) {
        let usage = agent.own.usage;
        let sent = usage.input + usage.cache_read + usage.cache_write;
        let cost = agent.own.cost().filter(|_| agent.own.requests > 0);
        table.row(vec![
            (Style::Name, format!("  {}", agent.name)),
            (Style::Faint, agent.models.join(", ")),
            (Style::Plain, count(agent.messages, "message")),
            (Style::Plain, format!("{} in", tokens(sent))),
            (Style::Plain, cost.map(dollars).unwrap_or_default()),
        ]);
    }
    table.print_rows(page)?;
    if agents.len() > LISTED {
        page.faint(&format!("  … {} more", agents.len() - LISTED)).end()?;
    }
    Ok(())
}

fn last_answer(page: &mut Page, session: &str, answer: &LastAnswer) -> anyhow::Result<()> {
    const SHOWN: usize = 12;
    heading(page, "Last answer")?;
    page.plain("  ");
    let is_long = page.lines(answer.text.trim(), 2).len() > SHOWN + 1;
    folded(page, Style::Plain, &answer.text, 2, SHOWN)?;
    if is_long {
        let (session, message) = (short(session), short(&answer.message_id));
        page.faint(&format!("  `antiphon view transcript {session} --at {message}`")).end()?;
    }
    Ok(())
}

/// As much of an id as a person types.
fn short(id: &str) -> &str {
    id.char_indices().nth(8).map_or(id, |(end, _)| id.get(..end).unwrap_or(id))
}

/// What state the record itself is in.
fn condition(page: &mut Page, opened: &Opened, summary: &SessionOverview) -> anyhow::Result<()> {
    if summary.problems.is_empty() && summary.losses == 0 {
        page.add(Style::Good, "Nothing lost, nothing damaged.").end()?;
    }
    if summary.losses > 0 {
        let losses = count(summary.losses, "record");
        page.plain(&format!("{losses} of losses or repairs in this log")).end()?;
    }
    if !summary.problems.is_empty() {
        page.add(Style::Bad, &count(summary.problems.len(), "problem")).end()?;
    }
    for problem in summary.problems.iter().take(10) {
        let style = match problem.severity {
            Severity::Error => Style::Bad,
            Severity::Warning => Style::Faint,
        };
        page.plain("  ").add(style, &format!("{:<13}", problem.code));
        page.plain(&format!("line {}: {}", problem.line, problem.message)).end()?;
    }
    if let Some(head) = opened.summary.and_then(|summary| summary.head) {
        page.faint(&format!("head {}:{}", head.n, head.hash)).end()?;
    }
    Ok(())
}
