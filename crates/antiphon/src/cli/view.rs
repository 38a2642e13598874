//! What can be typed to look at a session from one side.

use std::path::PathBuf;

use antiphon_views::TimelineKind;
use clap::builder::{PossibleValuesParser, TypedValueParser};
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
    /// What an agent had in its context at a step, and what had been dropped
    Context(Context),
    /// Every causal link in the session, with its kind and basis
    Causality(Session),
    /// The chain that led to a message
    Trace(Trace),
    /// Where an utterance went, in what form, and whether it was answered
    Delivery(Delivery),
    /// System notices, hook verdicts and blocked calls
    Hooks(Session),
    /// The messages between agents, as a sequence
    Flow(Flow),
    /// Events in order, with time, lane and duration
    Timeline(Timeline),
    /// Tool calls, with category, status and duration
    Calls(Calls),
    /// The purpose of each group of calls, as annotated or derived
    Phases(Phases),
    /// Which call used what another call had read or found
    ContextLinks(Session),
    /// Coordinator, agents, sub-agents and tool calls, with status, time, tokens and cost
    Spans(Spans),
    /// A run: its states, its sessions and their spans
    Run(Run),
    /// What each agent used and cost, alone and with its sub-agents
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
    /// Up to this message; for one of the agent's own messages, the context before it
    #[arg(long, value_name = "ID")]
    pub(crate) at: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Trace {
    /// The session
    pub(crate) session: PathBuf,
    /// The message
    pub(crate) message: String,
    /// Show what it led to, instead of what led to it
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
    /// Only failed calls
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only calls of this tool
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
    /// The calls of every agent (the default)
    #[arg(long, hide = true)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Timeline {
    #[command(flatten)]
    pub(crate) session: Session,
    /// Only this agent's events, by name or id (every filter may be repeated)
    #[arg(long)]
    pub(crate) agent: Vec<String>,
    /// Only messages with this role
    #[arg(long, value_parser = ["user", "assistant", "tool", "system"])]
    pub(crate) role: Vec<String>,
    /// Only messages from this source: an agent's name or id, `external` or `system`
    #[arg(long)]
    pub(crate) source: Vec<String>,
    /// Only events of this kind
    #[arg(long, value_parser = timeline_kinds())]
    pub(crate) kind: Vec<TimelineKind>,
    /// Only calls of this tool, and their results
    #[arg(long)]
    pub(crate) tool: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The id of a run, or a log that belongs to one
    pub(crate) run: String,
    /// Logs or folders of logs to search, instead of the kept sessions
    pub(crate) paths: Vec<PathBuf>,
    /// Nest spans, with totals
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
    /// Print a Mermaid sequence diagram
    #[arg(long, conflicts_with_all = ["svg", "json"])]
    pub(crate) mermaid: bool,
    /// Print a self-contained SVG picture
    #[arg(long, conflicts_with = "json")]
    pub(crate) svg: bool,
}

/// The kinds of events, by their names.
fn timeline_kinds() -> impl TypedValueParser<Value = TimelineKind> {
    let known = PossibleValuesParser::new(TimelineKind::ALL.map(TimelineKind::as_str));
    known.try_map(|word| TimelineKind::from_word(&word).ok_or("unknown kind"))
}
