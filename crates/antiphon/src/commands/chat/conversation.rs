//! A conversation: prompts and triggers in, what is said out, until there is nothing more to come.

use std::collections::VecDeque;
use std::time::Duration;

use antiphon_agents::{Session, SessionError, Triggers};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::ChatArgs;
use super::input::{Heard, Input};
use super::output::Output;
use super::place::Place;
use super::signals::Signals;
use super::slash::{self, Slash};
use crate::failure::{Outcome, UserError};
use crate::opened::Opened;

/// How often triggers are looked at.
const LOOK: Duration = Duration::from_millis(500);

/// A conversation with a session.
pub(super) struct Conversation<'a> {
    pub(super) args: &'a ChatArgs,
    pub(super) place: Place,
    pub(super) triggers: Triggers,
    pub(super) signals: Signals,
    pub(super) input: &'a mut Input,
    pub(super) output: &'a mut Output,
}

/// How a conversation ends.
pub(super) enum End {
    Over(Outcome),
    /// It goes on as a fork of this: SESSION@MESSAGE.
    Fork(String),
}

/// What is to be done about what a person typed.
enum Next {
    Nothing,
    Say(String),
    Fork(String),
    Quit,
}

impl Conversation<'_> {
    pub(super) async fn hold(mut self, mut session: Session) -> anyhow::Result<End> {
        self.output.follow(&mut session);
        if self.input.is_person() {
            self.output.note("/help lists what you can do besides talking; Ctrl-D ends.");
        }
        let ended = self.speak(&mut session).await;
        let command = self.place.command(&session, self.args);
        let ended = match ended {
            Ok(fork) => session.end(None).map(|()| fork),
            Err(error) => {
                // On a full disk even this cannot be written; what went wrong is said all the same.
                let _ = session.end(Some(&error));
                Err(error)
            }
        };
        let fork = ended.map_err(|error| {
            let error = UserError::failed(format!("{:#}", anyhow::Error::new(error)));
            match &command {
                Some(command) => error.hint(format!("`{command}` goes on")),
                None => error,
            }
        })?;
        let exit = self.signals.exit();
        if let Some(command) = command.filter(|_| self.input.is_person() || exit.is_some()) {
            self.output.note(&format!("The session has ended; `{command}` goes on."));
        }
        let over = || End::Over(exit.map_or(Outcome::Done, Outcome::Exit));
        Ok(fork.map_or_else(over, End::Fork))
    }

    /// Takes prompts and triggers; gives the fork with which to go on.
    async fn speak(&mut self, session: &mut Session) -> Result<Option<String>, SessionError> {
        if let Some(owed) = session.start().await? {
            self.output.show(&owed);
        }
        let first = session.first_prompt();
        let mut given: VecDeque<String> = first.into_iter().collect();
        given.extend(self.args.prompt.iter().cloned());
        let idle = session.cast().limits.idle.as_ref().map(|idle| idle.duration());
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last = Instant::now();
        let (mut is_ended, mut interrupts) = (false, 0);
        while self.signals.exit().is_none() {
            if let Some(prompt) = given.pop_front() {
                self.signals.renew();
                let turn = session.prompt(&prompt).await?;
                self.output.show(&turn);
                last = Instant::now();
                continue;
            }
            if is_ended && !self.args.stay {
                break;
            }
            // A session that waits for a person waits for as long as it takes.
            let tired = idle.filter(|_| is_ended).map(|idle| last + idle);
            let heard = tokio::select! {
                heard = self.input.next(), if !is_ended => heard,
                _ = look.tick() => {
                    let due = self.triggers.due();
                    if !due.is_empty() {
                        last = Instant::now();
                    }
                    for (to, words) in due {
                        if self.signals.exit().is_some() {
                            break;
                        }
                        let typed = self.trigger(session, &to, &words).await?;
                        is_ended |= typed.contains(&Heard::Ended);
                        given.extend(typed.into_iter().filter_map(Heard::line));
                    }
                    continue;
                }
                _ = self.signals.ended() => break,
                () = sleep_until(tired.unwrap_or(last)), if tired.is_some() => break,
            };
            interrupts = if heard == Heard::Interrupted { interrupts + 1 } else { 0 };
            match heard {
                Heard::Line(line) => match self.next(line) {
                    Next::Nothing => {}
                    Next::Say(prompt) => given.push_back(prompt),
                    Next::Fork(from) => return Ok(Some(from)),
                    Next::Quit => break,
                },
                Heard::Interrupted if interrupts > 1 => break,
                Heard::Interrupted => self.output.note("Ctrl-C again ends the session."),
                Heard::Ended => is_ended = true,
            }
        }
        Ok(None)
    }

    /// Tells an agent what happened outside. A prompt that is being edited stays where it is; gives
    /// what came from there in the meantime.
    async fn trigger(
        &mut self,
        session: &mut Session,
        to: &str,
        words: &str,
    ) -> Result<Vec<Heard>, SessionError> {
        self.signals.renew();
        self.output.set_aside(self.input.is_editing());
        self.output.note(&format!("{words} → {to}"));
        let stop = session.stop_signal();
        let mut typed = Vec::new();
        let turn = {
            let turn = session.trigger(to, words);
            tokio::pin!(turn);
            loop {
                tokio::select! {
                    turn = &mut turn => break turn,
                    heard = self.input.next_aside() => match heard {
                        Heard::Interrupted => stop.stop(),
                        Heard::Line(_) | Heard::Ended => typed.push(heard),
                    },
                }
            }
        };
        self.output.show(&turn?);
        self.output.set_aside(false);
        Ok(typed)
    }

    /// What is to be done about a line. In a pipe every line is a prompt.
    fn next(&mut self, line: String) -> Next {
        if line.is_empty() {
            return Next::Nothing;
        }
        let slash = Slash::parse(&line).filter(|_| self.input.is_person());
        match slash {
            None => return Next::Say(line),
            Some(Slash::Help) => self.output.note(slash::help()),
            Some(Slash::Command(before, after)) => {
                if let Some(error) = slash::run(&before, &self.place.path, &after) {
                    self.output.note(&error);
                }
            }
            Some(Slash::Fork(message)) => match self.fork(message) {
                Ok(from) => return Next::Fork(from),
                Err(error) => self.output.note(&format!("{error:#}")),
            },
            Some(Slash::Quit) => return Next::Quit,
            Some(Slash::Wrong(why)) => self.output.note(&why),
        }
        Next::Nothing
    }

    /// The fork of this session at a message: SESSION@MESSAGE.
    fn fork(&self, message: Option<&str>) -> anyhow::Result<String> {
        let opened = Opened::read(&self.place.path)?;
        let last = || opened.session.entries().next_back().map(|entry| entry.id().to_owned());
        let message = match message {
            Some(message) => opened.message_id(message)?,
            None => last().unwrap_or_default(),
        };
        Ok(format!("{}@{message}", self.place.path.display()))
    }
}

impl Heard {
    fn line(self) -> Option<String> {
        match self {
            Self::Line(line) => Some(line),
            Self::Interrupted | Self::Ended => None,
        }
    }
}
