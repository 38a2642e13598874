//! Converts one file to events, and joins the blocks of one message.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

use antiphon_model::{
    Body, ContextAction, ContextEdited, Event, EventKind, Message, Role, Timestamp, json,
};

use memchr::memmem;

use super::block::{self, add_content};
use super::progress::{Heard, ProgressLine};
use super::session::{Delegation, Launch, MAIN, Report, Shared, time};
use super::source::source;
use super::usage::usage;
use crate::line::{Object, Record, records_where};
use crate::{Duplicate, Sink, Stream};

type Agent<'a> = Cow<'a, str>;

/// The state of reading a file.
#[derive(Debug)]
pub(super) struct Transcript<'a> {
    name: &'a str,
    /// The agent whose file it is.
    agent: Agent<'a>,
    number: u32,
    events: Vec<(Agent<'a>, Event<'a>)>,
    /// For each agent and `message.id`: the event that the message's lines make up.
    messages: BTreeMap<(Agent<'a>, &'a str), usize>,
    /// For each line's id: the event that represents it in the conversation, and its agent.
    chain: BTreeMap<&'a str, (Option<usize>, Agent<'a>)>,
    /// For each agent: its latest message.
    latest: BTreeMap<Agent<'a>, usize>,
    /// The record that made the last event, and how many it made.
    made: (Agent<'a>, usize),
    /// An index of the content, built when it is first needed.
    heard: Option<Heard<'a>>,
}

impl<'a> Transcript<'a> {
    pub(super) fn new(name: &'a str, agent: Agent<'a>, number: u32) -> Self {
        Self {
            name,
            agent,
            number,
            events: Vec::new(),
            messages: BTreeMap::new(),
            chain: BTreeMap::new(),
            latest: BTreeMap::new(),
            made: (Cow::Borrowed(""), 0),
            heard: None,
        }
    }

    /// The agent whose file it is.
    pub(super) fn agent(&self) -> &Agent<'a> {
        &self.agent
    }

    pub(super) fn events(&self) -> impl Iterator<Item = &Event<'a>> {
        self.events.iter().map(|(_, event)| event)
    }

    /// An index of the events so far, built when it is first asked for.
    pub(super) fn heard(&mut self) -> &Heard<'a> {
        let events = self.events.iter().map(|(_, event)| event);
        self.heard.get_or_insert_with(|| Heard::of(events))
    }

    pub(super) fn read(
        &mut self,
        stream: &Stream<'a>,
        shared: &mut Shared<'a>,
        sink: &mut dyn Sink<'a>,
    ) {
        // Only an assistant's line has tokens, and within a string the quotes would be escaped. The
        // first lines say which session this is.
        let reads_all = Cell::new(!sink.wants_only_usage() || shared.facts.session_id.is_none());
        let needle = memmem::Finder::new(b"\"assistant\"");
        let is_wanted = |line: &str| reads_all.get() || needle.find(line.as_bytes()).is_some();
        for record in records_where(stream, self.number, is_wanted) {
            match record {
                Ok(record) => self.line(&record, shared, sink),
                Err(problem) => sink.problem(problem),
            }
            reads_all.set(!sink.wants_only_usage() || shared.facts.session_id.is_none());
        }
    }

    /// The events by agent: the oldest versions wrote sub-agents into the main file.
    pub(super) fn finish(self) -> Vec<(Agent<'a>, Vec<Event<'a>>)> {
        by_agent(self.into_events())
    }

    /// What else is known of the file is not needed any more, and may be as much.
    fn into_events(self) -> Vec<(Agent<'a>, Event<'a>)> {
        self.events
    }

    fn line(&mut self, record: &Record<'a>, shared: &mut Shared<'a>, sink: &mut dyn Sink<'a>) {
        let object = &record.object;
        let agent = self.agent_of(object);
        let uuid = object.id("uuid");
        if let Some(uuid) = uuid
            && !shared.seen.insert(uuid)
        {
            sink.duplicate(Duplicate {
                message_id: uuid.to_owned(),
                line: record.line.number,
                place: record.line.place,
                reason: "duplicate of an earlier line, or of a line in another file of the session",
            });
            return;
        }
        shared.facts.learn(object);
        let before = self.events.len();
        match ProgressLine::of(record) {
            Some(progress) => self.progress(&progress, shared, sink),
            None => self.says(record, &agent, shared, sink),
        }
        if let Some(uuid) = uuid {
            // The target of later references to this line: its message, or the one before it if the
            // line is not part of the conversation.
            let is_message = self.is_message_of(before, &agent);
            let parent = object.id("parentUuid").and_then(|parent| self.chain.get(parent)?.0);
            let merged = || self.merged_into(object, &agent);
            let stands = if is_message { Some(before) } else { merged().or(parent) };
            self.chain.insert(uuid, (stands, agent));
        }
    }

    /// Adds what a line of an agent says.
    pub(super) fn says(
        &mut self,
        record: &Record<'a>,
        agent: &Agent<'a>,
        shared: &mut Shared<'a>,
        sink: &mut dyn Sink<'a>,
    ) {
        let before = self.events.len();
        match record.object.id("type").unwrap_or_default() {
            "assistant" => {
                let mute = self.assistant(record, agent, shared, sink.wants_only_usage());
                if let Some((_, event)) = mute.and_then(|at| self.events.get(at)) {
                    sink.duplicate(Duplicate {
                        message_id: event.message_id.as_deref().unwrap_or_default().to_owned(),
                        line: record.line.number,
                        place: record.line.place,
                        reason: "repeated usage-only part of a message",
                    });
                }
            }
            _ if sink.wants_only_usage() => {}
            "user" => self.user(record, agent, shared),
            "system" => self.system(record, agent),
            "attachment" => self.attachment(record, agent),
            other => self.unknown(record, agent, other),
        }
        if let Some(last) = self.events.len().checked_sub(1)
            && last >= before
            && self.is_message_of(last, agent)
        {
            self.latest.insert(agent.clone(), last);
        }
    }

    fn is_message_of(&self, at: usize, agent: &Agent<'a>) -> bool {
        self.events.get(at).is_some_and(|(owner, event)| owner == agent && is_message(event))
    }

    /// The event that the lines of a message make up, by the message's id.
    pub(super) fn message_named(
        &mut self,
        agent: &Agent<'a>,
        id: &'a str,
    ) -> Option<&mut Message<'a>> {
        let at = *self.messages.get(&(agent.clone(), id))?;
        self.message_at(at)
    }

    /// The event that an assistant's line was added to.
    fn merged_into(&self, object: &Object<'a>, agent: &Agent<'a>) -> Option<usize> {
        let id = object.object("message")?.id("id")?;
        self.messages.get(&(agent.clone(), id)).copied()
    }

    /// The agent of a line: the one it names, that of the side chain it continues, or the file's.
    fn agent_of(&self, object: &Object<'a>) -> Agent<'a> {
        if let Some(agent) = object.text("agentId").filter(|_| self.agent == MAIN) {
            return agent;
        }
        if self.agent != MAIN || !object.flag("isSidechain") {
            return self.agent.clone();
        }
        let parent = object.id("parentUuid").and_then(|parent| self.chain.get(parent));
        match (parent, object.id("uuid")) {
            (Some((_, agent)), _) if *agent != MAIN => agent.clone(),
            (_, Some(uuid)) => Cow::Owned(format!("sidechain:{uuid}")),
            (_, None) => self.agent.clone(),
        }
    }

    /// Adds a line to its message. Returns the message's index if the line had nothing to add.
    fn assistant(
        &mut self,
        record: &Record<'a>,
        agent: &Agent<'a>,
        shared: &mut Shared<'a>,
        only_usage: bool,
    ) -> Option<usize> {
        let Some(api) = record.object.object("message") else {
            self.unknown(record, agent, "assistant");
            return None;
        };
        let key = api.id("id").map(|id| (agent.clone(), id));
        let known = key.as_ref().and_then(|key| self.messages.get(key).copied());
        let at = match known {
            Some(at) => at,
            None => {
                let mut message = blank(agent, Role::Assistant);
                message.model = api.text("model");
                message.request_id =
                    record.object.text("requestId").or_else(|| service_id(&api).map(Into::into));
                message.is_error = record.object.flag("isApiErrorMessage").then_some(true);
                self.push(record, agent, EventKind::Message(message));
                let at = self.events.len() - 1;
                if let Some(key) = key {
                    self.messages.insert(key, at);
                }
                at
            }
        };
        let is_synthetic = api.id("model") == Some("<synthetic>");
        let tokens = api.object("usage").filter(|_| !is_synthetic).map(|tokens| usage(&tokens));
        let message = self.message_at(at)?;
        // Every line repeats the usage; if they differ, the last one is final.
        message.usage = tokens.or(message.usage);
        if only_usage {
            return None;
        }
        let rest = block::add(record, message, &api);
        if known.is_some() {
            self.made_later(at, &rest, time(&record.object));
        }
        for block in &rest.calls {
            note_delegation(block, agent, shared);
        }
        for block in &rest.results {
            self.tool_result(record, agent, block, None, shared);
        }
        for reasoning in rest.thoughts {
            let mut message = blank(agent, Role::Assistant);
            message.reasoning = Some(reasoning);
            self.push(record, agent, EventKind::Message(message));
        }
        known.filter(|_| rest.is_mute)
    }

    /// Sets when a call was made. Its line may come long after the message's first line, which has
    /// the reasoning.
    fn made_later(&mut self, at: usize, rest: &block::Rest<'a>, time: Option<Timestamp>) {
        let Some((_, event)) = self.events.get_mut(at) else { return };
        let began = event.at;
        if let EventKind::Message(message) = &mut event.kind {
            for call in message.tool_calls.iter_mut().rev().take(rest.calls.len()) {
                call.started_at = time.filter(|_| time != began);
            }
        }
    }

    fn user(&mut self, record: &Record<'a>, agent: &Agent<'a>, shared: &mut Shared<'a>) {
        let api = record.object.object("message").unwrap_or_default();
        let text = api.raw("content").filter(|raw| raw.starts_with('"'));
        let mut said: Vec<Body<'a>> = text.into_iter().map(|raw| record.body(raw)).collect();
        let mut structured = record.object.raw("toolUseResult");
        let blocks = api.elements("content");
        let has_blocks = !blocks.is_empty();
        for (raw, fields) in blocks {
            let Some(fields) = fields else {
                said.push(record.body(raw));
                continue;
            };
            match fields.id("type").unwrap_or_default() {
                "tool_result" => {
                    let structured =
                        structured.take().map(|raw| (raw, record.object.object("toolUseResult")));
                    self.tool_result(record, agent, &fields, structured, shared);
                }
                "text" => said.extend(fields.raw("text").map(|text| record.body(text))),
                _ => said.push(record.body(raw)),
            }
        }
        if said.is_empty() && has_blocks {
            return;
        }
        let mut message = blank(agent, Role::User);
        message.source = Some(Cow::Borrowed(source(record, agent, said.first())));
        message.previous_id = self.left_behind(&record.object, agent);
        let is_human = message.source.as_deref() == Some("external");
        if is_human && *agent == MAIN && shared.facts.prompt.is_none() {
            shared.facts.prompt = said.first().and_then(|body| json::text(body.json));
        }
        for body in said {
            add_content(&mut message, body);
        }
        self.push(record, agent, EventKind::Message(message));
    }

    fn tool_result(
        &mut self,
        record: &Record<'a>,
        agent: &Agent<'a>,
        block: &Object<'a>,
        structured: Option<(&'a str, Option<Object<'a>>)>,
        shared: &mut Shared<'a>,
    ) {
        let call = block.text("tool_use_id").or_else(|| record.object.text("sourceToolUseID"));
        let call = call.or_else(|| self.only_call_before(&record.object));
        let mut message = blank(agent, Role::Tool);
        message.content = block.raw("content").map(|content| record.body(content));
        message.is_error = block.flag("is_error").then_some(true);
        message.result = structured.as_ref().map(|(raw, _)| record.body(raw));
        if let Some(structured) = structured.and_then(|(_, structured)| structured) {
            let took =
                structured.number("totalDurationMs").or_else(|| structured.number("durationMs"));
            message.duration_ms = took;
            if let Some((made, call)) = structured.text("agentId").zip(call.clone()) {
                let in_background = structured.id("status") == Some("async_launched");
                let by = Some(agent.clone());
                let launch = Launch { call, by, in_background };
                let known = shared.launches.entry(made.clone()).or_insert(launch);
                known.in_background |= in_background;
                let (line, at) = (record.line, time(&record.object));
                let report = Report { line, at, tokens: structured.number("totalTokens") };
                shared.reports.entry(made).or_insert(report);
            }
        }
        message.tool_call_id = call;
        self.push(record, agent, EventKind::Message(message));
    }

    /// The call of a result that names none: the only call on the line that it follows.
    fn only_call_before(&self, object: &Object<'a>) -> Option<Cow<'a, str>> {
        let (stands, _) = self.chain.get(object.id("parentUuid")?)?;
        let (_, event) = self.events.get((*stands)?)?;
        let EventKind::Message(message) = &event.kind else { return None };
        match message.tool_calls.as_slice() {
            [call] => Some(call.id.clone()),
            _ => None,
        }
    }

    fn system(&mut self, record: &Record<'a>, agent: &Agent<'a>) {
        let subtype = record.object.id("subtype").unwrap_or("system");
        if subtype != "compact_boundary" {
            return self.unknown(record, agent, subtype);
        }
        // The next line of the conversation is the summary; newer versions name what stays.
        let kept = record
            .object
            .object("compactMetadata")
            .and_then(|meta| meta.object("preservedMessages")?.raw("uuids"));
        let edit = ContextEdited {
            kept: kept.map(|kept| record.body(kept)),
            ..ContextEdited::new(agent.clone(), ContextAction::Compact)
        };
        self.push(record, agent, EventKind::ContextEdited(edit));
    }

    /// A prompt that was typed while the agent worked, which arrives as an attachment.
    fn attachment(&mut self, record: &Record<'a>, agent: &Agent<'a>) {
        let attachment = record.object.object("attachment").unwrap_or_default();
        let kind = attachment.id("type").unwrap_or("attachment");
        let Some(prompt) = attachment.raw("prompt").filter(|_| kind == "queued_command") else {
            return self.unknown(record, agent, kind);
        };
        // Messages of the harness wait in the same queue.
        let content = record.body(prompt);
        let is_prompt = attachment.id("commandMode").is_none_or(|mode| mode == "prompt");
        let source = if is_prompt { source(record, agent, Some(&content)) } else { "system" };
        let mut message = blank(agent, Role::User);
        message.source = Some(Cow::Borrowed(source));
        message.content = Some(content);
        self.push(record, agent, EventKind::Message(message));
    }

    fn unknown(&mut self, record: &Record<'a>, agent: &Agent<'a>, kind: &'a str) {
        let event_type = Cow::Borrowed(kind);
        let unknown = record.unknown(event_type, Some(agent.clone()));
        self.push(record, agent, EventKind::Unknown(unknown));
    }

    /// The message that a prompt follows, if that is not the latest: then the rest was abandoned.
    fn left_behind(&self, object: &Object<'a>, agent: &Agent<'a>) -> Option<Cow<'a, str>> {
        let latest = *self.latest.get(agent)?;
        let (parent, _) = self.chain.get(object.id("parentUuid")?)?;
        let parent = parent.filter(|&parent| parent < latest)?;
        self.events.get(parent)?.1.message_id.clone()
    }

    fn message_at(&mut self, at: usize) -> Option<&mut Message<'a>> {
        match self.events.get_mut(at) {
            Some((_, Event { kind: EventKind::Message(message), .. })) => Some(message),
            _ => None,
        }
    }

    /// Adds an event of a line: its id is the line's, then `#2`, `#3`.
    fn push(&mut self, record: &Record<'a>, agent: &Agent<'a>, kind: EventKind<'a>) {
        let line = record.line.number;
        let own = match record.object.id("uuid") {
            Some(uuid) => Cow::Borrowed(uuid),
            None => Cow::Owned(format!("{}:{line}", self.name)),
        };
        let before = if self.made.0 == own { self.made.1 } else { 0 };
        self.made = (own.clone(), before + 1);
        let id = match before {
            0 => own,
            count => Cow::Owned(format!("{own}#{}", count + 1)),
        };
        let event = Event {
            message_id: Some(id),
            at: time(&record.object),
            line,
            place: record.line.place,
            kind,
            extra: None,
            problems: Vec::new(),
        };
        self.events.push((agent.clone(), event));
    }
}

fn is_message(event: &Event<'_>) -> bool {
    matches!(event.kind, EventKind::Message(_))
}

/// Remembers what a call asks for, if it may create a sub-agent.
fn note_delegation<'a>(call: &Object<'a>, agent: &Agent<'a>, shared: &mut Shared<'a>) {
    let input = call.object("input").unwrap_or_default();
    if let Some(id) = call.id("id")
        && input.raw("prompt").is_some()
    {
        let delegation = Delegation {
            agent: agent.clone(),
            description: input.text("description"),
            agent_type: input.text("subagent_type"),
            prompt: input.raw("prompt"),
        };
        shared.delegations.insert(id, delegation);
    }
}

fn blank<'a>(agent: &Agent<'a>, role: Role) -> Message<'a> {
    Message::new(agent.clone(), role)
}

/// The id that the API gave to a message. Some APIs give requests none, and a fork of a session
/// repeats its messages.
fn service_id<'a>(api: &Object<'a>) -> Option<&'a str> {
    const LEN_MIN: usize = 20;
    api.id("id").filter(|id| id.starts_with("msg_") && id.len() >= LEN_MIN)
}

/// Events by their agents, who come in the order of their first events. Events are large and may be
/// many: they are taken from the end, so that the room which they leave can be given back.
fn by_agent<'a>(mut events: Vec<(Agent<'a>, Event<'a>)>) -> Vec<(Agent<'a>, Vec<Event<'a>>)> {
    const STEP: usize = 4096;
    let mut by_agent: BTreeMap<Agent<'a>, (usize, Vec<Event<'a>>)> = BTreeMap::new();
    while let Some((agent, event)) = events.pop() {
        let (first, own) = by_agent.entry(agent).or_default();
        *first = events.len();
        own.push(event);
        if events.len().is_multiple_of(STEP) {
            events.shrink_to_fit();
        }
    }
    let mut by_agent: Vec<_> = by_agent.into_iter().collect();
    by_agent.sort_by_key(|(_, (first, _))| *first);
    let in_order = by_agent.into_iter().map(|(agent, (_, mut events))| {
        events.reverse();
        (agent, events)
    });
    in_order.collect()
}
