//! `view cost`: what each agent used, and what that cost.

mod why;

use antiphon_library::{CostLedger, CountedRequest, cost_ledger};
use antiphon_views::{CostBasis, CostNode, CostTree, Totals, cost, cost_reasons};
use clap::Args;

use crate::cli::{PriceArgs, SessionArgs};
use crate::cost_note::cost_note;
use crate::failure::Outcome;
use crate::price_table;
use crate::terminal::{Column, Page, Style, Table, dollars, tokens};

#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// List every counted request with its file and line, and every skipped duplicate
    #[arg(long)]
    ledger: bool,
    /// Say why: the most expensive turns, what was paid for again, and what filled the context
    #[arg(long, conflicts_with = "ledger")]
    why: bool,
    #[command(flatten)]
    prices: PriceArgs,
}

pub(crate) fn run(args: &CostArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(&args.session)?;
    let prices = price_table::load(args.prices.file.as_deref())?;
    if args.ledger {
        let book = cost_ledger(&opened.session, &opened.files, &opened.duplicates, &prices);
        return super::present(&opened, args.session.json, &book, print_book);
    }
    let mut tree = cost(&opened.session, &opened.id(), &prices);
    if !args.why {
        return super::present(&opened, args.session.json, &tree, print);
    }
    tree.why = Some(cost_reasons(&opened.reading(), &tree, &prices)?);
    super::present(&opened, args.session.json, &tree, |page, tree| {
        print(page, tree)?;
        tree.why.as_ref().map_or(Ok(()), |why| why::print(page, why, &opened.session))
    })
}

fn print_book(page: &mut Page, book: &CostLedger) -> anyhow::Result<()> {
    for CountedRequest { file, row } in &book.counted {
        let cost =
            row.cost.cost_usd.map_or_else(|| "unpriced".to_owned(), |cost| format!("${cost:.6}"));
        page.plain(&format!("{cost:>12}  "));
        page.add(Style::Name, row.name.as_deref().unwrap_or_default());
        page.plain(&format!("  {} in, {} out", row.usage.input, row.usage.output));
        page.faint(&format!("  {}", row.model.as_deref().unwrap_or("no model")));
        if row.cost.basis == Some(CostBasis::Declared) {
            page.faint("  reported");
        } else if let Some(declared) =
            row.cost.declared_usd.filter(|it| Some(*it) != row.cost.cost_usd)
        {
            page.faint(&format!("  reported ${declared:.6}"));
        }
        if row.cost.partial {
            page.faint("  some tokens are unknown");
        }
        page.faint(&format!("  {file}:{}", row.line)).end()?;
    }
    for dropped in &book.dropped {
        page.faint(&format!("{:>12}  {}:{}  ", "skipped", dropped.file, dropped.line));
        page.plain(dropped.reason).end()?;
    }
    Ok(())
}

/// Prints what each agent used, those below it indented.
pub(crate) fn print(page: &mut Page, cost: &CostTree) -> anyhow::Result<()> {
    let mut table = Table::new(&[
        Column::number("TOTAL"),
        Column::number("OWN"),
        Column::number("IN"),
        Column::number("OUT"),
        Column::number("CACHED"),
        Column::text("AGENT").cut(),
        Column::text("MODELS").cut(),
    ]);
    add_nodes(&mut table, &cost.tree, 0);
    table.print(page)?;
    if !cost.unpriced.is_empty() {
        page.add(Style::Bad, "unknown price: ").plain(&cost.unpriced.join(", ")).end()?;
    }
    if let Some(note) = cost_note(&cost.total) {
        page.plain(&note).end()?;
    }
    if cost.total.incomplete > 0 {
        page.add(Style::Bad, "partial: ").plain("the agent did not record all tokens").end()?;
    }
    page.faint(&format!("prices as of {}", cost.prices_date)).end()
}

// The view bounds the depth of the tree, and so this recursion.
fn add_nodes(table: &mut Table, nodes: &[CostNode], depth: usize) {
    for node in nodes {
        let usage = node.own.usage;
        table.row(vec![
            (Style::Head, money(&node.total)),
            (Style::Plain, money(&node.own)),
            (Style::Faint, tokens(usage.input)),
            (Style::Faint, tokens(usage.output)),
            (Style::Faint, tokens(usage.cache_read + usage.cache_write)),
            (Style::Name, format!("{}{}", "  ".repeat(depth), node.name)),
            (Style::Faint, node.models.join(", ")),
        ]);
        add_nodes(table, &node.children, depth + 1);
    }
}

pub(super) fn money(totals: &Totals) -> String {
    match (totals.cost(), totals.is_partial()) {
        _ if totals.requests == 0 => "-".to_owned(),
        (None, _) => "unpriced".to_owned(),
        (Some(cost), false) => dollars(cost),
        (Some(cost), true) => format!("{}+?", dollars(cost)),
    }
}
