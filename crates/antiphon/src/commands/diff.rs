//! `antiphon diff`: two runs side by side, and the first step where they part.

use std::path::{Path, PathBuf};

use antiphon_library::{root_of, session_overview};
use antiphon_views::{
    ComparedFile, ComparedRun, ComparedStep, LineCount, RunDiff, RunSide, SessionOverview,
    StepPair, Usd, run_diff,
};
use clap::Args;

use crate::cli::PriceArgs;
use crate::failure::Outcome;
use crate::opened::Opened;
use crate::price_table;
use crate::terminal::{self, Column, Page, Style, Table, clip, duration, tokens};

#[derive(Debug, Args)]
#[command(after_help = "\
Runs are compared by what was done: the prompts, and the calls of the main agent. What an agent says
in between does not count. Exit code 1 means that they differ.")]
pub(crate) struct DiffArgs {
    /// The first session
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The second session
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Show every step of both, aligned
    #[arg(long)]
    steps: bool,
    #[command(flatten)]
    prices: PriceArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

struct Side {
    opened: Opened,
    overview: SessionOverview,
    root: Option<String>,
}

pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<Outcome> {
    let prices = price_table::load(args.prices.file.as_deref())?;
    let read = |session: &Path| -> anyhow::Result<Side> {
        let opened = Opened::read(session)?;
        let overview = session_overview(&opened.reading(), &opened.id(), opened.format, &prices)?;
        let root = root_of(opened.session.info().cwd.as_deref());
        Ok(Side { opened, overview, root })
    };
    let (a, b) = (read(&args.a)?, read(&args.b)?);
    let diff = run_diff(&compared(&a), &compared(&b), args.steps)?;
    if args.json {
        terminal::json(&diff)?;
    } else {
        let mut page = Page::new();
        print(&mut page, &diff)?;
        page.finish()?;
    }
    let is_same = diff.parts.is_none() && diff.files.iter().all(|file| file.same);
    Ok(match (a.opened.outcome(), b.opened.outcome()) {
        (Outcome::Done, Outcome::Done) if is_same => Outcome::Done,
        (Outcome::Done, Outcome::Done) => Outcome::No,
        _ => Outcome::BadInput,
    })
}

fn compared(side: &Side) -> ComparedRun<'_> {
    let (reading, root) = (side.opened.reading(), side.root.as_deref());
    ComparedRun { reading, overview: &side.overview, root }
}

fn print(page: &mut Page, diff: &RunDiff) -> anyhow::Result<()> {
    let mut table =
        Table::new(&[Column::text(""), Column::text("A").cut(), Column::text("B").cut()]);
    for (name, a, b) in facts(&diff.a, &diff.b) {
        // What differs is what is looked for.
        let style = if a == b { Style::Plain } else { Style::Head };
        table.row(vec![(Style::Faint, name), (style, a), (style, b)]);
    }
    table.print(page)?;
    print_files(page, &diff.files)?;
    page.end()?;
    match &diff.parts {
        None => page.add(Style::Good, "Both did the same.").end()?,
        Some(parts) => {
            page.add(Style::Head, &format!("They part at step {}:", parts.step + 1)).end()?;
            print_step(page, "A", parts.a.as_ref())?;
            print_step(page, "B", parts.b.as_ref())?;
        }
    }
    match &diff.steps {
        Some(steps) => print_steps(page, steps),
        None => Ok(()),
    }
}

/// The facts of two runs, with their names.
fn facts(a: &RunSide, b: &RunSide) -> Vec<(String, String, String)> {
    let both = |name: &str, of: &dyn Fn(&RunSide) -> String| (name.to_owned(), of(a), of(b));
    let money = |cost: Option<Usd>| cost.map_or("unpriced".to_owned(), |it| format!("${it:.4}"));
    let mut facts = vec![
        both("session", &|side| side.session_id.clone()),
        both("prompts", &|side| side.prompts.len().to_string()),
        both("models", &|side| side.models.join(", ")),
        both("status", &|side| side.status.as_str().to_owned()),
        both("turns", &|side| side.turns.to_string()),
        both("calls", &|side| side.calls.values().sum::<usize>().to_string()),
    ];
    let categories: std::collections::BTreeSet<&String> =
        a.calls.keys().chain(b.calls.keys()).collect();
    for category in categories {
        let count = |side: &RunSide| side.calls.get(category).copied().unwrap_or_default();
        let name = format!("  {}", category.replace('_', " "));
        facts.push(both(&name, &|side| count(side).to_string()));
    }
    facts.extend([
        both("failed calls", &|side| side.failures.to_string()),
        both("input", &|side| tokens(side.usage.input)),
        both("output", &|side| tokens(side.usage.output)),
        both("cached", &|side| {
            tokens(side.usage.cache_read.saturating_add(side.usage.cache_write))
        }),
        both("cost", &|side| money(side.cost.cost_usd)),
        both("time", &|side| side.wall_ms.map(duration).unwrap_or_default()),
    ]);
    facts
}

fn print_files(page: &mut Page, files: &[ComparedFile]) -> anyhow::Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    page.end()?;
    let mut table = Table::new(&[
        Column::text("file").cut_in_the_middle(),
        Column::text("A"),
        Column::text("B"),
        Column::text(""),
    ]);
    let lines = |count: Option<LineCount>| match count {
        Some(LineCount { added, removed }) => (Style::Plain, format!("+{added} -{removed}")),
        None => (Style::Faint, "unchanged".to_owned()),
    };
    for file in files {
        let same = match file.same {
            true => (Style::Good, "the same".to_owned()),
            false => (Style::Bad, "different".to_owned()),
        };
        table.row(vec![(Style::Plain, file.path.clone()), lines(file.a), lines(file.b), same]);
    }
    table.print(page)
}

fn print_step(page: &mut Page, side: &str, step: Option<&ComparedStep>) -> anyhow::Result<()> {
    page.plain("  ").add(Style::Name, side).plain("  ");
    match step {
        Some(step) => {
            let room = page.width.map_or(200, |width| width.saturating_sub(8));
            page.plain(&clip(&step.text, room)).end()?;
            page.faint(&format!("     {}", step.message_id)).end()
        }
        None => page.faint("nothing more").end(),
    }
}

fn print_steps(page: &mut Page, steps: &[StepPair]) -> anyhow::Result<()> {
    page.end()?;
    let mut table = Table::new(&[
        Column::number("step"),
        Column::text("A").cut(),
        Column::text(""),
        Column::text("B").cut(),
    ]);
    for pair in steps {
        let text = |step: &Option<ComparedStep>| {
            step.as_ref().map(|step| clip(&step.text, 200)).unwrap_or_default()
        };
        let (a, b) = (text(&pair.a), text(&pair.b));
        let (mark, style) = match (&pair.a, &pair.b) {
            (Some(_), None) => ("<", Style::Removed),
            (None, Some(_)) => (">", Style::Good),
            _ if a == b => ("", Style::Plain),
            _ => ("|", Style::Head),
        };
        let number = (Style::Faint, (pair.step + 1).to_string());
        table.row(vec![number, (style, a), (Style::Faint, mark.to_owned()), (style, b)]);
    }
    table.print(page)
}
