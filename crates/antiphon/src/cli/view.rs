//! What can be typed to look at a session from one side.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{PriceTable, Session};

#[derive(Debug, Args)]
pub(crate) struct View {
    #[command(subcommand)]
    pub(crate) view: ViewKind,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ViewKind {
    /// Which agent created which, recorded or inferred (and by which rule)
    Tree(Session),
    /// One agent's messages, in order
    Transcript(OfAgent),
    /// Who said what, and who heard it
    Dialog(Dialog),
    /// What one agent heard, did, received and said
    Perspective(Perspective),
    /// What an agent had in its context at a step, and what it had lost
    Context(Context),
    /// Every causal link in the session, with its kind and basis
    Causality(Session),
    /// The chain that led to a message
    Trace(Trace),
    /// Where an utterance went, in what form, and whether it was answered
    Delivery(Delivery),
    /// System notices, hook verdicts, blocked calls
    Hooks(Session),
    /// The messages between agents, as a sequence
    Flow(Flow),
    /// Events in order with time, lane and duration
    Timeline(Timeline),
    /// The tool calls: category, status, duration
    Calls(Calls),
    /// What groups of calls were for, as annotated or derived
    Phases(Phases),
    /// Which call fed which: what was read or found, and the call that used it
    ContextLinks(Session),
    /// Run, coordinator, agents, sub-agents, tool calls: with status, time, tokens and cost
    Spans(Spans),
    /// A run: its states, its sessions, and their spans
    Run(Run),
    /// What each agent used and cost, its own and in total
    Cost(Cost),
}

#[derive(Debug, Args)]
pub(crate) struct OfAgent {
    #[command(flatten)]
    pub(crate) session: Session,
    /// The agent, by name or id; optional if one agent created all the others
    #[arg(long)]
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Dialog {
    #[command(flatten)]
    pub(crate) session: Session,
    /// Only what this agent said; may be repeated
    #[arg(long)]
    pub(crate) agent: Vec<String>,
    /// Only what this agent heard
    #[arg(long, value_name = "AGENT")]
    pub(crate) heard_by: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Perspective {
    #[command(flatten)]
    pub(crate) of: OfAgent,
    /// Up to this message
    #[arg(long, value_name = "ID")]
    pub(crate) at: Option<String>,
    /// Include the agents that it created
    #[arg(long)]
    pub(crate) inner: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Context {
    #[command(flatten)]
    pub(crate) of: OfAgent,
    /// Up to this message; for one of the agent's own, what it had before
    #[arg(long, value_name = "ID")]
    pub(crate) at: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Trace {
    /// The session
    pub(crate) session: PathBuf,
    /// The message
    pub(crate) message: String,
    /// What it led to, instead of what led to it
    #[arg(long)]
    pub(crate) forward: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Delivery {
    /// The session
    pub(crate) session: PathBuf,
    /// The message; all messages if omitted
    pub(crate) message: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Calls {
    #[command(flatten)]
    pub(crate) session: Session,
    /// Only those that failed
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only those of this tool
    #[arg(long)]
    pub(crate) tool: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Phases {
    #[command(flatten)]
    pub(crate) session: Session,
    /// Only this agent's calls, by name or id
    #[arg(long, conflicts_with = "all")]
    pub(crate) agent: Option<String>,
    /// The calls of every agent: what is shown anyway
    #[arg(long, hide = true)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Timeline {
    #[command(flatten)]
    pub(crate) session: Session,
    /// Only this agent's events, by name or id; may be repeated, as all of these
    #[arg(long)]
    pub(crate) agent: Vec<String>,
    /// Only messages in this role
    #[arg(long, value_parser = ["user", "assistant", "tool", "system"])]
    pub(crate) role: Vec<String>,
    /// Only messages from an agent, by name or id, from `external` or from `system`
    #[arg(long)]
    pub(crate) source: Vec<String>,
    /// Only events of this kind, as `said`, `called`, `heard`, `received`, `agent_created`
    #[arg(long)]
    pub(crate) kind: Vec<String>,
    /// Only calls of this tool, and their results
    #[arg(long)]
    pub(crate) tool: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The run's id; or a log that belongs to one
    pub(crate) run: String,
    /// Logs, or folders of logs, to look in instead of the sessions that are kept
    pub(crate) paths: Vec<PathBuf>,
    /// Each span with those below it, and with totals
    #[arg(long)]
    pub(crate) tree: bool,
    #[command(flatten)]
    pub(crate) prices: PriceTable,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Spans {
    #[command(flatten)]
    pub(crate) session: Session,
    /// Nest spans, with totals
    #[arg(long)]
    pub(crate) tree: bool,
    #[command(flatten)]
    pub(crate) prices: PriceTable,
}

#[derive(Debug, Args)]
pub(crate) struct Cost {
    #[command(flatten)]
    pub(crate) session: Session,
    /// List every counted request with its file and line, and every skipped duplicate
    #[arg(long)]
    pub(crate) ledger: bool,
    #[command(flatten)]
    pub(crate) prices: PriceTable,
}

#[derive(Debug, Args)]
pub(crate) struct Flow {
    #[command(flatten)]
    pub(crate) session: Session,
    /// As a Mermaid sequence diagram
    #[arg(long, conflicts_with_all = ["svg", "json"])]
    pub(crate) mermaid: bool,
    /// As a self-contained SVG picture
    #[arg(long, conflicts_with = "json")]
    pub(crate) svg: bool,
}
