//! `antiphon` alone: what it is, and what to do next.

use crate::failure::Outcome;
use crate::terminal::{Page, Style};

pub(crate) fn run() -> anyhow::Result<Outcome> {
    let mut page = Page::live();
    page.add(Style::Head, "antiphon").plain(" is the record of what AI agents said, did and cost.");
    page.end()?;
    page.plain(
        "One log, many views: facts are recorded once, in order; everything else is derived.",
    );
    page.end()?;
    page.end()?;
    let next = [
        ("antiphon demo", "see what a session looks like"),
        ("antiphon sync", "take in the sessions of your agents"),
        ("antiphon search WORDS", "find something in them"),
        ("antiphon show latest", "one page about the last one"),
        ("antiphon record -- COMMAND", "record an agent while it runs"),
        ("antiphon install claude-code", "keep your sessions as they happen"),
        ("antiphon --help", "everything else"),
    ];
    for (command, what) in next {
        page.plain("  ").add(Style::Call, &format!("{command:<30}")).plain(what);
        page.end()?;
    }
    page.finish()?;
    Ok(Outcome::Done)
}
