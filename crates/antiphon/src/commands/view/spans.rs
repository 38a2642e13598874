//! `view spans`.

use antiphon_views::{Span, SpanKind, SpanNode, SpanStatus, span_tree, spans};
use clap::Args;

use crate::cli::{PriceArgs, SessionArgs};
use crate::failure::Outcome;
use crate::price_table;
use crate::terminal::{Page, Style, duration};

#[derive(Debug, Args)]
pub(crate) struct SpansArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// Nest spans, with totals
    #[arg(long)]
    tree: bool,
    #[command(flatten)]
    prices: PriceArgs,
}

pub(crate) fn run(args: &SpansArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(&args.session)?;
    let prices = price_table::load(args.prices.file.as_deref())?;
    let spans = spans(&opened.reading(), &opened.id(), &prices)?;
    if args.tree {
        let tree = span_tree(&spans);
        return super::present(&opened, args.session.json, &tree, |page, tree| {
            nodes(page, tree, 0)
        });
    }
    super::present(&opened, args.session.json, &spans, |page, spans| {
        spans.iter().try_for_each(|span| line(page, span, span.level))
    })
}

// The view bounds the depth of the tree, and so this recursion.
pub(super) fn nodes(page: &mut Page, nodes: &[SpanNode], depth: usize) -> anyhow::Result<()> {
    for node in nodes {
        line(page, &node.span, depth)?;
        self::nodes(page, &node.children, depth + 1)?;
    }
    Ok(())
}

pub(super) fn line(page: &mut Page, span: &Span, depth: usize) -> anyhow::Result<()> {
    page.plain(&"  ".repeat(depth.min(40)));
    let style = match span.kind {
        SpanKind::ToolCall => Style::Call,
        SpanKind::Coordinator => Style::Head,
        SpanKind::CliAgent | SpanKind::ApiAgent | SpanKind::Decomposer | SpanKind::SubAgent => {
            Style::Name
        }
    };
    page.add(style, &span.name);
    page.faint(&format!("  {}", span.kind.as_str()));
    let status_style = match span.status {
        SpanStatus::Failed
        | SpanStatus::TimedOut
        | SpanStatus::Cancelled
        | SpanStatus::Interrupted => Style::Bad,
        SpanStatus::Running => Style::Plain,
        SpanStatus::Completed => Style::Good,
    };
    page.plain("  ").add(status_style, span.status.as_str());
    if let (Some(start), Some(end)) = (span.started_at, span.completed_at) {
        page.plain(&format!("  {}", duration(end.since(start))));
    }
    let usage = span.usage;
    if usage.input_tokens + usage.output_tokens > 0 {
        page.plain(&format!("  {} in, {} out", usage.input_tokens, usage.output_tokens));
    }
    if let Some(cost) = span.cost_usd {
        page.plain(&format!("  ${cost:.4}"));
    }
    if span.outlives_parent {
        page.faint("  (ended after its parent)");
    }
    page.end()
}
