//! A chat without a terminal: prompts in, what the root says out.

use std::collections::VecDeque;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use antiphon_agents::{News, OpenCalls, ResumeError, Session, SessionError, Setup, Triggers, Turn};
use antiphon_journal::Options;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::fork::Forked;
use super::place::Place;
use super::signals::Signals;
use super::{ChatArgs, prepared, prompts};
use crate::failure::{Outcome, UserError};
use crate::opened::locate;
use crate::terminal::{self, JsonLines, complain};

/// How often triggers are looked at.
const LOOK: Duration = Duration::from_millis(500);

pub(super) async fn talk(args: &ChatArgs) -> anyhow::Result<Outcome> {
    let (echo, printer) = match args.json {
        true => {
            let (sender, receiver) = mpsc::channel();
            (Some(sender), Some(print_events(receiver)))
        }
        false => (None, None),
    };
    let outcome = begin_and_talk(args, echo).await;
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

async fn begin_and_talk(
    args: &ChatArgs,
    echo: Option<mpsc::Sender<String>>,
) -> anyhow::Result<Outcome> {
    let cast = prepared::cast(args)?;
    let servers = match &cast {
        Some(cast) => cast.mcp.clone(),
        None => prepared::servers(args)?,
    };
    let models = prepared::models(args, cast.as_ref())?;
    // What cannot be begun starts no program.
    let forked = args.fork.as_deref().map(Forked::open).transpose()?;
    if let Some(forked) = &forked
        && !args.close_open
    {
        let open = forked.open_calls();
        if !open.is_empty() {
            return Ok(refuse(open.iter().map(|(id, tool)| (&**id, &**tool))));
        }
    }
    let place = match &args.resume {
        Some(session) => Place::of(&locate(session)?),
        None => Place::new(args)?,
    };
    let triggers = Triggers::new(cast.as_ref().map_or(&[], |cast| &cast.triggers));
    let options = Options { program: "antiphon chat".to_owned(), echo, ..Options::default() };
    let setup = Setup {
        tools: prepared::tools(&servers).await?,
        cast,
        models,
        cwd: std::env::current_dir().ok().map(|folder| folder.display().to_string()),
        options,
    };
    let session = match forked {
        Some(forked) => {
            let (cast, title) = (setup.cast.as_ref(), args.title.as_deref());
            forked.write(&place.path, setup.options.clone(), cast, title)?;
            Session::resume(&place.path, setup, args.close_open)
        }
        None if args.resume.is_some() => Session::resume(&place.path, setup, args.close_open),
        None => Session::begin(&place.path, setup).map_err(Into::into),
    };
    let session = match session {
        Ok(session) => session,
        Err(ResumeError::Open(OpenCalls(calls))) => {
            return Ok(refuse(calls.iter().map(|call| (&*call.call_id, &*call.tool_name))));
        }
        Err(ResumeError::Session(error)) => return Err(error.into()),
    };
    Chat { args, place, triggers, signals: Signals::default(), is_first: true }.run(session).await
}

/// Names the calls that stand in the way.
fn refuse<'c>(calls: impl Iterator<Item = (&'c str, &'c str)>) -> Outcome {
    for (id, tool) in calls {
        complain(&format!("The call {id} ({tool}) has no result."));
    }
    complain("hint: --close-open goes on with them; nothing was written");
    Outcome::No
}

/// A chat that is under way.
struct Chat<'a> {
    args: &'a ChatArgs,
    place: Place,
    triggers: Triggers,
    signals: Signals,
    is_first: bool,
}

impl Chat<'_> {
    async fn run(mut self, mut session: Session) -> anyhow::Result<Outcome> {
        session.listen(tell);
        self.signals = Signals::listen(session.stop_signal(), false)?;
        let ended = self.speak(&mut session).await;
        let command = self.place.command(session.id().as_deref());
        let hint = |error: UserError| match &command {
            Some(command) => error.hint(format!("`{command}` goes on")),
            None => error,
        };
        match ended {
            Ok(()) => {
                session.end(None)?;
                Ok(self.signals.exit().map_or(Outcome::Done, Outcome::Exit))
            }
            Err(error) => {
                // On a full disk even this cannot be written; what went wrong is said all the same.
                let _ = session.end(Some(&error));
                let whole = format!("{:#}", anyhow::Error::new(error));
                Err(hint(UserError::failed(whole)).into())
            }
        }
    }

    /// Takes prompts and triggers until there is nothing more to come.
    async fn speak(&mut self, session: &mut Session) -> Result<(), SessionError> {
        if let Some(owed) = session.start().await? {
            self.show(&owed);
        }
        let first = session.first_prompt();
        let mut given: VecDeque<String> = first.into_iter().collect();
        given.extend(self.args.prompt.iter().cloned());
        let mut lines = Some(prompts::of_stdin());
        let idle = session.cast().limits.idle.as_ref().map(|idle| idle.duration());
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last = Instant::now();
        while self.signals.exit().is_none() {
            if let Some(prompt) = given.pop_front() {
                let turn = session.prompt(&prompt).await?;
                self.show(&turn);
                last = Instant::now();
                continue;
            }
            let is_over = lines.is_none() && !self.args.stay;
            if is_over {
                return Ok(());
            }
            // A session that waits for a person waits for as long as it takes.
            let tired = idle.filter(|_| lines.is_none()).map(|idle| last + idle);
            tokio::select! {
                line = next(&mut lines) => given.extend(line),
                _ = look.tick() => {
                    for (to, words) in self.triggers.due() {
                        let turn = session.trigger(&to, &words).await?;
                        self.show(&turn);
                        last = Instant::now();
                    }
                }
                () = self.signals.ended() => {}
                () = sleep_until(tired.unwrap_or(last)), if tired.is_some() => return Ok(()),
            }
        }
        Ok(())
    }

    /// Prints what the root said, a block each; says on stderr what else came of a turn.
    fn show(&mut self, turn: &Turn) {
        match turn {
            Turn::Said(words) if !self.args.json => {
                let before = if self.is_first { "" } else { "\n" };
                self.is_first = false;
                // Whoever read it may have gone; the log has it.
                let _ = terminal::lines(&format!("{before}{words}"));
            }
            Turn::Said(_) | Turn::Silent => {}
            Turn::Withheld { hook, reason } => {
                complain(&format!("The answer was withheld by the hook '{hook}': {reason}"));
            }
            Turn::Limit(limit) => {
                complain(&format!("{limit}: the turn ended without an answer"));
            }
            Turn::Interrupted => complain("The answer was interrupted."),
        }
    }
}

/// The next line; `None` once there are no more.
async fn next(lines: &mut Option<tokio::sync::mpsc::Receiver<String>>) -> Option<String> {
    let Some(open) = lines else { return std::future::pending().await };
    let line = open.recv().await;
    if line.is_none() {
        *lines = None;
    }
    line
}

/// Says on stderr what a person should know.
fn tell(news: News<'_>) {
    match news {
        News::Retry { who, error, after } => {
            let seconds = after.as_secs_f32();
            complain(&format!("{}: {error}; trying again in {seconds:.1} s", who.name));
        }
        News::Note(note) => complain(note),
        News::Words { .. } | News::Answered { .. } | News::Result { .. } => {}
    }
}
