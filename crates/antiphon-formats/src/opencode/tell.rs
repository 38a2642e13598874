//! A session's messages, to events.

use std::borrow::Cow;
use std::collections::BTreeSet;

use antiphon_model::{
    ContextAction, ContextEdited, Event, EventKind, Message, Role, Timestamp, Usage, is_blank,
};

use super::PROGRAM;
use super::part::{call, child, result, usage};
use crate::claude_code::block::add_content;
use crate::line::{Object, Record, elements};
use crate::script::{Script, blank, created, started};

const MAIN: Cow<'static, str> = Cow::Borrowed("main");

pub(super) struct Tell<'a> {
    script: Script<'a>,
    has_begun: bool,
    /// Where the session says what was taken back, and the message from which on.
    reverted: Option<(Record<'a>, &'a str)>,
    /// By message: how many entries came before it.
    before: Vec<(&'a str, u64)>,
    entries: u64,
    /// Child sessions that were made.
    made: BTreeSet<Cow<'a, str>>,
}

impl<'a> Tell<'a> {
    pub(super) fn new(name: &'a str) -> Self {
        let script = Script::new(name);
        let (before, made) = (Vec::new(), BTreeSet::new());
        Self { script, has_begun: false, reverted: None, before, entries: 0, made }
    }

    pub(super) fn line(&mut self, record: &Record<'a>) {
        let info = record.object.object("info").unwrap_or_default();
        let is_first = !self.has_begun;
        if is_first {
            self.begin(record, &info);
        }
        let role = info.id("role");
        match role {
            Some("user" | "assistant") => {
                let events = self.script.events.len();
                self.before.extend(info.id("id").map(|id| (id, self.entries)));
                if role == Some("user") {
                    self.told(record, &info);
                } else {
                    self.answer(record, &info);
                }
                let made = self.script.events.iter().skip(events);
                let made = made.filter(|event| matches!(event.kind, EventKind::Message(_)));
                self.entries += made.count() as u64;
            }
            None if is_first => {}
            _ => {
                self.script.unknown(record, info.id("id"), (Some(MAIN), "message"));
            }
        }
    }

    /// The events, and last what was taken back.
    pub(super) fn finish(mut self) -> Vec<Event<'a>> {
        if let Some((record, from)) = self.reverted.take() {
            let found = self.before.iter().find(|(id, _)| *id == from);
            let kept = found.map(|(_, before)| *before);
            if kept.is_some() {
                self.edit(&record, ContextAction::Rewind, kept, None);
            }
        }
        self.script.events
    }

    /// The first line is the session's beginning, whatever it is.
    fn begin(&mut self, record: &Record<'a>, info: &Object<'a>) {
        self.has_begun = true;
        let mut session = started(PROGRAM);
        if info.raw("role").is_none() {
            session.session_id = info.text("id");
            session.title = info.text("title");
            session.cwd = info.text("directory");
            session.version = info.text("version");
        }
        let time = created_at(info);
        self.push_as(record, "session", EventKind::SessionStarted(session), time);
        let mut agent = created(MAIN);
        agent.name = Some(Cow::Borrowed("OpenCode"));
        agent.adapter_id = Some(Cow::Borrowed(PROGRAM));
        self.push_as(record, "created:main", EventKind::AgentCreated(agent), time);
        let revert = info.object("revert").and_then(|revert| revert.id("messageID"));
        self.reverted = revert.map(|from| (record.clone(), from));
    }

    fn told(&mut self, record: &Record<'a>, info: &Object<'a>) {
        let mut message = blank(MAIN, Role::User);
        let mut is_human = false;
        let mut is_compaction = false;
        for raw in parts(record) {
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
                _ => add_content(&mut message, record.body(raw)),
            }
        }
        let time = created_at(info);
        if is_compaction {
            self.edit(record, ContextAction::Compact, None, time);
            if message.content.is_none() {
                return;
            }
        }
        message.source = Some(Cow::Borrowed(if is_human { "external" } else { "system" }));
        self.script.prompted(message.content.filter(|_| is_human));
        self.push(record, info.id("id"), message, time);
    }

    fn answer(&mut self, record: &Record<'a>, info: &Object<'a>) {
        let mut message = blank(MAIN, Role::Assistant);
        message.model = info.text("modelID");
        message.cost_usd = info.cost("cost");
        let mut tools = Vec::new();
        let mut steps: Option<Usage> = None;
        for raw in parts(record) {
            let part = Object::parse(raw).unwrap_or_default();
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
                    tools.push(part);
                }
                "step-finish" => {
                    if let Some(tokens) = part.object("tokens") {
                        *steps.get_or_insert_default() += usage(&tokens);
                    }
                }
                // What the files were like, for undoing.
                _ => {}
            }
        }
        message.usage = info.object("tokens").map(|tokens| usage(&tokens)).or(steps);
        if let Some(error) = info.object("error") {
            message.is_error = Some(true);
            let said = error.object("data").and_then(|data| data.raw("message"));
            if message.content.is_none() {
                message.content = said.map(|said| record.body(said));
            }
        }
        let time = created_at(info);
        self.push(record, info.id("id"), message, time);
        for part in &tools {
            if let Some(agent) = child(record, part)
                && self.made.insert(agent.agent.clone())
            {
                let at = self.script.push(record, None, EventKind::AgentCreated(agent));
                self.script.set_time(at, time);
            }
            if let Some((message, ended)) = result(record, part, MAIN) {
                self.push(record, part.id("id"), message, ended.or(time));
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
        let (kept, dropped, summary_ref) = (None, None, None);
        let edit = ContextEdited { agent: MAIN, action, kept, dropped, kept_first, summary_ref };
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

fn parts<'a>(record: &Record<'a>) -> Vec<&'a str> {
    elements(record.object.raw("parts").unwrap_or_default())
}

fn created_at(info: &Object<'_>) -> Option<Timestamp> {
    info.object("time")?.time("created")
}
