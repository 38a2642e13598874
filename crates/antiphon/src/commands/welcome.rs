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
        ("antiphon show LOG", "one page about a session of yours"),
        ("antiphon install claude-code", "keep your sessions as they happen"),
        ("antiphon ls", "the sessions that are kept"),
        ("antiphon append LOG", "record one, from any language"),
        ("antiphon --help", "everything else"),
    ];
    for (command, what) in next {
        page.plain("  ").add(Style::Call, &format!("{command:<30}")).plain(what);
        page.end()?;
    }
    page.finish()?;
    Ok(Outcome::Done)
}
