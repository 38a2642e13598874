//! Encodes an event to the members of a line: the inverse of [`wire`](super::wire).

use std::borrow::Cow;

use super::wire::KINDS;
use super::{
    Agent, AgentEnded, ContextEdited, Event, EventKind, Fragment, Loss, Message, RunStatus,
    SessionEnded, SessionStarted, ToolCall, Unknown,
};
use crate::Body;
use crate::json::Members;

impl Event<'_> {
    /// The event as the text of a JSON object, in the log's own vocabulary, on one line.
    ///
    /// A parent that a reader inferred is written with the rule, so that it is not taken for a
    /// recorded one.
    pub fn to_json(&self) -> String {
        let mut out = Members::with_capacity(self.content_bytes() + SHELL_BYTES);
        out.text("message_id", self.message_id.as_deref());
        self.write(&mut out);
        out.object()
    }

    /// The members of its line except `message_id`, which a log may have to choose.
    pub fn members(&self) -> Members {
        let mut out = Members::with_capacity(self.content_bytes() + SHELL_BYTES);
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut Members) {
        if let Some(event_type) = self.kind.event_type() {
            out.word("event_type", &event_type);
        }
        match &self.kind {
            EventKind::Message(message) => out.message(message),
            EventKind::AgentCreated(agent) => out.agent_created(agent),
            EventKind::AgentEnded(ended) => out.agent_ended(ended),
            EventKind::SessionStarted(started) => out.session_started(started),
            EventKind::SessionEnded(ended) => out.session_ended(ended),
            EventKind::RunStatus(run) => out.run_status(run),
            EventKind::ContextEdited(edited) => out.context_edited(edited),
            EventKind::Fragment(fragment) => out.fragment(fragment),
            EventKind::Annotation(annotation) => {
                out.text("agent", annotation.agent.as_deref());
                out.body("annotation", Some(annotation.annotation));
            }
            EventKind::Gap(loss) | EventKind::Recovered(loss) => out.loss(loss),
            EventKind::Unknown(unknown) => {
                out.text("agent", unknown.agent.as_deref());
                out.body("raw", unknown.raw);
            }
        }
        out.body("extra", self.extra);
        out.time("timestamp", self.at);
    }

    /// The length of what is mostly the longest part of a line.
    fn content_bytes(&self) -> usize {
        #[expect(clippy::wildcard_enum_match_arm, reason = "a guess at what has to be held")]
        let content = match &self.kind {
            EventKind::Message(message) => message.content,
            EventKind::Fragment(fragment) => fragment.content,
            _ => None,
        };
        content.map_or(0, |content| content.json.len())
    }
}

/// Room for what most lines have beside their content.
const SHELL_BYTES: usize = 256;

impl EventKind<'_> {
    /// Its `event_type`; a message has none.
    pub fn event_type(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(match self {
            Self::Message(_) => return None,
            Self::AgentCreated(_) => "agent_created",
            Self::AgentEnded(_) => "agent_ended",
            Self::SessionStarted(_) => "session_started",
            Self::SessionEnded(_) => "session_ended",
            Self::RunStatus(_) => "run_status",
            Self::ContextEdited(_) => "context_edited",
            Self::Fragment(Fragment { printed: None, .. }) => "fragment",
            Self::Fragment(Fragment { printed: Some(_), .. }) => "output",
            Self::Annotation(_) => "annotation",
            Self::Gap(_) => "gap",
            Self::Recovered(_) => "recovered",
            Self::Unknown(Unknown { event_type, .. }) => match KINDS.contains(&&**event_type) {
                // An event type of another program that equals one of ours gets a prefix.
                true => return Some(Cow::Owned(format!("unknown_{event_type}"))),
                false => event_type,
            },
        }))
    }

    /// Whether something happens in the session by it, and nothing is only said about it.
    pub fn goes_on(&self) -> bool {
        match self {
            Self::Message(_) | Self::AgentCreated(_) => true,
            Self::AgentEnded(_)
            | Self::SessionStarted(_)
            | Self::SessionEnded(_)
            | Self::RunStatus(_)
            | Self::ContextEdited(_)
            | Self::Fragment(_)
            | Self::Annotation(_)
            | Self::Gap(_)
            | Self::Recovered(_)
            | Self::Unknown(_) => false,
        }
    }

    /// The agent that it is about.
    pub fn agent(&self) -> Option<&str> {
        match self {
            Self::Message(message) => Some(&message.agent),
            Self::AgentCreated(agent) => Some(&agent.agent),
            Self::AgentEnded(ended) => Some(&ended.agent),
            Self::ContextEdited(edited) => Some(&edited.agent),
            Self::Fragment(fragment) => fragment.agent.as_deref(),
            Self::Annotation(annotation) => annotation.agent.as_deref(),
            Self::Unknown(unknown) => unknown.agent.as_deref(),
            Self::SessionStarted(_)
            | Self::SessionEnded(_)
            | Self::RunStatus(_)
            | Self::Gap(_)
            | Self::Recovered(_) => None,
        }
    }
}

/// Writes the members that each kind of event has.
trait EventMembers {
    fn body(&mut self, key: &str, body: Option<Body<'_>>);
    fn message(&mut self, message: &Message<'_>);
    fn agent_created(&mut self, agent: &Agent<'_>);
    fn agent_ended(&mut self, ended: &AgentEnded<'_>);
    fn session_started(&mut self, started: &SessionStarted<'_>);
    fn session_ended(&mut self, ended: &SessionEnded<'_>);
    fn run_status(&mut self, run: &RunStatus<'_>);
    fn context_edited(&mut self, edited: &ContextEdited<'_>);
    fn fragment(&mut self, fragment: &Fragment<'_>);
    fn loss(&mut self, loss: &Loss<'_>);
}

impl EventMembers for Members {
    fn body(&mut self, key: &str, body: Option<Body<'_>>) {
        if let Some(body) = body {
            self.on_one_line(key, body.json);
        }
    }

    fn message(&mut self, message: &Message<'_>) {
        self.word("agent_id", &message.agent);
        self.word("role", message.role.as_str());
        match (message.content, &*message.more_content) {
            (None, _) => self.raw("content", "null"),
            (content, []) => self.body("content", content),
            (Some(first), more) => self.on_one_line("content", &parts(first, more)),
        }
        self.text("source", message.source.as_deref());
        self.text("utterance_ref", message.utterance_ref.as_deref());
        if !message.tool_calls.is_empty() {
            let calls: Vec<String> = message.tool_calls.iter().map(tool_call).collect();
            self.raw("tool_calls", &format!("[{}]", calls.join(",")));
        }
        self.text("tool_call_id", message.tool_call_id.as_deref());
        self.text("name", message.name.as_deref());
        self.text("model", message.model.as_deref());
        self.text("request_id", message.request_id.as_deref());
        if let Some(usage) = &message.usage {
            self.raw("usage", &usage.to_json());
        }
        self.number("usage_partial", message.usage_partial.then_some(true));
        // JSON cannot represent a number that is not finite.
        self.number("cost_usd", message.cost_usd.filter(|cost| cost.is_finite()));
        self.body("reasoning", message.reasoning);
        self.list("cause", message.cause.iter().map(|word| &**word));
        self.text("previous_id", message.previous_id.as_deref());
        self.number("is_error", message.is_error);
        self.time("started_at", message.started_at);
        self.number("duration_ms", message.duration_ms);
        self.body("result", message.result);
        self.body("context_contribution", message.context_contribution);
        self.body("subagent_info", message.subagent_info);
        self.text("message_type", message.message_type.as_deref());
        self.body("payload", message.payload);
        self.text("correlation_id", message.correlation_id.as_deref());
        self.text("reply_to", message.reply_to.as_deref());
    }

    fn agent_created(&mut self, agent: &Agent<'_>) {
        self.word("agent_id", &agent.agent);
        self.text("name", agent.name.as_deref());
        self.text("language_model", agent.language_model.as_deref());
        self.text("parent_id", agent.parent_id.as_deref());
        self.text("tool_call_id", agent.tool_call_id.as_deref());
        if let Some(rule) = agent.rule {
            self.word("inferred_by", rule.as_str());
        }
        self.list("cause", agent.cause.iter().map(|word| &**word));
        self.text("agent_type", agent.agent_type.as_deref());
        self.text("adapter_id", agent.adapter_id.as_deref());
        self.text("flavor", agent.flavor.as_deref());
        self.body("task", agent.task);
    }

    fn agent_ended(&mut self, ended: &AgentEnded<'_>) {
        self.word("agent", &ended.agent);
        self.text("status", ended.status.as_deref());
        self.body("output", ended.output);
        self.text("error", ended.error.as_deref());
    }

    fn session_started(&mut self, started: &SessionStarted<'_>) {
        self.text("session_id", started.session_id.as_deref());
        self.number("format", started.format);
        self.text("title", started.title.as_deref());
        self.text("prompt", started.prompt.as_deref());
        self.text("description", started.description.as_deref());
        self.text("cwd", started.cwd.as_deref());
        self.text("branch", started.branch.as_deref());
        self.text("program", started.program.as_deref());
        self.text("version", started.version.as_deref());
        self.text("role", started.role.as_deref());
        self.list("spec_paths", started.spec_paths.iter().map(|word| &**word));
        self.text("issue", started.issue.as_deref());
        self.text("run_id", started.run_id.as_deref());
        self.text("task_id", started.task_id.as_deref());
        self.body("cast", started.cast);
        self.body("forked_from", started.forked_from);
    }

    fn session_ended(&mut self, ended: &SessionEnded<'_>) {
        self.text("outcome", ended.outcome.as_deref());
        self.text("reason", ended.reason.as_deref());
        self.text("error", ended.error.as_deref());
        self.body("declared", ended.declared);
    }

    fn run_status(&mut self, run: &RunStatus<'_>) {
        self.text("run_id", run.run_id.as_deref());
        self.text("status", run.status.as_deref());
        self.text("title", run.title.as_deref());
        self.text("feature_branch", run.feature_branch.as_deref());
        self.text("base_branch", run.base_branch.as_deref());
    }

    fn context_edited(&mut self, edited: &ContextEdited<'_>) {
        self.word("agent", &edited.agent);
        self.word("action", edited.action.as_str());
        self.body("kept", edited.kept);
        self.body("dropped", edited.dropped);
        self.number("kept_first", edited.kept_first);
        self.text("summary_ref", edited.summary_ref.as_deref());
    }

    fn fragment(&mut self, fragment: &Fragment<'_>) {
        self.text("agent", fragment.agent.as_deref());
        let mut content = "content";
        if let Some(printed) = &fragment.printed {
            self.text("stream", printed.stream.as_deref());
            self.number("times", printed.times);
            content = if printed.is_record { "record" } else { "content" };
        }
        self.body(content, fragment.content);
        self.list("cause", fragment.cause.iter().map(|word| &**word));
    }

    fn loss(&mut self, loss: &Loss<'_>) {
        self.number("count", loss.count);
        self.number("changed", loss.changed);
        self.number("rewritten", loss.rewritten);
        self.text("reason", loss.reason.as_deref());
        self.body("damage", loss.damage);
        self.body("rest", loss.rest);
    }
}

/// The content that a source keeps in several pieces, as one value.
fn parts(first: Body<'_>, more: &[Body<'_>]) -> String {
    let bodies = std::iter::once(&first).chain(more);
    let parts: Vec<String> = bodies
        .map(|body| match body.json.starts_with('"') {
            true => format!("{{\"type\":\"text\",\"text\":{}}}", body.json),
            false => body.json.to_owned(),
        })
        .collect();
    format!("[{}]", parts.join(","))
}

fn tool_call(call: &ToolCall<'_>) -> String {
    let mut function = Members::default();
    function.word("name", &call.name);
    // In the log, arguments are a string that contains JSON, as in the APIs of models.
    match call.arguments {
        Some(body) if body.json.starts_with('"') => function.body("arguments", Some(body)),
        Some(body) => function.word("arguments", body.json),
        None => {}
    }
    let mut members = Members::default();
    members.word("id", &call.id);
    members.word("type", "function");
    members.raw("function", &function.object());
    members.text("category", call.category.as_deref());
    members.text("description", call.description.as_deref());
    members.text("raw_command", call.raw_command.as_deref());
    members.time("started_at", call.started_at);
    members.object()
}
