//! One file: which lines belong to which message.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::line::{Object, Record, elements};

/// One part of a chat.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// A message, in all its versions. The last one counts.
    Message(Vec<Record<'a>>),
    /// The chat was rewound: this many of the first parts are left.
    Back { record: Record<'a>, kept: usize },
    /// The messages before were replaced by those that follow.
    Replaced(Record<'a>),
    /// Facts about the chat, or something unknown.
    Other(Record<'a>, &'a str),
}

impl<'a> Part<'a> {
    pub(super) fn record(&self) -> Option<&Record<'a>> {
        match self {
            Part::Message(versions) => versions.last(),
            Part::Back { record, .. } | Part::Replaced(record) | Part::Other(record, _) => {
                Some(record)
            }
        }
    }
}

/// The state of reading a file.
#[derive(Debug, Default)]
pub(super) struct Chat<'a> {
    pub(super) parts: Vec<Part<'a>>,
    pub(super) session_id: Option<&'a str>,
    pub(super) title: Option<Cow<'a, str>>,
    pub(super) cwd: Option<Cow<'a, str>>,
    /// For each id: the part that is the message, while the chat has it.
    by_id: BTreeMap<&'a str, usize>,
    /// The parts that are in the context, in order.
    live: Vec<usize>,
}

impl<'a> Chat<'a> {
    pub(super) fn line(&mut self, record: Record<'a>) {
        let object = &record.object;
        if let Some(target) = object.text("$rewindTo") {
            let at = self.by_id.get(&*target).copied();
            self.back(record, at);
        } else if let Some(set) = object.object("$set") {
            self.learn(&set);
            match set.raw("messages") {
                Some(messages) => self.replace(record, messages),
                None => self.parts.push(Part::Other(record, "$set")),
            }
        } else if object.raw("sessionId").is_some() && object.raw("id").is_none() {
            let object = object.clone();
            self.learn(&object);
            self.parts.push(Part::Other(record, "chat"));
        } else if let Some(id) = object.id("id").filter(|_| object.raw("type").is_some()) {
            self.message(record, id);
        } else if object.raw("role").is_some() && object.raw("parts").is_some() {
            self.live.push(self.parts.len());
            self.parts.push(Part::Message(vec![record]));
        } else {
            let kind = object.id("type").unwrap_or("line");
            self.parts.push(Part::Other(record, kind));
        }
    }

    fn learn(&mut self, facts: &Object<'a>) {
        self.session_id = self.session_id.or_else(|| facts.id("sessionId"));
        self.title = facts.text("summary").or(self.title.take());
        let folders = elements(facts.raw("directories").unwrap_or_default());
        let first = folders.first().and_then(|folder| antiphon_model::json::text(folder));
        self.cwd = first.or(self.cwd.take());
    }

    fn message(&mut self, record: Record<'a>, id: &'a str) {
        if let Some(Part::Message(versions)) =
            self.by_id.get(id).and_then(|&at| self.parts.get_mut(at))
        {
            versions.push(record);
            return;
        }
        let at = self.parts.len();
        self.by_id.insert(id, at);
        self.live.push(at);
        self.parts.push(Part::Message(vec![record]));
    }

    /// Withdraws a message and all after it; all messages, if there is no such message.
    fn back(&mut self, record: Record<'a>, to: Option<usize>) {
        let to = to.unwrap_or_default();
        self.by_id.retain(|_, at| *at < to);
        self.live.retain(|at| *at < to);
        self.parts.push(Part::Back { record, kept: to });
    }

    /// Replaces all messages by others. Those that are known keep their identity.
    fn replace(&mut self, record: Record<'a>, messages: &'a str) {
        let listed: Vec<Object<'a>> =
            elements(messages).into_iter().filter_map(Object::parse).collect();
        let known = |message: &Object<'a>| message.id("id").and_then(|id| self.by_id.get(id));
        let places: Vec<Option<usize>> = listed.iter().map(|it| known(it).copied()).collect();
        let stays = self.live.iter().zip(&places).take_while(|(at, it)| Some(**at) == **it);
        let stays = stays.count();
        let line = record.line;
        if stays == self.live.len() {
            // Nothing was removed.
            self.parts.push(Part::Other(record, "$set"));
        } else if stays == listed.len() {
            let to = self.live.get(stays).copied();
            return self.back(record, to);
        } else {
            self.live.clear();
            self.parts.push(Part::Replaced(record));
        }
        let mut seen: BTreeSet<usize> = self.live.iter().copied().collect();
        for (object, place) in listed.into_iter().zip(places) {
            match (object.id("id"), place) {
                (_, Some(at)) if seen.insert(at) => self.live.push(at),
                (Some(id), None) => self.message(Record { line, object }, id),
                _ => {}
            }
        }
    }
}
