//! `antiphon record`: runs an agent, and keeps what it does.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_journal::{Level, Options};
use antiphon_library::{Config, Environment, Store};
use antiphon_recorder::{
    Assignment, Ended, LogTarget, Policy, RecordError, Recorder, RoleEvent, Sinks, record,
};

use crate::cli;
use crate::failure::{Outcome, UserError};
use crate::redaction::line_redactor;
use crate::terminal::complain;

pub(crate) fn run(args: &cli::Record) -> anyhow::Result<Outcome> {
    let environment = Environment::of_process();
    let config = Config::load(args.config.as_deref(), &environment);
    let config = config.map_err(|error| UserError::usage(format!("{error:#}")))?;
    let logging = config.logging;
    let logs_dir = match &args.logs_dir {
        Some(folder) => Some(folder.clone()),
        None => logging.agent_sessions.then_some(logging.logs_dir),
    };
    let recorder = Recorder {
        command: args.command.clone(),
        leader: leader(),
        assignment: Assignment {
            role: args.role.clone(),
            issue: args.issue.clone(),
            spec_paths: args.spec.clone(),
            run_id: args.run_id.clone(),
            task_id: args.task_id.clone(),
        },
        max_duration: args.max_duration,
        sinks: Sinks {
            log: Some(target(environment)),
            logs_dir,
            policy: policy(args.tools),
            events: args.events.as_deref().map(teller),
            redact: (!args.no_redact && config.redaction.enabled).then(line_redactor),
        },
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

/// This program, as the leader of the session of an agent's terminal. One that does not know where
/// it lies does without.
fn leader() -> Vec<OsString> {
    let words = |program: PathBuf| vec![program.into(), "lead".into(), "--".into()];
    std::env::current_exe().map(words).unwrap_or_default()
}

fn target(environment: Environment) -> LogTarget {
    let folder = move || {
        let store = Store::open_default(&environment).map_err(|error| error.to_string())?;
        let made = store.new_session(None).map_err(|error| format!("{error:#}"))?;
        Ok(made.path)
    };
    let options = Options {
        level: Level::Interval,
        program: "antiphon record".to_owned(),
        ..Options::default()
    };
    LogTarget { folder: Box::new(folder), options }
}

pub(super) fn policy(tools: cli::ToolPolicy) -> Policy {
    match tools {
        cli::ToolPolicy::Seed => Policy::Seed,
        cli::ToolPolicy::Names => Policy::Names,
        cli::ToolPolicy::Summary => Policy::Summary,
        cli::ToolPolicy::Full => Policy::Full,
    }
}

/// Writes events to a file, or a pipe: whoever reads it may be slow, or not there yet.
fn teller(path: &Path) -> Box<dyn FnMut(&RoleEvent) + Send> {
    enum Events {
        Unopened(PathBuf),
        Open(File),
        Failed,
    }

    let mut events = Events::Unopened(path.to_owned());
    Box::new(move |event| {
        if let Events::Unopened(path) = &events {
            let opened = OpenOptions::new().append(true).create(true).open(path);
            events = match opened {
                Ok(file) => Events::Open(file),
                Err(error) => {
                    complain(&format!("antiphon: no events in `{}`: {error}", path.display()));
                    Events::Failed
                }
            };
        }
        if let Events::Open(file) = &mut events
            && file.write_all((event.to_json() + "\n").as_bytes()).is_err()
        {
            events = Events::Failed;
        }
    })
}

/// Ends as the command ended: with its status, or by its signal.
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
        RecordError::Signals(_) => return error.into(),
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
    let number: u64 = digits.parse().map_err(|_| "a number is missing".to_owned())?;
    let seconds = match unit {
        "s" => Some(number),
        "m" => number.checked_mul(60),
        "h" => number.checked_mul(3600),
        _ => return Err(format!("`{unit}` is no unit: use s, m or h")),
    };
    let seconds = seconds.filter(|seconds| (1..=365 * 24 * 3600).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| "between a second and a year".to_owned())
}
