//! What can be typed to record, and to add to what was recorded.

use std::path::PathBuf;

use antiphon_formats::{Format, Hooks};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Record {
    #[command(flatten)]
    pub(crate) recording: Recording,
    /// Stop the command after this time: 90, 90s, 10m, 2h
    #[arg(long, value_name = "TIME", value_parser = crate::commands::duration)]
    pub(crate) max_duration: Option<std::time::Duration>,
    /// Wait until everything is written; otherwise the rest is written in the background
    #[arg(long)]
    pub(crate) wait: bool,
    /// Use this configuration file instead of searching for antiphon.toml
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The command and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

/// What `record` hands on to the process that writes.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct Recording {
    /// The agent's role: planner, implementor, reviewer or any other word
    #[arg(long)]
    pub(crate) role: Option<String>,
    /// The issue it works on
    #[arg(long)]
    pub(crate) issue: Option<String>,
    /// A specification it works on; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) spec: Vec<String>,
    /// The run it belongs to
    #[arg(long, visible_alias = "run", value_name = "ID")]
    pub(crate) run_id: Option<String>,
    /// The task it works on
    #[arg(long, visible_alias = "task", value_name = "ID")]
    pub(crate) task_id: Option<String>,
    /// Write a transcript into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) logs_dir: Option<PathBuf>,
    /// How much of tool inputs and outputs a transcript includes
    #[arg(long, value_enum, default_value_t = ToolPolicy::Seed)]
    pub(crate) tools: ToolPolicy,
    /// Append lifecycle events (requested, started, completed, failed) to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Do not redact secrets
    #[arg(long)]
    pub(crate) no_redact: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Scribe {
    #[command(flatten)]
    pub(crate) recording: Recording,
    #[arg(required = true, last = true)]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, ValueEnum)]
pub(crate) enum ToolPolicy {
    /// Tool names, and results as they were printed
    #[default]
    Seed,
    /// Tool names only
    Names,
    /// One line per input and output
    Summary,
    /// Inputs and outputs in full
    Full,
}

#[derive(Debug, Args)]
pub(crate) struct Lead {
    #[arg(required = true, last = true)]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The change to the settings is shown first and must be confirmed; a backup of the file is kept
beside it. `docs/hooks.md` describes what is copied, and where.

Examples:
  antiphon install claude-code
  antiphon install claude-code --remove")]
pub(crate) struct Install {
    /// The agent
    #[arg(value_parser = hooked_agent())]
    pub(crate) agent: Hooked,
    /// Remove the hooks
    #[arg(long)]
    pub(crate) remove: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
}

/// An agent whose hooks are known.
pub(crate) type Hooked = (&'static Format, &'static Hooks);

fn hooked_agent() -> impl TypedValueParser<Value = Hooked> {
    let names = antiphon_formats::hooked().map(|(format, _)| format.name);
    let find = |name: String| antiphon_formats::hooked().find(|(format, _)| format.name == name);
    PossibleValuesParser::new(names).try_map(move |name| find(name).ok_or("no such agent"))
}

#[derive(Debug, Args)]
pub(crate) struct Hook {
    /// The agent whose hook this is; the hooks of Claude Code do not name it
    #[arg(hide = true)]
    pub(crate) agent: Option<std::ffi::OsString>,
    /// Copy what a hook had no time for
    #[arg(long, value_name = "KEY", hide = true)]
    pub(crate) catch_up: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The id of each event is printed when it is acknowledged, one per line; for a rejected line `!` is
printed instead, with the reason on stderr. An event without `message_id` is given one; the same
event with the same id may be sent again.

Example:
  echo '{\"agent_id\":\"jill\",\"role\":\"assistant\",\"content\":\"Hello\"}' | antiphon append run.jsonl")]
pub(crate) struct Append {
    /// The log; it is created if it does not exist
    pub(crate) session: PathBuf,
    /// How safe an event must be before it is acknowledged
    #[arg(long, value_enum, default_value_t = Level::Interval)]
    pub(crate) level: Level,
    /// How many seconds to wait for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub(crate) wait: u64,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Level {
    /// Handed to the operating system; survives a crash of any process
    Os,
    /// The same, and written to disk within a second
    Interval,
    /// Written to disk; survives a power cut
    Disk,
}

#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("what").required(true).args(["phase", "note", "auto"])),
    after_help = "\
The calls are not changed: an annotation is a separate event, whose id is printed.

Examples:
  antiphon annotate run.jsonl --phase explore --from c1 --to c4 --confidence high
  antiphon annotate run.jsonl --note 'the wrong file' --from c3
  antiphon annotate run.jsonl --auto    the phases that `antiphon view phases` derives"
)]
pub(crate) struct Annotate {
    /// The session
    pub(crate) session: PathBuf,
    /// Add a phase
    #[arg(long, value_enum, value_name = "TYPE", requires = "from")]
    pub(crate) phase: Option<PhaseType>,
    /// Add a note
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Add the derived phases, if none are recorded
    #[arg(long, conflicts_with_all = ["from", "to", "confidence", "description", "by"])]
    pub(crate) auto: bool,
    /// The first call it refers to
    #[arg(long, value_name = "CALL")]
    pub(crate) from: Option<String>,
    /// The last call, if there are several
    #[arg(long, value_name = "CALL", requires = "from")]
    pub(crate) to: Option<String>,
    /// How certain the phase is
    #[arg(long, value_enum, default_value_t = Confidence::Medium, conflicts_with = "note")]
    pub(crate) confidence: Confidence,
    /// What happened in the phase
    #[arg(long, value_name = "TEXT", conflicts_with = "note")]
    pub(crate) description: Option<String>,
    /// Who made the annotation
    #[arg(long, value_enum, default_value_t = AnnotatedBy::Human)]
    pub(crate) by: AnnotatedBy,
    /// The agent whose calls these are, by name or id; the main agent by default
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// How many seconds to wait for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub(crate) wait: u64,
}

/// The phases of STD-001.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PhaseType {
    Understand,
    Explore,
    Plan,
    Execute,
    Verify,
    Mixed,
    Unclassified,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Confidence {
    High,
    Medium,
    Low,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum AnnotatedBy {
    Human,
    Agent,
}
