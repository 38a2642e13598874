//! A chat and the chats of its sub-agents.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{ContextAction, ContextEdited, Event, EventKind, Role, json};

use super::PROGRAM;
use super::chat::{Chat, Part};
use super::message::{Made, answer, say, usage};
use crate::line::{Record, each_record};
use crate::merge::{EventStream, merge};
use crate::script::{Script, blank, created, started};
use crate::{Duplicate, Sink, Stream};

const MAIN: &str = "main";

pub(super) fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    let mut ids = BTreeSet::new();
    let mut files: Vec<FileEvents<'a>> = Vec::new();
    for (number, stream) in (0..).zip(streams) {
        let mut chat = Chat::default();
        each_record(stream, number, sink, |record, _| chat.line(record));
        files.push(FileEvents::of(stream.name, chat, &mut ids, number == 0, sink));
    }
    finish(files, sink);
}

/// The events of one file.
struct FileEvents<'a> {
    agent: Cow<'a, str>,
    events: Vec<Event<'a>>,
    made: Vec<Made<'a>>,
    model: Option<Cow<'a, str>>,
}

impl<'a> FileEvents<'a> {
    fn of(
        name: &'a str,
        chat: Chat<'a>,
        ids: &mut BTreeSet<&'a str>,
        is_main: bool,
        sink: &mut dyn Sink<'a>,
    ) -> Self {
        let file = name.rsplit('/').next().unwrap_or(name);
        let id = chat.session_id.unwrap_or_else(|| file.strip_suffix(".jsonl").unwrap_or(file));
        let agent = Cow::Borrowed(if is_main { MAIN } else { id });
        let script = Script::new(name);
        let mut builder =
            EventBuilder { agent, is_main, script, ids, made: Vec::new(), at: Vec::new(), live: 0 };
        if is_main {
            builder.begin(&chat);
        }
        for part in chat.parts {
            builder.part(part, sink);
        }
        let EventBuilder { agent, script, made, .. } = builder;
        let model = script.events.iter().find_map(|event| {
            let EventKind::Message(message) = &event.kind else { return None };
            message.model.clone()
        });
        Self { agent, events: script.events, made, model }
    }
}

struct EventBuilder<'a, 'i> {
    agent: Cow<'a, str>,
    is_main: bool,
    script: Script<'a>,
    /// The ids of messages in all files.
    ids: &'i mut BTreeSet<&'a str>,
    made: Vec<Made<'a>>,
    /// For each part: how many entries the context had before it.
    at: Vec<u64>,
    live: u64,
}

impl<'a> EventBuilder<'a, '_> {
    fn begin(&mut self, chat: &Chat<'a>) {
        let Some(first) = chat.parts.first().and_then(Part::record) else { return };
        let mut session = started(PROGRAM);
        session.session_id = chat.session_id.map(Cow::Borrowed);
        session.title = chat.title.clone();
        session.cwd = chat.cwd.clone();
        session.prompt = chat.parts.iter().find_map(|part| {
            let Part::Message(versions) = part else { return None };
            prompt(versions.last()?)
        });
        let started = EventKind::SessionStarted(session);
        let at = self.script.push_as(first, Cow::Borrowed("session"), started);
        if let Some(event) = self.script.events.get_mut(at) {
            event.at = first.object.time("startTime").or(event.at);
        }
    }

    fn part(&mut self, part: Part<'a>, sink: &mut dyn Sink<'a>) {
        self.at.push(self.live);
        match part {
            Part::Message(versions) => {
                let before = self.script.events.len();
                self.message(&versions, sink);
                let made = self.script.events.iter().skip(before);
                let made = made.filter(|event| matches!(event.kind, EventKind::Message(_)));
                self.live += made.count() as u64;
            }
            Part::Back { record, kept } => {
                self.live = self.at.get(kept).copied().unwrap_or_default();
                self.edit(&record, ContextAction::Rewind, Some(self.live));
            }
            Part::Replaced(record) => {
                self.live = 0;
                self.edit(&record, ContextAction::Compact, None);
            }
            // The session's beginning contains it.
            Part::Other(_, "chat") if self.is_main && self.script.events.len() == 1 => {}
            Part::Other(record, kind) => {
                self.script.unknown(&record, None, (Some(self.agent.clone()), kind));
            }
        }
    }

    fn edit(&mut self, record: &Record<'a>, action: ContextAction, kept_first: Option<u64>) {
        let edit = ContextEdited { kept_first, ..ContextEdited::new(self.agent.clone(), action) };
        self.script.push(record, None, EventKind::ContextEdited(edit));
    }

    fn message(&mut self, versions: &[Record<'a>], sink: &mut dyn Sink<'a>) {
        let Some((record, earlier)) = versions.split_last() else { return };
        let object = &record.object;
        let own = object.id("id").filter(|id| self.ids.insert(id));
        let before = self.script.events.len();
        match object.id("type").or(object.id("role")).unwrap_or_default() {
            "gemini" | "model" => {
                let tokens = versions.iter().rev().find_map(|it| it.object.object("tokens"));
                let tokens = tokens.as_ref().map(usage);
                let made = answer(&mut self.script, (record, own), &self.agent, tokens);
                self.made.extend(made);
            }
            "user" => {
                let mut message = blank(self.agent.clone(), Role::User);
                message.source =
                    Some(Cow::Borrowed(if self.is_main { "external" } else { "system" }));
                say(record, &mut message, object.raw("content").or_else(|| object.raw("parts")));
                self.script.push(record, own, EventKind::Message(message));
            }
            kind => {
                self.script.unknown(record, own, (Some(self.agent.clone()), kind));
            }
        }
        let id = self.script.id_at(before).unwrap_or_default();
        for version in earlier {
            sink.duplicate(Duplicate {
                message_id: id.to_owned(),
                line: version.line.number,
                place: version.line.place,
                reason: "replaced by a later copy of the message",
            });
        }
    }
}

/// The text of a person's message.
fn prompt<'a>(record: &Record<'a>) -> Option<Cow<'a, str>> {
    let mut message = blank(Cow::Borrowed(MAIN), Role::User);
    say(record, &mut message, record.object.raw("content"));
    let is_user = record.object.id("type") == Some("user");
    message.content.filter(|_| is_user).and_then(|body| json::text(body.json))
}

/// The index of the file with the call that created an agent, the call, and the agent's name.
type Maker<'a> = (usize, Cow<'a, str>, Option<Cow<'a, str>>);

/// Merges the chats into one order, each agent after the call that created it.
fn finish<'a>(files: Vec<FileEvents<'a>>, sink: &mut dyn Sink<'a>) {
    let mut makers: BTreeMap<Cow<'a, str>, Maker<'a>> = BTreeMap::new();
    for (at, chat) in files.iter().enumerate() {
        for made in &chat.made {
            if let Some(agent) = &made.agent {
                let maker = (at, made.call.clone(), made.name.clone());
                makers.entry(agent.clone()).or_insert(maker);
            }
        }
    }
    let names: Vec<Cow<'a, str>> = files.iter().map(|chat| chat.agent.clone()).collect();
    let mut event_streams = Vec::new();
    for (at, chat) in files.into_iter().enumerate() {
        let maker = makers.get(&chat.agent).filter(|(by, ..)| at > 0 && *by != at);
        let mut agent = created(chat.agent.clone());
        agent.language_model = chat.model;
        match maker {
            Some((by, call, name)) => {
                agent.parent_id = names.get(*by).cloned();
                agent.tool_call_id = Some(call.clone());
                agent.name = name.clone();
            }
            None if at == 0 => {
                agent.name = Some(Cow::Borrowed("Gemini CLI"));
                agent.adapter_id = Some(Cow::Borrowed(PROGRAM));
            }
            // It is in the chat's folder.
            None => agent.parent_id = names.first().cloned(),
        }
        event_streams.extend(EventStream::of(agent, chat.events, maker.map(|(by, ..)| *by)));
    }
    merge(event_streams, sink);
}
