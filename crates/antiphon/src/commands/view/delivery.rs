//! `view delivery`.

use std::path::PathBuf;

use antiphon_views::{Delivery, DeliveryForm, delivery};
use clap::Args;

use crate::failure::{Outcome, UserError};
use crate::opened::Opened;
use crate::terminal::{Page, Style, clip, duration};

#[derive(Debug, Args)]
pub(crate) struct DeliveryArgs {
    /// The session
    session: PathBuf,
    /// The message; all messages if omitted
    message: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &DeliveryArgs) -> anyhow::Result<Outcome> {
    let opened = Opened::read(&args.session)?;
    let message = args.message.as_deref().map(|message| opened.message_id(message)).transpose()?;
    let rows = delivery(&opened.reading(), message.as_deref())?;
    if let Some(message) = &message
        && rows.is_empty()
    {
        let what = format!("`{message}` was not delivered to any agent");
        if args.json {
            crate::terminal::json(&rows)?;
        }
        return Err(UserError::not_found(what).into());
    }
    super::present(&opened, args.json, &rows, |page, rows| print(page, &opened, rows))
}

fn print(page: &mut Page, opened: &Opened, rows: &[Delivery]) -> anyhow::Result<()> {
    let room = page.width.map_or(100, |width| width.saturating_sub(30));
    let mut last = None;
    for row in rows {
        if last != Some(&row.utterance) {
            if last.is_some() {
                page.end()?;
            }
            last = Some(&row.utterance);
            heading(page, opened, row, room)?;
        }
        let Some(to) = &row.to else {
            page.add(Style::Bad, "  not delivered to any agent").end()?;
            continue;
        };
        let form = match row.form {
            DeliveryForm::Verbatim => "word for word",
            DeliveryForm::Prefixed => "with a prefix",
            DeliveryForm::Included => "within a longer text",
            DeliveryForm::Changed => "reworded",
            DeliveryForm::Unknown => "the original is not in this log",
            DeliveryForm::Undelivered => "",
        };
        page.plain("  → ")
            .add(Style::Name, &super::name_of(opened, to))
            .plain(&format!("  {form}"));
        if let Some(after) = row.after_ms.filter(|&after| after != 0) {
            page.faint(&format!(", after {}", duration(after)));
        }
        page.faint(&format!("  {}", row.message_id.as_deref().unwrap_or_default()));
        match &row.answered_by {
            Some(answer) => page.plain(&format!("  answered by {answer}")),
            None => page.add(Style::Bad, "  never answered"),
        };
        if let Some(rule) = row.rule {
            page.faint(&format!("  (inferred: {rule})"));
        }
        page.end()?;
    }
    Ok(())
}

fn heading(page: &mut Page, opened: &Opened, row: &Delivery, room: usize) -> anyhow::Result<()> {
    let from = row.from.as_deref().map(|id| super::name_of(opened, id));
    page.add(Style::Name, from.as_deref().unwrap_or("somebody"));
    if let Some(entry) = opened.session.find(&row.utterance) {
        let text = opened.reading().text(entry)?;
        page.plain(&format!(": {}", clip(&text, room)));
    }
    page.faint(&format!("  {}", row.utterance)).end()
}
