//! `view causality`.

use antiphon_views::{Causality, causality};

use crate::cli::SessionArgs;
use crate::failure::Outcome;
use crate::terminal::{Page, Style};

pub(crate) fn run(args: &SessionArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(args)?;
    let links = causality(&opened.reading())?;
    super::present(&opened, args.json, &links, print)
}

fn print(page: &mut Page, causality: &Causality) -> anyhow::Result<()> {
    let wide = causality.links.iter().map(|link| link.from.chars().count()).max().unwrap_or(0);
    for link in &causality.links {
        let kind = serde_json::to_value(link.kind)?;
        let kind = kind.as_str().unwrap_or_default();
        page.plain(&format!("{:<wide$}", link.from)).faint(&format!(" ─{kind:─<10}▶ "));
        page.plain(&link.to);
        match link.rule {
            Some(rule) => page.faint(&format!("  inferred: {rule}")),
            None => page.add(Style::Good, "  recorded"),
        };
        page.end()?;
    }
    Ok(())
}
