//! A session goes on where its log stops.
//!
//! The state is rebuilt up to the last message from outside. What followed lies on the tape, and
//! the turn is run again: it meets what happened, and goes on where the tape ends. A log that was
//! not written by a turn of ours is taken as it is, and nothing is owed.

use std::path::Path;

use antiphon_journal::{Log, LogBodies, Writer};
use antiphon_model::{Activity, BodyError, EntryKind, EventIx, Reading, Role, Source};
use antiphon_views::{OpenCall, resume};
use thiserror::Error;

use super::{Session, SessionError, Setup, Stop, Turn, settle};
use crate::ModelName;
use crate::cast::Cast;
use crate::fork::cast_of_line;
use crate::past::last_turn;
use crate::session::calls::INTERRUPTED;
use crate::state::State;
use crate::tool::Output;
use crate::transcript::Call;

/// A session as its log has it.
pub(super) struct Past {
    session: antiphon_model::Session,
    bodies: LogBodies,
}

/// What is done before anything new.
pub(super) struct Owed {
    past: Past,
    /// The agent whose turn is run again: its id.
    agent: Option<String>,
}

/// Calls that have no result, and that nobody said what to do about.
#[derive(Debug)]
pub struct OpenCalls(pub Vec<OpenCall>);

#[derive(Debug, Error)]
pub enum ResumeError {
    #[error("calls are open")]
    Open(OpenCalls),
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl From<antiphon_journal::Error> for ResumeError {
    fn from(error: antiphon_journal::Error) -> Self {
        Self::Session(error.into())
    }
}

impl From<BodyError> for ResumeError {
    fn from(error: BodyError) -> Self {
        Self::Session(error.into())
    }
}

impl Past {
    fn read(path: &Path) -> Result<Self, antiphon_journal::Error> {
        let log = Log::find(path)?;
        let (session, _) = log.fold()?;
        Ok(Self { session, bodies: LogBodies::new(&log) })
    }

    fn reading(&self) -> Reading<'_> {
        Reading { session: &self.session, bodies: &self.bodies }
    }

    fn open_calls(&self) -> Result<Vec<OpenCall>, BodyError> {
        Ok(resume(&self.reading(), "")?.open_calls)
    }

    /// The cast that the log names.
    fn cast(&self) -> Result<Option<Cast>, BodyError> {
        let started = self.session.info().started_by.map(|event| self.session.entry(event));
        let Some(started) = started else { return Ok(None) };
        Ok(cast_of_line(&self.reading().line(started)?))
    }

    /// Whether calls are open that were made before an event.
    fn has_open_call_before(&self, event: EventIx) -> bool {
        self.session.calls().any(|(_, call)| call.is_open() && call.event < event)
    }
}

impl Session {
    /// Resumes the session whose log is at `path`. Calls without a result stand in the way, unless
    /// `close_open` says to go on with them.
    ///
    /// A log is data: what it says of files and commands is not followed. The cast and the models
    /// in `setup` are what somebody says now.
    pub fn resume(path: &Path, setup: Setup, close_open: bool) -> Result<Self, ResumeError> {
        let refuse = |past: &Past| -> Result<(), ResumeError> {
            match past.open_calls()? {
                calls if calls.is_empty() || close_open => Ok(()),
                calls => Err(ResumeError::Open(OpenCalls(calls))),
            }
        };
        // Looked at first, so that nothing is written where nothing is to be done. What somebody
        // is writing is for the lock to tell.
        if Log::find(path)?.activity() != Activity::Writing {
            refuse(&Past::read(path)?)?;
        }
        let writer = Writer::open(path, setup.options.clone())?;
        let past = Past::read(path)?;
        refuse(&past)?;
        let is_cast_given = setup.cast.is_some();
        let mut session = Self::new(writer, setup);
        if !is_cast_given {
            session.cast = past.cast()?.unwrap_or_default();
        }
        let last = past.session.entries().next_back();
        if last.is_some_and(|last| last.kind() != EntryKind::SessionEnded) {
            session.journal.owes_an_end();
        }
        session.has_heard = past
            .session
            .entries()
            .any(|entry| entry.role() == Some(Role::User) && entry.source() == Source::External);
        session.is_cast_given = is_cast_given;
        session.restore(past)?;
        Ok(session)
    }

    /// Rebuilds the state before the last turn, and puts that turn on the tape.
    fn restore(&mut self, past: Past) -> Result<(), BodyError> {
        let turn = last_turn(&past.reading())?;
        let turn = turn.filter(|turn| !past.has_open_call_before(turn.prompt));
        let up_to = turn.as_ref().map(|turn| turn.prompt);
        self.state = State::of(&past.reading(), up_to, &self.cast, &self.prices)?;
        self.choose_models();
        let agent = match turn {
            Some(turn) => {
                let id = past.session.agent_id(turn.agent).to_owned();
                self.journal.set_tape(turn.events);
                Some(id)
            }
            None => None,
        };
        self.owed = Some(Owed { past, agent });
        Ok(())
    }

    /// Does what the log still owes: the rest of a turn. `None` where nothing was owed.
    pub(super) async fn go_on(&mut self) -> Result<Option<Turn>, SessionError> {
        let Some(Owed { past, agent }) = self.owed.take() else { return Ok(None) };
        (self.requests, self.nested) = (0, 0);
        let turn = match agent.and_then(|id| self.state.find(&id)) {
            Some(agent) => self.turn(agent).await,
            None => Err(Stop::Diverged),
        };
        let turn = match turn {
            Err(Stop::Diverged) => None,
            // More is on the tape than the turn has written.
            Ok(_) | Err(Stop::Turn(_)) if !self.journal.is_live() => None,
            // All of it happened before, and somebody was told.
            Ok(_) | Err(Stop::Turn(_)) if !self.journal.has_written() => return Ok(None),
            turn => Some(settle(turn)?),
        };
        if turn.is_none() {
            self.take_as_it_is(&past)?;
        }
        Ok(turn)
    }

    /// Takes the log as it is. Calls that are open are closed: nobody knows what they did.
    fn take_as_it_is(&mut self, past: &Past) -> Result<(), SessionError> {
        self.journal.set_tape(Vec::new());
        self.state = State::of(&past.reading(), None, &self.cast, &self.prices)?;
        self.choose_models();
        for open in past.open_calls()? {
            let Some(agent) = self.state.find(&open.agent_id) else { continue };
            let (id, name) = (open.call_id, open.tool_name);
            let call = Call { id, name, arguments: String::new() };
            let text = INTERRUPTED.to_owned();
            let output = Output { text, is_error: true, ..Output::default() };
            self.result(agent, &call, &output, None).map_err(super::fatal_stop)?;
        }
        Ok(())
    }

    /// Chooses the model of every agent: what the cast says now, what the log says if it leads to
    /// no file, and else the parent's.
    fn choose_models(&mut self) {
        let keys: Vec<_> = self.state.agents().map(|(key, _)| key).collect();
        for key in keys {
            let agent = self.state.agent(key);
            let by_cast = self.is_cast_given.then(|| self.model_by_cast(key)).flatten();
            let is_usable = |model: &&String| {
                let is_harmless = ModelName::parse(model).is_ok_and(|it| it.is_harmless());
                is_harmless || self.may_use(model) || self.models.is_known(model)
            };
            let of_parent = || self.state.agent(agent.parent?).model.clone();
            let recorded = agent.model.clone().filter(|model| ModelName::parse(model).is_ok());
            let model = by_cast
                .or_else(|| agent.model.as_ref().filter(is_usable).cloned())
                .or_else(of_parent)
                .or_else(|| self.cast.model.clone())
                .or(recorded);
            self.state.agent_mut(key).model = model;
        }
    }

    fn model_by_cast(&self, key: crate::agent::AgentKey) -> Option<String> {
        let agent = self.state.agent(key);
        let (name, cast) = (&agent.name, &self.cast);
        let own = match agent.parent {
            None => cast.root.model.as_ref(),
            Some(parent) if Some(parent) == self.state.root => {
                let member = cast.agents.iter().find(|member| member.name == *name);
                let hook = || cast.hooks.iter().find(|hook| hook.name == *name);
                match member.map(|member| &member.model).or_else(|| hook().map(|it| &it.model)) {
                    Some(model) => model.as_ref(),
                    None => return None,
                }
            }
            Some(_) => return None,
        };
        own.or(cast.model.as_ref()).cloned()
    }
}
