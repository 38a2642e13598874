//! `antiphon resume`: where a session can be taken up again.

use antiphon_views::resume;

use crate::cli::SessionArgs;
use crate::failure::Outcome;
use crate::opened::Opened;
use crate::terminal::{self, Page, Style, clip, count};

pub(crate) fn run(args: &SessionArgs) -> anyhow::Result<Outcome> {
    let opened = Opened::read(&args.session)?;
    let found = resume(&opened.reading(), &opened.id())?;
    if args.json {
        terminal::json(&found)?;
        return Ok(opened.outcome());
    }
    let mut page = Page::new();
    let room = page.width.map_or(100, |width| width.saturating_sub(4));
    match &found.last_complete {
        Some(point) => {
            page.add(Style::Head, "last complete point  ").plain(&point.message_id);
            page.faint(&format!("  line {}", point.line)).end()?;
            let name = point.name.as_deref().unwrap_or_default();
            page.plain("  ").add(Style::Name, name);
            page.plain(&format!(": {}", clip(&point.text, room.saturating_sub(name.len()))))
                .end()?;
            if found.events_after > 0 {
                page.faint(&format!("  {} after it", count(found.events_after, "event"))).end()?;
            }
        }
        None => page.plain("There is no point at which every call had a result.").end()?,
    }
    page.end()?;
    if found.open_calls.is_empty() {
        page.add(Style::Good, "Every call has a result.").end()?;
    } else {
        page.add(
            Style::Head,
            &format!("{} without a result", count(found.open_calls.len(), "call")),
        );
        page.end()?;
        for call in &found.open_calls {
            page.plain("  ").add(Style::Call, &call.call_id).plain("  ");
            page.add(Style::Name, &call.name).plain(": ").plain(&clip(&call.text, room));
            page.faint(&format!("  {}", call.message_id)).end()?;
        }
    }
    page.finish()?;
    Ok(opened.outcome())
}
