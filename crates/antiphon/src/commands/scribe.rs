//! `antiphon scribe`: the process behind `antiphon record` that writes what the command prints.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use antiphon_journal::{Level, Options};
use antiphon_library::{Environment, Store};
use antiphon_recorder::{Assignment, LogTarget, Policy, Sinks, Tell};
use clap::Args;
use clap::ValueEnum as _;

use crate::commands::record::Recording;
use crate::commands::record::ToolPolicy;
use crate::failure::Outcome;
use crate::redaction::line_redactor;

#[derive(Debug, Args)]
pub(crate) struct ScribeArgs {
    #[command(flatten)]
    recording: Recording,
    #[arg(required = true, last = true)]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &ScribeArgs) -> anyhow::Result<Outcome> {
    let sinks = sinks(&args.recording, Environment::of_process());
    let command: Vec<String> =
        args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    antiphon_recorder::scribe(assignment(&args.recording), &command, sinks)?;
    Ok(Outcome::Done)
}

/// The arguments with which this process is started.
pub(super) fn words(recording: &Recording, command: &[OsString]) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["scribe".into()];
    let mut add = |name: &str, value: Option<OsString>| {
        if let Some(value) = value {
            // In one argument, so that no value looks like an option.
            let mut word = OsString::from(format!("--{name}="));
            word.push(value);
            words.push(word);
        }
    };
    let Recording { role, issue, spec, run_id, task_id, .. } = recording;
    let Recording { logs_dir, tools, events, no_redact, .. } = recording;
    add("role", role.as_ref().map(Into::into));
    add("issue", issue.as_ref().map(Into::into));
    spec.iter().for_each(|spec| add("spec", Some(spec.into())));
    add("run-id", run_id.as_ref().map(Into::into));
    add("task-id", task_id.as_ref().map(Into::into));
    add("logs-dir", logs_dir.as_ref().map(Into::into));
    add("tools", tools.to_possible_value().map(|value| value.get_name().into()));
    add("events", events.as_ref().map(Into::into));
    if *no_redact {
        words.push("--no-redact".into());
    }
    words.push("--".into());
    words.extend_from_slice(command);
    words
}

pub(super) fn assignment(recording: &Recording) -> Assignment {
    Assignment {
        role: recording.role.clone(),
        issue: recording.issue.clone(),
        spec_paths: recording.spec.clone(),
        run_id: recording.run_id.clone(),
        task_id: recording.task_id.clone(),
    }
}

pub(super) fn sinks(recording: &Recording, environment: Environment) -> Sinks {
    Sinks {
        logs_dir: recording.logs_dir.clone(),
        policy: policy(recording.tools),
        events: recording.events.as_deref().map(teller),
        redact: (!recording.no_redact).then(line_redactor),
        spill_dir: environment.store_folder(),
        log: Some(target(environment)),
    }
}

pub(super) fn policy(tools: ToolPolicy) -> Policy {
    match tools {
        ToolPolicy::Seed => Policy::Seed,
        ToolPolicy::Names => Policy::Names,
        ToolPolicy::Summary => Policy::Summary,
        ToolPolicy::Full => Policy::Full,
    }
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

/// Writes events to a file or a pipe. The reader of a pipe may be slow or late: what it has missed
/// is written with the next event. Nothing waits for it, so a pipe without a reader keeps no
/// process alive; unwritten events are reported at the end.
fn teller(path: &Path) -> Tell {
    let path: PathBuf = path.to_owned();
    let mut file: Option<File> = None;
    let mut unwritten = String::new();
    Box::new(move |event| {
        unwritten += &(event.to_json() + "\n");
        let why = |error| format!("cannot write events to `{}`: {error}", path.display());
        if file.is_none() {
            file = without_waiting(&path).map_err(why)?;
        }
        match &mut file {
            Some(file) => {
                file.write_all(unwritten.as_bytes()).map_err(why)?;
                unwritten.clear();
            }
            None if event.stage.is_final() => return Err(why(nobody_reads())),
            None => {}
        }
        Ok(())
    })
}

fn nobody_reads() -> io::Error {
    io::Error::other("it is a pipe that nobody reads")
}

/// Opens a file for events; `None` if it is a pipe that nobody reads yet.
#[cfg(unix)]
fn without_waiting(path: &Path) -> io::Result<Option<File>> {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let opened = OpenOptions::new().append(true).create(true).custom_flags(flags).open(path);
    let file = match opened {
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
            return Ok(None);
        }
        opened => opened?,
    };
    // An existing reader may be slow; then the write waits, so that no event is half written.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(Some(file))
}

#[cfg(not(unix))]
fn without_waiting(path: &Path) -> io::Result<Option<File>> {
    OpenOptions::new().append(true).create(true).open(path).map(Some)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    #[test]
    fn what_is_to_be_recorded_survives_the_way_into_another_process() {
        let whole = Recording {
            role: Some("-x".to_owned()),
            issue: Some("7".to_owned()),
            spec: vec!["a b.md".to_owned(), "--spec".to_owned()],
            run_id: Some(String::new()),
            task_id: Some("t=1".to_owned()),
            logs_dir: Some("logs".into()),
            tools: ToolPolicy::Summary,
            events: Some("events.jsonl".into()),
            no_redact: true,
        };
        for recording in [whole, Recording::default()] {
            let command = ["sh".into(), "-c".into(), "--".into()];
            let words = words(&recording, &command);
            let parsed = Cli::try_parse_from([vec!["antiphon".into()], words].concat()).unwrap();
            let Some(Command::Scribe(args)) = parsed.command else { panic!("{parsed:?}") };
            assert_eq!((args.recording, args.command), (recording, command.to_vec()));
        }
    }
}
