//! What can be typed about one log, or one file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ToolPolicy;

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  antiphon tail latest                       the session running now
  antiphon tail run.jsonl                    from the beginning, then follow
  antiphon tail run.jsonl --since msg_120    only what came after
  antiphon tail run.jsonl --json | jq .role  as JSON Lines")]
pub(crate) struct Tail {
    /// The session; it need not exist yet
    pub(crate) session: PathBuf,
    /// Begin after this message
    #[arg(long, value_name = "ID")]
    pub(crate) since: Option<String>,
    /// Stop after showing the existing events
    #[arg(long)]
    pub(crate) once: bool,
    /// Stop when the session ends
    #[arg(long)]
    pub(crate) until_end: bool,
    /// Print the events as they are in the log, one per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Missing lines at the end of a log cannot be detected from the log itself. Store the head that
`verify` prints elsewhere, and pass it later:
  antiphon verify run.jsonl --head 35:9f2c…")]
pub(crate) struct Verify {
    /// The sessions
    #[arg(required = true, value_name = "SESSION")]
    pub(crate) sessions: Vec<PathBuf>,
    /// The head that the log must contain, as `n:hash`
    #[arg(long, value_name = "N:HASH")]
    pub(crate) head: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Salvage {
    /// The damaged log, or another session (its readable lines are kept)
    pub(crate) session: PathBuf,
    /// Where to write the copy
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A finding shows the place of a secret, the rule that found it and its first four characters. Exit
code 1 means that secrets were found: rotate them, because anyone who read the file has them.

Examples:
  antiphon scan ~/.claude/projects          everything ever said to an agent
  antiphon scan run.jsonl notes.md --json")]
pub(crate) struct Scan {
    /// Files of any kind, or folders
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A log stays a log: each event is redacted, and the chain is re-sealed. Other text, JSON and JSON
Lines files keep their format. The original file is not changed and still contains the secrets.

Example:
  antiphon redact run.jsonl -o clean.jsonl")]
pub(crate) struct Redact {
    /// The session, or any text file
    pub(crate) session: PathBuf,
    /// Where to write the copy: a file that does not exist yet
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The content decides which standard applies to a document. An error violates the standard; a
warning is about something that the standard leaves open, or that cannot be determined.

Examples:
  antiphon validate data/sessions                    all documents below a folder
  antiphon validate run-multi.json --strict          to the letter of the standard")]
pub(crate) struct Validate {
    /// Documents, or folders of them
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Apply the standard to the letter
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Migrate {
    /// The document
    pub(crate) file: PathBuf,
    /// Write a multi-agent document, even for one agent
    #[arg(long)]
    pub(crate) multi: bool,
    /// A file that does not exist yet, or a folder (created if it ends in /)
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The session
    pub(crate) session: PathBuf,
    /// The format
    #[arg(long = "as", value_enum)]
    pub(crate) format: ExportFormat,
    /// A file that does not exist yet, or for documents a folder (created if it ends in /)
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// How much of tool inputs and outputs a transcript includes
    #[arg(long, value_enum, default_value_t = ToolPolicy::Seed)]
    pub(crate) tools: ToolPolicy,
    /// Which phases a document includes
    #[arg(long, value_enum, default_value_t = PhaseDetail::Advised)]
    pub(crate) phases: PhaseDetail,
    /// Rewrite the document whenever the session grows, until it ends
    #[arg(long, requires = "output")]
    pub(crate) follow: bool,
    /// Do not redact secrets (a native export is never redacted)
    #[arg(long)]
    pub(crate) no_redact: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    /// An Antiphon log
    Antiphon,
    /// A session document, in whichever standard fits
    Std,
    /// A session document for one agent
    #[value(name = "std-001")]
    Std001,
    /// A session document for several agents
    #[value(name = "std-008")]
    Std008,
    /// A transcript, as written by `record`
    Transcript,
    /// An ATIF trajectory, as read by Harbor
    Atif,
    /// Conversations in the format of chat APIs, one line per agent
    Openai,
    /// OpenTelemetry spans (OTLP JSON, GenAI conventions)
    Otlp,
    /// The agent's own file, byte for byte; secrets are not removed
    Native,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PhaseDetail {
    /// By the number of calls: none below 5, only certain ones up to 20, all above
    Advised,
    /// All
    Always,
    /// None, not even recorded ones
    Never,
}
