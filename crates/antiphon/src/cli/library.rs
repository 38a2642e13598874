//! What can be typed about all that is kept.

use std::path::PathBuf;

use antiphon_journal::{Clock as _, SystemClock};
use antiphon_model::Timestamp;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon ls
  antiphon ls --project shop --since 2026-03-01 --sort cost
  antiphon show latest      the first in the list
  antiphon show 0f0e        by the first few characters of its id")]
pub(crate) struct Ls {
    /// Filter by agent; as in every filter, part of the name is enough
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Filter by working folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Option<String>,
    /// Filter by recorded role
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// Filter by recorded issue
    #[arg(long, value_name = "ISSUE")]
    pub(crate) issue: Option<String>,
    /// Filter by status
    #[arg(long, value_name = "STATUS", value_parser = ["running", "completed", "failed", "timed-out", "cancelled", "interrupted"])]
    pub(crate) status: Option<String>,
    /// Filter by tool used
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Filter by a file that was mentioned or touched; part of the path is enough
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<String>,
    /// Filter by minimum cost in dollars
    #[arg(long, value_name = "USD")]
    pub(crate) min_cost: Option<f64>,
    /// Only sessions active on or after this day
    #[arg(long, value_name = "DAY", value_parser = day_or_time)]
    pub(crate) since: Option<antiphon_model::Timestamp>,
    /// Only sessions started before this day
    #[arg(long, value_name = "DAY", value_parser = day_or_time)]
    pub(crate) until: Option<antiphon_model::Timestamp>,
    /// Sort order
    #[arg(long, value_enum, default_value_t = LsSort::Changed)]
    pub(crate) sort: LsSort,
    /// Maximum number of sessions
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// In which order sessions are listed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LsSort {
    /// Most recently changed first
    Changed,
    /// Most recently started first
    Started,
    /// Most expensive first
    Cost,
    /// Longest first
    Events,
}

#[derive(Debug, Args)]
pub(crate) struct Sync {
    /// Only this agent's sessions
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Keep running and copy new events as they arrive
    #[arg(long)]
    pub(crate) watch: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What to look for
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Maximum number of matches
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Sort order
    #[arg(long, value_enum, default_value_t = SearchSort::Newest)]
    pub(crate) sort: SearchSort,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// In which order places are told.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SearchSort {
    /// Newest session first, and within a session the latest match
    Newest,
    /// Best match first; searches messages only, not tool calls
    Relevance,
}

#[derive(Debug, Args)]
pub(crate) struct Reindex {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Check every stored byte against its hash
    #[arg(long)]
    pub(crate) deep: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Forget {
    /// The session: its id, or the first few characters of it
    pub(crate) session: String,
    /// Do not ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Sessions, or folders of them; sub-agents' files are counted with their session. Default: all
    /// kept sessions
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// What to group by
    #[arg(long, value_enum, default_value_t = By::Model)]
    pub(crate) by: By,
    #[command(flatten)]
    pub(crate) prices: PriceTable,
    /// Print CSV, for a spreadsheet
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum By {
    Model,
    /// The program that ran the session
    Agent,
    /// The kind of sub-agent
    SubAgent,
    Day,
    /// The working folder
    Project,
    Session,
}

#[derive(Debug, Args)]
pub(crate) struct PriceTable {
    /// Your own price table
    #[arg(long = "prices", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// A day or a moment, as it is typed.
fn day_or_time(text: &str) -> Result<Timestamp, String> {
    antiphon_catalog::day_or_time(text, SystemClock.now())
}
