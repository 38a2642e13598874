//! `antiphon formats`: what can be read and written.

use antiphon_library::LOG_FORMAT;
use serde::Serialize;

use crate::cli;
use crate::failure::Outcome;
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

/// What `export` writes beside the log.
const WRITTEN: &[&str] = &["std-session", "transcript", "atif", "openai-chat", "otlp"];

/// Our own log, and every format in the registry.
fn formats() -> Vec<Format> {
    let own = Format {
        name: LOG_FORMAT,
        what: "event log, one JSON object a line (seed 004 and its dialects)",
        reads: true,
        writes: true,
        follows: true,
        versions: "1; unsealed logs in all seven published versions",
    };
    let others = antiphon_formats::FORMATS.iter().map(|format| Format {
        name: format.name,
        what: format.what,
        reads: true,
        writes: WRITTEN.contains(&format.name),
        // A stream grows at its end; a document is written anew.
        follows: format.lines.is_none(),
        versions: format.versions,
    });
    std::iter::once(own).chain(others).collect()
}

pub(crate) fn run(args: &cli::Formats) -> anyhow::Result<Outcome> {
    let formats = formats();
    if args.json {
        terminal::json(&formats)?;
        return Ok(Outcome::Done);
    }
    let mut page = Page::new();
    for format in &formats {
        let can = [("read", format.reads), ("write", format.writes), ("follow", format.follows)];
        let can = can.iter().filter(|(_, can)| *can).map(|(what, _)| *what).collect::<Vec<_>>();
        page.add(Style::Name, &format!("{:<14}", format.name)).plain(&can.join(", "));
        page.end()?;
        page.plain(&format!("{:<14}{}", "", format.what)).end()?;
        page.faint(&format!("{:<14}versions: {}", "", format.versions)).end()?;
    }
    page.finish()?;
    Ok(Outcome::Done)
}
