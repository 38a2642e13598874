//! `antiphon chat`: agents that make agents and talk, on any model or on none.

mod conversation;
mod fork;
mod input;
mod output;
mod place;
mod prepared;
mod screen;
mod signals;
mod slash;
mod talk;
mod trust;

use std::path::PathBuf;

use antiphon_agents::BUNDLED;
use clap::Args;

use crate::failure::Outcome;
use crate::terminal::{Page, Style};

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Models: openai/NAME ($OPENAI_API_KEY, $OPENAI_BASE_URL), anthropic/NAME ($ANTHROPIC_API_KEY,
$ANTHROPIC_BASE_URL), script:FILE (answers that you wrote), replay:SESSION (recorded answers).

Examples:
  antiphon chat --cast list                          the casts that come along
  antiphon chat --cast debate                        one of them; needs no network
  antiphon chat --model openai/gpt-5-mini --system 'You host a quiz.'
  antiphon chat --resume latest                      go on where a session stopped
  antiphon chat --fork latest@msg_012                go another way from a message on

Without a terminal, every line of stdin is a prompt, and stdout has what the root says.
Exit codes: 0 success, 1 calls are open, 2 usage error, 4 a model failed for good, or the session
is being written by somebody else.")]
pub(crate) struct ChatArgs {
    /// Who is there: a TOML file, or a cast that comes along (`list` names them)
    #[arg(long, value_name = "FILE")]
    cast: Option<PathBuf>,
    /// The model of every agent
    #[arg(long)]
    model: Option<String>,
    /// Who the root is, in a new session
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["resume", "fork"])]
    system: Option<String>,
    /// Write the log here, and not into the store
    #[arg(long, value_name = "PATH", conflicts_with_all = ["resume", "temp"])]
    log: Option<PathBuf>,
    /// What the session is called
    #[arg(long, conflicts_with = "resume")]
    title: Option<String>,
    /// Start an MCP server and offer its tools; may be repeated
    #[arg(long, value_name = "COMMAND")]
    mcp: Vec<String>,
    /// Keep nothing
    #[arg(long, conflicts_with = "resume")]
    temp: bool,
    /// Go on with a session
    #[arg(long, value_name = "SESSION", conflicts_with = "fork")]
    resume: Option<PathBuf>,
    /// Begin a session with a copy of another, up to a message
    #[arg(long, value_name = "SESSION@MESSAGE")]
    fork: Option<String>,
    /// Go on with calls that have no result; those of other tools count as interrupted
    #[arg(long)]
    close_open: bool,
    /// The model that answers where a replay differs from its recording
    #[arg(long, value_name = "MODEL")]
    then: Option<String>,
    /// Stay when stdin ends, until a signal comes or nothing happens for too long
    #[arg(long)]
    stay: bool,
    /// Say this first; may be repeated
    #[arg(long, value_name = "TEXT")]
    prompt: Vec<String>,
    /// Print every event as it is logged
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ChatArgs) -> anyhow::Result<Outcome> {
    if args.cast.as_deref().is_some_and(|cast| cast.as_os_str() == "list") {
        return list();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(talk::talk(args));
    // A thread may still wait for a service or for stdin; nobody waits for it.
    runtime.shutdown_background();
    outcome
}

fn list() -> anyhow::Result<Outcome> {
    let mut page = Page::new();
    for cast in BUNDLED {
        page.add(Style::Name, &format!("{:<20}", cast.name)).plain(cast.about).end()?;
    }
    page.finish()?;
    Ok(Outcome::Done)
}
