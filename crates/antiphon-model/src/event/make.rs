//! Constructors for events: each kind begins with its required fields, and the others are filled in
//! by name.

use super::{
    Agent, AgentEnded, Annotation, ContextEdited, Event, EventKind, Fragment, Message, RunStatus,
    SessionEnded, SessionStarted, Text, ToolCall, Unknown,
};
use crate::{Body, ContextAction, Json, Place, Role};

impl<'a> Event<'a> {
    /// An event without a place yet. The log gives it an id and a time, if it has none.
    pub fn new(kind: impl Into<EventKind<'a>>) -> Self {
        Self {
            message_id: None,
            at: None,
            line: 0,
            place: Place::NONE,
            kind: kind.into(),
            extra: None,
            problems: Vec::new(),
        }
    }
}

/// Declares which kind of event a value becomes.
macro_rules! kinds {
    ($($kind:ident($value:ident)),+ $(,)?) => {$(
        impl<'a> From<$value<'a>> for EventKind<'a> {
            fn from(value: $value<'a>) -> Self {
                Self::$kind(value)
            }
        }
    )+};
}

kinds! {
    Message(Message),
    AgentCreated(Agent),
    AgentEnded(AgentEnded),
    SessionStarted(SessionStarted),
    SessionEnded(SessionEnded),
    RunStatus(RunStatus),
    ContextEdited(ContextEdited),
    Fragment(Fragment),
    Annotation(Annotation),
    Unknown(Unknown),
}

impl<'a> Message<'a> {
    /// A message in an agent's transcript without content yet.
    pub fn new(agent: impl Into<Text<'a>>, role: Role) -> Self {
        Self {
            agent: agent.into(),
            role,
            content: None,
            more_content: Vec::new(),
            source: None,
            utterance_ref: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
            model: None,
            request_id: None,
            usage: None,
            usage_partial: false,
            cost_usd: None,
            reasoning: None,
            cause: Vec::new(),
            previous_id: None,
            is_error: None,
            started_at: None,
            duration_ms: None,
            result: None,
            context_contribution: None,
            subagent_info: None,
            message_type: None,
            payload: None,
            correlation_id: None,
            reply_to: None,
        }
    }

    /// The same message, with this text or these parts.
    #[must_use]
    pub fn saying(self, content: &'a Json) -> Self {
        Self { content: Some(Body::of(content)), ..self }
    }
}

impl<'a> ToolCall<'a> {
    /// A call. The arguments are an object, or a string that a model meant to be one.
    pub fn new(
        id: impl Into<Text<'a>>,
        name: impl Into<Text<'a>>,
        arguments: Option<&'a Json>,
    ) -> Self {
        let arguments = arguments.map(Body::of);
        Self { id: id.into(), name: name.into(), arguments, ..Self::default() }
    }
}

impl<'a> Agent<'a> {
    /// The creation of an agent of which only the id is known.
    pub fn new(agent: impl Into<Text<'a>>) -> Self {
        Self {
            agent: agent.into(),
            name: None,
            language_model: None,
            parent_id: None,
            tool_call_id: None,
            cause: Vec::new(),
            agent_type: None,
            adapter_id: None,
            flavor: None,
            task: None,
            rule: None,
        }
    }
}

impl<'a> AgentEnded<'a> {
    /// The end of an agent.
    pub fn new(agent: impl Into<Text<'a>>, status: impl Into<Text<'a>>) -> Self {
        Self { agent: agent.into(), status: Some(status.into()), output: None, error: None }
    }
}

impl<'a> ContextEdited<'a> {
    /// An edit of an agent's context that keeps and drops nothing by name.
    pub fn new(agent: impl Into<Text<'a>>, action: ContextAction) -> Self {
        Self {
            agent: agent.into(),
            action,
            kept: None,
            dropped: None,
            kept_first: None,
            summary_ref: None,
        }
    }
}

impl<'a> Annotation<'a> {
    /// An annotation of an agent's calls, or of the session: an object.
    pub fn new(agent: Option<impl Into<Text<'a>>>, annotation: &'a Json) -> Self {
        Self { agent: agent.map(Into::into), annotation: Body::of(annotation) }
    }
}
