//! A file of the older Kimi CLI: the events of its user interface, of all agents.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{ContextAction, ContextEdited, Event, EventKind, Message, Role, ToolCall};

use super::session::MAIN;
use super::step::{say, usage};
use crate::Sink;
use crate::line::{Object, Record};
use crate::script::{Script, blank, created};

type Agent<'a> = Cow<'a, str>;

/// How deep events of nested sub-agents are followed.
const DEPTH_MOST: usize = 8;

/// Whether a line was written by this program.
pub(super) fn is_ours(object: &Object<'_>) -> bool {
    let message = object.object("message").unwrap_or_default();
    let is_event = message.id("type").is_some() && message.raw("payload").is_some();
    is_event && object.raw("timestamp").is_some() && !object.has("type")
}

/// The state of reading a file.
pub(super) struct Screen<'a> {
    script: Script<'a>,
    /// For each agent: the message that is being written.
    open: BTreeMap<Cow<'a, str>, usize>,
    agents: BTreeSet<Cow<'a, str>>,
    /// For each call's id: the tool's name.
    calls: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
}

impl<'a> Screen<'a> {
    pub(super) fn new(name: &'a str) -> Self {
        Self {
            script: Script::new(name),
            open: BTreeMap::new(),
            agents: BTreeSet::new(),
            calls: BTreeMap::new(),
        }
    }

    pub(super) fn finish(self) -> Vec<Event<'a>> {
        self.script.events
    }

    pub(super) fn line(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        let mut event = record.object.object("message").unwrap_or_default();
        let mut agent = MAIN;
        for _ in 0..DEPTH_MOST {
            let payload = event.object("payload").unwrap_or_default();
            let inner = payload.object("event").filter(|_| event.id("type") == Some(WITHIN));
            let Some(inner) = inner else { break };
            agent = self.agent_of(record, &payload, agent);
            event = inner;
        }
        let payload = event.object("payload").unwrap_or_default();
        let kind = event.id("type").or_else(|| record.object.id("type")).unwrap_or("line");
        match kind {
            "TurnBegin" | "SteerInput" => {
                self.open.remove(&agent);
                let mut message = blank(agent.clone(), Role::User);
                let source = if agent == MAIN { "external" } else { "system" };
                message.source = Some(Cow::Borrowed(source));
                say(record, &mut message, payload.raw("user_input").unwrap_or_default());
                self.push(record, message);
            }
            "ContentPart" => {
                let at = self.at(record, &agent);
                let part = event.raw("payload").unwrap_or_default();
                let message = self.script.message_at(at);
                if !message.is_some_and(|message| say(record, message, part)) {
                    self.keep(record, kind, agent);
                }
            }
            "ToolCall" => self.called(record, &payload, agent),
            "ToolResult" => self.returned(record, &payload, agent),
            "StatusUpdate" => self.spent(record, &payload, agent, sink),
            "CompactionEnd" => {
                self.open.remove(&agent);
                let edit = ContextEdited::new(agent, ContextAction::Compact);
                self.script.push(record, None, EventKind::ContextEdited(edit));
            }
            _ => {
                if matches!(kind, "StepBegin" | "TurnEnd" | "StepInterrupted") {
                    self.open.remove(&agent);
                }
                self.keep(record, kind, agent);
            }
        }
    }

    /// The id of a sub-agent: its own, or that of the call that created it.
    fn agent_of(
        &mut self,
        record: &Record<'a>,
        payload: &Object<'a>,
        parent: Cow<'a, str>,
    ) -> Cow<'a, str> {
        let calls = ["parent_tool_call_id", "task_tool_call_id"];
        let call = calls.iter().find_map(|name| payload.text(name));
        let Some(id) = payload.text("agent_id").or_else(|| call.clone()) else { return parent };
        if id != MAIN && self.agents.insert(id.clone()) {
            let mut agent = created(id.clone());
            agent.parent_id = Some(parent);
            agent.tool_call_id = call;
            agent.agent_type = payload.text("subagent_type");
            let own = Cow::Owned(format!("created:{id}"));
            self.script.push_as(record, own, EventKind::AgentCreated(agent));
        }
        id
    }

    /// The message that an agent is writing.
    fn at(&mut self, record: &Record<'a>, agent: &Agent<'a>) -> usize {
        if let Some(&at) = self.open.get(agent) {
            return at;
        }
        let at = self.push(record, blank(agent.clone(), Role::Assistant));
        self.open.insert(agent.clone(), at);
        at
    }

    fn called(&mut self, record: &Record<'a>, payload: &Object<'a>, agent: Cow<'a, str>) {
        let Some(id) = payload.text("id") else { return self.keep(record, "ToolCall", agent) };
        let function = payload.object("function").unwrap_or_default();
        let name = function.text("name").unwrap_or_default();
        self.calls.insert(id.clone(), name.clone());
        let arguments = function.raw("arguments").map(|arguments| record.body(arguments));
        let call = ToolCall { id, name, arguments, ..ToolCall::default() };
        let at = self.at(record, &agent);
        if let Some(message) = self.script.message_at(at) {
            message.tool_calls.push(call);
        }
    }

    fn returned(&mut self, record: &Record<'a>, payload: &Object<'a>, agent: Cow<'a, str>) {
        let mut message = blank(agent, Role::Tool);
        let result = payload.object("return_value").or_else(|| payload.object("result"));
        let result = result.unwrap_or_default();
        let said = ["output", "message"]
            .iter()
            .find_map(|name| result.raw(name).filter(|raw| !antiphon_model::is_blank(raw)));
        message.content = said.map(|said| record.body(said));
        message.is_error = result.flag("is_error").then_some(true);
        message.tool_call_id = payload.text("tool_call_id");
        message.name = message.tool_call_id.as_ref().and_then(|id| self.calls.get(id)).cloned();
        self.push(record, message);
    }

    /// Adds the token counts of the message that an agent is writing, which completes it.
    fn spent(
        &mut self,
        record: &Record<'a>,
        payload: &Object<'a>,
        agent: Cow<'a, str>,
        sink: &mut dyn Sink<'a>,
    ) {
        let Some(tokens) = payload.object("token_usage") else {
            return self.keep(record, "StatusUpdate", agent);
        };
        let is_known = self.open.contains_key(&agent);
        let at = self.at(record, &agent);
        self.open.remove(&agent);
        if let Some(message) = self.script.message_at(at) {
            message.usage = Some(usage(&tokens));
            message.request_id = payload.text("message_id");
        }
        if is_known {
            self.script.duplicate(record, at, "token counts of an earlier message", sink);
        }
    }

    fn push(&mut self, record: &Record<'a>, message: Message<'a>) -> usize {
        self.script.push(record, None, EventKind::Message(message))
    }

    fn keep(&mut self, record: &Record<'a>, kind: &'a str, agent: Cow<'a, str>) {
        self.script.unknown(record, None, (Some(agent), kind));
    }
}

/// The type of an event that contains an event of a sub-agent.
const WITHIN: &str = "SubagentEvent";
