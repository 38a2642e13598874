//! Models: a transcript and tools in, words out as they come, and in the end one answer.
//!
//! A model makes one attempt. Whether a failed one is repeated, and what is kept of an answer that
//! broke off, is the session's business ([`Session`](crate::Session)), the same for every model.

mod anthropic;
mod endpoint;
mod http;
mod keyless;
mod models;
mod name;
mod openai;
mod replay;
mod script;
pub mod sse;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use antiphon_model::Usage;
use thiserror::Error;

use crate::tool::ToolSpec;
use crate::transcript::{Answer, Entry};
pub use endpoint::Endpoints;
pub use models::Models;
pub use name::{ModelName, NotAModel};
pub use replay::Replay;
pub use script::{Script, ScriptError};

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The names of the agent and of those above it, without the root's: `["Jill", "Inner"]`.
    pub path: &'a [String],
    /// The agent's own name.
    pub agent: &'a str,
    pub transcript: &'a [Entry],
    pub tools: &'a [ToolSpec],
    /// How often this model has answered an agent of this name.
    pub answered: usize,
    /// The same of every model.
    pub counts: &'a AnswerCounts,
}

impl<'a> Request<'a> {
    /// The same request, for the model of another name.
    pub fn for_model(self, model: &str) -> Self {
        Self { answered: self.counts.of(self.agent, model), ..self }
    }
}

/// How often agents have been answered: by their name, and by the model's.
#[derive(Debug, Default)]
pub struct AnswerCounts(BTreeMap<(String, String), usize>);

impl AnswerCounts {
    pub fn of(&self, agent: &str, model: &str) -> usize {
        self.0.get(&(agent.to_owned(), model.to_owned())).copied().unwrap_or_default()
    }

    pub(crate) fn add(&mut self, agent: &str, model: &str) {
        *self.0.entry((agent.to_owned(), model.to_owned())).or_default() += 1;
    }
}

/// What arrives while a model answers.
#[derive(Debug, Clone, Copy)]
pub enum Delta<'a> {
    /// Words of the answer.
    Words(&'a str),
    /// Something that the person should know.
    Note(&'a str),
}

/// What the person is told where a service ends an answer that is not over.
const TOO_LONG: &str =
    "The answer reached the longest length that the service allows, and ends there.";

/// What a model answered.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    pub answer: Answer,
    /// The model that answered, in its service's own words.
    pub model: Option<String>,
    pub request_id: Option<String>,
    pub usage: Option<Usage>,
    /// What the service says that it cost.
    pub cost_usd: Option<f64>,
}

/// Why there is no answer.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct ModelError {
    pub message: String,
    pub retry: Retry,
}

/// Whether it is worth trying again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    Never,
    /// After so long, or after as long as one waits for a service that does not say.
    After(Option<Duration>),
}

impl ModelError {
    pub fn for_good(message: impl Into<String>) -> Self {
        Self { message: message.into(), retry: Retry::Never }
    }

    pub fn for_now(message: impl Into<String>) -> Self {
        Self { message: message.into(), retry: Retry::After(None) }
    }
}

/// An answer that is on its way.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + 'a>>;

/// Takes what arrives while a model answers.
pub type Tell<'a> = &'a mut dyn FnMut(Delta<'_>);

/// Something that answers.
pub trait Model: std::fmt::Debug {
    /// Answers once. Dropping the future stops it.
    fn answer<'a>(&'a self, request: Request<'a>, tell: Tell<'a>) -> Answering<'a>;
}
