//! Tools: a name, a description, a schema, and a call in the context of an agent.
//!
//! A tool that makes agents talk does so through its [`Context`], which logs whatever reaches a
//! transcript; so a new tool needs no new event.

mod arguments;
mod broadcast;
mod discuss;
mod task;
mod toolbox;
mod whisper;

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use serde_json::Value;

use crate::agent::{Agent, AgentKey};
use crate::session::{Session, Spoken, Stop};
pub use arguments::Arguments;
pub(crate) use toolbox::Toolbox;

/// What a model is told about a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub schema: Value,
}

/// Something that an agent can do.
pub trait Tool: std::fmt::Debug {
    fn spec(&self) -> ToolSpec;

    /// Does it. What goes wrong is told to the model that called, in words that help it.
    fn call<'a>(&'a self, context: Context<'a>, arguments: Arguments) -> Calling<'a>;

    /// The server that it comes from, if it comes from one.
    fn origin(&self) -> Option<&str> {
        None
    }

    /// Whether a call that was interrupted goes on where the log stops, because every step of it
    /// is there.
    fn goes_on(&self) -> bool {
        false
    }
}

/// A call that is under way.
pub type Calling<'a> = Pin<Box<dyn Future<Output = Result<Output, ToolError>> + 'a>>;

/// What came of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    pub text: String,
    pub is_error: bool,
    /// The ids of the messages that it was made from.
    pub cause: Vec<String>,
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Why a call came to nothing.
#[derive(Debug)]
pub enum ToolError {
    /// The model is told.
    Failed(String),
    /// The whole turn ends.
    Stopped(Stop),
}

impl ToolError {
    pub fn failed(words: impl Into<String>) -> Self {
        Self::Failed(words.into())
    }
}

impl From<Stop> for ToolError {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

/// Who calls a tool, and what it can do for them.
#[derive(Debug)]
pub struct Context<'a> {
    pub(crate) session: &'a mut Session,
    pub(crate) caller: AgentKey,
    /// The message that makes the call, and the call's id.
    pub(crate) message_id: &'a str,
    pub(crate) call_id: &'a str,
}

impl Context<'_> {
    /// The agent that calls.
    pub fn caller(&self) -> &Agent {
        self.session.state.agent(self.caller)
    }

    pub fn name_of(&self, agent: AgentKey) -> &str {
        &self.session.state.agent(agent).name
    }

    /// The caller's sub-agents, in the order of their names. Hooks are none.
    pub fn sub_agents(&self) -> Vec<AgentKey> {
        self.talkers(self.caller)
    }

    /// The sub-agent of that name.
    pub fn sub_agent(&self, name: &str) -> Result<AgentKey, ToolError> {
        let found = self.caller().children.get(name).copied();
        found.filter(|&agent| !self.session.state.agent(agent).is_hook()).ok_or_else(|| {
            let names = self.sub_agents();
            let names: Vec<&str> = names.iter().map(|&agent| self.name_of(agent)).collect();
            ToolError::failed(match names.is_empty() {
                true => format!("You have no sub-agent `{name}`: make it with `task` first."),
                false => format!(
                    "You have no sub-agent `{name}`. Your sub-agents are: {}.",
                    names.join(", ")
                ),
            })
        })
    }

    /// The sub-agent or sibling of that name.
    pub(crate) fn sub_agent_or_sibling(&self, name: &str) -> Result<AgentKey, ToolError> {
        let siblings = self.caller().parent.map(|parent| self.talkers(parent));
        let mut siblings = siblings.unwrap_or_default().into_iter();
        let is_it = |&agent: &AgentKey| agent != self.caller && self.name_of(agent) == name;
        self.sub_agent(name).or_else(|error| siblings.find(is_it).ok_or(error))
    }

    fn talkers(&self, parent: AgentKey) -> Vec<AgentKey> {
        let state = &self.session.state;
        let mut children: Vec<AgentKey> = state.agent(parent).children.values().copied().collect();
        children.retain(|&agent| !state.agent(agent).is_hook());
        // In the order in which they were made.
        children.sort_unstable();
        children
    }

    /// Writes words of the caller that others are about to hear; gives their id.
    pub fn fragment(&mut self, text: &str) -> Result<String, ToolError> {
        Ok(self.session.fragment(self.caller, text, self.message_id)?)
    }

    /// Delivers words to an agent: from whom, and which utterance or fragment they are.
    pub fn inform(
        &mut self,
        from: AgentKey,
        to: AgentKey,
        words: &std::sync::Arc<str>,
        utterance_ref: &str,
    ) -> Result<(), ToolError> {
        Ok(self.session.inform(from, to, words, utterance_ref)?)
    }

    /// Lets an agent speak: its model is asked until it says something, and hooks have their say.
    pub async fn speak(&mut self, agent: AgentKey) -> Result<Spoken, ToolError> {
        self.session.speak_for_tool(agent).await
    }
}

/// The tools that every agent has, unless its cast says otherwise.
pub(crate) fn built_in() -> Vec<Rc<dyn Tool>> {
    vec![
        Rc::new(task::Task),
        Rc::new(discuss::Discuss),
        Rc::new(whisper::Whisper),
        Rc::new(broadcast::Broadcast),
    ]
}
