//! `antiphon reindex`: the catalogue, made again from what is kept.

use antiphon_library::{Environment, Store};
use serde::Serialize;

use crate::cli;
use crate::failure::Outcome;
use crate::terminal::{self, Bar, Page, count};

#[derive(Debug, Serialize)]
struct Told {
    read: usize,
    failed: usize,
}

pub(crate) fn run(args: &cli::Reindex) -> anyhow::Result<Outcome> {
    let store = Store::open_default(&Environment::of_process())?;
    let bar = Bar::new("sessions read");
    let done = store.reindex(&|done, of| bar.show(done, of))?;
    drop(bar);
    if args.json {
        terminal::json(&Told { read: done.read, failed: done.failed })?;
    } else {
        let mut page = Page::new();
        page.plain(&format!("{} read", count(done.read, "session")));
        if done.failed > 0 {
            page.plain(&format!(", {} could not be", done.failed));
        }
        page.end()?;
        page.finish()?;
    }
    Ok(if done.failed > 0 { Outcome::BadInput } else { Outcome::Done })
}
