//! What can be typed. Doc comments are the help.

mod library;
mod log;
mod recording;
mod view;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use library::*;
pub(crate) use log::*;
pub(crate) use recording::*;
pub(crate) use view::*;

/// The record of what AI agents said, did and cost
#[derive(Debug, Parser)]
#[command(name = "antiphon", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Memory limit for unpacking a file or reading a document (default: 256MB)
    #[arg(long, global = true, value_name = "SIZE", value_parser = size, hide = true)]
    pub(crate) max_memory: Option<u64>,
}

/// A number of bytes as a person writes it: `512MB`, `2G`.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = text.get(digits.len()..).unwrap_or_default().trim().to_ascii_lowercase();
    let shift = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err("expected a size such as 512MB or 2GB".to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| "expected a size such as 512MB or 2GB")?;
    number.checked_mul(1 << shift).ok_or_else(|| "the size is too large".to_owned())
}

const EXAMPLES: &str = "\
Examples:
  antiphon demo                                      see what a session looks like
  antiphon record -- claude -p 'Fix it' --output-format stream-json --verbose
  antiphon sync && antiphon search 'flaky test'      search your agents' sessions
  antiphon show latest                               one page about a session
  antiphon view dialog run.jsonl                     who said what, and who heard it
  antiphon view perspective run.jsonl --agent Jill   the session as Jill saw it
  my-program | antiphon append run.jsonl             record from any language

A SESSION is the path of a log, of a folder with a log's segments, or of a file written by a known
agent (see `antiphon formats`); or the id of a kept session (see `antiphon ls`), the first few
characters of its id, or `latest`.
Unpacking a file or reading a document uses at most 256 MB of memory; every command accepts
`--max-memory SIZE` to change the limit.
Exit codes: 0 success, 1 negative result (such as nothing found or not valid), 2 usage error,
3 success, but some input was bad, 4 failure.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the bundled samples: dialog, tree, flow, and a picture
    Demo(Demo),
    /// Run a command and record it transparently
    #[command(after_help = "\
Examples:
  antiphon record -- claude -p 'Fix the test' --output-format stream-json --verbose
  antiphon record --role reviewer --issue 42 --logs-dir logs -- codex exec --json 'Review it'

The command's output, input, signals and exit status pass through unchanged. Other commands
find the session as `latest`.")]
    Record(Record),
    /// Copy new and changed sessions from every agent on this machine
    Sync(Sync),
    /// List the kept sessions, most recently changed first
    Ls(Ls),
    /// Search everything said and done in all kept sessions
    #[command(after_help = "\
All words must match; \"a phrase\" matches literally. Filters: tool:Bash file:src/x.rs agent:codex
project:web role:user since:2026-03-01 until:2026-04-01 is:error. The newest matches come first.")]
    Search(Search),
    /// Show a session on one page
    Show(Session),
    /// Show one view of a session: tree, dialog, perspective, causality …
    View(View),
    /// Count tokens and cost across sessions
    Stats(Stats),
    /// Follow a session while it grows
    Tail(Tail),
    /// Write a session in another format
    Export(Export),
    /// Add a phase or a note to a session
    Annotate(Annotate),
    /// Show the last complete point and any calls without results
    Resume(Session),
    /// Append events, one JSON object per line of stdin
    Append(Append),
    /// Check every line of a log and its chain of hashes
    Verify(Verify),
    /// Write a clean copy of a damaged log
    Salvage(Salvage),
    /// Find secrets in sessions, logs and any other text
    Scan(Scan),
    /// Write a copy without secrets
    Redact(Redact),
    /// Check session documents against their standard, STD-001 or STD-008
    Validate(Validate),
    /// Convert an older session document to the current version
    Migrate(Migrate),
    /// List the formats that can be read and written
    Formats(Formats),
    /// Check session locations and upcoming deletions
    Doctor(Doctor),
    /// Permanently delete a kept session, after showing what will be deleted
    Forget(Forget),
    /// Rebuild the catalogue that `ls`, `search` and `stats` use
    Reindex(Reindex),
    /// Copy an agent's sessions as they happen, using its hooks
    Install(Install),
    /// Run by an agent's hook: reads the hook's JSON, prints nothing, never fails
    Hook(Hook),
    /// Run by `record` to lead the session of a command's terminal
    #[command(hide = true)]
    Lead(Lead),
    /// Run by `record` to write what a command prints
    #[command(hide = true)]
    Scribe(Scribe),
}

#[derive(Debug, Args)]
pub(crate) struct Session {
    /// The session
    pub(crate) session: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where to write the picture (default: a temporary folder)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Formats {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Print a Markdown table
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
}
