//! `antiphon resume`: where a session can be taken up again, and how to go on with it elsewhere.

mod bodies;
mod native;

use std::path::PathBuf;

use antiphon_views::{Resume, resume};
use clap::Args;

use crate::failure::{Outcome, UserError};
use crate::opened::Opened;
use crate::terminal::{self, Page, Style, clip, count};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon resume latest                             the last complete point, and open calls
  antiphon resume latest --restore                   put the agent's own file back
  antiphon resume latest --run                       the same, and go on with that agent
  antiphon resume latest --as anthropic > bodies.jsonl

`--as openai` and `--as anthropic` print the transcripts as request bodies that these services
accept once your next words are added: a line for each agent, or the body of one (--agent).")]
pub(crate) struct ResumeArgs {
    /// The session
    session: PathBuf,
    /// Print one JSON document
    #[arg(long, conflicts_with = "target")]
    json: bool,
    /// Go on as: openai, anthropic (request bodies), or the agent whose session it is
    #[arg(long = "as", value_name = "TARGET")]
    target: Option<String>,
    /// Only this agent's body
    #[arg(long, requires = "target")]
    agent: Option<String>,
    /// Put the agent's own file back where the agent looks for it
    #[arg(long)]
    restore: bool,
    /// Put it back, and start the agent
    #[arg(long)]
    run: bool,
}

pub(crate) fn run(args: &ResumeArgs) -> anyhow::Result<Outcome> {
    match args.target.as_deref() {
        Some("openai") => return bodies::run(args, bodies::Service::OpenAi),
        Some("anthropic") => return bodies::run(args, bodies::Service::Anthropic),
        Some(agent) => return native::run(args, Some(agent)),
        None if args.restore || args.run => return native::run(args, None),
        None => {}
    }
    if args.agent.is_some() {
        return Err(UserError::usage("--agent needs --as openai or --as anthropic").into());
    }
    let opened = Opened::read(&args.session)?;
    let found = resume(&opened.reading(), &opened.id())?;
    if args.json {
        terminal::json(&found)?;
    } else {
        print(&found)?;
    }
    Ok(opened.outcome())
}

fn print(found: &Resume) -> anyhow::Result<()> {
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
    page.finish()
}
