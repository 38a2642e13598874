//! `antiphon export`: a session in another form.

use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use antiphon_documents::{PhaseDetail, Standard, WriteOptions};
use antiphon_journal::Options;
use antiphon_library::{Environment, Store, export_log};
use antiphon_redact::Counts;
use antiphon_server::export::{self, ExportError};
use clap::{Args, ValueEnum};

use crate::commands::record::ToolPolicy;
use crate::failure::{Outcome, UserError};
use crate::opened::locate;
use crate::redaction::Redaction;
use crate::terminal;

#[derive(Debug, Clone, Args)]
pub(crate) struct ExportArgs {
    /// The session
    pub(super) session: PathBuf,
    /// The format
    #[arg(long = "as", value_enum)]
    format: ExportFormat,
    /// A file that does not exist yet, or for documents a folder (created if it ends in /)
    #[arg(short, long, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,
    /// How much of tool inputs and outputs a transcript includes
    #[arg(long, value_enum, default_value_t = ToolPolicy::Seed)]
    tools: ToolPolicy,
    /// Which phases a document includes
    #[arg(long, value_enum, default_value_t = PhaseChoice::Advised)]
    phases: PhaseChoice,
    /// Rewrite the document whenever the session grows, until it ends
    #[arg(long, requires = "output")]
    follow: bool,
    /// Include pictures in a page or in Markdown; secrets cannot be removed from pictures
    #[arg(long)]
    pub(super) images: bool,
    /// Do not redact secrets (a native export is never redacted)
    #[arg(long)]
    pub(super) no_redact: bool,
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
    /// One page for a browser, complete in itself: the conversation, with edits as diffs
    Html,
    /// The conversation as Markdown, with edits as diffs
    Markdown,
    /// The agent's own file, byte for byte; secrets are not removed
    Native,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PhaseChoice {
    /// By the number of calls: none below 5, only certain ones up to 20, all above
    Advised,
    /// All
    Always,
    /// None, not even recorded ones
    Never,
}

pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<Outcome> {
    // As everywhere, `-` is stdout.
    let output = args.output.clone().filter(|path| path.as_os_str() != "-");
    let args = &ExportArgs { output, ..args.clone() };
    let is_page = matches!(args.format, ExportFormat::Html | ExportFormat::Markdown);
    if args.images && !is_page {
        let error = UserError::usage("--images works only with pages");
        return Err(error.hint("use it with --as html or --as markdown").into());
    }
    let is_document =
        matches!(args.format, ExportFormat::Std | ExportFormat::Std001 | ExportFormat::Std008);
    if args.follow && !is_document {
        let error = UserError::usage("--follow works only with session documents");
        return Err(error.hint("use it with --as std, std-001 or std-008").into());
    }
    let standard = match args.format {
        ExportFormat::Antiphon => return log(args),
        ExportFormat::Transcript => return transcript(args),
        ExportFormat::Native => return native(args),
        ExportFormat::Atif => return foreign(args, "atif"),
        ExportFormat::Openai => return foreign(args, "openai-chat"),
        ExportFormat::Otlp => return foreign(args, "otlp"),
        ExportFormat::Html => return super::page::run(args, antiphon_pages::write_html),
        ExportFormat::Markdown => return super::page::run(args, antiphon_pages::write_markdown),
        ExportFormat::Std => None,
        ExportFormat::Std001 => Some(Standard::Std001),
        ExportFormat::Std008 => Some(Standard::Std008),
    };
    let phases = match args.phases {
        PhaseChoice::Advised => PhaseDetail::Advised,
        PhaseChoice::Always => PhaseDetail::Always,
        PhaseChoice::Never => PhaseDetail::Never,
    };
    let options = WriteOptions { standard, phases };
    if args.follow {
        return super::follow::run(args, options);
    }
    let mut redaction = Redaction::unless(args.no_redact);
    let opened = redaction.open(&args.session)?;
    let outcome =
        super::document::export(&opened, options, args.output.as_deref(), &mut redaction)?;
    redaction.report();
    Ok(outcome)
}

/// The bytes that the agent wrote, secrets and all.
fn native(args: &ExportArgs) -> anyhow::Result<Outcome> {
    let session = locate(&args.session)?;
    let Some(bundle) = antiphon_library::find_bundle(&session)? else {
        let what = "this session was recorded by Antiphon and has no native file";
        return Err(UserError::failed(what).hint("use --as antiphon").into());
    };
    // A copy that is damaged is given as it is, and named.
    let damages: Vec<_> = antiphon_library::damages_of(&bundle).cloned().collect();
    for problem in &damages {
        terminal::complain(&format!("damaged: {}", problem.message));
    }
    let done = if damages.is_empty() { Outcome::Done } else { Outcome::BadInput };
    if let Some(folder) = args.output.as_deref().filter(|path| path.is_dir()) {
        native_files(&bundle, folder)?;
        return Ok(done);
    }
    let bytes = antiphon_library::native(&bundle)?;
    let mut counts = Counts::default();
    count_secrets(&bytes, &mut counts);
    warn_of_secrets(&counts);
    match &args.output {
        Some(path) => create(path, &bytes)?,
        None if terminal::bytes(&bytes)? => {}
        None => {
            let what = "a native export is not printed to a terminal";
            return Err(UserError::usage(what)
                .hint("write it to a file or a folder with -o")
                .into());
        }
    }
    Ok(done)
}

/// Every file of a session, under the name that its agent gave it, in a folder that is there.
fn native_files(bundle: &antiphon_sources::Bundle, folder: &Path) -> anyhow::Result<()> {
    let mut counts = Counts::default();
    for (name, bytes) in antiphon_library::native_files(bundle)? {
        // Whatever a file was called, it stays in the folder.
        let parts = name.components().filter(|part| matches!(part, Component::Normal(_)));
        let path = folder.join(parts.collect::<PathBuf>());
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        count_secrets(&bytes, &mut counts);
        create(&path, &bytes)?;
    }
    warn_of_secrets(&counts);
    Ok(())
}

/// Counts the secrets in what is given as it is.
fn count_secrets(bytes: &[u8], counts: &mut Counts) {
    crate::redaction::redactor().redact_document(&String::from_utf8_lossy(bytes), counts);
}

/// A native export is the one that is never redacted: its bytes are the agent's own.
fn warn_of_secrets(counts: &Counts) {
    if counts.is_empty() {
        return;
    }
    let total = usize::try_from(counts.total()).unwrap_or(usize::MAX);
    let secrets = terminal::count(total, "secret");
    terminal::complain(&format!(
        "warning: a native export is not redacted; this one contains {secrets} ({counts})"
    ));
}

fn transcript(args: &ExportArgs) -> anyhow::Result<Outcome> {
    let mut redaction = Redaction::unless(args.no_redact);
    let opened = redaction.open(&args.session)?;
    let path = locate(&args.session)?;
    let policy = super::scribe::policy(args.tools);
    let clean = |line: &str| redaction.value(line);
    let mut out = redaction.writer(io::BufWriter::new(target(args)?));
    export::transcript(&opened, &opened.id(), &path, policy, &clean, &mut |text| out.push(text))?;
    let counts = out.finish()?;
    redaction.counts.merge(&counts);
    redaction.report();
    Ok(opened.outcome())
}

/// What other programs read, written a piece at a time.
fn foreign(args: &ExportArgs, format: &str) -> anyhow::Result<Outcome> {
    let mut redaction = Redaction::unless(args.no_redact);
    let opened = redaction.open(&args.session)?;
    let mut out = Target { args, file: None };
    let clean = &mut |text: &str| redaction.json(text.to_owned());
    let written = export::foreign(&opened.reading(), &opened.id(), format, clean, &mut out);
    match written {
        Err(ExportError::NoMessages) => {
            let what = format!("`{}` contains no messages", args.session.display());
            return Err(UserError::failed(what).into());
        }
        written => written?,
    }
    redaction.report();
    Ok(opened.outcome())
}

/// Where an export goes.
pub(super) fn target(args: &ExportArgs) -> anyhow::Result<Box<dyn io::Write>> {
    Ok(match &args.output {
        None => terminal::stdout(),
        Some(path) => Box::new(create_new(path)?),
    })
}

/// Where an export goes: a new file, made when there is something to be written, or stdout.
struct Target<'a> {
    args: &'a ExportArgs,
    file: Option<io::BufWriter<Box<dyn io::Write>>>,
}

impl io::Write for Target<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let target = target(self.args).map_err(io::Error::other)?;
                none.insert(io::BufWriter::new(target))
            }
        };
        file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), io::Write::flush)
    }
}

/// Writes a file that is not there yet.
fn create(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    create_new(path)?.write_all(bytes)?;
    Ok(())
}

fn create_new(path: &Path) -> anyhow::Result<std::fs::File> {
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    let failed = |error| UserError::failed(format!("cannot write `{}`: {error}", path.display()));
    Ok(file.map_err(failed)?)
}

fn log(args: &ExportArgs) -> anyhow::Result<Outcome> {
    let session = &locate(&args.session)?;
    let program = "antiphon export".to_owned();
    let store = Store::open_default(&Environment::of_process()).ok();
    let mut redaction = Redaction::unless(args.no_redact);
    let exported = match &args.output {
        Some(path) => {
            let options = Options { program, ..Options::default() };
            export_log(session, path, options, redaction.parts(), store.as_ref())?
        }
        None => {
            let (text, exported) = export::log(session, redaction.parts(), store.as_ref())?;
            terminal::document(&text)?;
            exported
        }
    };
    redaction.report();
    if exported.events == 0 {
        let what = format!("`{}` contains no events", session.display());
        return Err(UserError::failed(what).into());
    }
    if exported.problems > 0 {
        terminal::complain(&format!("{} lines could not be read", exported.problems));
        return Ok(Outcome::BadInput);
    }
    Ok(Outcome::Done)
}
