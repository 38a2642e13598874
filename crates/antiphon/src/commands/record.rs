//! `antiphon record`: runs an agent, and keeps what it does.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use antiphon_library::{Config, Environment};
use antiphon_recorder::{Ended, RecordError, Recorder, record};

use super::scribe;
use crate::cli;
use crate::failure::{Outcome, UserError};
use crate::terminal::complain;

pub(crate) fn run(args: &cli::Record) -> anyhow::Result<Outcome> {
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

/// This program with other words. One that does not know where it lies does without.
fn own_process(words: &[OsString]) -> Vec<OsString> {
    let all = |program: PathBuf| [&[program.into()], words].concat();
    std::env::current_exe().map(all).unwrap_or_default()
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
