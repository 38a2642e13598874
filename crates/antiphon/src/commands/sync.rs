//! `antiphon sync`: the sessions of every agent on this machine, kept.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use antiphon_library::{Environment, Store, source_folders};
use serde::Serialize;

use crate::cli;
use crate::failure::Outcome;
use crate::terminal::{self, Page, complain, count};

/// How often a watching `sync` looks.
const LOOK: Duration = Duration::from_secs(2);

pub(crate) fn run(args: &cli::Sync) -> anyhow::Result<Outcome> {
    let environment = Environment::of_process();
    let store = Store::open_default(&environment)?;
    loop {
        let begun = Instant::now();
        let bar = Bar { is_shown: std::io::stderr().is_terminal() && !args.json, begun };
        let synced =
            store.sync(&environment, args.agent.as_deref(), &|done, of| bar.show(done, of));
        bar.clear();
        for (path, error) in &synced.failed {
            complain(&format!("{}: {error}", path.display()));
        }
        if args.json {
            let told = Told {
                found: synced.found,
                copied: synced.copied,
                busy: synced.busy,
                failed: synced.failed.len(),
            };
            terminal::json(&told)?;
        } else if !args.watch || synced.copied > 0 {
            let mut page = Page::live();
            let agents = source_folders(&environment);
            let mut names: Vec<&str> = agents.iter().map(|folder| folder.agent).collect();
            names.dedup();
            let of = if names.is_empty() { "no agent".to_owned() } else { names.join(", ") };
            page.plain(&format!("{} of {of}", count(synced.found, "session")));
            page.plain(&format!(": {} with something new", synced.copied));
            if synced.busy > 0 {
                page.plain(&format!(", {} being copied by another process", synced.busy));
            }
            page.end()?;
            page.finish()?;
        }
        if !args.watch {
            let is_bad = !synced.failed.is_empty();
            return Ok(if is_bad { Outcome::BadInput } else { Outcome::Done });
        }
        std::thread::sleep(LOOK);
    }
}

#[derive(Debug, Serialize)]
struct Told {
    found: usize,
    copied: usize,
    busy: usize,
    failed: usize,
}

/// How far it has come, on a terminal.
struct Bar {
    is_shown: bool,
    begun: Instant,
}

impl Bar {
    fn show(&self, done: usize, of: usize) {
        let step = (of / 100).max(1);
        if !self.is_shown || (!done.is_multiple_of(step) && done != of) {
            return;
        }
        let took = self.begun.elapsed().as_secs_f64();
        let rate = done as f64 / took.max(0.001);
        let left = (of - done.min(of)) as f64 / rate.max(0.001);
        terminal::progress(&format!(
            "{done} of {of} sessions · {rate:.0} a second · {left:.0} s left"
        ));
    }

    fn clear(&self) {
        if self.is_shown {
            terminal::progress("");
        }
    }
}
