//! `antiphon view`: one file per view, each the text for a person; the data is `antiphon-views`'.

mod calls;
mod causality;
mod context;
mod context_links;
pub(super) mod cost;
mod delivery;
pub(super) mod dialog;
pub(super) mod flow;
mod hooks;
pub(super) mod perspective;
mod phases;
mod run;
mod spans;
mod timeline;
mod trace;
mod transcript;
pub(super) mod tree;

use serde::Serialize;

use crate::cli::{self, ViewKind};
use crate::failure::Outcome;
use crate::opened::Opened;
use crate::terminal::{self, Page};

pub(super) use timeline::event_line;

pub(super) fn run(view: &ViewKind) -> anyhow::Result<Outcome> {
    match view {
        ViewKind::Tree(args) => tree::run(args),
        ViewKind::Transcript(args) => transcript::run(args),
        ViewKind::Dialog(args) => dialog::run(args),
        ViewKind::Perspective(args) => perspective::run(args),
        ViewKind::Context(args) => context::run(args),
        ViewKind::Causality(args) => causality::run(args),
        ViewKind::Trace(args) => trace::run(args),
        ViewKind::Delivery(args) => delivery::run(args),
        ViewKind::Hooks(args) => hooks::run(args),
        ViewKind::Flow(args) => flow::run(args),
        ViewKind::Timeline(args) => timeline::run(args),
        ViewKind::Calls(args) => calls::run(args),
        ViewKind::Phases(args) => phases::run(args),
        ViewKind::ContextLinks(args) => context_links::run(args),
        ViewKind::Spans(args) => spans::run(args),
        ViewKind::Run(args) => run::run(args),
        ViewKind::Cost(args) => cost::run(args),
    }
}

/// Prints a view's data as JSON or as text, and then what was wrong with the log.
fn present<T: Serialize>(
    opened: &Opened,
    json: bool,
    data: &T,
    print: impl FnOnce(&mut Page, &T) -> anyhow::Result<()>,
) -> anyhow::Result<Outcome> {
    if json {
        terminal::json(data)?;
    } else {
        let mut page = Page::new();
        print(&mut page, data)?;
        page.finish()?;
    }
    Ok(opened.outcome())
}

/// What an agent is called, by its id.
fn name_of(opened: &Opened, id: &str) -> String {
    let agent = opened.session.find_agent(id);
    agent.map_or_else(|| id.to_owned(), |ix| opened.session.agent_name(ix).to_owned())
}

fn open(args: &cli::Session) -> anyhow::Result<Opened> {
    Opened::read(&args.session)
}
