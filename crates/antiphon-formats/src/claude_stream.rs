//! The output of `claude -p --output-format stream-json`, which the Agent SDK receives as well.
//!
//! One line per content block: the lines of one message share `message.id`. What a sub-agent says
//! names the call that created it (`parent_tool_use_id`), and that call's id is the agent's id
//! here. The token counts on these lines are not final; [`tally`] says how they are counted.

mod tally;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{
    AgentCreated, Body, ContextAction, ContextEdited, EventKind, Role, SessionEnded,
    SessionStarted, json,
};

use crate::claude_code::block::{self, add_content};
use crate::claude_code::usage;
use crate::line::{Object, Record, each_record, elements, records};
use crate::script::{self, Script, blank};
use crate::{Duplicate, Format, Sink, Stream};
use tally::Tally;

pub(crate) const FORMAT: Format = Format {
    name: "claude-stream",
    product: "Claude Code",
    what: "output of `claude --output-format stream-json`",
    versions: "2.0 to 2.1, from its published types",
    detect,
    read,
    ..crate::ONE_FILE
};

const PROGRAM: &str = "claude-code";
const MAIN: Cow<'static, str> = Cow::Borrowed("main");

fn detect(head: &[&str]) -> bool {
    head.iter().filter_map(|line| Object::parse(line)).any(|object| {
        let has_session = object.raw("session_id").is_some();
        match (object.id("type").unwrap_or_default(), object.id("subtype")) {
            // Another agent prints much the same, without these members.
            ("system", Some("init")) => {
                let marks = ["claude_code_version", "apiKeySource", "permissionMode"];
                has_session && marks.iter().any(|mark| object.has(mark))
            }
            ("assistant" | "user", _) => {
                has_session && object.has("parent_tool_use_id") && object.raw("message").is_some()
            }
            ("result", _) => has_session && object.raw("total_cost_usd").is_some(),
            _ => false,
        }
    })
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        let mut run = Run::new(stream, number);
        each_record(stream, number, sink, |record, sink| run.line(&record, sink));
        run.finish(sink);
    }
}

type Agent<'a> = Cow<'a, str>;

/// The state of reading a stream.
struct Run<'a> {
    script: Script<'a>,
    seen: BTreeSet<&'a str>,
    /// The ids of messages that also arrive complete, so that their pieces need not be kept.
    whole: BTreeSet<&'a str>,
    /// For each agent and `message.id`: the event that the message's lines make up.
    messages: BTreeMap<(Agent<'a>, &'a str), usize>,
    /// For each agent: its messages.
    spoken: BTreeMap<Agent<'a>, Vec<usize>>,
    /// For each line's id: its event.
    by_uuid: BTreeMap<&'a str, usize>,
    /// For each agent: the message whose pieces are arriving.
    partial: BTreeMap<Agent<'a>, &'a str>,
    pieces: Vec<(Record<'a>, (Agent<'a>, &'a str))>,
    /// For each call: who made it, and what for.
    calls: BTreeMap<Cow<'a, str>, Delegation<'a>>,
    agents: BTreeSet<Agent<'a>>,
    facts: Option<SessionStarted<'a>>,
    model: Option<Cow<'a, str>>,
    prompt: Option<Cow<'a, str>>,
    tally: Tally<'a>,
    /// The last result, unless the session went on after it.
    end: Option<Record<'a>>,
}

/// A call that may create a sub-agent.
#[derive(Debug, Clone)]
struct Delegation<'a> {
    by: Agent<'a>,
    description: Option<Cow<'a, str>>,
    agent_type: Option<Cow<'a, str>>,
    task: Option<Body<'a>>,
}

impl<'a> Run<'a> {
    fn new(stream: &Stream<'a>, number: u32) -> Self {
        let lines = records(stream, number).flatten();
        let replies = lines.filter(|record| record.object.id("type") == Some("assistant"));
        let whole = replies.filter_map(|record| record.object.object("message")?.id("id"));
        Self {
            script: Script::new(stream.name),
            seen: BTreeSet::new(),
            whole: whole.collect(),
            messages: BTreeMap::new(),
            spoken: BTreeMap::new(),
            by_uuid: BTreeMap::new(),
            partial: BTreeMap::new(),
            pieces: Vec::new(),
            calls: BTreeMap::new(),
            agents: BTreeSet::new(),
            facts: None,
            model: None,
            prompt: None,
            tally: Tally::default(),
            end: None,
        }
    }

    fn line(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        let object = &record.object;
        let uuid = object.id("uuid");
        if let Some(uuid) = uuid.filter(|uuid| !self.seen.insert(uuid)) {
            return sink.duplicate(Duplicate {
                message_id: uuid.to_owned(),
                line: record.line.number,
                place: record.line.place,
                reason: "duplicate of an earlier line",
            });
        }
        if self.agents.insert(MAIN) {
            self.begin(record);
        }
        let agent = object.text("parent_tool_use_id").unwrap_or(MAIN);
        if self.agents.insert(agent.clone()) {
            self.make(record, &agent);
        }
        let before = self.script.events.len();
        let subtype = object.id("subtype");
        let kind = object.id("type").unwrap_or("line");
        match (kind, subtype) {
            ("system", Some("init")) => self.init(record),
            ("assistant", _) => self.assistant(record, &agent, sink),
            ("user", _) => self.user(record, &agent),
            ("stream_event", _) => self.piece(record, &agent),
            ("result", _) => self.result(record),
            ("system", Some("compact_boundary")) => self.compacted(record, &agent),
            (kind, subtype) => self.keep(record, &agent, subtype.unwrap_or(kind)),
        }
        if let Some(uuid) = uuid {
            self.by_uuid.insert(uuid, before);
        }
        if self.script.message_at(before).is_some() {
            self.spoken.entry(agent).or_default().push(before);
        }
    }

    /// Begins the session and creates the main agent at the first line, whatever that is.
    fn begin(&mut self, record: &Record<'a>) {
        let session_id = record.object.text("session_id");
        let session = SessionStarted { session_id, ..script::started(PROGRAM) };
        let agent = AgentCreated {
            name: Some(Cow::Borrowed("Claude Code")),
            language_model: record.object.text("model"),
            adapter_id: Some(Cow::Borrowed(PROGRAM)),
            ..script::created(MAIN)
        };
        self.script.begin(record, session, agent);
    }

    /// Creates a sub-agent at its first line.
    fn make(&mut self, record: &Record<'a>, agent: &Agent<'a>) {
        let delegation = self.calls.get(agent).cloned();
        let object = &record.object;
        let description = object.text("task_description");
        let created = AgentCreated {
            name: description.or_else(|| delegation.as_ref()?.description.clone()),
            parent_id: delegation.as_ref().map(|delegation| delegation.by.clone()),
            tool_call_id: Some(agent.clone()),
            agent_type: object
                .text("subagent_type")
                .or_else(|| delegation.as_ref()?.agent_type.clone()),
            task: delegation.as_ref().and_then(|delegation| delegation.task),
            ..script::created(agent.clone())
        };
        let id = Cow::Owned(format!("created:{agent}"));
        self.script.push_as(record, id, EventKind::AgentCreated(created));
    }

    /// Reads an `init` line. One comes with every turn; the first one describes the session.
    fn init(&mut self, record: &Record<'a>) {
        let object = &record.object;
        self.model = object.text("model");
        if self.facts.is_none() {
            self.facts = Some(SessionStarted {
                session_id: object.text("session_id"),
                cwd: object.text("cwd"),
                version: object.text("claude_code_version"),
                ..script::started(PROGRAM)
            });
        }
        self.keep(record, &MAIN, "init");
    }

    fn assistant(&mut self, record: &Record<'a>, agent: &Agent<'a>, sink: &mut dyn Sink<'a>) {
        let Some(api) = record.object.object("message") else {
            return self.keep(record, agent, "assistant");
        };
        let key = api.id("id").map(|id| (agent.clone(), id));
        let known = key.as_ref().and_then(|key| self.messages.get(key).copied());
        let at = known.unwrap_or_else(|| {
            let mut message = blank(agent.clone(), Role::Assistant);
            message.model = api.text("model").or_else(|| self.model.clone());
            message.request_id = record.object.text("request_id");
            message.is_error = record.object.raw("error").map(|_| true);
            message.previous_id = self.superseded(&record.object, agent);
            let at =
                self.script.push(record, record.object.id("uuid"), EventKind::Message(message));
            self.messages.extend(key.map(|key| (key, at)));
            at
        });
        let is_synthetic = api.id("model") == Some("<synthetic>");
        let tokens = api.object("usage").filter(|_| !is_synthetic).map(|tokens| usage(&tokens));
        if known.is_none() && !is_synthetic {
            self.tally.spoke(at, *agent == MAIN);
        }
        let Some(message) = self.script.message_at(at) else { return };
        message.usage = tokens.or(message.usage);
        let rest = block::add(record, message, &api);
        for call in &rest.calls {
            self.note_delegation(record, call, agent);
        }
        for block in &rest.results {
            self.tool_result(record, agent, block, None);
        }
        for reasoning in rest.thoughts {
            let mut message = blank(agent.clone(), Role::Assistant);
            message.reasoning = Some(reasoning);
            self.script.push(record, record.object.id("uuid"), EventKind::Message(message));
        }
        if known.is_some() && rest.is_mute {
            sink.duplicate(Duplicate {
                message_id: self.script.id_at(at).unwrap_or_default().to_owned(),
                line: record.line.number,
                place: record.line.place,
                reason: "repeated usage-only part of a message",
            });
        }
    }

    /// Remembers what a call asks for, if it may create a sub-agent.
    fn note_delegation(&mut self, record: &Record<'a>, call: &Object<'a>, agent: &Agent<'a>) {
        let (Some(id), Some(input)) = (call.text("id"), call.object("input")) else { return };
        let delegation = Delegation {
            by: agent.clone(),
            description: input.text("description"),
            agent_type: input.text("subagent_type"),
            task: input.raw("prompt").map(|prompt| record.body(prompt)),
        };
        self.calls.entry(id).or_insert(delegation);
    }

    /// The message before the ones that this message replaces.
    fn superseded(&self, object: &Object<'a>, agent: &Agent<'a>) -> Option<Cow<'a, str>> {
        let gone = elements(object.raw("supersedes")?).into_iter().filter_map(json::text);
        let first = gone.filter_map(|uuid| self.by_uuid.get(&*uuid).copied()).min()?;
        let own = self.spoken.get(agent)?;
        let before = own.partition_point(|event| *event < first).checked_sub(1)?;
        let stays = self.script.events.get(*own.get(before)?)?;
        stays.message_id.clone()
    }

    fn user(&mut self, record: &Record<'a>, agent: &Agent<'a>) {
        let object = &record.object;
        let api = object.object("message").unwrap_or_default();
        let text = api.raw("content").filter(|raw| raw.starts_with('"'));
        let mut said: Vec<Body<'a>> = text.into_iter().map(|raw| record.body(raw)).collect();
        let mut structured = object.raw("tool_use_result");
        let blocks = api.elements("content");
        let has_blocks = !blocks.is_empty();
        for (raw, fields) in blocks {
            let Some(fields) = fields else { continue };
            match fields.id("type") {
                Some("tool_result") => self.tool_result(record, agent, &fields, structured.take()),
                Some("text") => said.extend(fields.raw("text").map(|text| record.body(text))),
                _ => said.push(record.body(raw)),
            }
        }
        if said.is_empty() && has_blocks {
            return;
        }
        let origin = object.object("origin").and_then(|origin| origin.id("kind"));
        let is_harness = object.flag("isSynthetic") || origin.is_some_and(|kind| kind != "human");
        let is_person = *agent == MAIN && !is_harness;
        let mut message = blank(agent.clone(), Role::User);
        message.source = Some(Cow::Borrowed(if is_person { "external" } else { "system" }));
        if is_person && self.prompt.is_none() {
            self.prompt = said.first().and_then(|body| json::text(body.json));
        }
        said.into_iter().for_each(|body| add_content(&mut message, body));
        self.script.push(record, object.id("uuid"), EventKind::Message(message));
    }

    fn tool_result(
        &mut self,
        record: &Record<'a>,
        agent: &Agent<'a>,
        block: &Object<'a>,
        structured: Option<&'a str>,
    ) {
        let mut message = blank(agent.clone(), Role::Tool);
        message.content = block.raw("content").map(|text| record.body(text));
        message.is_error = block.flag("is_error").then_some(true);
        message.result = structured.map(|structured| record.body(structured));
        message.duration_ms = structured.and_then(Object::parse).and_then(|structured| {
            structured.number("totalDurationMs").or_else(|| structured.number("durationMs"))
        });
        message.tool_call_id = block.text("tool_use_id");
        self.script.push(record, record.object.id("uuid"), EventKind::Message(message));
    }

    /// A piece of a message; not kept if the message also arrives complete.
    fn piece(&mut self, record: &Record<'a>, agent: &Agent<'a>) {
        let event = record.object.object("event").unwrap_or_default();
        if let Some(id) = event.object("message").and_then(|message| message.id("id")) {
            self.partial.insert(agent.clone(), id);
        }
        match self.partial.get(agent).filter(|id| self.whole.contains(*id)) {
            Some(id) => self.pieces.push((record.clone(), (agent.clone(), id))),
            None => self.keep(record, agent, "stream_event"),
        }
    }

    fn compacted(&mut self, record: &Record<'a>, agent: &Agent<'a>) {
        let edit = ContextEdited::new(agent.clone(), ContextAction::Compact);
        let uuid = record.object.id("uuid");
        self.script.push(record, uuid, EventKind::ContextEdited(edit));
    }

    /// The end of a turn. The session may go on after it.
    fn result(&mut self, record: &Record<'a>) {
        self.tally.result(&record.object);
        self.keep(record, &MAIN, "result");
        self.end = Some(record.clone());
    }

    fn keep(&mut self, record: &Record<'a>, agent: &Agent<'a>, kind: &'a str) {
        let uuid = record.object.id("uuid");
        self.script.unknown(record, uuid, (Some(agent.clone()), kind));
    }

    fn finish(mut self, sink: &mut dyn Sink<'a>) {
        self.tally.settle(&mut self.script, self.end.as_ref());
        if let Some(mut facts) = self.facts.take()
            && let Some(first) = self.script.events.first_mut()
        {
            facts.prompt = self.prompt.take();
            first.kind = EventKind::SessionStarted(facts);
        }
        if let Some(record) = &self.end {
            let ended = EventKind::SessionEnded(ended(record));
            self.script.push(record, None, ended);
        }
        for (record, key) in std::mem::take(&mut self.pieces) {
            let at = self.messages.get(&key).copied();
            let id = at.and_then(|at| self.script.id_at(at)).unwrap_or(key.1);
            sink.duplicate(Duplicate {
                message_id: id.to_owned(),
                line: record.line.number,
                place: record.line.place,
                reason: "piece of a message that is also recorded whole",
            });
        }
        self.script.finish(sink);
    }
}

fn ended<'a>(record: &Record<'a>) -> SessionEnded<'a> {
    let object = &record.object;
    let subtype = object.text("subtype");
    let is_named_so = subtype.as_deref().is_some_and(|subtype| subtype.starts_with("error"));
    let failed = object.flag("is_error") || is_named_so;
    let errors = elements(object.raw("errors").unwrap_or_default());
    let error = errors.first().and_then(|error| json::text(error));
    SessionEnded {
        outcome: Some(Cow::Borrowed(if failed { "failed" } else { "completed" })),
        reason: object.text("terminal_reason").or(subtype.filter(|subtype| subtype != "success")),
        error: error.or_else(|| object.text("result")).filter(|_| failed),
        declared: Some(record.body(record.line.text)),
    }
}

#[cfg(test)]
mod tests;
