//! What can be typed. Doc comments are the help.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

/// The record of what AI agents said, did and cost
#[derive(Debug, Parser)]
#[command(name = "antiphon", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  antiphon demo                                      see what a session looks like
  antiphon record -- claude -p 'Fix it' --output-format stream-json --verbose
  antiphon sync && antiphon search 'flaky test'      everything that your agents did
  antiphon show latest                               one page about a session
  antiphon view dialog run.jsonl                     who said what, and who heard it
  antiphon view perspective run.jsonl --agent Jill   the session as Jill saw it
  my-program | antiphon append run.jsonl             record from any language

A SESSION is the path of a log (or of a folder of its segments), or of a file that a known agent
wrote (`antiphon formats`); or a session that is kept (`antiphon ls`): its id, the beginning of its
id, or `latest`.
Exit codes: 0 done, 1 the answer is no, 2 usage, 3 done but some input was bad, 4 failed.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the bundled samples: dialog, tree, flow, and a picture
    Demo(Demo),
    /// Run an agent and record what it does; it does not notice
    #[command(after_help = "\
Examples:
  antiphon record -- claude -p 'Fix the test' --output-format stream-json --verbose
  antiphon record --role reviewer --issue 42 --logs-dir logs -- codex exec --json 'Review it'

The command's output, input, signals and exit status pass through unchanged. The session is
`latest` to every other command.")]
    Record(Record),
    /// Find the sessions of every agent on this machine, and keep what is new of them
    Sync(Sync),
    /// List the sessions that are kept, the last to change first
    Ls(Ls),
    /// Find words in everything that was said and done, in all sessions that are kept
    #[command(after_help = "\
Words must all be there; \"a phrase\" must stand so. Filters: tool:Bash file:src/x.rs agent:codex
project:web role:user since:2026-03-01 until:2026-04-01 is:error. The newest come first.")]
    Search(Search),
    /// Show a session on one page
    Show(Session),
    /// Show a session from one side: tree, dialog, perspective, causality …
    View(View),
    /// Count tokens and cost over sessions
    Stats(Stats),
    /// Follow a session while it grows
    Tail(Tail),
    /// Write a session in another form
    Export(Export),
    /// Say what calls were for: add a phase or a note to a log
    Annotate(Annotate),
    /// Name the last complete point and every call without a result
    Resume(Session),
    /// Append events, one JSON object per line of stdin
    Append(Append),
    /// Check every line of a log, and the chain that they form
    Verify(Verify),
    /// Write a clean copy of a damaged log
    Salvage(Salvage),
    /// Look for secrets in sessions, logs and any other text
    Scan(Scan),
    /// Write a copy without secrets
    Redact(Redact),
    /// Check session documents against their standard, STD-001 or STD-008
    Validate(Validate),
    /// Write an older session document in the current shape
    Migrate(Migrate),
    /// List the formats that can be read and written
    Formats(Formats),
    /// Say what is where, and what agents will delete
    Doctor(Doctor),
    /// Remove a session that is kept, for good, after showing what goes
    Forget(Forget),
    /// Keep the sessions of an agent as they happen, by its hooks
    Install(Install),
    /// What an agent's hook runs; it reads the hook's JSON, prints nothing and never fails
    Hook(Hook),
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
#[command(after_help = "\
Examples:
  antiphon ls
  antiphon show latest      the first of the list
  antiphon show 0f0e        by the beginning of its id")]
pub(crate) struct Ls {
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The settings are changed after you have seen how and agreed; a copy of the file as it was stays
beside it. `docs/hooks.md` tells what is kept, and where.

Examples:
  antiphon install claude-code
  antiphon install claude-code --remove")]
pub(crate) struct Install {
    /// The agent
    #[arg(value_enum)]
    pub(crate) agent: HookedAgent,
    /// Take the hooks out again
    #[arg(long)]
    pub(crate) remove: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

/// The agents whose hooks are known.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum HookedAgent {
    ClaudeCode,
}

#[derive(Debug, Args)]
pub(crate) struct Hook {
    /// Copy what a hook had no time for
    #[arg(long, value_name = "KEY", hide = true)]
    pub(crate) catch_up: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where to write the picture, instead of a temporary folder
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Formats {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  antiphon tail latest                       the session that goes on right now
  antiphon tail run.jsonl                    from the beginning, and on
  antiphon tail run.jsonl --since msg_120    what came after
  antiphon tail run.jsonl --json | jq .role  as JSON Lines")]
pub(crate) struct Tail {
    /// The session; it need not be there yet
    pub(crate) session: PathBuf,
    /// Begin after this message
    #[arg(long, value_name = "ID")]
    pub(crate) since: Option<String>,
    /// Stop when all that is there was shown
    #[arg(long)]
    pub(crate) once: bool,
    /// Stop when the session ends
    #[arg(long)]
    pub(crate) until_end: bool,
    /// Print the events as they stand in the log, one a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The id of each event is printed when it is acknowledged, one a line; a line that cannot be taken
prints `!` in its place, with the reason on stderr. An event without `message_id` is given one; the
same event with the same id may be sent again.

Example:
  echo '{\"agent_id\":\"jill\",\"role\":\"assistant\",\"content\":\"Hello\"}' | antiphon append run.jsonl")]
pub(crate) struct Append {
    /// The log; it is made if it is not there
    pub(crate) session: PathBuf,
    /// What an acknowledgement means
    #[arg(long, value_enum, default_value_t = Level::Interval)]
    pub(crate) level: Level,
    /// How many seconds to wait for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub(crate) wait: u64,
}

#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("what").required(true).args(["phase", "note", "auto"])),
    after_help = "\
The calls stay as they are: an annotation is an event of its own, whose id is printed.

Examples:
  antiphon annotate run.jsonl --phase explore --from c1 --to c4 --confidence high
  antiphon annotate run.jsonl --note 'the wrong file' --from c3
  antiphon annotate run.jsonl --auto    the phases that `antiphon view phases` derives"
)]
pub(crate) struct Annotate {
    /// The log
    pub(crate) session: PathBuf,
    /// Add a phase
    #[arg(long, value_enum, value_name = "TYPE", requires = "from")]
    pub(crate) phase: Option<PhaseType>,
    /// Add a note
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Add the derived phases, if none is recorded
    #[arg(long, conflicts_with_all = ["from", "to", "confidence", "description", "by"])]
    pub(crate) auto: bool,
    /// The first call that it is about
    #[arg(long, value_name = "CALL")]
    pub(crate) from: Option<String>,
    /// The last, if that is another
    #[arg(long, value_name = "CALL", requires = "from")]
    pub(crate) to: Option<String>,
    /// How sure the phase is
    #[arg(long, value_enum, default_value_t = Confidence::Medium, conflicts_with = "note")]
    pub(crate) confidence: Confidence,
    /// What happened in the phase
    #[arg(long, value_name = "TEXT", conflicts_with = "note")]
    pub(crate) description: Option<String>,
    /// Who says so
    #[arg(long, value_enum, default_value_t = AnnotatedBy::Human)]
    pub(crate) by: AnnotatedBy,
    /// Whose calls, by name or id, if they are not the main agent's
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

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Level {
    /// The operating system has it: it survives the death of any process
    Os,
    /// The same, and within a second it is on the disk
    Interval,
    /// It is on the disk: it survives a power cut
    Disk,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Whole lines that are missing at the end cannot be seen from inside. Keep the head that `verify`
prints somewhere else, and give it back later:
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
#[command(after_help = "\
The content decides which standard a document is held to. An error breaks the standard; a warning
is about what the standard leaves open, or what cannot be told for sure.

Examples:
  antiphon validate data/sessions                    all documents below a folder
  antiphon validate run-multi.json --strict          warnings count, too")]
pub(crate) struct Validate {
    /// Documents, or folders of them
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// A document with warnings does not pass
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Salvage {
    /// The damaged log
    pub(crate) session: PathBuf,
    /// Where to write the copy
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A finding shows where a secret stands, by which rule, and its first four characters. Exit code 1
means that there are some: rotate them, for whoever read the file has them.

Examples:
  antiphon scan ~/.claude/projects          all that was ever said to an agent
  antiphon scan run.jsonl notes.md --json")]
pub(crate) struct Scan {
    /// Files of any kind, or folders of them
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A log stays a log: each event is redacted, and the chain sealed anew. Any other file of text, of
JSON or of lines of JSON stays what it is. The file that is read is not changed, and still holds
the secrets.

Example:
  antiphon redact run.jsonl -o clean.jsonl")]
pub(crate) struct Redact {
    /// The session, or any other file of text
    pub(crate) session: PathBuf,
    /// Where to write the copy: a file that is not there yet
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct View {
    #[command(subcommand)]
    pub(crate) view: ViewKind,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ViewKind {
    /// Who made whom; each parent recorded, or inferred and by which rule
    Tree(Session),
    /// One agent's messages, in order
    Transcript(OfAgent),
    /// Who said what, and who heard each
    Dialog(Dialog),
    /// What one agent heard, did, received and said
    Perspective(Perspective),
    /// What an agent had in its context at a step, and what it had lost
    Context(Context),
    /// Every link in the session, with kind and basis
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
    Timeline(Session),
    /// The tool calls: category, status, duration
    Calls(Calls),
    /// What stretches of calls were for: as annotated, or else derived
    Phases(Phases),
    /// Run, coordinator, agents, sub-agents, tool calls: with status, time, tokens and cost
    Spans(Spans),
    /// What each agent used and cost, its own and in total
    Cost(Cost),
}

#[derive(Debug, Args)]
pub(crate) struct OfAgent {
    #[command(flatten)]
    pub(crate) session: Session,
    /// The agent, by name or id; may be left out where one agent made all the others
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
    /// With the voices of the agents that it made
    #[arg(long)]
    pub(crate) inner: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Context {
    #[command(flatten)]
    pub(crate) of: OfAgent,
    /// At this message: if the agent said it, what it had when it began to
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
    /// The utterance; all of them, if left out
    pub(crate) message: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PriceTable {
    /// A price table of your own
    #[arg(long = "prices", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
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
    /// The calls of every agent, one agent after the other
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Spans {
    #[command(flatten)]
    pub(crate) session: Session,
    /// Each with those below it, and with totals
    #[arg(long)]
    pub(crate) tree: bool,
    #[command(flatten)]
    pub(crate) prices: PriceTable,
}

#[derive(Debug, Args)]
pub(crate) struct Cost {
    #[command(flatten)]
    pub(crate) session: Session,
    /// Every request that was counted, with its file and line, and every duplicate that was not
    #[arg(long)]
    pub(crate) ledger: bool,
    #[command(flatten)]
    pub(crate) prices: PriceTable,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The session
    pub(crate) session: PathBuf,
    /// The form
    #[arg(long = "as", value_enum)]
    pub(crate) format: ExportFormat,
    /// A file that is not there yet, or for documents a folder; instead of stdout
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// What a transcript tells of tools' inputs and outputs
    #[arg(long, value_enum, default_value_t = ToolPolicy::Seed)]
    pub(crate) tools: ToolPolicy,
    /// Which phases a document has
    #[arg(long, value_enum, default_value_t = PhaseDetail::Advised)]
    pub(crate) phases: PhaseDetail,
    /// With all secrets that it holds
    #[arg(long)]
    pub(crate) no_redact: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    /// The log of this program
    Antiphon,
    /// A session document, of the standard that fits
    Std,
    /// A session document of one agent
    #[value(name = "std-001")]
    Std001,
    /// A session document of several agents
    #[value(name = "std-008")]
    Std008,
    /// A transcript, as `record` writes it
    Transcript,
    /// An ATIF trajectory, as Harbor reads it
    Atif,
    /// Conversations as chat services take them, a line for each agent
    Openai,
    /// OpenTelemetry spans (OTLP JSON, GenAI conventions)
    Otlp,
    /// The agent's own file, byte for byte
    Native,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PhaseDetail {
    /// By the number of calls: none for fewer than 5, those that are certain up to 20, then all
    Advised,
    /// All
    Always,
    /// None, not even recorded ones
    Never,
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
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
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
pub(crate) struct Record {
    /// What the agent is: planner, implementor, reviewer, any word
    #[arg(long)]
    pub(crate) role: Option<String>,
    /// The issue that it works on
    #[arg(long)]
    pub(crate) issue: Option<String>,
    /// A specification that it works on; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) spec: Vec<String>,
    /// The run that it is part of
    #[arg(long, value_name = "ID")]
    pub(crate) run_id: Option<String>,
    /// The task that it works on
    #[arg(long, value_name = "ID")]
    pub(crate) task_id: Option<String>,
    /// End the command after this time: 90, 90s, 10m, 2h
    #[arg(long, value_name = "TIME", value_parser = crate::commands::duration)]
    pub(crate) max_duration: Option<std::time::Duration>,
    /// Write a transcript into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) logs_dir: Option<PathBuf>,
    /// What a transcript tells of tools' inputs and outputs
    #[arg(long, value_enum, default_value_t = ToolPolicy::Seed)]
    pub(crate) tools: ToolPolicy,
    /// Append what happens to the role (requested, started, completed, failed) to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Keep secrets
    #[arg(long)]
    pub(crate) no_redact: bool,
    /// The configuration, instead of the antiphon.toml that is found
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The command and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ToolPolicy {
    /// Names of tools; results as they came
    Seed,
    /// Names only
    Names,
    /// One line of each
    Summary,
    /// All of each
    Full,
}

#[derive(Debug, Args)]
pub(crate) struct Migrate {
    /// The document
    pub(crate) file: PathBuf,
    /// As a session of several agents, even if it is of one
    #[arg(long)]
    pub(crate) multi: bool,
    /// A file that is not there yet, or a folder; instead of stdout
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
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
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum By {
    Model,
    Agent,
    Day,
    Session,
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
