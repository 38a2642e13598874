//! `antiphon view`: one file per view, which prints it as text; the data comes from
//! `antiphon-views`.

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
mod skeleton;
mod spans;
mod timeline;
pub(super) mod trace;
mod transcript;
pub(super) mod tree;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::cli::SessionArgs;
use crate::failure::Outcome;
use crate::opened::Opened;
use crate::terminal::{self, Page};

pub(super) use timeline::event_line;

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    #[command(subcommand)]
    view: ViewKind,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ViewKind {
    /// Which agent created which, recorded or inferred (and by which rule)
    Tree(SessionArgs),
    /// The conversation with an agent: prompts, answers, thoughts, calls and diffs
    Transcript(transcript::TranscriptArgs),
    /// Who said what, and who heard it
    Dialog(dialog::DialogArgs),
    /// What one agent heard, did, received and said
    Perspective(perspective::PerspectiveArgs),
    /// What an agent had in its context at a step, and what had been dropped
    Context(context::ContextArgs),
    /// Every causal link in the session, with its kind and basis
    Causality(SessionArgs),
    /// The chain that led to a message
    Trace(trace::TraceArgs),
    /// Where an utterance went, in what form, and whether it was answered
    Delivery(delivery::DeliveryArgs),
    /// System notices, hook verdicts and blocked calls
    Hooks(SessionArgs),
    /// The messages between agents, as a sequence
    Flow(flow::FlowArgs),
    /// Events in order, with time, lane and duration
    Timeline(timeline::TimelineArgs),
    /// Tool calls, with category, status and duration
    Calls(calls::CallsArgs),
    /// The purpose of each group of calls, as annotated or derived
    Phases(phases::PhasesArgs),
    /// Which call used what another call had read or found
    ContextLinks(SessionArgs),
    /// Coordinator, agents, sub-agents and tool calls, with status, time, tokens and cost
    Spans(spans::SpansArgs),
    /// A run: its states, its sessions and their spans
    Run(run::RunArgs),
    /// What each agent used and cost, alone and with its sub-agents
    Cost(cost::CostArgs),
    /// Events, calls, usage and deliveries as columns of numbers, for programs
    Skeleton(skeleton::SkeletonArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// The agent, by name or id; optional if one agent created all the others
    #[arg(long)]
    agent: Option<String>,
}

pub(super) fn run(args: &ViewArgs) -> anyhow::Result<Outcome> {
    match &args.view {
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
        ViewKind::Skeleton(args) => skeleton::run(args),
    }
}

/// Prints a view's data as JSON or as text, and then what was wrong with the log.
pub(super) fn present<T: Serialize>(
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

/// The name of an agent, given its id.
fn name_of(opened: &Opened, id: &str) -> String {
    let agent = opened.session.find_agent(id);
    agent.map_or_else(|| id.to_owned(), |ix| opened.session.agent_name(ix).to_owned())
}

fn open(args: &SessionArgs) -> anyhow::Result<Opened> {
    Opened::read(&args.session)
}
