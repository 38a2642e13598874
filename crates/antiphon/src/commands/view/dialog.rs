//! `view dialog`: who said what. A person and their agent read as a conversation, a cast of agents
//! with who heard whom.

use antiphon_model::EventIx;
use antiphon_views::{DialogFilter, Prompt, Utterance, dialog, prompts};
use clap::Args;

use super::transcript;
use crate::cli::SessionArgs;
use crate::failure::Outcome;
use crate::opened::Opened;
use crate::range::local_zone;
use crate::terminal::{Page, Style};

#[derive(Debug, Args)]
pub(crate) struct DialogArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// Only what this agent said; may be repeated
    #[arg(long)]
    agent: Vec<String>,
    /// Only what this agent heard
    #[arg(long, value_name = "AGENT")]
    heard_by: Option<String>,
}

pub(crate) fn run(args: &DialogArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(&args.session)?;
    let speakers = args.agent.iter().map(|name| opened.agent(name));
    let filter = DialogFilter {
        speakers: speakers.collect::<Result<_, _>>()?,
        heard_by: args.heard_by.as_deref().map(|name| opened.agent(name)).transpose()?,
    };
    let rows = dialog(&opened.reading(), &filter)?;
    let is_all = filter.speakers.is_empty() && filter.heard_by.is_none();
    let asked = match is_all && opened.is_conversation() && !args.session.json {
        true => Some(prompts(&opened.reading())?),
        false => None,
    };
    super::present(&opened, args.session.json, &rows, |page, rows| match &asked {
        Some(asked) => print_conversation(page, &opened, asked, rows),
        None => print(page, rows, &|id| super::name_of(&opened, id)),
    })
}

/// What a person and their agent said to one another; sub-agents are named.
fn print_conversation(
    page: &mut Page,
    opened: &Opened,
    prompts: &[Prompt],
    rows: &[Utterance],
) -> anyhow::Result<()> {
    let zone = local_zone();
    let asked = prompts.iter().map(|it| (it.event(), "you".to_owned(), it.timestamp, &it.text));
    let said = rows.iter().map(|it| {
        let agent = opened.session.find_agent(&it.agent_id);
        let name = agent.map(|agent| transcript::name(opened, agent));
        (it.event(), name.unwrap_or_else(|| it.name.clone()), it.timestamp, &it.content)
    });
    let mut all: Vec<(EventIx, String, _, &String)> = asked.chain(said).collect();
    all.sort_by_key(|(event, ..)| *event);
    for (number, (_, name, at, text)) in all.into_iter().enumerate() {
        if number > 0 {
            page.end()?;
        }
        page.add(if name == "you" { Style::Head } else { Style::Name }, &name);
        if let Some(time) = at.and_then(|at| zone.minute_name(at)) {
            page.faint(&format!("  {time}"));
        }
        page.end()?;
        page.plain("  ");
        page.block(Style::Plain, text.trim_matches('\n').trim_end(), 2)?;
    }
    Ok(())
}

/// Prints what was said, with who heard it beside the speaker's name.
pub(crate) fn print(
    page: &mut Page,
    rows: &[Utterance],
    name_of: &dyn Fn(&str) -> String,
) -> anyhow::Result<()> {
    for row in rows {
        let heard: Vec<_> = row.heard_by.iter().map(|id| name_of(id)).collect();
        page.add(Style::Name, &row.name);
        match heard.as_slice() {
            [] => page.faint("  to you"),
            heard => page.faint(&format!("  → {}", heard.join(", "))),
        };
        page.faint(&format!("  {}", row.message_id)).end()?;
        page.plain("  ");
        page.block(Style::Plain, &row.content, 2)?;
        page.end()?;
    }
    Ok(())
}
