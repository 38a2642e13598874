//! From an event to the members of a line: the way back from [`wire`](super::wire).

use super::{
    Agent, AgentEnded, ContextEdited, Event, EventKind, Fragment, Loss, Message, RunStatus,
    SessionEnded, SessionStarted, Text, ToolCall, Unknown,
};
use crate::{Body, Usage, json};

impl Event<'_> {
    /// The event as the text of a JSON object, in the log's own words.
    ///
    /// A parent that a reader inferred is written with the rule, so that nobody takes it for a
    /// recorded one. An unknown event brings its `line` along.
    pub fn to_json(&self, line: &str) -> String {
        let mut out = Members::default();
        out.text("message_id", &self.message_id);
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
                out.raw("annotation", annotation.whole.json);
            }
            EventKind::Gap(loss) => out.loss("gap", loss),
            EventKind::Recovered(loss) => out.loss("recovered", loss),
            EventKind::Unknown(unknown) => out.unknown(unknown, line),
        }
        if let Some(at) = self.at {
            out.word("timestamp", &at.to_string());
        }
        format!("{{{}}}", out.text)
    }
}

/// The members of an object, as text.
#[derive(Debug, Default)]
struct Members {
    text: String,
}

impl Members {
    fn raw(&mut self, key: &str, value: &str) {
        if !self.text.is_empty() {
            self.text.push(',');
        }
        json::push_string(&mut self.text, key);
        self.text.push(':');
        self.text.push_str(value);
    }

    fn word(&mut self, key: &str, value: &str) {
        let mut text = String::with_capacity(value.len() + 2);
        json::push_string(&mut text, value);
        self.raw(key, &text);
    }

    fn text(&mut self, key: &str, value: &Option<Text<'_>>) {
        if let Some(value) = value {
            self.word(key, value);
        }
    }

    fn body(&mut self, key: &str, body: Option<Body<'_>>) {
        if let Some(body) = body {
            self.raw(key, body.json);
        }
    }

    fn number(&mut self, key: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.raw(key, &value.to_string());
        }
    }

    fn list(&mut self, key: &str, words: &[Text<'_>]) {
        if words.is_empty() {
            return;
        }
        let mut list = String::from("[");
        for word in words {
            if list.len() > 1 {
                list.push(',');
            }
            json::push_string(&mut list, word);
        }
        list.push(']');
        self.raw(key, &list);
    }

    fn message(&mut self, message: &Message<'_>) {
        self.word("agent_id", &message.agent);
        self.word("role", message.role.as_str());
        self.raw("content", &content(message));
        self.text("source", &message.source);
        self.text("utterance_ref", &message.utterance_ref);
        if !message.tool_calls.is_empty() {
            let calls: Vec<String> = message.tool_calls.iter().map(tool_call).collect();
            self.raw("tool_calls", &format!("[{}]", calls.join(",")));
        }
        self.text("tool_call_id", &message.tool_call_id);
        self.text("name", &message.name);
        self.text("model", &message.model);
        self.text("request_id", &message.request_id);
        if let Some(usage) = &message.usage {
            self.raw("usage", &usage_json(usage));
        }
        self.number("cost_usd", message.cost_usd);
        self.body("reasoning", message.reasoning);
        self.list("cause", &message.cause);
        self.text("previous_id", &message.previous_id);
        self.number("is_error", message.is_error);
        self.text("started_at", &message.started_at.map(|at| at.to_string().into()));
        self.number("duration_ms", message.duration_ms);
        self.body("result", message.result);
        self.body("context_contribution", message.context_contribution);
        self.body("subagent_info", message.subagent_info);
        self.text("message_type", &message.message_type);
        self.body("payload", message.payload);
        self.text("correlation_id", &message.correlation_id);
        self.text("reply_to", &message.reply_to);
    }

    fn agent_created(&mut self, agent: &Agent<'_>) {
        self.word("event_type", "agent_created");
        self.word("agent_id", &agent.agent);
        self.text("name", &agent.name);
        self.text("language_model", &agent.language_model);
        self.text("parent_id", &agent.parent_id);
        self.text("tool_call_id", &agent.tool_call_id);
        if let Some(rule) = agent.rule {
            self.word("inferred_by", rule.as_str());
        }
        self.list("cause", &agent.cause);
        self.text("agent_type", &agent.agent_type);
        self.text("adapter_id", &agent.adapter_id);
        self.text("flavor", &agent.flavor);
        self.body("task", agent.task);
    }

    fn agent_ended(&mut self, ended: &AgentEnded<'_>) {
        self.word("event_type", "agent_ended");
        self.word("agent", &ended.agent);
        self.text("status", &ended.status);
        self.body("output", ended.output);
        self.text("error", &ended.error);
    }

    fn session_started(&mut self, started: &SessionStarted<'_>) {
        self.word("event_type", "session_started");
        self.text("session_id", &started.session_id);
        self.number("format", started.format);
        self.text("title", &started.title);
        self.text("prompt", &started.prompt);
        self.text("cwd", &started.cwd);
        self.text("branch", &started.branch);
        self.text("program", &started.program);
        self.text("version", &started.version);
        self.text("role", &started.role);
        self.list("spec_paths", &started.spec_paths);
        self.text("issue", &started.issue);
        self.text("run_id", &started.run_id);
        self.text("task_id", &started.task_id);
    }

    fn session_ended(&mut self, ended: &SessionEnded<'_>) {
        self.word("event_type", "session_ended");
        self.text("outcome", &ended.outcome);
        self.text("reason", &ended.reason);
        self.text("error", &ended.error);
        self.body("declared", ended.declared);
    }

    fn run_status(&mut self, run: &RunStatus<'_>) {
        self.word("event_type", "run_status");
        self.text("run_id", &run.run_id);
        self.text("title", &run.title);
        self.text("status", &run.status);
    }

    fn context_edited(&mut self, edited: &ContextEdited<'_>) {
        self.word("event_type", "context_edited");
        self.word("agent", &edited.agent);
        self.word("action", edited.action.as_str());
        self.body("kept", edited.kept);
        self.body("dropped", edited.dropped);
        self.text("summary_ref", &edited.summary_ref);
    }

    fn fragment(&mut self, fragment: &Fragment<'_>) {
        self.word("event_type", "fragment");
        self.text("agent", &fragment.agent);
        self.body("content", fragment.content);
        self.list("cause", &fragment.cause);
    }

    fn loss(&mut self, event_type: &str, loss: &Loss<'_>) {
        self.word("event_type", event_type);
        self.number("count", loss.count);
        self.text("reason", &loss.reason);
        self.body("damage", loss.damage);
    }

    fn unknown(&mut self, unknown: &Unknown<'_>, line: &str) {
        self.word("event_type", &unknown.event_type);
        self.text("agent", &unknown.agent);
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
    members.raw("function", &format!("{{{}}}", function.text));
    members.text("category", &call.category);
    members.text("description", &call.description);
    members.text("raw_command", &call.raw_command);
    format!("{{{}}}", members.text)
}

fn usage_json(usage: &Usage) -> String {
    let mut members = Members::default();
    members.number("input", Some(usage.input));
    members.number("output", Some(usage.output));
    let optional = [
        ("reasoning", usage.reasoning),
        ("cache_read", usage.cache_read),
        ("cache_write", usage.cache_write),
        ("cache_write_1h", usage.cache_write_1h),
    ];
    for (key, tokens) in optional {
        members.number(key, (tokens > 0).then_some(tokens));
    }
    format!("{{{}}}", members.text)
}
