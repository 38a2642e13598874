//! `view transcript`.

use antiphon_model::Role;
use antiphon_views::transcript;

use crate::commands::view::AgentArgs;
use crate::failure::Outcome;
use crate::terminal::{Page, Style, ago};

pub(crate) fn run(args: &AgentArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(&args.session)?;
    let agent = opened.agent_or_root(args.agent.as_deref())?;
    let reading = opened.reading();
    let entries = transcript(&reading, agent)?;
    let lines: Vec<_> = entries.iter().map(|(_, line)| line).collect();
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
