//! `view transcript`.

use antiphon_model::Role;
use antiphon_views::transcript;
use serde_json::value::RawValue;

use crate::cli;
use crate::failure::Outcome;
use crate::terminal::{Page, Style, ago};

pub(crate) fn run(args: &cli::OfAgent) -> anyhow::Result<Outcome> {
    let opened = super::open(&args.session)?;
    let agent = opened.agent_or_root(args.agent.as_deref())?;
    let reading = opened.reading();
    let entries = transcript(&reading, agent)?;
    // The lines as they stand in the log: unknown fields, numbers and all.
    let lines = entries.iter().map(|(_, line)| RawValue::from_string(line.trim().to_owned()));
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    let first = opened.session.time_span().map(|(first, _)| first);
    super::present(&opened, args.session.json, &lines, |page, _| {
        for (entry, _) in &entries {
            let role = entry.role().map_or("", Role::as_str);
            page.add(Style::Head, role).faint(&format!("  {}", entry.id()));
            if let (Some(at), Some(first)) = (entry.at(), first) {
                page.faint(&format!("  {}", ago(at.since(first))));
            }
            if let antiphon_model::Source::Agent(from) = entry.source() {
                page.plain("  from ").add(Style::Name, opened.session.agent_name(from));
            }
            page.end()?;
            indented(page, &reading.description(*entry)?)?;
        }
        Ok(())
    })
}

fn indented(page: &mut Page, text: &str) -> anyhow::Result<()> {
    page.plain("  ");
    page.block(Style::Plain, text, 2)?;
    page.end()
}
