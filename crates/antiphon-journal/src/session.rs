//! Recording a session from a program.
//!
//! `examples/jack_and_jill.rs` shows a complete discussion.

use std::path::Path;

use antiphon_model::{
    self as model, AgentCreated, AgentEnded, AgentId, Body, CallId, Event, EventKind, Json,
    MessageId, Role, SessionEnded, SessionStarted, ToolCall,
};

use crate::{Draft, Error, Head, Options, Writer};

/// A session that is being recorded. It may be shared between threads.
#[derive(Debug)]
pub struct Session {
    writer: Writer,
}

impl Session {
    /// Creates a session in a new log; an error if there already is one at `path`.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        if path.exists() {
            return Err(Error::Exists { path: path.to_owned() });
        }
        Self::open(path)
    }

    /// Continues the session at `path`, whatever state its writer left it in, or creates it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, Options::default())
    }

    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        Ok(Self { writer: Writer::open(path.as_ref(), options)? })
    }

    /// Records what the session is about. If it is called at all, it must be called first.
    pub fn session_started(&self, title: &str) -> Result<MessageId, Error> {
        let title = Some(title.into());
        self.append(SessionStarted { title, ..SessionStarted::default() })
    }

    /// Records a new agent, and returns its id.
    pub fn agent_created(&self, agent: NewAgent<'_>) -> Result<AgentId, Error> {
        let id = self.writer.new_agent_id();
        self.append(AgentCreated {
            name: agent.name.map(Into::into),
            language_model: agent.language_model.map(Into::into),
            tool_call_id: agent.made_by.map(|call| call.as_str().into()),
            ..AgentCreated::new(&id)
        })?;
        Ok(AgentId::new(id))
    }

    /// Records an entry in an agent's transcript.
    #[expect(clippy::needless_pass_by_value, reason = "a message is built to be handed over")]
    pub fn message(&self, message: Message<'_>) -> Result<MessageId, Error> {
        let content = message.content.map(Json::text);
        let arguments: Vec<Json> =
            message.calls.iter().map(|call| Json::text(call.arguments)).collect();
        let calls =
            message.calls.iter().zip(&arguments).map(|(call, arguments)| {
                ToolCall::new(call.id.as_str(), call.tool, Some(arguments))
            });
        self.append(model::Message {
            content: content.as_ref().map(Body::of),
            source: message.source.map(Into::into),
            utterance_ref: message.utterance_ref.map(|id| id.as_str().into()),
            tool_call_id: message.result_of.map(|call| call.as_str().into()),
            tool_calls: calls.collect(),
            cause: message.cause.iter().map(|id| id.as_str().into()).collect(),
            ..model::Message::new(message.agent.as_str(), message.role)
        })
    }

    /// Records the result of a call, in the transcript of the agent that made it.
    pub fn tool_result(
        &self,
        agent: &AgentId,
        call: &CallId,
        content: &str,
    ) -> Result<MessageId, Error> {
        let mut result = Message::new(agent, Role::Tool, content);
        result.result_of = Some(call);
        self.message(result)
    }

    /// Records that an utterance was delivered to another agent, with the text that arrived.
    pub fn deliver(
        &self,
        utterance: &MessageId,
        from: &AgentId,
        to: &AgentId,
        words: &str,
    ) -> Result<MessageId, Error> {
        let mut delivery = Message::user(to, words);
        delivery.source = Some(from.as_str());
        delivery.utterance_ref = Some(utterance);
        self.message(delivery)
    }

    /// Records how an agent ended: `completed`, `failed`, `timed-out`, `cancelled`, `interrupted`.
    pub fn agent_ended(&self, agent: &AgentId, status: &str) -> Result<MessageId, Error> {
        self.append(AgentEnded::new(agent.as_str(), status))
    }

    /// Records how the session ended (`completed`, `failed`, `cancelled`), and makes it durable.
    pub fn session_ended(self, outcome: &str) -> Result<Head, Error> {
        let outcome = Some(outcome.into());
        self.append(SessionEnded { outcome, ..SessionEnded::default() })?;
        let head = self.writer.head();
        let path = std::path::PathBuf::new();
        self.writer.close()?;
        head.ok_or(Error::NoLog { path })
    }

    /// Records any event, given as the text of a JSON object.
    pub fn event(&self, json: &str) -> Result<MessageId, Error> {
        Ok(self.writer.append(&Draft::from_json(json)?)?.message_id)
    }

    fn append<'a>(&self, kind: impl Into<EventKind<'a>>) -> Result<MessageId, Error> {
        Ok(self.writer.append(&Draft::from_event(&Event::new(kind))?)?.message_id)
    }
}

/// An agent that is about to be recorded.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewAgent<'a> {
    pub name: Option<&'a str>,
    pub language_model: Option<&'a str>,
    /// The call that creates it. If it is missing, readers infer it.
    pub made_by: Option<&'a CallId>,
}

impl<'a> NewAgent<'a> {
    pub fn named(name: &'a str) -> Self {
        Self { name: Some(name), ..Self::default() }
    }

    pub fn made_by(name: &'a str, call: &'a CallId) -> Self {
        Self { name: Some(name), made_by: Some(call), ..Self::default() }
    }
}

/// An entry of a transcript that is about to be recorded.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    pub agent: &'a AgentId,
    pub role: Role,
    pub content: Option<&'a str>,
    pub source: Option<&'a str>,
    pub utterance_ref: Option<&'a MessageId>,
    pub result_of: Option<&'a CallId>,
    pub calls: Vec<Call<'a>>,
    pub cause: Vec<&'a MessageId>,
}

impl<'a> Message<'a> {
    pub fn new(agent: &'a AgentId, role: Role, content: &'a str) -> Self {
        Self {
            agent,
            role,
            content: Some(content),
            source: None,
            utterance_ref: None,
            result_of: None,
            calls: Vec::new(),
            cause: Vec::new(),
        }
    }

    /// The agent's instructions.
    pub fn system(agent: &'a AgentId, content: &'a str) -> Self {
        Self::new(agent, Role::System, content)
    }

    /// A message to the agent.
    pub fn user(agent: &'a AgentId, content: &'a str) -> Self {
        Self::new(agent, Role::User, content)
    }

    /// A message to the agent from outside the system.
    pub fn external(agent: &'a AgentId, content: &'a str) -> Self {
        Self { source: Some("external"), ..Self::user(agent, content) }
    }

    /// A message from the agent.
    pub fn assistant(agent: &'a AgentId, content: &'a str) -> Self {
        Self::new(agent, Role::Assistant, content)
    }

    /// A tool call that the agent makes.
    pub fn call(agent: &'a AgentId, call: Call<'a>) -> Self {
        Self { content: None, calls: vec![call], ..Self::new(agent, Role::Assistant, "") }
    }
}

/// A tool call that is about to be recorded.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    pub id: &'a CallId,
    pub tool: &'a str,
    /// The text of a JSON object.
    pub arguments: &'a str,
}
