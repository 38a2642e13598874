//! `antiphon mcp`: answers an agent's questions about earlier sessions.

use antiphon_library::{Config, Environment};
use antiphon_mcp::{Library, serve};
use clap::Args;

use crate::failure::Outcome;
use crate::price_table;
use crate::range::local_zone;
use crate::redaction::redactor;

#[derive(Debug, Args)]
#[command(after_help = "\
`antiphon install AGENT --mcp` tells an agent to start this server. Only sessions of the project around
the current folder can be asked for, unless --all-projects is given; secrets are redacted. `docs/mcp.md`
describes the tools.")]
pub(crate) struct McpArgs {
    /// Answer questions about the sessions of all projects
    #[arg(long)]
    all_projects: bool,
}

pub(crate) fn run(args: &McpArgs) -> anyhow::Result<Outcome> {
    let environment = Environment::of_process();
    serve(Library {
        is_fresh: Config::load(None, &environment)?.library.fresh,
        environment,
        redactor: redactor(),
        prices: price_table::load(None)?,
        zone: local_zone(),
        has_all_projects: args.all_projects,
    })?;
    Ok(Outcome::Done)
}
