//! The command line: the list of commands, and arguments that several of them have. The other
//! arguments of a command are beside it, in `commands/`. Doc comments are the help texts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    annotate, append, blame, changes, chat, completions, config, demo, diff, digest, doctor,
    export, forget, formats, hook, install, lead, ls, man, mcp, migrate, open, record, redact,
    reindex, resume, salvage, scan, scribe, search, serve, show, stats, statusline, sync, tail,
    token, validate, verify, view,
};
use crate::terminal::Colour;

/// The record of what AI agents said, did and cost
#[derive(Debug, Parser)]
#[command(name = "antiphon", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Memory limit for unpacking a file or reading a document (default: 256MB)
    #[arg(long, global = true, value_name = "SIZE", value_parser = size, hide = true)]
    pub(crate) max_memory: Option<u64>,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, hide = true)]
    pub(crate) color: Colour,
    /// Print directly, without a pager
    #[arg(long, global = true, hide = true)]
    pub(crate) no_pager: bool,
    /// Answer from the library as it is, without copying what is new first
    #[arg(long, global = true, hide = true)]
    pub(crate) no_sync: bool,
}

/// Parses a number of bytes such as `512MB` or `2G`.
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
characters of its id, `latest`, or `latest~1` for the one before it. Message ids can be shortened, too.
Commands that read the library first copy what is new, for at most 0.3 seconds; `--no-sync`, or
`[library] fresh = false` in the configuration, turns that off.
Unpacking a file or reading a document uses at most 256 MB of memory; every command accepts
`--max-memory SIZE` to change the limit.
Every command accepts `--color auto|always|never` and `--no-pager`; long output goes through
$ANTIPHON_PAGER, $PAGER or `less`.
Exit codes: 0 success, 1 negative result (such as nothing found or not valid), 2 usage error,
3 success, but some input was bad, 4 failure.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the bundled samples: dialog, tree, flow, and a picture
    Demo(demo::DemoArgs),
    /// Talk with agents that create agents and talk to one another
    Chat(chat::ChatArgs),
    /// Run a command and record it transparently
    Record(record::RecordArgs),
    /// Copy new and changed sessions from every agent on this machine
    Sync(sync::SyncArgs),
    /// List the kept sessions, most recently changed first
    Ls(ls::LsArgs),
    /// Search everything said and done in all kept sessions
    Search(search::SearchArgs),
    /// Show a session on one page
    Show(show::ShowArgs),
    /// Show one view of a session: tree, dialog, perspective, causality …
    View(view::ViewArgs),
    /// Show what sessions changed, as a diff
    Changes(changes::ChangesArgs),
    /// Show who wrote each line of a file, and why
    Blame(blame::BlameArgs),
    /// Show what sessions did: prompts, changes, commits, failures and cost
    Digest(digest::DigestArgs),
    /// Compare two sessions, and show the first step where they differ
    Diff(diff::DiffArgs),
    /// Count tokens, cost and tool calls across sessions
    Stats(stats::StatsArgs),
    /// Print one line for the status line of Claude Code
    Statusline(statusline::StatuslineArgs),
    /// Open the sessions in a browser
    Open(open::OpenArgs),
    /// Serve the sessions over HTTP, to this machine or to others
    Serve(serve::ServeArgs),
    /// Create, list and revoke tokens for the server
    Token(token::TokenArgs),
    /// Follow a session while it grows
    Tail(tail::TailArgs),
    /// Write a session in another format
    Export(export::ExportArgs),
    /// Add a phase or a note to a session
    Annotate(annotate::AnnotateArgs),
    /// Show where a session stands, and continue it with its agent or elsewhere
    Resume(resume::ResumeArgs),
    /// Append events, one JSON object per line of stdin
    Append(append::AppendArgs),
    /// Check every line of a log and its chain of hashes
    Verify(verify::VerifyArgs),
    /// Write a clean copy of a damaged log
    Salvage(salvage::SalvageArgs),
    /// Find secrets in sessions, logs and any other text
    Scan(scan::ScanArgs),
    /// Write a copy without secrets
    Redact(redact::RedactArgs),
    /// Check session documents against their standard, STD-001 or STD-008
    Validate(validate::ValidateArgs),
    /// Convert an older session document to the current version
    Migrate(migrate::MigrateArgs),
    /// List the formats that can be read and written
    Formats(formats::FormatsArgs),
    /// Check session locations and upcoming deletions
    Doctor(doctor::DoctorArgs),
    /// Show the settings in force, and where each comes from
    Config(config::ConfigArgs),
    /// Print a script that completes commands in your shell
    Completions(completions::CompletionsArgs),
    /// Write the manual pages
    Man(man::ManArgs),
    /// Permanently delete a kept session, after showing what will be deleted
    Forget(forget::ForgetArgs),
    /// Rebuild the catalogue that `ls`, `search` and `stats` use
    Reindex(reindex::ReindexArgs),
    /// Copy an agent's sessions as they happen, using its hooks
    Install(install::InstallArgs),
    /// Answer an agent's questions about earlier sessions (Model Context Protocol, on stdio)
    Mcp(mcp::McpArgs),
    /// Run by an agent's hook: reads the hook's JSON, prints nothing, never fails
    Hook(hook::HookArgs),
    /// Run by `record` to lead the session of a command's terminal
    #[command(hide = true)]
    Lead(lead::LeadArgs),
    /// Run by `record` to write what a command prints
    #[command(hide = true)]
    Scribe(scribe::ScribeArgs),
}

// Not a doc comment: clap would show it in the help of every command that takes this.
#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// The session
    pub(crate) session: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PriceArgs {
    /// Your own price table
    #[arg(long = "prices", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}
