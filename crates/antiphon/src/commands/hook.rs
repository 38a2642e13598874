//! `antiphon hook`: run by an agent's hooks, many times a minute, while the agent waits.
//!
//! So it prints nothing, ends quickly and never fails: an error only delays a copy until the next
//! hook. Longer work is left to a separate process.

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

/// The time for copying. The agent waits at most 50 ms, and starting a process takes some of it.
const BUDGET: Duration = Duration::from_millis(25);

/// The input may contain a tool's output; the names that matter come first.
const INPUT_BYTES_MAX: u64 = 8 << 20;

/// Everything that matters was within this length so far; the rest is read only if it is not.
const BEGINNING_BYTES: usize = 64 << 10;

/// How long an agent may still be writing after its last hook.
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
    // Nobody would read the message, and the agent might show it.
    std::panic::set_hook(Box::new(|_| {}));
    let _ = std::panic::catch_unwind(|| match args.catch_up.as_deref() {
        None => hook(args),
        Some(key) => catch_up(key, args),
    });
    Outcome::Done
}

/// The agent whose hook it is: the one named, or else the one whose hooks name none.
fn hooked(args: &HookArgs) -> Option<Hooked> {
    let is_it = |(format, hooks): &Hooked| match &args.agent {
        Some(name) => name == format.name,
        None => !hooks.is_named,
    };
    antiphon_formats::hooked().find(is_it)
}

/// The relevant members of the hook's JSON.
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
        // Truncated input is read up to where it ends, which is enough.
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

/// Does the work. `None` means that there was nothing to do, or that nothing could be done; the
/// result is the same.
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

/// Reads the hook's input.
fn read() -> Option<Vec<u8>> {
    let mut input = io::stdin().lock();
    if input.is_terminal() {
        return None;
    }
    let mut bytes = Vec::new();
    Read::by_ref(&mut input).take(INPUT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    // An agent that cannot write all of its input might report an error.
    let _ = io::copy(&mut input, &mut io::sink());
    Some(bytes)
}

/// Starts a process that copies the rest. It belongs to neither the agent's terminal nor its
/// process group, so it outlives both.
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
    // After its last hook an agent may still write a line.
    std::thread::sleep(AFTERMATH);
    store.catch_up(format.name, &key).ok().map(drop)
}
