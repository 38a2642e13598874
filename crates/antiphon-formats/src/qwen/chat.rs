//! Converts one file to events.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{
    ContextAction, ContextEdited, Event, EventKind, Message, Role, Usage, is_blank,
};

use crate::chain::Chain;
use crate::claude_code::block::add_content;
use crate::gemini::{called, output};
use crate::line::{Object, Record, elements};
use crate::script::{Script, blank, created, started};
use crate::{Duplicate, Sink};

const MAIN: &str = "main";
const PROGRAM: &str = "qwen-code";

type Agent<'a> = Cow<'a, str>;

pub(super) struct Chat<'a, 'i> {
    name: &'a str,
    script: Script<'a>,
    is_main: bool,
    /// The ids of lines in all files.
    ids: &'i mut BTreeSet<&'a str>,
    has_begun: bool,
    agents: BTreeSet<Agent<'a>>,
    chain: Chain<'a>,
    /// For each `uuid`: the answer that its lines make up, and the last of them.
    answers: BTreeMap<&'a str, (usize, &'a str)>,
    /// The call that created the agent whose file this is.
    started_by: Option<String>,
}

impl<'a, 'i> Chat<'a, 'i> {
    pub(super) fn new(name: &'a str, is_main: bool, ids: &'i mut BTreeSet<&'a str>) -> Self {
        Self {
            name,
            script: Script::new(name),
            is_main,
            ids,
            has_begun: false,
            agents: BTreeSet::new(),
            chain: Chain::default(),
            answers: BTreeMap::new(),
            started_by: None,
        }
    }

    pub(super) fn finish(self) -> (Vec<Event<'a>>, Option<String>) {
        (self.script.events, self.started_by)
    }

    pub(super) fn line(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        let object = &record.object;
        if self.is_main && !self.has_begun {
            self.begin(record);
        }
        self.learn(object);
        let agent = self.agent_of(record);
        let before = self.script.events.len();
        match object.id("type").unwrap_or("line") {
            "assistant" => self.answer(record, &agent, sink),
            "user" => self.received(record, &agent),
            "tool_result" => self.returned(record, &agent),
            "system" => self.system(record, &agent),
            other => self.keep(record, &agent, other),
        }
        if agent == MAIN {
            let last = self.script.events.len() - 1;
            let is_new = last >= before && self.script.message_at(last).is_some();
            let id = object.id("uuid").filter(|id| is_new || !self.chain.has(id));
            self.chain.add(id, object.id("parentUuid"), is_new.then_some(last));
        }
    }

    /// Begins the session at the first line, whatever that is.
    fn begin(&mut self, record: &Record<'a>) {
        self.has_begun = true;
        let object = &record.object;
        let mut session = started(PROGRAM);
        session.session_id = object.text("sessionId");
        session.cwd = object.text("cwd");
        session.branch = object.text("gitBranch");
        session.version = object.text("version");
        let mut agent = created(Cow::Borrowed(MAIN));
        agent.name = Some(Cow::Borrowed("Qwen Code"));
        agent.adapter_id = Some(Cow::Borrowed(PROGRAM));
        self.script.begin(record, session, agent);
    }

    fn learn(&mut self, object: &Object<'a>) {
        let payload = object.object("systemPayload").unwrap_or_default();
        if let Some(Event { kind: EventKind::SessionStarted(session), .. }) =
            self.script.events.first_mut()
        {
            session.title = payload.text("customTitle").or(session.title.take());
        }
    }

    /// The agent of a line. It is created by its first line.
    fn agent_of(&mut self, record: &Record<'a>) -> Agent<'a> {
        let object = &record.object;
        let file = self.name.rsplit('/').next().unwrap_or(self.name);
        let agent = match object.text("agentId") {
            Some(agent) => agent,
            None if self.is_main => return Cow::Borrowed(MAIN),
            None => Cow::Borrowed(file.strip_suffix(".jsonl").unwrap_or(file)),
        };
        if self.agents.insert(agent.clone()) {
            let payload = object.object("systemPayload").unwrap_or_default();
            let names = ["parentToolCallId", "toolCallId", "callId", "toolUseId"];
            let mut made = created(agent.clone());
            made.parent_id = Some(Cow::Borrowed(MAIN));
            made.tool_call_id =
                names.iter().find_map(|name| object.text(name).or_else(|| payload.text(name)));
            made.name = object.text("agentName").or_else(|| payload.text("agentName"));
            made.agent_type = payload.text("agentType").or_else(|| payload.text("subagentType"));
            if !self.is_main {
                self.started_by = made.tool_call_id.as_deref().map(str::to_owned);
            }
            let id = Cow::Owned(format!("created:{agent}"));
            self.script.push_as(record, id, EventKind::AgentCreated(made));
        }
        agent
    }

    /// Adds a line to its message.
    fn answer(&mut self, record: &Record<'a>, agent: &Agent<'a>, sink: &mut dyn Sink<'a>) {
        let object = &record.object;
        let uuid = object.id("uuid");
        let known = uuid.and_then(|uuid| self.answers.get(uuid).copied());
        if let Some((at, last)) = known {
            if last == record.line.text {
                return sink.duplicate(Duplicate {
                    message_id: self.script.id_at(at).unwrap_or_default().to_owned(),
                    line: record.line.number,
                    place: record.line.place,
                    reason: "duplicate of an earlier line",
                });
            }
            self.answers.extend(uuid.map(|uuid| (uuid, (at, record.line.text))));
            if let Some(message) = self.script.message_at(at) {
                let before = (message.tool_calls.len(), message.more_content.len());
                let had = message.content.is_some();
                fill(record, message);
                let has_added = before != (message.tool_calls.len(), message.more_content.len())
                    || had != message.content.is_some();
                if !has_added {
                    self.keep(record, agent, "assistant");
                }
            }
        } else {
            let mut message = blank(agent.clone(), Role::Assistant);
            fill(record, &mut message);
            let at = self.push(record, message);
            if let Some(uuid) = uuid {
                self.answers.insert(uuid, (at, record.line.text));
            }
        }
    }

    fn received(&mut self, record: &Record<'a>, agent: &Agent<'a>) {
        let object = &record.object;
        let is_harness = matches!(object.id("subtype"), Some("notification" | "cron"));
        let is_human = *agent == MAIN && !is_harness;
        let mut message = blank(agent.clone(), Role::User);
        message.source = Some(Cow::Borrowed(if is_human { "external" } else { "system" }));
        fill(record, &mut message);
        let previous = self.chain.left_behind(object.id("parentUuid"));
        let previous = previous.filter(|_| *agent == MAIN);
        let previous = previous.and_then(|at| self.script.id_at(at)).map(str::to_owned);
        message.previous_id = previous.map(Cow::Owned);
        self.script.prompted(message.content.filter(|_| is_human));
        self.push(record, message);
    }

    fn returned(&mut self, record: &Record<'a>, agent: &Agent<'a>) {
        let object = &record.object;
        let outcome = object.object("toolCallResult").unwrap_or_default();
        let content = object.object("message").and_then(|message| message.raw("parts"));
        let parts = elements(content.unwrap_or_default());
        let mut has_any = false;
        for &part in &parts {
            let Some(response) =
                Object::parse(part).and_then(|part| part.object("functionResponse"))
            else {
                continue;
            };
            has_any = true;
            let mut message = blank(agent.clone(), Role::Tool);
            message.tool_call_id = response.text("id").or_else(|| outcome.text("callId"));
            message.name = response.text("name");
            message.content = Some(output(record, part));
            let failed = matches!(outcome.id("status"), Some("error" | "cancelled"));
            message.is_error = failed.then_some(true);
            let shown = outcome.raw("resultDisplay").filter(|raw| !is_blank(raw));
            message.result = shown.map(|shown| record.body(shown));
            message.duration_ms = outcome.number("durationMs");
            self.push(record, message);
        }
        if !has_any {
            self.keep(record, agent, "tool_result");
        }
    }

    fn system(&mut self, record: &Record<'a>, agent: &Agent<'a>) {
        let object = &record.object;
        let subtype = object.id("subtype").unwrap_or("system");
        let payload = object.object("systemPayload").unwrap_or_default();
        let history = elements(payload.raw("compressedHistory").unwrap_or_default());
        let Some(summary) = history.first().filter(|_| subtype == "chat_compression") else {
            return self.keep(record, agent, subtype);
        };
        let edit = ContextEdited::new(agent.clone(), ContextAction::Compact);
        let own = self.own(record);
        self.script.push(record, own, EventKind::ContextEdited(edit));
        let mut message = blank(agent.clone(), Role::User);
        message.source = Some(Cow::Borrowed("system"));
        let parts = Object::parse(summary).and_then(|content| content.raw("parts"));
        say(record, &mut message, parts.unwrap_or(summary));
        self.push(record, message);
    }

    fn own(&mut self, record: &Record<'a>) -> Option<&'a str> {
        record.object.id("uuid").filter(|id| self.ids.insert(id))
    }

    fn push(&mut self, record: &Record<'a>, message: Message<'a>) -> usize {
        let own = self.own(record);
        self.script.push(record, own, EventKind::Message(message))
    }

    fn keep(&mut self, record: &Record<'a>, agent: &Agent<'a>, kind: &'a str) {
        let own = self.own(record);
        self.script.unknown(record, own, (Some(agent.clone()), kind));
    }
}

/// Adds a line's parts, model and token counts.
fn fill<'a>(record: &Record<'a>, message: &mut Message<'a>) {
    let object = &record.object;
    message.model = object.text("model").or(message.model.take());
    let tokens = object.object("usageMetadata").filter(|tokens| tokens.members().next().is_some());
    message.usage = tokens.map(|tokens| usage(&tokens)).or(message.usage);
    let said = object.object("message").unwrap_or_default();
    say(record, message, said.raw("parts").unwrap_or_default());
}

fn say<'a>(record: &Record<'a>, message: &mut Message<'a>, parts: &'a str) {
    for raw in elements(parts) {
        let part = Object::parse(raw).unwrap_or_default();
        let text = part.raw("text").filter(|raw| !is_blank(raw));
        if let Some(call) = part.object("functionCall") {
            message.tool_calls.extend(called(record, &call));
        } else if let Some(text) = text {
            if part.flag("thought") && message.reasoning.is_none() {
                message.reasoning = Some(record.body(text));
            } else {
                add_content(message, record.body(text));
            }
        } else if part.raw("text").is_none() {
            add_content(message, record.body(raw));
        }
    }
}

/// Converts token counts. The prompt includes cached input. Whether the answer includes thoughts
/// depends on the service: the total shows it.
fn usage(tokens: &Object<'_>) -> Usage {
    let count = |name| tokens.number(name).unwrap_or_default();
    let (prompt, answer) = (count("promptTokenCount"), count("candidatesTokenCount"));
    let (cached, thoughts) = (count("cachedContentTokenCount"), count("thoughtsTokenCount"));
    let tool = count("toolUsePromptTokenCount");
    let more = count("totalTokenCount").saturating_sub(prompt.saturating_add(answer));
    let is_apart = thoughts > answer || (thoughts > 0 && more >= thoughts);
    let extra = if is_apart { more.saturating_sub(thoughts) } else { more };
    Usage {
        input: prompt.saturating_sub(cached).saturating_add(tool.min(extra)),
        output: if is_apart { answer.saturating_add(thoughts) } else { answer },
        reasoning: thoughts,
        cache_read: cached,
        ..Usage::default()
    }
}
