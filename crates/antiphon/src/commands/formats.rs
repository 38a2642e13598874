//! `antiphon formats`: what can be read and written.

use antiphon_sources::LOG_FORMAT;
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
    /// Whether `sync` keeps its sessions.
    keeps: bool,
    versions: &'static str,
}

impl Format {
    /// What can be done with it, in words.
    fn can(&self) -> String {
        let can = [
            ("read", self.reads),
            ("write", self.writes),
            ("follow", self.follows),
            ("keep", self.keeps),
        ];
        can.iter().filter(|(_, can)| *can).map(|(what, _)| *what).collect::<Vec<_>>().join(", ")
    }
}

/// What `export` writes beside the log.
const WRITTEN: &[&str] = &["std-session", "transcript", "atif", "openai-chat", "otlp"];

/// Our own log, and every format in the registry.
fn formats() -> Vec<Format> {
    let own = Format {
        name: LOG_FORMAT,
        what: "event log, one JSON object per line (seed 004 and its dialects)",
        reads: true,
        writes: true,
        follows: true,
        keeps: true,
        versions: "1; unsealed logs in all seven published versions",
    };
    let others = antiphon_formats::FORMATS.iter().map(|format| Format {
        name: format.name,
        what: format.what,
        reads: true,
        writes: WRITTEN.contains(&format.name),
        // A stream grows at its end; a document is written anew.
        follows: format.lines.is_none(),
        keeps: format.layout.kept.is_some(),
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
    if args.markdown {
        page.plain("| format | what it is | supports | versions seen |").end()?;
        page.plain("| --- | --- | --- | --- |").end()?;
        for format in &formats {
            let Format { name, what, versions, .. } = format;
            page.plain(&format!("| `{name}` | {what} | {} | {versions} |", format.can())).end()?;
        }
        page.finish()?;
        return Ok(Outcome::Done);
    }
    for format in &formats {
        page.add(Style::Name, &format!("{:<14}", format.name)).plain(&format.can());
        page.end()?;
        page.plain(&format!("{:<14}{}", "", format.what)).end()?;
        page.faint(&format!("{:<14}versions: {}", "", format.versions)).end()?;
    }
    page.finish()?;
    Ok(Outcome::Done)
}
