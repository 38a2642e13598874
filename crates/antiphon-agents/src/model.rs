//! Models: a transcript and tools in, words out as they come, and in the end one answer.
//!
//! A model makes one attempt. Whether a failed one is repeated, and what is kept of an answer that
//! broke off, is the session's business ([`Session`](crate::Session)), the same for every model.

mod anthropic;
mod endpoint;
mod http;
mod models;
mod name;
mod openai;
mod replay;
mod script;
pub mod sse;

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
}

/// What arrives while a model answers.
#[derive(Debug, Clone, Copy)]
pub enum Delta<'a> {
    /// Words of the answer.
    Words(&'a str),
    /// Something that the person should know.
    Note(&'a str),
}

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
