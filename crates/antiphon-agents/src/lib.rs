//! Agents that make agents and talk to one another.
//!
//! Two sentences carry this crate: **transcripts are the state**, and **whatever is added to a
//! transcript is logged at the one place where it is added**. Resume, replay and fork then need no
//! code of their own beyond reading a log.
//!
//! # A first session
//!
//! A [`Cast`] says who is there, [`Models`] who answers, and a [`Session`] writes the log:
//!
//! ```no_run
#![doc = include_str!("../examples/debate.rs")]
//! ```
//!
//! [`Session::prompt`] says something to the root agent, as a person, and gives a [`Turn`]: what it
//! said, or why it said nothing. [`Session::listen`] is told of everything in between
//! ([`News`]): words as they arrive, calls, results, retries. [`Session::stop_signal`] stops a turn
//! from elsewhere, as Ctrl-C does.
//!
//! # What is what
//!
//! - A [`Session`] owns the log, the agents and the models. It is the only thing that writes.
//! - An [`Agent`] is an id, a name, a transcript and a model. It is asked until it *says*
//!   something: words without calls, an utterance.
//! - A [`Model`] takes a transcript and tools, and answers. There are models behind OpenAI's and
//!   Anthropic's interfaces, scripts ([`Script`]), recordings ([`Replay`]), and your own. It makes
//!   one attempt; the session repeats what failed for now ([`Retry`]).
//! - A [`Tool`] is something that an agent can do. `task`, `discuss`, `whisper` and `broadcast` are
//!   there; servers of MCP bring others ([`connect`]), and so can you ([`Setup::tools`]).
//! - A hook is an agent that is asked before something is done, or before words are heard. A cast
//!   names hooks, and `task` makes them; [`Approval`] and [`Review`] are their verdicts.
//! - A trigger is something outside that an agent hears of: [`Triggers`] looks for it, and
//!   [`Session::trigger`] tells it.
//!
//! # A tool of your own
//!
//! A tool gets a [`Context`]: who calls, and what can be done for them. Through it a tool can let
//! agents speak ([`Context::speak`]) and deliver words ([`Context::fragment`],
//! [`Context::inform`]); all of that is logged by the session, so a new tool needs no new event.
//! What goes wrong is a [`ToolError`], which the model is told as the result of its call.
//! `examples/tool.rs` has a tool and a model of one's own.
//!
//! # Going on
//!
//! [`Session::resume`] rebuilds everything from the log and does first what the log still owes: the
//! rest of a turn that was cut off, agents of the cast that were not made. Calls without a result
//! stand in the way ([`ResumeError::Open`]) unless they are to be closed. A [`Fork`] copies a log
//! up to a message. A log is data and never a program: models that lead to files, and servers, are
//! used only if [`Setup`] names them now.
//!
//! [`request`] writes a transcript as the body of a request, for whoever sends it themselves.
//!
//! `docs/agents.md` is the same from the side of the command line.

mod agent;
mod cast;
mod fork;
mod hook;
mod journal;
mod mcp;
mod model;
mod news;
mod past;
pub mod request;
mod session;
mod state;
mod stopping;
mod tool;
mod transcript;
mod trigger;

pub use agent::{Agent, AgentKey, is_name};
pub use cast::{
    BUNDLED, Bundled, Cast, CastError, Interval, Limits, Member, Server, Trigger, TriggerKind,
    Watch, Watcher, absolute_model, bundled,
};
pub use fork::{Fork, Origin, cast_of_line};
pub use hook::{Approval, Review};
pub use mcp::{McpError, connect};
pub use model::{
    AnswerCounts, Answering, Delta, Endpoints, Model, ModelError, ModelName, Models, NotAModel,
    Replay, Reply, Request, Retry, Script, ScriptError, Tell, sse,
};
pub use news::{News, Who};
pub use past::transcript_of;
pub use session::{
    OpenCalls, ResumeError, Session, SessionError, Setup, Spoken, Stop, Turn, TurnEnd, Utterance,
};
pub use stopping::StopSignal;
pub use tool::{Arguments, Calling, Context, Output, Tool, ToolError, ToolSpec};
pub use transcript::{Answer, Call, Content, Entry, ToolResult, Transcript};
pub use trigger::Triggers;
