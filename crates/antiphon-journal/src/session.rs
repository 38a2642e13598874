//! Recording a session from a program: a few obvious calls.
//!
//! `examples/jack_and_jill.rs` shows a whole discussion.

use std::path::Path;

use antiphon_model::json::Members;
use antiphon_model::{AgentId, CallId, MessageId};

use crate::{Draft, Error, Head, Options, Writer};

/// A session that is being recorded. It may be shared between threads.
#[derive(Debug)]
pub struct Session {
    writer: Writer,
}

impl Session {
    /// Begins a session in a new log; an error if there is one at `path` already.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        if path.exists() {
            return Err(Error::Exists { path: path.to_owned() });
        }
        Self::open(path)
    }

    /// Goes on with the session at `path`, whatever state its writer left it in, or begins it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, Options::default())
    }

    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        Ok(Self { writer: Writer::open(path.as_ref(), options)? })
    }

    /// Records what the session is about. To be said first, if at all.
    pub fn session_started(&self, title: &str) -> Result<MessageId, Error> {
        let mut event = Members::of_event("session_started");
        event.word("title", title);
        self.append(&event)
    }

    /// Records a new agent, and returns its id.
    pub fn agent_created(&self, agent: NewAgent<'_>) -> Result<AgentId, Error> {
        let id = self.writer.new_agent_id();
        let mut event = Members::of_event("agent_created");
        event.word("agent_id", &id);
        event.text("name", agent.name);
        event.text("language_model", agent.language_model);
        event.text("tool_call_id", agent.made_by.map(CallId::as_str));
        self.append(&event)?;
        Ok(AgentId::new(id))
    }

    /// Records an entry in an agent's transcript.
    #[expect(clippy::needless_pass_by_value, reason = "a message is built to be handed over")]
    pub fn message(&self, message: Message<'_>) -> Result<MessageId, Error> {
        let mut event = Members::default();
        event.word("agent_id", message.agent.as_str());
        event.word("role", message.role);
        match message.content {
            Some(content) => event.word("content", content),
            None => event.raw("content", "null"),
        }
        event.text("source", message.source);
        event.text("utterance_ref", message.utterance_ref.map(MessageId::as_str));
        event.text("tool_call_id", message.result_of.map(CallId::as_str));
        if !message.calls.is_empty() {
            let calls: Vec<String> = message.calls.iter().map(|call| call.to_json()).collect();
            event.raw("tool_calls", &format!("[{}]", calls.join(",")));
        }
        event.list("cause", message.cause.iter().map(|cause| cause.as_str()));
        self.append(&event)
    }

    /// Records the result of a call, in the transcript of the agent that made it.
    pub fn tool_result(
        &self,
        agent: &AgentId,
        call: &CallId,
        content: &str,
    ) -> Result<MessageId, Error> {
        let mut result = Message::new(agent, "tool", content);
        result.result_of = Some(call);
        self.message(result)
    }

    /// Records that an utterance arrived at another agent, in the words in which it did.
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
        let mut event = Members::of_event("agent_ended");
        event.word("agent", agent.as_str());
        event.word("status", status);
        self.append(&event)
    }

    /// Records how the session ended (`completed`, `failed`, `cancelled`), and makes it durable.
    pub fn session_ended(self, outcome: &str) -> Result<Head, Error> {
        let mut event = Members::of_event("session_ended");
        event.word("outcome", outcome);
        self.append(&event)?;
        let head = self.writer.head();
        let path = std::path::PathBuf::new();
        self.writer.close()?;
        head.ok_or(Error::NoLog { path })
    }

    /// Records any event, given as the text of a JSON object.
    pub fn event(&self, json: &str) -> Result<MessageId, Error> {
        Ok(self.writer.append(&Draft::from_json(json)?)?.message_id)
    }

    fn append(&self, members: &Members) -> Result<MessageId, Error> {
        self.event(&members.object())
    }
}

/// An agent that is about to be recorded.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewAgent<'a> {
    pub name: Option<&'a str>,
    pub language_model: Option<&'a str>,
    /// The call that makes it. Where it is left out, readers infer it.
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
    pub role: &'a str,
    pub content: Option<&'a str>,
    pub source: Option<&'a str>,
    pub utterance_ref: Option<&'a MessageId>,
    pub result_of: Option<&'a CallId>,
    pub calls: Vec<Call<'a>>,
    pub cause: Vec<&'a MessageId>,
}

impl<'a> Message<'a> {
    pub fn new(agent: &'a AgentId, role: &'a str, content: &'a str) -> Self {
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
        Self::new(agent, "system", content)
    }

    /// Something that the agent is told.
    pub fn user(agent: &'a AgentId, content: &'a str) -> Self {
        Self::new(agent, "user", content)
    }

    /// Something that the agent is told from outside the system.
    pub fn external(agent: &'a AgentId, content: &'a str) -> Self {
        Self { source: Some("external"), ..Self::user(agent, content) }
    }

    /// Something that the agent says.
    pub fn assistant(agent: &'a AgentId, content: &'a str) -> Self {
        Self::new(agent, "assistant", content)
    }

    /// A tool call that the agent makes.
    pub fn call(agent: &'a AgentId, call: Call<'a>) -> Self {
        Self { content: None, calls: vec![call], ..Self::new(agent, "assistant", "") }
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

impl Call<'_> {
    fn to_json(self) -> String {
        let mut function = Members::default();
        function.word("name", self.tool);
        function.word("arguments", self.arguments);
        let mut call = Members::default();
        call.word("id", self.id.as_str());
        call.word("type", "function");
        call.raw("function", &function.object());
        call.object()
    }
}
