//! A session: it owns the log, the agents and the models, and is the only thing that writes.
//!
//! | file | what |
//! | --- | --- |
//! | `session.rs` | beginning, resuming, prompting, ending |
//! | `session/turn.rs` | an agent speaks: its model is asked, its calls are run |
//! | `session/ask.rs` | one request to a model, with its retries |
//! | `session/calls.rs` | one call of a tool |
//! | `session/watching.rs` | hooks are asked |
//! | `session/members.rs` | agents are made; words are delivered |
//! | `session/resume.rs` | a session goes on where its log stops |

mod ask;
mod calls;
mod members;
mod resume;
mod turn;
mod watching;

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use antiphon_journal::{Clock, Options, Writer};
use antiphon_model::{Body, BodyError, SessionEnded, SessionStarted};
use antiphon_views::Prices;
use thiserror::Error;

use crate::agent::{Agent, AgentKey};
use crate::cast::Cast;
use crate::journal::{Journal, NewMessage, NotWritten};
use crate::model::{ModelError, Models};
use crate::news::News;
use crate::state::State;
use crate::stopping::StopSignal;
use crate::tool::{Tool, Toolbox, built_in};
use crate::transcript::Entry;
pub(crate) use members::NewMember;
pub use resume::{OpenCalls, ResumeError};
pub use turn::{Spoken, Utterance};

/// What a session is made with.
#[derive(Debug, Default)]
pub struct Setup {
    /// Who is there; the cast that the log has, if nothing is said.
    pub cast: Option<Cast>,
    pub models: Models,
    /// Tools beside the four that every session has.
    pub tools: Vec<Rc<dyn Tool>>,
    /// Where the program was started.
    pub cwd: Option<String>,
    /// How the log is written.
    pub options: Options,
}

/// A session.
pub struct Session {
    journal: Journal,
    pub(crate) state: State,
    models: Models,
    tools: Toolbox,
    cast: Cast,
    /// The models that may be used although they lead to a file: somebody has named them now.
    named_models: BTreeSet<String>,
    prices: Prices,
    /// The same that the log's times are from.
    clock: Arc<dyn Clock>,
    listener: Box<dyn FnMut(News<'_>)>,
    stop: StopSignal,
    /// Requests to models since the last message from outside.
    requests: usize,
    /// How many tools are letting somebody speak, each in the turn of another.
    nested: usize,
    /// What the log still owes, where the session is resumed.
    owed: Option<resume::Owed>,
    is_set_up: bool,
    /// Whether the cast was given now, and does not only stand in the log.
    is_cast_given: bool,
    /// Whether anything came from outside yet.
    has_heard: bool,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session({} agents)", self.state.agents().len())
    }
}

/// What came of a message from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// The root said something.
    Said(String),
    /// It had nothing to say.
    Silent,
    /// What it said was withheld.
    Withheld { hook: String, reason: String },
    /// A limit ended it.
    Limit(String),
    /// A person stopped it.
    Interrupted,
}

/// Why a turn stops. For a tool it is nothing to handle: it is passed on.
#[derive(Debug)]
pub enum Stop {
    /// The turn ends without an answer, and the session goes on.
    Turn(TurnEnd),
    /// The session cannot go on.
    Session(Box<SessionError>),
    /// What was recorded is not what a turn of ours would have written.
    Diverged,
}

/// How a turn ends without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    Limit(String),
    Interrupted,
}

#[derive(Debug, Error)]
pub enum SessionError {
    #[error("{agent}: {error}")]
    Model { agent: String, error: ModelError },
    #[error(transparent)]
    Log(#[from] antiphon_journal::Error),
    #[error("the log cannot be read")]
    Read(#[from] BodyError),
}

impl From<NotWritten> for Stop {
    fn from(error: NotWritten) -> Self {
        match error {
            NotWritten::Log(error) => Self::Session(Box::new(error.into())),
            NotWritten::Diverged => Self::Diverged,
        }
    }
}

impl From<SessionError> for Stop {
    fn from(error: SessionError) -> Self {
        Self::Session(Box::new(error))
    }
}

impl From<BodyError> for Stop {
    fn from(error: BodyError) -> Self {
        Self::Session(Box::new(error.into()))
    }
}

impl Session {
    /// Begins a session with a new log at `path`.
    pub fn begin(path: &Path, setup: Setup) -> Result<Self, SessionError> {
        let writer = Writer::open(path, setup.options.clone())?;
        let cwd = setup.cwd.clone();
        let mut session = Self::new(writer, setup);
        let cast = session.cast.to_json();
        let started = SessionStarted {
            title: session.cast.title.as_deref().map(Into::into),
            prompt: session.cast.prompt.as_deref().map(Into::into),
            program: Some("antiphon chat".into()),
            version: Some(env!("CARGO_PKG_VERSION").into()),
            cwd: cwd.map(Into::into),
            cast: cast.as_ref().map(Body::of),
            ..SessionStarted::default()
        };
        session.journal.started(started).map_err(fatal)?;
        Ok(session)
    }

    fn new(writer: Writer, setup: Setup) -> Self {
        let cast = setup.cast.unwrap_or_default();
        let named = cast.models().map(str::to_owned);
        let named_models = named.chain(setup.models.above_all().map(str::to_owned)).collect();
        Self {
            journal: Journal::new(writer),
            state: State::default(),
            models: setup.models,
            tools: Toolbox::new(built_in().into_iter().chain(setup.tools)),
            cast,
            named_models,
            prices: Prices::bundled(),
            clock: setup.options.clock,
            listener: Box::new(|_| {}),
            stop: StopSignal::default(),
            requests: 0,
            nested: 0,
            owed: None,
            is_set_up: false,
            is_cast_given: true,
            has_heard: false,
        }
    }

    /// Tells whatever happens to `listener`.
    pub fn listen(&mut self, listener: impl FnMut(News<'_>) + 'static) {
        self.listener = Box::new(listener);
    }

    /// What stops a turn from outside.
    pub fn stop_signal(&self) -> StopSignal {
        self.stop.clone()
    }

    pub fn cast(&self) -> &Cast {
        &self.cast
    }

    pub fn id(&self) -> Option<String> {
        self.journal.session_id()
    }

    /// The agent that speaks with the person.
    pub fn root(&self) -> Option<&Agent> {
        self.state.root.map(|root| self.state.agent(root))
    }

    /// Every agent, in the order in which they were made.
    pub fn agents(&self) -> impl ExactSizeIterator<Item = &Agent> {
        self.state.agents().map(|(_, agent)| agent)
    }

    /// Says something to the root, as a person, and lets it answer.
    pub async fn prompt(&mut self, words: &str) -> Result<Turn, SessionError> {
        self.start().await?;
        match self.state.root {
            Some(root) => self.hear(root, words).await,
            None => Ok(Turn::Silent),
        }
    }

    /// Tells the root's agent of that name, or the root, what happened outside. What a sub-agent
    /// says then goes to its parent, who answers too.
    pub async fn trigger(&mut self, to: &str, words: &str) -> Result<Turn, SessionError> {
        self.start().await?;
        let Some(root) = self.state.root else { return Ok(Turn::Silent) };
        let agent = self.state.agent(root).children.get(to).copied().unwrap_or(root);
        self.hear(agent, words).await
    }

    async fn hear(&mut self, agent: AgentKey, words: &str) -> Result<Turn, SessionError> {
        (self.requests, self.nested) = (0, 0);
        self.has_heard = true;
        self.stop.clear();
        let external = NewMessage { source: Some("external"), ..NewMessage::default() };
        let entry = Entry::User(words.into());
        let heard = self.enter(agent, entry, &external);
        let turn = match heard {
            Ok(_) => self.turn(agent).await,
            Err(stop) => Err(stop),
        };
        settle(turn)
    }

    /// Does what the log still owes, and makes the agents that the cast has and the log has not.
    /// Gives what came of a turn that was not finished.
    pub async fn start(&mut self) -> Result<Option<Turn>, SessionError> {
        if self.is_set_up {
            return Ok(None);
        }
        self.is_set_up = true;
        let owed = self.go_on().await?;
        self.set_up().map_err(fatal_stop)?;
        Ok(owed)
    }

    /// The cast's prompt, if nothing came from outside yet.
    pub fn first_prompt(&self) -> Option<String> {
        self.cast.prompt.clone().filter(|_| !self.has_heard)
    }

    /// Whether calls have no result, because a model failed in the middle of a turn.
    pub fn has_open_calls(&self) -> bool {
        self.agents().any(|agent| {
            let mut results = 0;
            let newest = agent.transcript().iter().rev().find_map(|entry| match entry {
                Entry::Assistant(answer) => Some(answer.calls.len()),
                Entry::Result(_) => {
                    results += 1;
                    None
                }
                Entry::System(_) | Entry::User(_) => None,
            });
            newest.is_some_and(|calls| calls > results)
        })
    }

    /// Ends the session, and writes how. A session that failed says why.
    pub fn end(mut self, error: Option<&SessionError>) -> Result<(), SessionError> {
        let ended = SessionEnded {
            outcome: Some(if error.is_some() { "failed" } else { "completed" }.into()),
            error: error.map(|error| error.to_string().into()),
            ..SessionEnded::default()
        };
        self.journal.ended(ended).map_err(fatal)?;
        Ok(self.journal.close()?)
    }

    /// Whether a model that leads to a file was named by a person.
    pub(crate) fn may_use(&self, model: &str) -> bool {
        self.named_models.contains(model)
    }
}

/// What came of a turn. One that ended without an answer is no error.
fn settle(turn: Result<Spoken, Stop>) -> Result<Turn, SessionError> {
    match turn {
        Ok(Spoken::Said(said)) => Ok(Turn::Said(said.words.to_string())),
        Ok(Spoken::Nothing) => Ok(Turn::Silent),
        Ok(Spoken::Withheld { hook, reason }) => Ok(Turn::Withheld { hook, reason }),
        Err(Stop::Turn(TurnEnd::Limit(limit))) => Ok(Turn::Limit(limit)),
        Err(Stop::Turn(TurnEnd::Interrupted)) => Ok(Turn::Interrupted),
        Err(Stop::Session(error)) => Err(*error),
        // Nothing is on the tape while the session lives.
        Err(Stop::Diverged) => Ok(Turn::Silent),
    }
}

fn fatal(error: NotWritten) -> SessionError {
    fatal_stop(error.into())
}

/// Outside a turn there is nothing that could end without the session.
fn fatal_stop(stop: Stop) -> SessionError {
    match stop {
        Stop::Session(error) => *error,
        Stop::Turn(_) | Stop::Diverged => {
            let error = ModelError::for_good("the session could not be set up");
            SessionError::Model { agent: "the session".to_owned(), error }
        }
    }
}

#[cfg(test)]
mod tests;
