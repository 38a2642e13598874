//! Converts a session's messages to events.

use std::borrow::Cow;
use std::collections::BTreeSet;

use antiphon_model::{
    ContextAction, ContextEdited, Event, EventKind, Message, Role, Timestamp, Usage, is_blank,
};

use super::PROGRAM;
use super::gather::{Piece, Said};
use super::part::{call, child, result, usage};
use crate::claude_code::block::add_content;
use crate::line::{Object, Record};
use crate::script::{Script, blank, created, started};

pub(super) struct Conversation<'a> {
    script: Script<'a>,
    agent: Cow<'a, str>,
    has_begun: bool,
    /// The record that says what was reverted, and the first message that was.
    reverted: Option<(Record<'a>, &'a str)>,
    /// For each message: how many entries came before it.
    before: Vec<(&'a str, u64)>,
    entries: u64,
    /// Child sessions that were created.
    known: BTreeSet<Cow<'a, str>>,
    /// Every call that named a child session, with the child.
    made: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// The events of a session.
#[derive(Debug)]
pub(super) struct SessionEvents<'a> {
    pub(super) events: Vec<Event<'a>>,
    pub(super) made: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    pub(super) model: Option<Cow<'a, str>>,
    /// Where and when it began.
    pub(super) first: Option<Event<'a>>,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(name: &'a str, agent: Cow<'a, str>) -> Self {
        Self {
            script: Script::new(name),
            agent,
            has_begun: false,
            reverted: None,
            before: Vec::new(),
            entries: 0,
            known: BTreeSet::new(),
            made: Vec::new(),
        }
    }

    pub(super) fn read(mut self, said: &[Said<'a>]) -> SessionEvents<'a> {
        let mut first = None;
        for said in said {
            if first.is_none() {
                let (record, time) = (&said.record, created_at(&said.info));
                let mut script = Script::new("");
                script.unknown(record, None, (None, "session"));
                first = script.events.pop().map(|event| Event { at: time.or(event.at), ..event });
            }
            self.line(said);
        }
        self.finish_with(first)
    }

    fn line(&mut self, said: &Said<'a>) {
        let (record, info) = (&said.record, &said.info);
        let is_first = !self.has_begun;
        if is_first {
            self.begin(record, info);
        }
        let role = info.id("role");
        let own = info.id("id").or(said.id);
        match role {
            Some("user" | "assistant") => {
                let events = self.script.events.len();
                self.before.extend(own.map(|id| (id, self.entries)));
                if role == Some("user") {
                    self.received(said, own);
                } else {
                    self.answer(said, own);
                }
                let made = self.script.events.iter().skip(events);
                let made = made.filter(|event| matches!(event.kind, EventKind::Message(_)));
                self.entries += made.count() as u64;
            }
            None if is_first => {}
            _ => {
                let kind = if record.object.has("type") { "part" } else { "message" };
                let agent = Some(self.agent.clone());
                self.script.unknown(record, own, (agent.clone(), kind));
                let stream = record.line.place.stream;
                let others = said.parts.iter();
                for part in others.filter(|it| it.record.line.place.stream != stream) {
                    self.script.unknown(&part.record, part.id, (agent.clone(), "part"));
                }
            }
        }
    }
    /// The events, followed by what was reverted.
    fn finish_with(mut self, first: Option<Event<'a>>) -> SessionEvents<'a> {
        if let Some((record, from)) = self.reverted.take() {
            let found = self.before.iter().find(|(id, _)| *id == from);
            let kept = found.map(|(_, before)| *before);
            if kept.is_some() {
                self.edit(&record, ContextAction::Rewind, kept, None);
            }
        }
        let events = self.script.events;
        let model = events.iter().find_map(|event| {
            let EventKind::Message(message) = &event.kind else { return None };
            message.model.clone()
        });
        SessionEvents { events, made: self.made, model, first }
    }

    /// Begins the session at the first line, whatever that is.
    fn begin(&mut self, record: &Record<'a>, info: &Object<'a>) {
        self.has_begun = true;
        let revert = info.object("revert").and_then(|revert| revert.id("messageID"));
        self.reverted = revert.map(|from| (record.clone(), from));
        // A child session begins with the call that created it.
        if self.agent != "main" {
            return;
        }
        let mut session = started(PROGRAM);
        if info.raw("role").is_none() {
            session.session_id = info.text("id");
            session.title = info.text("title");
            session.cwd = info.text("directory");
            session.version = info.text("version");
        }
        let time = created_at(info);
        self.push_as(record, "session", EventKind::SessionStarted(session), time);
        let mut agent = created(self.agent.clone());
        agent.name = Some(Cow::Borrowed("OpenCode"));
        agent.adapter_id = Some(Cow::Borrowed(PROGRAM));
        self.push_as(record, "created:main", EventKind::AgentCreated(agent), time);
    }

    fn received(&mut self, said: &Said<'a>, own: Option<&'a str>) {
        let mut message = blank(self.agent.clone(), Role::User);
        let mut is_human = false;
        let mut is_compaction = false;
        for Piece { record, raw, .. } in &said.parts {
            let part = Object::parse(raw).unwrap_or_default();
            match part.id("type").unwrap_or_default() {
                "text" => {
                    is_human |= !part.flag("synthetic");
                    let text = part.raw("text").filter(|raw| !is_blank(raw));
                    text.into_iter().for_each(|text| add_content(&mut message, record.body(text)));
                }
                "compaction" => is_compaction = true,
                "file" => {
                    let name = part.raw("filename").or_else(|| part.raw("url")).unwrap_or(raw);
                    is_human = true;
                    add_content(&mut message, record.body(name));
                }
                "subtask" => {
                    let prompt = part.raw("prompt").unwrap_or(raw);
                    is_human = true;
                    add_content(&mut message, record.body(prompt));
                }
                // Truncated before its type.
                "" => {}
                _ => add_content(&mut message, record.body(raw)),
            }
        }
        let (record, time) = (&said.record, created_at(&said.info));
        if is_compaction {
            self.edit(record, ContextAction::Compact, None, time);
            if message.content.is_none() {
                return;
            }
        }
        // In a child session the prompts are its parent's.
        is_human &= self.agent == "main";
        message.source = Some(Cow::Borrowed(if is_human { "external" } else { "system" }));
        self.script.prompted(message.content.filter(|_| is_human));
        self.push(record, own, message, time);
    }

    fn answer(&mut self, said: &Said<'a>, own: Option<&'a str>) {
        let info = &said.info;
        let mut message = blank(self.agent.clone(), Role::Assistant);
        message.model = info.text("modelID");
        message.cost_usd = info.cost("cost");
        let mut tools = Vec::new();
        let mut steps: Option<Usage> = None;
        for piece in &said.parts {
            let record = &piece.record;
            let part = Object::parse(piece.raw).unwrap_or_default();
            let text = part.raw("text").filter(|raw| !is_blank(raw));
            match part.id("type").unwrap_or_default() {
                "reasoning" if message.reasoning.is_none() => {
                    message.reasoning = text.map(|text| record.body(text));
                }
                "text" | "reasoning" => {
                    text.into_iter().for_each(|text| add_content(&mut message, record.body(text)));
                }
                "tool" => {
                    message.tool_calls.extend(call(record, &part));
                    tools.push((piece, part));
                }
                "step-finish" => {
                    if let Some(tokens) = part.object("tokens") {
                        *steps.get_or_insert_default() += usage(&tokens);
                    }
                }
                // Snapshots of files, for undoing.
                _ => {}
            }
        }
        // A request that was aborted before an answer has token counts, but all are zero.
        let is_over = info.object("time").is_some_and(|time| time.has("completed"));
        let is_answered = is_over && !info.has("error");
        let spent = info.object("tokens").map(|tokens| usage(&tokens)).or(steps);
        message.usage = spent.filter(|spent| is_answered || !spent.is_zero());
        if let Some(error) = info.object("error") {
            message.is_error = Some(true);
            let text = error.object("data").and_then(|data| data.raw("message"));
            if message.content.is_none() {
                message.content = text.map(|text| said.record.body(text));
            }
        }
        let time = created_at(info);
        self.push(&said.record, own, message, time);
        for (piece, part) in &tools {
            let record = &piece.record;
            if let Some(mut agent) = child(record, part) {
                let call = agent.tool_call_id.clone().unwrap_or_default();
                self.made.push((agent.agent.clone(), call));
                if self.known.insert(agent.agent.clone()) {
                    agent.parent_id = Some(self.agent.clone());
                    let at = self.script.push(record, None, EventKind::AgentCreated(agent));
                    self.script.set_time(at, time);
                }
            }
            if let Some((message, ended)) = result(record, part, self.agent.clone()) {
                self.push(record, part.id("id").or(piece.id), message, ended.or(time));
            }
        }
    }

    fn edit(
        &mut self,
        record: &Record<'a>,
        action: ContextAction,
        kept_first: Option<u64>,
        time: Option<Timestamp>,
    ) {
        let edit = ContextEdited { kept_first, ..ContextEdited::new(self.agent.clone(), action) };
        let at = self.script.push(record, None, EventKind::ContextEdited(edit));
        self.script.set_time(at, time);
    }

    fn push(
        &mut self,
        record: &Record<'a>,
        own: Option<&'a str>,
        message: Message<'a>,
        time: Option<Timestamp>,
    ) {
        let at = self.script.push(record, own, EventKind::Message(message));
        self.script.set_time(at, time);
    }

    fn push_as(
        &mut self,
        record: &Record<'a>,
        id: &'static str,
        kind: EventKind<'a>,
        time: Option<Timestamp>,
    ) {
        let at = self.script.push_as(record, Cow::Borrowed(id), kind);
        self.script.set_time(at, time);
    }
}

fn created_at(info: &Object<'_>) -> Option<Timestamp> {
    info.object("time")?.time("created")
}
