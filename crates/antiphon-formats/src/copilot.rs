//! Copilot CLI sessions: `session-state/<id>/events.jsonl`, in older versions `<id>.jsonl`.
//!
//! A line is an event with its `data`. A message contains its calls, and each call is repeated when
//! it begins. A sub-agent's lines name the call that created it (`parentToolCallId`). A message has
//! its output tokens; all others come as totals by model when the program exits, and go to the last
//! message of that model. After a crash there are none.

mod tokens;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{
    Body, ContextAction, ContextEdited, EventKind, Message, Role, SessionEnded, Timestamp,
    ToolCall, is_blank,
};

use crate::line::{Object, Record, each_record, elements};
use crate::script::{Script, blank, created, started};
use crate::{Format, Kept, Layout, ServerValue, Servers, Sink, Stream};
use tokens::Tokens;

/// The name of a session's file in the session's folder.
const EVENTS: &str = "/events.jsonl";

pub(crate) const FORMAT: Format = Format {
    name: "copilot",
    product: "GitHub Copilot CLI",
    what: "GitHub Copilot CLI sessions",
    versions: "0.0.420 to 1.0.77",
    detect,
    // The folder of `events.jsonl` is named after the session.
    read,
    layout: Layout {
        above: |path| usize::from(path.ends_with(EVENTS)),
        servers: Some(Servers {
            files: &["mcp-config.json"],
            server: &[
                ("type", ServerValue::Text("local")),
                ("command", ServerValue::Program),
                ("args", ServerValue::Arguments),
                ("tools", ServerValue::Texts(&["*"])),
            ],
            ..Servers::USUAL
        }),
        kept: Some(Kept {
            variable: "COPILOT_HOME",
            folders: &[".copilot"],
            below: &["session-state", "history-session-state"],
            session: |path| match path.strip_suffix(EVENTS) {
                Some(folder) => folder.rsplit('/').next(),
                None => crate::layout::named(path, "", ".jsonl").filter(|_| !path.contains('/')),
            },
            fallback: None,
            deletes_after_days: None,
        }),
        resume: &["copilot", "--resume", "{}"],
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

type Agent<'a> = Cow<'a, str>;

const MAIN: Cow<'static, str> = Cow::Borrowed("main");

/// The prefixes of its lines' types.
const KINDS: [&str; 7] =
    ["session.", "user.", "assistant.", "tool.execution", "system.", "hook.", "subagent."];

fn detect(head: &[&str]) -> bool {
    head.iter().filter_map(|line| Object::parse(line)).any(|object| {
        let kind = object.id("type").unwrap_or_default();
        let is_ours = KINDS.iter().any(|beginning| kind.starts_with(beginning));
        is_ours && object.object("data").is_some() && object.raw("id").is_some()
    })
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        let mut run = Run::new(stream.name);
        each_record(stream, number, sink, |record, sink| run.line(&record, sink));
        run.settle();
        run.script.finish(sink);
    }
}

/// A call that was made.
#[derive(Debug, Clone)]
struct Made<'a> {
    event: usize,
    agent: Cow<'a, str>,
    name: Option<Cow<'a, str>>,
    began: Option<Timestamp>,
}

/// The state of reading a stream.
struct Run<'a> {
    script: Script<'a>,
    has_begun: bool,
    model: Option<Cow<'a, str>>,
    calls: BTreeMap<Cow<'a, str>, Made<'a>>,
    /// The agents that were created, by the calls that created them.
    agents: BTreeSet<Cow<'a, str>>,
    /// Reasoning that belongs to the next message.
    thought: Option<(Record<'a>, Body<'a>)>,
    tokens: Tokens<'a>,
    /// The line on which the program last exited.
    ended: Option<Record<'a>>,
}

impl<'a> Run<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            script: Script::new(name),
            has_begun: false,
            model: None,
            calls: BTreeMap::new(),
            agents: BTreeSet::new(),
            thought: None,
            tokens: Tokens::default(),
            ended: None,
        }
    }

    fn line(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        let data = record.object.object("data").unwrap_or_default();
        let kind = record.object.id("type").unwrap_or("line");
        let is_first = !self.has_begun;
        if is_first {
            self.begin(record, &data);
        }
        let named = ["selectedModel", "newModel"].iter().find_map(|name| data.text(name));
        self.model = named.or(self.model.take());
        let agent = self.agent_of(record, &data);
        if kind != "assistant.message" {
            self.flush_thought(&agent);
        }
        match kind {
            "session.start" if is_first => {}
            "user.message" => self.received(record, &data, &agent, Role::User),
            "system.message" => self.received(record, &data, &agent, Role::System),
            "system.notification" => {
                self.message(record, said(record, &data, &agent, Role::User, "system"));
            }
            "assistant.reasoning" => {
                let content = data.raw("content").filter(|raw| !is_blank(raw));
                match content {
                    Some(content) => self.thought = Some((record.clone(), record.body(content))),
                    None => self.keep(record, kind, agent),
                }
            }
            "assistant.message" => self.answer(record, &data, &agent, sink),
            "tool.execution_start" => self.called(record, &data, &agent, sink),
            "tool.execution_complete" => self.returned(record, &data, &agent),
            "subagent.started" => self.made(record, &data),
            "session.compaction_complete" => self.compacted(record, &data, agent),
            "session.truncation" => self.edit(record, ContextAction::Truncate, agent),
            "session.shutdown" => {
                self.keep(record, kind, agent);
                self.tokens.end(&mut self.script, record, &data);
                self.ended = Some(record.clone());
            }
            other => {
                self.ended = self.ended.take().filter(|_| other != "session.resume");
                self.keep(record, other, agent);
            }
        }
    }

    /// Begins the session at the first line, whatever that is.
    fn begin(&mut self, record: &Record<'a>, data: &Object<'a>) {
        self.has_begun = true;
        let context = data.object("context").unwrap_or_default();
        let mut session = started("copilot-cli");
        session.session_id = data.text("sessionId");
        session.version = data.text("copilotVersion");
        session.cwd = context.text("cwd");
        session.branch = context.text("branch");
        let mut agent = created(MAIN);
        agent.name = Some(Cow::Borrowed("Copilot CLI"));
        agent.adapter_id = Some(Cow::Borrowed("copilot-cli"));
        agent.language_model = data.text("selectedModel");
        self.script.begin(record, session, agent);
    }

    /// The agent that a line belongs to. A sub-agent's id is that of the call that created it.
    fn agent_of(&mut self, record: &Record<'a>, data: &Object<'a>) -> Cow<'a, str> {
        let Some(call) = data.text("parentToolCallId") else { return MAIN };
        self.create(record, &call, None);
        call
    }

    fn made(&mut self, record: &Record<'a>, data: &Object<'a>) {
        let Some(call) = data.text("toolCallId") else {
            return self.keep(record, "subagent.started", MAIN);
        };
        if !self.create(record, &call, Some(data)) {
            self.keep(record, "subagent.started", call);
        }
    }

    /// Creates a sub-agent, and says whether it is new.
    fn create(&mut self, record: &Record<'a>, call: &Agent<'a>, data: Option<&Object<'a>>) -> bool {
        if !self.agents.insert(call.clone()) {
            return false;
        }
        let maker = self.calls.get(call);
        let mut agent = created(call.clone());
        agent.parent_id = Some(maker.map_or(MAIN, |maker| maker.agent.clone()));
        agent.tool_call_id = Some(call.clone());
        agent.name = data.and_then(|data| data.text("agentDisplayName"));
        agent.agent_type = data.and_then(|data| data.text("agentName"));
        self.script.push(record, record.object.id("id"), EventKind::AgentCreated(agent));
        true
    }

    fn received(&mut self, record: &Record<'a>, data: &Object<'a>, agent: &Agent<'a>, role: Role) {
        let is_human = role == Role::User && *agent == MAIN;
        let source = if is_human { "external" } else { "system" };
        let message = said(record, data, agent, role, source);
        self.script.prompted(message.content.filter(|_| is_human));
        self.message(record, message);
    }

    fn answer(
        &mut self,
        record: &Record<'a>,
        data: &Object<'a>,
        agent: &Agent<'a>,
        sink: &mut dyn Sink<'a>,
    ) {
        let mut message = blank(agent.clone(), Role::Assistant);
        let content = data.raw("content").filter(|raw| !is_blank(raw));
        message.content = content.map(|content| record.body(content));
        message.model = data.text("model").or_else(|| self.model.clone());
        message.request_id = data.text("requestId");
        let thought = data.raw("reasoningText").filter(|raw| !is_blank(raw));
        let before = self.thought.take();
        message.reasoning = thought.map(|thought| record.body(thought));
        if message.reasoning.is_none() {
            message.reasoning = before.as_ref().map(|(_, thought)| *thought);
        }
        let model = message.model.clone();
        let calls: Vec<Object<'a>> = elements(data.raw("toolRequests").unwrap_or_default())
            .into_iter()
            .filter_map(Object::parse)
            .collect();
        message.tool_calls.extend(calls.iter().filter_map(|call| request(record, call, "name")));
        let event = self.message(record, message);
        for call in &calls {
            self.note(call, event, agent, "name", None);
        }
        if let (Some(_), Some((earlier, _))) = (thought, before) {
            self.script.duplicate(&earlier, event, "reasoning already in the message", sink);
        }
        let output = data.number("outputTokens");
        self.tokens.said(&mut self.script, event, model, output);
    }

    fn note(
        &mut self,
        call: &Object<'a>,
        event: usize,
        agent: &Agent<'a>,
        name: &str,
        began: Option<Timestamp>,
    ) {
        let Some(id) = call.text("toolCallId") else { return };
        let made = Made { event, agent: agent.clone(), name: call.text(name), began };
        self.calls.insert(id, made);
    }

    /// A call begins. Mostly its message has already announced it.
    fn called(
        &mut self,
        record: &Record<'a>,
        data: &Object<'a>,
        agent: &Agent<'a>,
        sink: &mut dyn Sink<'a>,
    ) {
        let began = record.object.time("timestamp");
        let known = data.text("toolCallId").and_then(|id| self.calls.get_mut(&id));
        if let Some(made) = known {
            made.began = began;
            let event = made.event;
            return self.script.duplicate(
                record,
                event,
                "call already in the message that made it",
                sink,
            );
        }
        let Some(call) = request(record, data, "toolName") else {
            return self.keep(record, "tool.execution_start", agent.clone());
        };
        let mut message = blank(agent.clone(), Role::Assistant);
        message.tool_calls.push(call);
        let event = self.message(record, message);
        self.note(data, event, agent, "toolName", began);
    }

    fn returned(&mut self, record: &Record<'a>, data: &Object<'a>, agent: &Agent<'a>) {
        let made = data.text("toolCallId").and_then(|id| self.calls.get(&id)).cloned();
        let agent = made.as_ref().map_or(agent, |made| &made.agent).clone();
        let mut message = blank(agent, Role::Tool);
        let result = data.object("result");
        let content = result.as_ref().and_then(|result| result.raw("content"));
        let error = data.object("error").and_then(|error| error.raw("message"));
        let output = content.or(error).or(data.raw("error")).or(data.raw("result"));
        message.content = output.map(|output| record.body(output));
        message.result = data.raw("result").map(|result| record.body(result));
        message.is_error = (data.raw("success") == Some("false")).then_some(true);
        message.tool_call_id = data.text("toolCallId");
        message.started_at = made.as_ref().and_then(|made| made.began);
        message.name = made.and_then(|made| made.name);
        self.message(record, message);
    }

    fn compacted(&mut self, record: &Record<'a>, data: &Object<'a>, agent: Cow<'a, str>) {
        let summary = data.raw("summaryContent").filter(|raw| !is_blank(raw));
        let Some(summary) = summary.filter(|_| data.raw("success") != Some("false")) else {
            return self.keep(record, "session.compaction_complete", agent);
        };
        self.edit(record, ContextAction::Compact, agent.clone());
        let mut message = blank(agent, Role::User);
        message.source = Some(Cow::Borrowed("system"));
        message.content = Some(record.body(summary));
        self.message(record, message);
    }

    fn edit(&mut self, record: &Record<'a>, action: ContextAction, agent: Cow<'a, str>) {
        let edit = ContextEdited::new(agent, action);
        self.script.push(record, record.object.id("id"), EventKind::ContextEdited(edit));
    }

    fn flush_thought(&mut self, agent: &Agent<'a>) {
        let Some((record, thought)) = self.thought.take() else { return };
        let reasoning = Some(thought);
        let message = Message { reasoning, ..blank(agent.clone(), Role::Assistant) };
        self.message(&record, message);
    }

    fn message(&mut self, record: &Record<'a>, message: Message<'a>) -> usize {
        self.script.push(record, record.object.id("id"), EventKind::Message(message))
    }

    fn keep(&mut self, record: &Record<'a>, kind: &'a str, agent: Cow<'a, str>) {
        self.script.unknown(record, record.object.id("id"), (Some(agent), kind));
    }

    fn settle(&mut self) {
        self.flush_thought(&MAIN);
        let Some(record) = self.ended.take() else { return };
        let data = record.object.object("data").unwrap_or_default();
        let failed = data.id("shutdownType").is_some_and(|kind| kind == "error");
        let outcome = Some(Cow::Borrowed(if failed { "failed" } else { "completed" }));
        let error = data.text("errorReason");
        let ended = SessionEnded { outcome, reason: None, error, declared: None };
        self.script.push(&record, None, EventKind::SessionEnded(ended));
    }
}

fn said<'a>(
    record: &Record<'a>,
    data: &Object<'a>,
    agent: &Agent<'a>,
    role: Role,
    source: &'static str,
) -> Message<'a> {
    let mut message = blank(agent.clone(), role);
    message.source = Some(Cow::Borrowed(source));
    message.content = data.raw("content").map(|content| record.body(content));
    message
}

fn request<'a>(record: &Record<'a>, call: &Object<'a>, name: &str) -> Option<ToolCall<'a>> {
    let arguments = call.object("arguments");
    Some(ToolCall {
        id: call.text("toolCallId")?,
        name: call.text(name).unwrap_or_default(),
        arguments: call.raw("arguments").map(|arguments| record.body(arguments)),
        description: arguments.and_then(|arguments| arguments.text("description")),
        ..ToolCall::default()
    })
}

#[cfg(test)]
mod tests;
