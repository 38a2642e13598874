//! `antiphon record`: runs a command and records it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use antiphon_library::{Config, Environment};
use antiphon_recorder::{Ended, RecordError, Recorder, record};
use clap::{Args, ValueEnum};

use super::scribe;
use crate::failure::{Outcome, UserError};
use crate::terminal::complain;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon record -- claude -p 'Fix the test' --output-format stream-json --verbose
  antiphon record --role reviewer --issue 42 --logs-dir logs -- codex exec --json 'Review it'

The command's output, input, signals and exit status pass through unchanged. Other commands
find the session as `latest`.")]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    recording: Recording,
    /// Stop the command after this time: 90, 90s, 10m, 2h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    max_duration: Option<Duration>,
    /// Wait until everything is written; otherwise the rest is written in the background
    #[arg(long)]
    wait: bool,
    /// Use this configuration file instead of searching for antiphon.toml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The command and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// The options that `record` passes on to the process that writes.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct Recording {
    /// The agent's role: planner, implementor, reviewer or any other word
    #[arg(long)]
    pub(super) role: Option<String>,
    /// The issue it works on
    #[arg(long)]
    pub(super) issue: Option<String>,
    /// A specification it works on; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(super) spec: Vec<String>,
    /// The run it belongs to
    #[arg(long, visible_alias = "run", value_name = "ID")]
    pub(super) run_id: Option<String>,
    /// The task it works on
    #[arg(long, visible_alias = "task", value_name = "ID")]
    pub(super) task_id: Option<String>,
    /// Write a transcript into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(super) logs_dir: Option<PathBuf>,
    /// How much of tool inputs and outputs a transcript includes
    #[arg(long, value_enum, default_value_t = ToolPolicy::Seed)]
    pub(super) tools: ToolPolicy,
    /// Append lifecycle events (requested, started, completed, failed) to this file
    #[arg(long, value_name = "FILE")]
    pub(super) events: Option<PathBuf>,
    /// Do not redact secrets
    #[arg(long)]
    pub(super) no_redact: bool,
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

pub(crate) fn run(args: &RecordArgs) -> anyhow::Result<Outcome> {
    let environment = Environment::of_process();
    let config = Config::load(args.config.as_deref(), &environment);
    let config =
        config.map_err(|error| UserError::usage(format!("{:#}", anyhow::Error::new(error))))?;
    let logging = config.logging;
    let mut recording = args.recording.clone();
    if recording.logs_dir.is_none() {
        recording.logs_dir = logging.agent_sessions.then_some(logging.logs_dir);
    }
    recording.no_redact |= !config.redaction.enabled;
    let recorder = Recorder {
        command: args.command.clone(),
        leader: own_process(&["lead".into(), "--".into()]),
        scribe: own_process(&scribe::words(&recording, &args.command)),
        assignment: scribe::assignment(&recording),
        max_duration: args.max_duration,
        sinks: scribe::sinks(&recording, environment),
        wait: args.wait,
    };
    match record(recorder) {
        Ok(ended) => {
            for warning in &ended.warnings {
                complain(&format!("antiphon: {warning}"));
            }
            end_like(&ended)
        }
        Err(error) => Err(not_started(error)),
    }
}

/// The command line of this program with other arguments; empty, if its own path is unknown.
fn own_process(words: &[OsString]) -> Vec<OsString> {
    let all = |program: PathBuf| [&[program.into()], words].concat();
    std::env::current_exe().map(all).unwrap_or_default()
}

/// Ends as the command ended: with its exit status, or by its signal.
fn end_like(ended: &Ended) -> anyhow::Result<Outcome> {
    if let Some(signal) = ended.signal {
        antiphon_recorder::end_by(signal);
    }
    let code = ended.code.unwrap_or(1);
    Ok(Outcome::Exit(u8::try_from(code & 0xff).unwrap_or(1)))
}

fn not_started(error: RecordError) -> anyhow::Error {
    let exit = match &error {
        RecordError::Start { source, .. } if source.kind() == std::io::ErrorKind::NotFound => 127,
        RecordError::Start { .. } => 126,
        RecordError::Signals(_) | RecordError::Scribe(_) => return error.into(),
    };
    let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    UserError::with_exit(format!("{error}: {source}"), exit).into()
}

/// `90`, `90s`, `10m`, `2h`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = match text.char_indices().find(|(_, it)| !it.is_ascii_digit()) {
        Some((at, _)) => text.split_at(at),
        None => (text, "s"),
    };
    let number: u64 = digits.parse().map_err(|_| "expected a number".to_owned())?;
    let seconds = match unit {
        "s" => Some(number),
        "m" => number.checked_mul(60),
        "h" => number.checked_mul(3600),
        _ => return Err(format!("unknown unit `{unit}`: use s, m or h")),
    };
    let seconds = seconds.filter(|seconds| (1..=365 * 24 * 3600).contains(seconds));
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| "expected a time between one second and one year".to_owned())
}
