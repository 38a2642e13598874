//! Agents that make agents and talk to one another.
//!
//! Two sentences carry this crate: **transcripts are the state**, and **whatever is added to a
//! transcript is logged at the one place where it is added**. Resume, replay and fork then need no
//! code of their own beyond reading a log.
//!
//! - A [`Session`] owns the log, the agents and the models. It is the only thing that writes.
//! - An [`Agent`] is an id, a name, a transcript and a model. It is asked until it *says*
//!   something: words without calls, an utterance.
//! - A [`Model`] takes a transcript and tools, and answers. There are models behind OpenAI's and
//!   Anthropic's interfaces, scripts, recordings, and your own.
//! - A [`Tool`] is something that an agent can do. `task`, `discuss`, `whisper` and `broadcast` are
//!   there; servers of MCP bring others, and so can you.
//! - A hook is an agent that is asked before something is done, or before words are heard.
//! - A [`Cast`] is a TOML file that says who is there at the beginning.
//!
//! `docs/agents.md` goes from a first chat to a tool, a hook and a cast of one's own.

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
