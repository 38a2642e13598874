//! From an event to the members of a line: the way back from [`wire`](super::wire).

use super::wire::KINDS;
use super::{
    Agent, AgentEnded, ContextEdited, Event, EventKind, Fragment, Loss, Message, RunStatus,
    SessionEnded, SessionStarted, ToolCall, Unknown,
};
use crate::Body;
use crate::json::Members;

impl Event<'_> {
    /// The event as the text of a JSON object, in the log's own words.
    ///
    /// A parent that a reader inferred is written with the rule, so that nobody takes it for a
    /// recorded one. An unknown event brings its `line` along.
    pub fn to_json(&self, line: &str) -> String {
        let mut out = Members::default();
        out.text("message_id", self.message_id.as_deref());
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
                out.word("event_type", "annotation");
                out.text("agent", annotation.agent.as_deref());
                out.raw("annotation", annotation.annotation.json);
            }
            EventKind::Gap(loss) => out.loss("gap", loss),
            EventKind::Recovered(loss) => out.loss("recovered", loss),
            EventKind::Unknown(unknown) => out.unknown(unknown, line),
        }
        out.body("extra", self.extra);
        if let Some(at) = self.at {
            out.word("timestamp", &at.to_string());
        }
        out.object()
    }
}

/// The members that each kind of event has.
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
    fn loss(&mut self, event_type: &str, loss: &Loss<'_>);
    fn unknown(&mut self, unknown: &Unknown<'_>, line: &str);
}

impl EventMembers for Members {
    fn body(&mut self, key: &str, body: Option<Body<'_>>) {
        if let Some(body) = body {
            self.raw(key, body.json);
        }
    }

    fn message(&mut self, message: &Message<'_>) {
        self.word("agent_id", &message.agent);
        self.word("role", message.role.as_str());
        self.raw("content", &content(message));
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
        // JSON has no word for what is not finite.
        self.number("cost_usd", message.cost_usd.filter(|cost| cost.is_finite()));
        self.body("reasoning", message.reasoning);
        self.list("cause", message.cause.iter().map(|word| &**word));
        self.text("previous_id", message.previous_id.as_deref());
        self.number("is_error", message.is_error);
        self.text("started_at", message.started_at.map(|at| at.to_string()).as_deref());
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
        self.word("event_type", "agent_created");
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
        self.word("event_type", "agent_ended");
        self.word("agent", &ended.agent);
        self.text("status", ended.status.as_deref());
        self.body("output", ended.output);
        self.text("error", ended.error.as_deref());
    }

    fn session_started(&mut self, started: &SessionStarted<'_>) {
        self.word("event_type", "session_started");
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
    }

    fn session_ended(&mut self, ended: &SessionEnded<'_>) {
        self.word("event_type", "session_ended");
        self.text("outcome", ended.outcome.as_deref());
        self.text("reason", ended.reason.as_deref());
        self.text("error", ended.error.as_deref());
        self.body("declared", ended.declared);
    }

    fn run_status(&mut self, run: &RunStatus<'_>) {
        self.word("event_type", "run_status");
        self.text("run_id", run.run_id.as_deref());
        self.text("title", run.title.as_deref());
        self.text("status", run.status.as_deref());
    }

    fn context_edited(&mut self, edited: &ContextEdited<'_>) {
        self.word("event_type", "context_edited");
        self.word("agent", &edited.agent);
        self.word("action", edited.action.as_str());
        self.body("kept", edited.kept);
        self.body("dropped", edited.dropped);
        self.text("summary_ref", edited.summary_ref.as_deref());
    }

    fn fragment(&mut self, fragment: &Fragment<'_>) {
        self.word("event_type", "fragment");
        self.text("agent", fragment.agent.as_deref());
        self.body("content", fragment.content);
        self.list("cause", fragment.cause.iter().map(|word| &**word));
    }

    fn loss(&mut self, event_type: &str, loss: &Loss<'_>) {
        self.word("event_type", event_type);
        self.number("count", loss.count);
        self.text("reason", loss.reason.as_deref());
        self.body("damage", loss.damage);
    }

    fn unknown(&mut self, unknown: &Unknown<'_>, line: &str) {
        let kind = &*unknown.event_type;
        // What another program calls by a word of ours is none of ours.
        match KINDS.contains(&kind) {
            true => self.word("event_type", &format!("unknown_{kind}")),
            false => self.word("event_type", kind),
        }
        self.text("agent", unknown.agent.as_deref());
        self.raw("raw", line);
    }
}

/// The content as one value: itself, or its pieces as parts.
fn content(message: &Message<'_>) -> String {
    let Some(first) = message.content else { return "null".to_owned() };
    if message.more_content.is_empty() {
        return first.json.to_owned();
    }
    let bodies = std::iter::once(&first).chain(&message.more_content);
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
    // The log's arguments are a string that holds JSON, as the model's API has it.
    match call.arguments {
        Some(body) if body.json.starts_with('"') => function.raw("arguments", body.json),
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
    members.text("started_at", call.started_at.map(|at| at.to_string()).as_deref());
    members.object()
}
