//! `antiphon formats`: what can be read and written.

use antiphon_library::{FormatSupport, formats};
use clap::Args;

use crate::failure::Outcome;
use crate::terminal::{self, Page, Style};

#[derive(Debug, Args)]
pub(crate) struct FormatsArgs {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print a Markdown table
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

pub(crate) fn run(args: &FormatsArgs) -> anyhow::Result<Outcome> {
    let formats = formats();
    if args.json {
        terminal::json(&formats)?;
        return Ok(Outcome::Done);
    }
    let mut page = Page::new();
    if args.markdown {
        page.plain("| format | what it is | supports | versions seen |").end()?;
        page.plain("| --- | --- | --- | --- |").end()?;
        for format in &formats {
            let FormatSupport { name, what, versions, .. } = format;
            page.plain(&format!("| `{name}` | {what} | {} | {versions} |", can(format))).end()?;
        }
        page.finish()?;
        return Ok(Outcome::Done);
    }
    for format in &formats {
        page.add(Style::Name, &format!("{:<14}", format.name)).plain(&can(format));
        page.end()?;
        page.plain(&format!("{:<14}{}", "", format.what)).end()?;
        page.faint(&format!("{:<14}versions: {}", "", format.versions)).end()?;
    }
    page.finish()?;
    Ok(Outcome::Done)
}

/// The operations that it supports, in words.
fn can(format: &FormatSupport) -> String {
    let can = [
        ("read", format.reads),
        ("write", format.writes),
        ("follow", format.follows),
        ("keep", format.keeps),
    ];
    can.iter().filter(|(_, can)| *can).map(|(what, _)| *what).collect::<Vec<_>>().join(", ")
}
