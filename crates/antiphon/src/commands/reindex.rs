//! `antiphon reindex`: rebuilds the catalogue from the store.

use antiphon_library::{Environment, Store};
use clap::Args;

use crate::failure::{Outcome, report_left_out};
use crate::terminal::{self, Bar, Page, count};

#[derive(Debug, Args)]
pub(crate) struct ReindexArgs {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ReindexArgs) -> anyhow::Result<Outcome> {
    let store = Store::open_default(&Environment::of_process())?;
    let bar = Bar::new("sessions read");
    let done = store.reindex(&|done, of| bar.show(done, of))?;
    drop(bar);
    let outcome = report_left_out(&done.left_out);
    if args.json {
        terminal::json(&done)?;
    } else {
        let mut page = Page::new();
        page.plain(&format!("{} read", count(done.read, "session")));
        if done.failed > 0 {
            page.plain(&format!(", {} could not be read", done.failed));
        }
        page.end()?;
        page.finish()?;
    }
    Ok(outcome)
}
