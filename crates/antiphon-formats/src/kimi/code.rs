//! One file of Kimi Code, which is one agent.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use antiphon_model::{
    ContextAction, ContextEdited, Event, EventKind, Line, Message, Role, ToolCall, Unknown,
    is_blank, plain_text,
};

use super::session::{Launch, MAIN};
use super::step::{say, usage};
use crate::Sink;
use crate::line::{Object, Record};
use crate::script::{Script, blank};

/// The state of reading a file.
pub(super) struct Wire<'a> {
    pub(super) agent: Cow<'a, str>,
    pub(super) model: Option<Cow<'a, str>>,
    pub(super) profile: Option<Cow<'a, str>>,
    script: Script<'a>,
    /// For each step's id: its message, and the line with which it began.
    steps: BTreeMap<&'a str, (usize, Line<'a>)>,
    /// Prompts that were typed and have not entered the context yet.
    typed: BTreeMap<&'a str, VecDeque<Record<'a>>>,
    /// For each call's id: the tool's name.
    calls: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    launches: Vec<Launch<'a>>,
    /// The last message that has ended, and its token counts, until they are repeated.
    ended: Option<(usize, &'a str)>,
    system: Option<&'a str>,
    /// How many entries the context has, and how many it had before each prompt.
    live: u64,
    prompts: Vec<u64>,
}

impl<'a> Wire<'a> {
    pub(super) fn new(name: &'a str, agent: Cow<'a, str>) -> Self {
        Self {
            agent,
            model: None,
            profile: None,
            script: Script::new(name),
            steps: BTreeMap::new(),
            typed: BTreeMap::new(),
            calls: BTreeMap::new(),
            launches: Vec::new(),
            ended: None,
            system: None,
            live: 0,
            prompts: Vec::new(),
        }
    }

    pub(super) fn line(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        let object = &record.object;
        let kind = object.id("type").unwrap_or("line");
        self.profile = object.text("profileName").or(self.profile.take());
        match kind {
            "context.append_message" => self.appended(record, sink),
            "context.append_loop_event" => self.event(record, sink),
            "turn.prompt" | "turn.steer" => {
                let input = object.raw("input").unwrap_or_default();
                self.typed.entry(input).or_default().push_back(record.clone());
            }
            "usage.record" => self.spent(record, sink),
            "llm.request" => {
                self.model = object.text("model").or(self.model.take());
                self.keep(record, kind);
            }
            "config.update" | "profile.bind" => {
                self.model = object.text("modelAlias").or(self.model.take());
                self.configured(record, kind);
            }
            "context.apply_compaction" => self.compacted(record),
            "context.clear" => {
                (self.live, self.prompts) = (0, Vec::new());
                self.edit(record, ContextAction::Rewind, Some(0));
            }
            "context.undo" => self.undone(record),
            _ => self.keep(record, kind),
        }
    }

    /// The events, and the calls that created agents.
    pub(super) fn finish(mut self) -> (Vec<Event<'a>>, Vec<Launch<'a>>) {
        // Steps without content, and prompts that never entered the context.
        for &(at, line) in self.steps.values() {
            let agent = Some(self.agent.clone());
            if let Some(event) = self.script.events.get_mut(at)
                && matches!(&event.kind, EventKind::Message(message) if is_nothing(message))
            {
                let (event_type, raw) = (Cow::Borrowed("step.begin"), Some(line.whole()));
                event.kind = EventKind::Unknown(Unknown { event_type, agent, raw });
            }
        }
        for record in std::mem::take(&mut self.typed).into_values().flatten() {
            let mut message = blank(self.agent.clone(), Role::User);
            message.source = Some(Cow::Borrowed(source(&self.agent, &record.object)));
            say(&record, &mut message, record.object.raw("input").unwrap_or_default());
            self.script.push(&record, None, EventKind::Message(message));
        }
        self.script.events.sort_by_key(|event| event.line);
        (self.script.events, self.launches)
    }

    /// A message that enters the context, apart from answers.
    fn appended(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        let said = record.object.object("message").unwrap_or_default();
        let content = said.raw("content").unwrap_or_default();
        let role = match said.id("role").unwrap_or_default() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            "tool" => Role::Tool,
            _ => return self.keep(record, "context.append_message"),
        };
        let mut message = blank(self.agent.clone(), role);
        say(record, &mut message, content);
        let source = match role {
            Role::User => Some(source(&self.agent, &said)),
            Role::System => Some("system"),
            Role::Assistant | Role::Tool | Role::Other => None,
        };
        message.source = source.map(Cow::Borrowed);
        message.tool_call_id = said.text("toolCallId");
        for call in crate::line::elements(said.raw("toolCalls").unwrap_or_default()) {
            let call = Object::parse(call).unwrap_or_default();
            let function = call.object("function").unwrap_or_else(|| call.clone());
            message.tool_calls.extend(call.text("id").map(|id| made(record, id, &function)));
        }
        if source == Some("external") {
            self.prompts.push(self.live);
        }
        let at = self.push(record, said.id("id"), message);
        let typed = self.typed.get_mut(content).filter(|_| role == Role::User);
        if let Some(earlier) = typed.and_then(VecDeque::pop_front) {
            self.script.duplicate(&earlier, at, "repeated where it enters the context", sink);
        }
    }

    fn event(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        let event = record.object.object("event").unwrap_or_default();
        let kind = event.id("type").unwrap_or("event");
        match kind {
            "step.begin" => {
                let Some(step) = event.id("uuid") else { return self.keep(record, kind) };
                let mut message = blank(self.agent.clone(), Role::Assistant);
                message.started_at = record.object.time("time");
                self.step(record, step, message);
            }
            "content.part" => {
                let at = self.step_of(record, &event);
                let part = event.raw("part").unwrap_or_default();
                let message = self.script.message_at(at);
                if !message.is_some_and(|message| say(record, message, part)) {
                    self.keep(record, kind);
                }
            }
            "tool.call" => {
                let Some(id) = event.text("toolCallId") else { return self.keep(record, kind) };
                let at = self.step_of(record, &event);
                let call = made(record, id.clone(), &event);
                self.calls.insert(id, call.name.clone());
                if let Some(message) = self.script.message_at(at) {
                    message.tool_calls.push(call);
                }
            }
            "tool.result" => self.returned(record, &event),
            "step.end" => self.step_ends(record, &event, sink),
            _ => self.keep(record, kind),
        }
    }

    fn step(&mut self, record: &Record<'a>, step: &'a str, message: Message<'a>) -> usize {
        let at = self.script.push(record, Some(step), EventKind::Message(message));
        self.steps.insert(step, (at, record.line));
        at
    }

    /// The message that a part belongs to. The first part determines its time.
    fn step_of(&mut self, record: &Record<'a>, event: &Object<'a>) -> usize {
        let step = event.id("stepUuid").unwrap_or_default();
        let at = match self.steps.get(step) {
            Some(&(at, _)) => at,
            None => self.step(record, step, blank(self.agent.clone(), Role::Assistant)),
        };
        let model = self.model.clone();
        let mut is_first = false;
        if let Some(message) = self.script.message_at(at) {
            is_first = is_nothing(message);
            message.model = model;
        }
        if is_first {
            self.live += 1;
            self.script.set_time(at, record.object.time("time"));
        }
        at
    }

    fn step_ends(&mut self, record: &Record<'a>, event: &Object<'a>, sink: &mut dyn Sink<'a>) {
        let step = event.id("uuid").and_then(|step| self.steps.get(step)).copied();
        let tokens = event.raw("usage");
        let Some((at, _)) = step else { return self.keep(record, "step.end") };
        let model = self.model.clone();
        if let Some(message) = self.script.message_at(at) {
            message.usage = event.object("usage").map(|tokens| usage(&tokens)).or(message.usage);
            message.request_id = event.text("messageId");
            message.model = model;
        }
        self.ended = tokens.map(|tokens| (at, tokens));
        self.script.duplicate(record, at, "end of an earlier message", sink);
    }

    /// Reads token counts. They repeat those at the end of a step, or were used beside the steps.
    fn spent(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        let tokens = record.object.raw("usage").unwrap_or_default();
        if let Some((at, _)) = self.ended.take_if(|(_, counted)| *counted == tokens) {
            return self.script.duplicate(record, at, "token counts already in the message", sink);
        }
        let Some(tokens) = record.object.object("usage") else {
            return self.keep(record, "usage.record");
        };
        let mut message = blank(self.agent.clone(), Role::Assistant);
        message.usage = Some(usage(&tokens));
        message.model = self.model.clone().or_else(|| record.object.text("model"));
        self.push(record, None, message);
    }

    fn returned(&mut self, record: &Record<'a>, event: &Object<'a>) {
        let mut message = blank(self.agent.clone(), Role::Tool);
        let result = event.object("result").unwrap_or_default();
        let said = ["output", "message"]
            .iter()
            .find_map(|name| result.raw(name).filter(|raw| !is_blank(raw)));
        message.content = said.or_else(|| event.raw("result")).map(|said| record.body(said));
        message.is_error = result.flag("isError").then_some(true);
        message.tool_call_id = event.text("toolCallId");
        message.name = message.tool_call_id.as_ref().and_then(|id| self.calls.get(id)).cloned();
        let is_agent = message.name.as_deref().is_some_and(|name| name.starts_with("Agent"));
        if let (true, Some(call), Some(said)) = (is_agent, &message.tool_call_id, said) {
            let text = plain_text(said);
            let in_background = text.lines().any(|line| line == "status: running");
            for agent in text.lines().filter_map(|line| line.strip_prefix("agent_id: ")) {
                let agent = agent.trim().to_owned();
                self.launches.push(Launch { agent, call: call.clone(), in_background });
            }
        }
        self.push(record, None, message);
    }

    /// Reads the system prompt and the configuration, which are written again with every change.
    fn configured(&mut self, record: &Record<'a>, kind: &'a str) {
        let prompt = record.object.raw("systemPrompt").filter(|raw| !is_blank(raw));
        let Some(prompt) = prompt.filter(|prompt| self.system != Some(prompt)) else {
            return self.keep(record, kind);
        };
        self.system = Some(prompt);
        let mut message = blank(self.agent.clone(), Role::System);
        message.source = Some(Cow::Borrowed("system"));
        message.content = Some(record.body(prompt));
        self.push(record, None, message);
    }

    fn compacted(&mut self, record: &Record<'a>) {
        (self.live, self.prompts) = (u64::from(self.system.is_some()), Vec::new());
        self.edit(record, ContextAction::Compact, None);
        let object = &record.object;
        let summary = object.raw("contextSummary").or_else(|| object.raw("summary"));
        if let Some(summary) = summary.filter(|raw| !is_blank(raw)) {
            let mut message = blank(self.agent.clone(), Role::User);
            message.source = Some(Cow::Borrowed("system"));
            message.content = Some(record.body(summary));
            self.push(record, None, message);
        }
    }

    /// The last prompts, this many, are withdrawn with all that followed.
    fn undone(&mut self, record: &Record<'a>) {
        let count = record.object.number("count").and_then(|count| usize::try_from(count).ok());
        let left = count.and_then(|count| self.prompts.len().checked_sub(count));
        let kept = left.and_then(|left| self.prompts.get(left)).copied();
        let (Some(left), Some(kept)) = (left, kept) else {
            return self.keep(record, "context.undo");
        };
        self.prompts.truncate(left);
        self.live = kept;
        self.edit(record, ContextAction::Rewind, Some(kept));
    }

    fn edit(&mut self, record: &Record<'a>, action: ContextAction, kept_first: Option<u64>) {
        let edit = ContextEdited { kept_first, ..ContextEdited::new(self.agent.clone(), action) };
        self.script.push(record, None, EventKind::ContextEdited(edit));
    }

    fn push(&mut self, record: &Record<'a>, own: Option<&'a str>, message: Message<'a>) -> usize {
        self.live += 1;
        self.script.push(record, own, EventKind::Message(message))
    }

    fn keep(&mut self, record: &Record<'a>, kind: &'a str) {
        self.script.unknown(record, None, (Some(self.agent.clone()), kind));
    }
}

/// Whether a message has no content and no token counts.
fn is_nothing(message: &Message<'_>) -> bool {
    let is_mute = message.content.is_none() && message.reasoning.is_none();
    is_mute && message.tool_calls.is_empty() && message.usage.is_none()
}

/// The source of a message: a person speaks to the main agent, unless the line says otherwise.
fn source(agent: &str, said: &Object<'_>) -> &'static str {
    let origin = said.object("origin").and_then(|origin| origin.id("kind"));
    let is_human = agent == MAIN && origin.is_none_or(|kind| kind == "user");
    if is_human { "external" } else { "system" }
}

fn made<'a>(record: &Record<'a>, id: Cow<'a, str>, call: &Object<'a>) -> ToolCall<'a> {
    let arguments = call.raw("args").or_else(|| call.raw("arguments"));
    ToolCall {
        id,
        name: call.text("name").unwrap_or_default(),
        arguments: arguments.map(|arguments| record.body(arguments)),
        description: call.text("description"),
        ..ToolCall::default()
    }
}
