//! `antiphon resume`: where a session can be taken up again, and how to go on with it elsewhere.

mod bodies;
mod native;

use std::path::PathBuf;

use antiphon_library::{Environment, NativeFile, Resumption, restore, resumption};
use antiphon_views::Resume;
use clap::Args;

use crate::failure::{Outcome, UserError};
use crate::opened::{Opened, locate};
use crate::terminal::{self, Page, Style, clip, complain, count};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon resume latest              where it stands, and the command that continues it
  antiphon resume latest --restore    put the agent's own file back, if the agent has deleted it
  antiphon resume latest --run        the same, and continue with that agent in its folder
  antiphon resume latest --as anthropic > bodies.jsonl

`--as openai` and `--as anthropic` print the transcripts as request bodies that these services
accept once your next words are added: a line for each agent, or the body of one (--agent).")]
pub(crate) struct ResumeArgs {
    /// The session
    session: PathBuf,
    /// Print one JSON document
    #[arg(long, conflicts_with_all = ["target", "run"])]
    json: bool,
    /// Continue as: openai, anthropic (request bodies), or the agent whose session it is
    #[arg(long = "as", value_name = "TARGET")]
    target: Option<String>,
    /// Only this agent's body
    #[arg(long, requires = "target")]
    agent: Option<String>,
    /// Put the agent's own file back where the agent looks for it
    #[arg(long)]
    restore: bool,
    /// Put it back, and start the agent in the session's folder
    #[arg(long)]
    run: bool,
}

pub(crate) fn run(args: &ResumeArgs) -> anyhow::Result<Outcome> {
    match args.target.as_deref() {
        Some("openai") => return bodies::run(args, bodies::Service::OpenAi),
        Some("anthropic") => return bodies::run(args, bodies::Service::Anthropic),
        Some(agent) => return native::run(args, Some(agent)),
        None if args.run => return native::run(args, None),
        None => {}
    }
    if args.agent.is_some() {
        return Err(UserError::usage("--agent needs --as openai or --as anthropic").into());
    }
    let opened = Opened::read(&args.session)?;
    let path = locate(&args.session)?;
    let native = match args.restore {
        true => Some(NativeFile::from(restore(&path, &Environment::of_process())?)),
        false => NativeFile::of(&path, &opened),
    };
    let found = resumption(&opened, native)?;
    if args.json {
        terminal::json(&found)?;
    } else {
        let mut page = Page::new();
        if !args.restore {
            print(&mut page, &found.resume)?;
        }
        print_command(&mut page, &found, args)?;
        page.finish()?;
    }
    Ok(opened.outcome())
}

/// How the agent continues it, and whether it still has its file.
fn print_command(page: &mut Page, found: &Resumption, args: &ResumeArgs) -> anyhow::Result<()> {
    let session = args.session.display();
    match &found.native {
        Some(NativeFile { path, restored: true }) => complain(&format!("Restored {path}")),
        Some(NativeFile { path, .. }) if args.restore => {
            complain(&format!("Already there: {path}"));
        }
        Some(native) if !native.is_there() => {
            page.end()?;
            page.plain("The agent's own file is gone: ").faint(&native.path).end()?;
            page.plain("`antiphon resume ").plain(&session.to_string());
            page.plain(" --restore` puts it back, `--run` also continues the session.").end()?;
        }
        Some(_) | None => {}
    }
    if let Some(command) = &found.command {
        if !args.restore {
            page.end()?;
            page.plain("Continue with: ");
        }
        page.add(Style::Call, command).end()?;
    }
    Ok(())
}

fn print(page: &mut Page, found: &Resume) -> anyhow::Result<()> {
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
    Ok(())
}
