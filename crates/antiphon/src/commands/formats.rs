//! `antiphon formats`: what can be read and written.

use serde::Serialize;

use crate::cli;
use crate::failure::Outcome;
use crate::opened::FORMAT;
use crate::terminal::{self, Page, Style};

#[derive(Debug, Serialize)]
struct Format {
    name: &'static str,
    what: &'static str,
    reads: bool,
    writes: bool,
    follows: bool,
    versions: &'static str,
}

/// The registry. Other agents' formats join it with the readers that know them.
const FORMATS: &[Format] = &[Format {
    name: FORMAT,
    what: "event log, one JSON object a line (seed 004 and its dialects)",
    reads: true,
    writes: true,
    follows: true,
    versions: "1; unsealed logs in all seven published versions",
}];

pub(crate) fn run(args: &cli::Formats) -> anyhow::Result<Outcome> {
    if args.json {
        terminal::json(&FORMATS)?;
        return Ok(Outcome::Done);
    }
    let mut page = Page::new();
    for format in FORMATS {
        let can = [("read", format.reads), ("write", format.writes), ("follow", format.follows)];
        let can = can.iter().filter(|(_, can)| *can).map(|(what, _)| *what).collect::<Vec<_>>();
        page.add(Style::Name, &format!("{:<12}", format.name)).plain(&can.join(", "));
        page.end()?;
        page.plain(&format!("{:<12}{}", "", format.what)).end()?;
        page.faint(&format!("{:<12}versions: {}", "", format.versions)).end()?;
    }
    page.finish()?;
    Ok(Outcome::Done)
}
