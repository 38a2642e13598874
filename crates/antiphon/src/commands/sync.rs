//! `antiphon sync`: the sessions of every agent on this machine, kept.

use std::time::Duration;

use antiphon_formats::FORMATS;
use antiphon_library::{Environment, Store, SyncReport, Synced, source_folders, with_causes};
use clap::Args;

use crate::failure::{Outcome, UserError, report_left_out};
use crate::terminal::{self, Bar, Page, complain, count, product};

/// How often a watching `sync` looks.
const LOOK: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
    /// Only this agent's sessions
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Keep running and copy new events as they arrive
    #[arg(long)]
    watch: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &SyncArgs) -> anyhow::Result<Outcome> {
    let environment = Environment::of_process();
    let store = Store::open_default(&environment)?;
    if let Some(agent) =
        args.agent.as_deref().filter(|agent| !known_agents().any(|it| it == *agent))
    {
        return Err(unknown_agent(agent).into());
    }
    loop {
        let bar = Bar::new("sessions kept");
        let synced =
            store.sync(&environment, args.agent.as_deref(), &|done, of| bar.show(done, of));
        drop(bar);
        let bar = Bar::new("sessions read");
        // What is kept is kept: the catalogue is made again by whoever asks next.
        let left_out = match store.catalogue_in_step(&|done, of| bar.show(done, of)) {
            Ok(catalogue) => catalogue.left_out(),
            Err(error) => {
                complain(&format!("antiphon: {}", with_causes(&error)));
                Vec::new()
            }
        };
        drop(bar);
        report_left_out(&left_out);
        report(&synced);
        if args.json {
            terminal::json(&SyncReport::from(&synced))?;
        } else if !args.watch || synced.copied > 0 {
            let mut page = Page::live();
            let agents = source_folders(&environment);
            let mut names: Vec<&str> = agents.iter().map(|folder| folder.agent).collect();
            names.retain(|name| args.agent.as_deref().is_none_or(|agent| agent == *name));
            names.dedup();
            if names.is_empty() {
                page.plain("No agent's sessions were found on this machine.");
            } else {
                let sessions = count(synced.found, "session");
                page.plain(&format!("{sessions} ({})", names.join(", ")));
                page.plain(&format!(": {} updated", synced.copied));
            }
            if synced.busy > 0 {
                page.plain(&format!(", {} being copied by another process", synced.busy));
            }
            if synced.unread > 0 {
                page.plain(&format!("; {} skipped", count(synced.unread, "other file")));
            }
            page.end()?;
            page.finish()?;
        }
        if !args.watch {
            let is_bad = !synced.failed.is_empty() || !left_out.is_empty();
            return Ok(if is_bad { Outcome::BadInput } else { Outcome::Done });
        }
        std::thread::sleep(LOOK);
    }
}

/// Says on stderr what was not kept, and why.
fn report(synced: &Synced) {
    for (path, error) in &synced.failed {
        complain(&format!("{}: {}", path.display(), with_causes(error)));
    }
    for (path, agent) in &synced.newly_unread {
        complain(&format!("{}: skipped: not a valid {} session", path.display(), product(agent)));
    }
    if let Some(first) = synced.orphans.first() {
        let files = count(synced.orphans.len(), "sub-agent file");
        complain(&format!("skipped {files} not belonging to any session: {} …", first.display()));
    }
    for (path, why) in &synced.skipped {
        complain(&format!("{}: skipped: {why}", path.display()));
    }
    for session in &synced.forgotten {
        complain(&format!("Finished an interrupted deletion of session {session}."));
    }
}

/// The agents whose sessions can be kept.
fn known_agents() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().filter(|format| format.layout.kept.is_some()).map(|format| format.name)
}

fn unknown_agent(agent: &str) -> UserError {
    let lower = agent.to_lowercase();
    let is_near = |known: &&str| known.contains(&lower) || lower.contains(*known);
    match known_agents().find(is_near).filter(|_| !lower.is_empty()) {
        Some(near) => UserError::usage(format!("unknown agent `{agent}`; did you mean `{near}`?")),
        None => UserError::usage(format!("unknown agent `{agent}`"))
            .hint(format!("known agents: {}", known_agents().collect::<Vec<_>>().join(", "))),
    }
}
