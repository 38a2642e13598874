//! `view hooks`.

use antiphon_views::{HookEpisode, hooks};

use crate::cli;
use crate::failure::Outcome;
use crate::terminal::{Page, Style};

pub(crate) fn run(args: &cli::Session) -> anyhow::Result<Outcome> {
    let opened = super::open(args)?;
    let episodes = hooks(&opened.reading())?;
    super::present(&opened, args.json, &episodes, |page, episodes| {
        if episodes.is_empty() {
            return page.plain("No hook was asked, and no call was blocked.").end();
        }
        episodes.iter().try_for_each(|episode| print(page, episode))
    })
}

fn print(page: &mut Page, episode: &HookEpisode) -> anyhow::Result<()> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    if episode.call_id.is_some() {
        page.add(Style::Name, &text(&episode.caller_name)).plain(" wants ");
        page.add(Style::Call, &text(&episode.call_text));
        page.faint(&format!("  {}", text(&episode.call_id))).end()?;
    }
    if episode.notice.is_some() {
        page.plain("  asked ").add(Style::Name, &text(&episode.hook_name)).plain(": ");
        page.block(Style::Plain, &text(&episode.notice_text), 4)?;
    }
    if episode.verdict.is_some() {
        page.plain("  answered: ");
        page.block(Style::Head, &text(&episode.verdict_text), 4)?;
    }
    match (&episode.result, episode.blocked) {
        (Some(_), true) => page.add(Style::Bad, "  blocked").plain(": "),
        (Some(_), false) => page.add(Style::Good, "  went ahead").plain(": "),
        (None, _) if episode.call_id.is_some() => page.faint("  no result"),
        (None, _) => page.faint("  about no call that can be told"),
    };
    page.block(Style::Plain, &text(&episode.result_text), 4)?;
    if let Some(rule) = episode.rule {
        page.faint(&format!("  (the call is inferred: {rule})")).end()?;
    }
    page.end()
}
