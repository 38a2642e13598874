//! One file per command.

pub(crate) mod annotate;
pub(crate) mod append;
pub(crate) mod blame;
pub(crate) mod changes;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod digest;
pub(crate) mod doctor;
pub(crate) mod document;
pub(crate) mod export;
pub(crate) mod follow;
pub(crate) mod forget;
pub(crate) mod formats;
pub(crate) mod hook;
pub(crate) mod install;
pub(crate) mod lead;
pub(crate) mod ls;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod migrate;
pub(crate) mod open;
mod page;
pub(crate) mod record;
pub(crate) mod redact;
pub(crate) mod reindex;
pub(crate) mod resume;
pub(crate) mod salvage;
pub(crate) mod scan;
pub(crate) mod scribe;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod statusline;
pub(crate) mod sync;
pub(crate) mod tail;
pub(crate) mod token;
pub(crate) mod validate;
pub(crate) mod verify;
pub(crate) mod view;
pub(crate) mod welcome;

use crate::cli::{Cli, Command};
use crate::failure::Outcome;
use crate::terminal::Screen;

/// What to do about an empty store.
const NOTHING_KEPT: &str =
    "No sessions have been kept yet; `antiphon sync` copies your agents' sessions.";

pub(crate) fn run(cli: Cli) -> anyhow::Result<Outcome> {
    if let Some(bytes) = cli.max_memory {
        antiphon_sources::allow_memory(bytes);
    }
    Screen { colour: cli.color, has_pager: !cli.no_pager }.choose();
    crate::fresh::set_no_sync(cli.no_sync);
    match cli.command {
        None => welcome::run(),
        Some(Command::Demo(args)) => demo::run(&args),
        Some(Command::Chat(args)) => chat::run(&args),
        Some(Command::Ls(args)) => ls::run(&args),
        Some(Command::Mcp(args)) => mcp::run(&args),
        Some(Command::Show(args)) => show::run(&args),
        Some(Command::Changes(args)) => changes::run(&args),
        Some(Command::Blame(args)) => blame::run(&args),
        Some(Command::View(args)) => view::run(&args),
        Some(Command::Open(args)) => open::run(&args),
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::Token(args)) => token::run(&args),
        Some(Command::Tail(args)) => tail::run(&args),
        Some(Command::Append(args)) => append::run(&args),
        Some(Command::Annotate(args)) => annotate::run(&args),
        Some(Command::Resume(args)) => resume::run(&args),
        Some(Command::Export(args)) => export::run(&args),
        Some(Command::Stats(args)) => stats::run(&args),
        Some(Command::Digest(args)) => digest::run(&args),
        Some(Command::Diff(args)) => diff::run(&args),
        Some(Command::Statusline(args)) => statusline::run(&args),
        Some(Command::Verify(args)) => verify::run(&args),
        Some(Command::Salvage(args)) => salvage::run(&args),
        Some(Command::Scan(args)) => scan::run(&args),
        Some(Command::Redact(args)) => redact::run(&args),
        Some(Command::Validate(args)) => validate::run(&args),
        Some(Command::Sync(args)) => sync::run(&args),
        Some(Command::Config(args)) => config::run(&args),
        Some(Command::Completions(args)) => completions::run(&args),
        Some(Command::Man(args)) => man::run(&args),
        Some(Command::Search(args)) => search::run(&args),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::Forget(args)) => forget::run(&args),
        Some(Command::Reindex(args)) => reindex::run(&args),
        Some(Command::Record(args)) => record::run(&args),
        Some(Command::Migrate(args)) => migrate::run(&args),
        Some(Command::Formats(args)) => formats::run(&args),
        Some(Command::Install(args)) => install::run(&args),
        Some(Command::Hook(args)) => Ok(hook::run(&args)),
        Some(Command::Scribe(args)) => scribe::run(&args),
        Some(Command::Lead(args)) => Ok(lead::run(&args)),
    }
}
