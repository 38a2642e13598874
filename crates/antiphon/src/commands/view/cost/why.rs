//! `view cost --why`: why a session cost what it did, in words and tables.

use antiphon_model::{Session, Timestamp};
use antiphon_views::{CacheMiss, Compaction, ContextGrowth, CostReasons};

use super::money;
use crate::range::local_zone;
use crate::terminal::{Column, Page, Style, Table, clip, count, tokens};

/// So many rows of each table are shown; `--json` has all of them.
const SHOWN: usize = 10;

/// A bar of the growth of a context is at most so wide.
const STEPS: usize = 60;

pub(super) fn print(page: &mut Page, why: &CostReasons, session: &Session) -> anyhow::Result<()> {
    print_turns(page, why)?;
    print_misses(page, &why.misses, session)?;
    print_growth(page, &why.growth)?;
    print_tools(page, why)?;
    print_sub_agents(page, why)?;
    print_retries(page, why)?;
    print_compactions(page, &why.compactions)
}

fn head(page: &mut Page, text: &str) -> anyhow::Result<()> {
    page.end()?;
    page.add(Style::Head, text).end()
}

/// Says how many rows are not shown.
fn more(page: &mut Page, all: usize) -> anyhow::Result<()> {
    match all.saturating_sub(SHOWN) {
        0 => Ok(()),
        left => page.faint(&format!("… and {left} more; --json has all of them")).end(),
    }
}

fn print_turns(page: &mut Page, why: &CostReasons) -> anyhow::Result<()> {
    head(page, "The most expensive turns")?;
    let mut table = Table::new(&[
        Column::number("cost"),
        Column::number("requests"),
        Column::number("input"),
        Column::number("output"),
        Column::number("from cache"),
        Column::number("to cache"),
        Column::text("prompt").cut(),
    ]);
    for turn in why.turns.iter().take(SHOWN) {
        let usage = turn.totals.usage;
        let plain = |text: String| (Style::Plain, text);
        table.row(vec![
            (Style::Head, money(&turn.totals)),
            plain(turn.totals.requests.to_string()),
            plain(tokens(usage.input)),
            plain(tokens(usage.output)),
            plain(tokens(usage.cache_read)),
            plain(tokens(usage.cache_write)),
            match &turn.prompt {
                Some(prompt) => plain(clip(prompt, 200)),
                None => (Style::Faint, "(before the first prompt)".to_owned()),
            },
        ]);
    }
    table.print(page)?;
    more(page, why.turns.len())
}

fn print_misses(page: &mut Page, misses: &[CacheMiss], session: &Session) -> anyhow::Result<()> {
    if misses.is_empty() {
        return Ok(());
    }
    let again: u64 = misses.iter().map(|miss| miss.tokens).sum();
    let times = count(misses.len(), "cache miss").replace("misss", "misses");
    head(page, &format!("{times}: {} tokens were paid for again", tokens(again)))?;
    let zone = local_zone();
    let time = |at: Option<Timestamp>| at.and_then(|at| zone.minute_name(at)).unwrap_or_default();
    let mut table = Table::new(&[
        Column::number("tokens"),
        Column::text("at"),
        Column::text("last served by the cache"),
        Column::text("message").cut(),
    ]);
    let mut largest: Vec<&CacheMiss> = misses.iter().collect();
    largest.sort_by_key(|miss| std::cmp::Reverse(miss.tokens));
    for miss in largest.iter().take(SHOWN) {
        let at = session.find(&miss.message_id).and_then(|entry| entry.at());
        table.row(vec![
            (Style::Head, tokens(miss.tokens)),
            (Style::Plain, time(at)),
            (Style::Plain, time(miss.since)),
            (Style::Faint, miss.message_id.clone()),
        ]);
    }
    table.print(page)?;
    more(page, misses.len())
}

fn print_growth(page: &mut Page, growth: &[ContextGrowth]) -> anyhow::Result<()> {
    let (Some(first), Some(last)) = (growth.first(), growth.last()) else { return Ok(()) };
    let most = growth.iter().map(|step| step.tokens).max().unwrap_or_default();
    let requests = count(growth.len(), "request");
    let (from, to) = (tokens(first.tokens), tokens(last.tokens));
    let most_words = tokens(most);
    head(page, &format!("Context: {from} → {to} in {requests}, at most {most_words}"))?;
    // Several requests share a character if there are many.
    let per = growth.len().div_ceil(STEPS).max(1);
    let bar = |steps: &[ContextGrowth]| {
        const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let tokens = steps.iter().map(|step| step.tokens).max().unwrap_or_default();
        let level = u128::from(tokens) * 7 / u128::from(most.max(1));
        usize::try_from(level).ok().and_then(|level| LEVELS.get(level)).copied().unwrap_or('█')
    };
    page.plain(&growth.chunks(per).map(bar).collect::<String>()).end()
}

fn print_tools(page: &mut Page, why: &CostReasons) -> anyhow::Result<()> {
    if why.tools.is_empty() {
        return Ok(());
    }
    head(page, "What tools put into the context (estimated)")?;
    let columns = [Column::number("tokens"), Column::number("calls"), Column::text("tool").cut()];
    let mut table = Table::new(&columns);
    for tool in why.tools.iter().take(SHOWN) {
        table.row(vec![
            (Style::Head, tokens(tool.tokens)),
            (Style::Plain, tool.calls.to_string()),
            (Style::Call, tool.tool.clone()),
        ]);
    }
    table.print(page)?;
    more(page, why.tools.len())
}

fn print_sub_agents(page: &mut Page, why: &CostReasons) -> anyhow::Result<()> {
    if why.sub_agents.is_empty() {
        return Ok(());
    }
    head(page, "Sub-agents")?;
    let columns = [Column::number("cost"), Column::number("requests"), Column::text("agent").cut()];
    let mut table = Table::new(&columns);
    for agent in why.sub_agents.iter().take(SHOWN) {
        table.row(vec![
            (Style::Head, money(&agent.own)),
            (Style::Plain, agent.own.requests.to_string()),
            (Style::Name, agent.name.clone()),
        ]);
    }
    table.print(page)?;
    more(page, why.sub_agents.len())
}

fn print_retries(page: &mut Page, why: &CostReasons) -> anyhow::Result<()> {
    if why.retries.is_empty() {
        return Ok(());
    }
    head(page, "Made again after a failure")?;
    let columns = [Column::number("cost"), Column::text("tool"), Column::text("call").cut()];
    let mut table = Table::new(&columns);
    for retry in why.retries.iter().take(SHOWN) {
        table.row(vec![
            (Style::Head, money(&retry.totals)),
            (Style::Call, retry.tool.clone()),
            (Style::Plain, clip(&retry.text, 200)),
        ]);
    }
    table.print(page)?;
    more(page, why.retries.len())
}

fn print_compactions(page: &mut Page, compactions: &[Compaction]) -> anyhow::Result<()> {
    if compactions.is_empty() {
        return Ok(());
    }
    head(page, &count(compactions.len(), "compaction"))?;
    for compaction in compactions.iter().take(SHOWN) {
        match (compaction.before, compaction.after, compaction.saved) {
            (Some(before), Some(after), Some(saved)) => {
                page.plain(&format!("{} → {} tokens", tokens(before), tokens(after)));
                page.plain(&format!(", {} less in every later request", tokens(saved)));
            }
            (Some(before), ..) => {
                page.plain(&format!("at {} tokens; no request followed", tokens(before)));
            }
            _ => {
                page.plain("no request says how much it saved");
            }
        }
        page.faint(&format!("  {}", compaction.message_id)).end()?;
    }
    more(page, compactions.len())
}
