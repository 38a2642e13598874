//! What can be typed about all that is kept.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon ls
  antiphon ls --project shop --since 2026-03-01 --sort cost
  antiphon show latest      the first of the list
  antiphon show 0f0e        by the beginning of its id")]
pub(crate) struct Ls {
    /// Of this agent: a part of its name, as in all of these
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Worked in this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Option<String>,
    /// Recorded in this role
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// Recorded for this issue
    #[arg(long, value_name = "ISSUE")]
    pub(crate) issue: Option<String>,
    /// In this state
    #[arg(long, value_name = "STATUS", value_parser = ["running", "completed", "failed", "timed-out", "cancelled", "interrupted"])]
    pub(crate) status: Option<String>,
    /// Used this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Names this file in what was said or done: a part of its path
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<String>,
    /// Cost this much at least, in dollars
    #[arg(long, value_name = "USD")]
    pub(crate) min_cost: Option<f64>,
    /// Something happened on this day, or later
    #[arg(long, value_name = "DAY", value_parser = antiphon_library::day_or_time)]
    pub(crate) since: Option<antiphon_model::Timestamp>,
    /// Begun before this day
    #[arg(long, value_name = "DAY", value_parser = antiphon_library::day_or_time)]
    pub(crate) until: Option<antiphon_model::Timestamp>,
    /// What comes first
    #[arg(long, value_enum, default_value_t = LsSort::Changed)]
    pub(crate) sort: LsSort,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// In which order sessions are listed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LsSort {
    /// The last to change
    Changed,
    /// The last to begin
    Started,
    /// The dearest
    Cost,
    /// The longest
    Events,
}

#[derive(Debug, Args)]
pub(crate) struct Sync {
    /// Only this agent's
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Go on, and keep what is new as it comes
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
    /// How many places at most
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// What comes first
    #[arg(long, value_enum, default_value_t = SearchSort::Newest)]
    pub(crate) sort: SearchSort,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// In which order places are told.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SearchSort {
    /// The newest sessions first, in each the latest first
    Newest,
    /// What fits best first: only what was said and thought, not what tools were given or gave
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
    /// Check every byte that is kept against its hash
    #[arg(long)]
    pub(crate) deep: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Forget {
    /// The session: its id, or how that begins
    pub(crate) session: String,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Sessions, or folders of them; sub-agents' files are counted with their session. Without any,
    /// all that are kept
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// What a row is
    #[arg(long, value_enum, default_value_t = By::Model)]
    pub(crate) by: By,
    #[command(flatten)]
    pub(crate) prices: PriceTable,
    /// Print a table for a spreadsheet
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
    /// The folder that was worked in
    Project,
    Session,
}

#[derive(Debug, Args)]
pub(crate) struct PriceTable {
    /// A price table of your own
    #[arg(long = "prices", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}
