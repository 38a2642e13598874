//! `antiphon hook`: what an agent's hook runs, many times a minute, in the agent's way.
//!
//! So it prints nothing, ends within a moment and never fails: whatever goes wrong costs a copy
//! that the next hook makes good. What takes longer is left to a process of its own.

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use antiphon_catalog::Key;
use antiphon_formats::HookInput;
use antiphon_library::{Copied, Environment, Source, Store};
use antiphon_model::json;
use clap::Args;

use super::install::Hooked;
use crate::failure::Outcome;

/// For copying; the agent waits 50 ms at most, and starting a process takes some of it.
const BUDGET: Duration = Duration::from_millis(25);

/// A hook that brings a tool's output may be long; the names that matter come first.
const INPUT_BYTES_MAX: u64 = 8 << 20;

/// All that matters stands here, as far as was ever seen; the rest is read only if it does not.
const BEGINNING_BYTES: usize = 64 << 10;

/// How long after the last hook an agent may still be writing.
const AFTERMATH: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// The agent whose hook this is; the hooks of Claude Code do not name it
    #[arg(hide = true)]
    agent: Option<std::ffi::OsString>,
    /// Copy what a hook had no time for
    #[arg(long, value_name = "KEY", hide = true)]
    catch_up: Option<String>,
}

pub(crate) fn run(args: &HookArgs) -> Outcome {
    // Nobody reads it, and the agent would show it.
    std::panic::set_hook(Box::new(|_| {}));
    let _ = std::panic::catch_unwind(|| match args.catch_up.as_deref() {
        None => hook(args),
        Some(key) => catch_up(key, args),
    });
    Outcome::Done
}

/// Whose hook it is: the agent's that is named, or of the one whose hooks name none.
fn hooked(args: &HookArgs) -> Option<Hooked> {
    let is_it = |(format, hooks): &Hooked| match &args.agent {
        Some(name) => name == format.name,
        None => !hooks.is_named,
    };
    antiphon_formats::hooked().find(is_it)
}

/// What the hook's JSON says, as far as it matters here.
#[derive(Debug, Default)]
struct Call {
    session_id: String,
    transcript_path: PathBuf,
    event: String,
}

impl Call {
    fn read(bytes: &[u8], names: &HookInput) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let mut call = Self::default();
        // Input that was cut has been told up to there, which is enough.
        let _ = json::members(text.trim_ascii(), |name, value| {
            let text = || json::text(value).map(std::borrow::Cow::into_owned).unwrap_or_default();
            if name == names.session {
                call.session_id = text();
            } else if name == names.file {
                call.transcript_path = PathBuf::from(text());
            } else if name == names.event {
                call.event = text();
            }
        });
        let is_whole = !call.session_id.is_empty()
            && call.transcript_path.is_absolute()
            && !call.event.is_empty();
        is_whole.then_some(call)
    }
}

/// `None` where there was nothing to do or nothing could be done; that is all the same.
fn hook(args: &HookArgs) -> Option<()> {
    let deadline = Instant::now().checked_add(BUDGET);
    let bytes = read()?;
    let (format, hooks) = hooked(args)?;
    let begins = bytes.get(..BEGINNING_BYTES).and_then(|bytes| Call::read(bytes, &hooks.input));
    let call = begins.or_else(|| Call::read(&bytes, &hooks.input))?;
    let source = Source::new(format.name, call.session_id, call.transcript_path);
    let store = Store::open_default(&Environment::of_process()).ok()?;
    let copied = store.archive(&source, deadline).ok()?;
    if copied == Copied::Unfinished || call.event == hooks.end {
        let key = Key::of(format.name, &source.session_id);
        leave_to_another(&store, &key, hooks.is_named.then_some(format.name));
    }
    Some(())
}

/// What the agent tells, whoever it is.
fn read() -> Option<Vec<u8>> {
    let mut input = io::stdin().lock();
    if input.is_terminal() {
        return None;
    }
    let mut bytes = Vec::new();
    Read::by_ref(&mut input).take(INPUT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    // An agent that could not write all of it would complain.
    let _ = io::copy(&mut input, &mut io::sink());
    Some(bytes)
}

/// Starts a process that copies the rest. It belongs to no terminal and to no group of the
/// agent's, so that it outlives both.
fn leave_to_another(store: &Store, key: &Key, agent: Option<&str>) -> Option<()> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["hook", "--catch-up", key.as_str()]).args(agent);
    command.env("ANTIPHON_HOME", store.root()).current_dir(store.root());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().ok().map(drop)
}

fn catch_up(key: &str, args: &HookArgs) -> Option<()> {
    let (format, _) = hooked(args)?;
    let key = Key::parse(key)?;
    let store = Store::open_default(&Environment::of_process()).ok()?;
    store.catch_up(format.name, &key).ok()?;
    // After its last hook an agent may have a line to write.
    std::thread::sleep(AFTERMATH);
    store.catch_up(format.name, &key).ok().map(drop)
}
