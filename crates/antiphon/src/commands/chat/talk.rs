//! From the command line to a session: begun, resumed or forked, and then talked with.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;

use antiphon_agents::{Cast, OpenCalls, ResumeError, Session, SessionError, Setup, Triggers};
use antiphon_journal::Options;

use super::conversation::{Conversation, End};
use super::fork::Forked;
use super::input::Input;
use super::output::Output;
use super::place::Place;
use super::signals::Signals;
use super::{ChatArgs, prepared, trust};
use crate::failure::{Outcome, UserError};
use crate::opened::{Opened, locate};
use crate::shell::quoted;
use crate::terminal::{JsonLines, complain};

pub(super) async fn talk(args: &ChatArgs) -> anyhow::Result<Outcome> {
    let (echo, printer) = match args.json {
        true => {
            let (sender, receiver) = mpsc::channel();
            (Some(sender), Some(print_events(receiver)))
        }
        false => (None, None),
    };
    let outcome = talk_on(args, echo).await;
    if let Some(printer) = printer {
        let _ = printer.join();
    }
    outcome
}

/// Prints lines of the log as they are written.
fn print_events(lines: mpsc::Receiver<String>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut out = JsonLines::default();
        for line in lines {
            if out.add(&line).and_then(|()| out.flush()).is_err() {
                return;
            }
        }
    })
}

/// Talks, and goes on with a fork whenever the person wants another way.
async fn talk_on(args: &ChatArgs, echo: Option<mpsc::Sender<String>>) -> anyhow::Result<Outcome> {
    let mut args = args.clone();
    let mut person = None;
    loop {
        let opened = match open(&args, echo.clone()).await? {
            Ok(opened) => opened,
            Err(refused) => return Ok(refused),
        };
        // Only now: until here, a person may have been asked something else.
        let (input, output) = match &mut person {
            Some((input, output)) => (input, output),
            None => {
                let (input, output) = person.insert(channel(&args)?);
                (input, output)
            }
        };
        let Started { session, place, triggers, signals } = opened;
        signals.attach(session.stop_signal(), input.is_person());
        let talk = Conversation { args: &args, place, triggers, signals, input, output };
        match talk.hold(session).await? {
            End::Over(outcome) => return Ok(outcome),
            End::Fork(from) => {
                args.fork = Some(from);
                (args.resume, args.log, args.prompt) = (None, None, Vec::new());
            }
        }
    }
}

/// How a person is heard, and where they see what is said.
fn channel(args: &ChatArgs) -> anyhow::Result<(Input, Output)> {
    if !is_terminal(args) {
        return Ok((Input::of_stdin(), Output::of_pipe(args.json)));
    }
    let (input, printer) = Input::of_person()?;
    Ok((input, Output::of_person(printer)))
}

/// Whether a person sits at a terminal, and sees what is said there.
fn is_terminal(args: &ChatArgs) -> bool {
    !args.json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// A session that can be talked with.
struct Started {
    session: Session,
    place: Place,
    triggers: Triggers,
    signals: Signals,
}

/// Begins, resumes or forks a session; or says why not, and how that ends.
async fn open(
    args: &ChatArgs,
    echo: Option<mpsc::Sender<String>>,
) -> anyhow::Result<Result<Started, Outcome>> {
    let forked = args.fork.as_deref().map(Forked::open).transpose()?;
    // What cannot be begun starts no program.
    if let Some(forked) = &forked
        && !args.close_open
    {
        let open = forked.open_calls();
        if !open.is_empty() {
            return Ok(Err(refuse(open.iter().map(|(id, tool)| (&**id, &**tool)))));
        }
    }
    let place = match &args.resume {
        Some(session) => Place::of(&ours(session)?),
        None => Place::new(args)?,
    };
    let cast = match prepared::cast(args)? {
        Some(cast) => Some(cast),
        None => confirmed(args, forked.as_ref())?,
    };
    let servers = match &cast {
        Some(cast) => cast.mcp.clone(),
        None => prepared::servers(args)?,
    };
    let models = prepared::models(args, cast.as_ref())?;
    let triggers = Triggers::new(cast.as_ref().map_or(&[], |cast| &cast.triggers));
    let options = Options { program: "antiphon chat".to_owned(), echo, ..Options::default() };
    // From here on nobody is asked anything, and a signal is answered in words.
    let signals = Signals::listen()?;
    let tools = tokio::select! {
        tools = prepared::tools(&servers) => tools?,
        exit = signals.ended() => {
            let what = "interrupted while MCP servers were starting; nothing was written";
            return Err(UserError::with_exit(what, exit).into());
        }
    };
    let setup = Setup {
        tools,
        cast,
        models,
        cwd: std::env::current_dir().ok().map(|folder| folder.display().to_string()),
        options,
    };
    let session = match forked {
        Some(forked) => {
            let (cast, title) = (setup.cast.as_ref(), args.title.as_deref());
            if let Err(error) = forked.write(&place.path, setup.options.clone(), cast, title) {
                place.discard();
                return Err(error);
            }
            Session::resume(&place.path, setup, args.close_open)
        }
        None if args.resume.is_some() => Session::resume(&place.path, setup, args.close_open),
        None => Session::begin(&place.path, setup).map_err(Into::into),
    };
    match session {
        Ok(session) => Ok(Ok(Started { session, place, triggers, signals })),
        Err(ResumeError::Open(OpenCalls(calls))) => {
            Ok(Err(refuse(calls.iter().map(|call| (&*call.call_id, &*call.tool_name)))))
        }
        Err(ResumeError::Session(error)) => Err(refused(error, &place, args)),
    }
}

/// Why a session was not opened. One that somebody else is writing can be watched, and resumed
/// later.
fn refused(error: SessionError, place: &Place, args: &ChatArgs) -> anyhow::Error {
    let SessionError::Log(antiphon_journal::Error::Locked { .. }) = &error else {
        return error.into();
    };
    let path = quoted(&[place.path.display().to_string()]);
    let again = place.later_command(args).unwrap_or_default();
    let hint =
        format!("`antiphon tail {path}` shows what happens; `{again}` goes on when it is over");
    UserError::failed(error.to_string()).hint(hint).into()
}

/// The path of a log to go on with. A file of another program is that program's.
fn ours(session: &Path) -> anyhow::Result<PathBuf> {
    let path = locate(session)?;
    if antiphon_library::stamp(&path)?.is_none() {
        return Ok(path);
    }
    let opened = Opened::read(session)?;
    let last = opened.session.entries().rev().find(|entry| entry.role().is_some());
    let last = last.map(|entry| entry.id().to_owned()).unwrap_or_default();
    let what = format!("`{}` was written by another program", session.display());
    let fork = format!("`antiphon chat --fork {}@{last}` goes on with a copy", session.display());
    Err(UserError::usage(what).hint(fork).into())
}

/// The cast of the log, if the person at the terminal wants what it names.
fn confirmed(args: &ChatArgs, forked: Option<&Forked>) -> anyhow::Result<Option<Cast>> {
    if !is_terminal(args) {
        return Ok(None);
    }
    let recorded = match (forked, &args.resume) {
        (Some(forked), _) => trust::recorded_cast(forked.opened()),
        (None, Some(session)) => trust::recorded_cast(&Opened::read(session)?),
        (None, None) => None,
    };
    let Some(mut cast) = recorded.map(trust::confirm).transpose()?.flatten() else {
        return Ok(None);
    };
    cast.mcp.extend(prepared::servers(args)?);
    Ok(Some(cast))
}

/// Names the calls that stand in the way.
fn refuse<'c>(calls: impl Iterator<Item = (&'c str, &'c str)>) -> Outcome {
    for (id, tool) in calls {
        complain(&format!("The call {id} ({tool}) has no result."));
    }
    complain("hint: --close-open goes on with them; nothing was written");
    Outcome::No
}
