//! `view hooks`.

use antiphon_views::{HookEpisode, hooks};

use crate::cli::SessionArgs;
use crate::failure::Outcome;
use crate::terminal::{Page, Style};

pub(crate) fn run(args: &SessionArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(args)?;
    let episodes = hooks(&opened.reading())?;
    super::present(&opened, args.json, &episodes, |page, episodes| {
        if episodes.is_empty() {
            return page.plain("No hooks ran and no calls were blocked.").end();
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
    if episode.utterance.is_some() {
        page.add(Style::Name, &text(&episode.caller_name)).plain(" says: ");
        page.block(Style::Plain, &text(&episode.utterance_text), 2)?;
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
        (Some(_), true) if episode.call_id.is_none() => {
            page.add(Style::Bad, "  rejected").plain(": ")
        }
        (Some(_), true) => page.add(Style::Bad, "  blocked").plain(": "),
        (Some(_), false) => page.add(Style::Good, "  went ahead").plain(": "),
        (None, _) if episode.call_id.is_some() => page.faint("  no result"),
        (None, _) if episode.utterance.is_some() => page.add(Style::Good, "  allowed"),
        (None, _) => page.faint("  about an unknown call"),
    };
    page.block(Style::Plain, &text(&episode.result_text), 4)?;
    if let Some(rule) = episode.rule {
        let what = if episode.call_id.is_some() { "call" } else { "answer" };
        page.faint(&format!("  (the {what} is inferred: {rule})")).end()?;
    }
    page.end()
}
