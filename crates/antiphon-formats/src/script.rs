//! The events of a single stream as a reader collects them, and constructors for common events.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{
    AgentCreated, Body, Event, EventKind, Message, Role, SessionStarted, Timestamp, plain_text,
};

use crate::line::Record;
use crate::{Duplicate, Sink, order};

/// The events of a stream, in its order, each with an id.
#[derive(Debug)]
pub(crate) struct Script<'a> {
    /// The stream's name.
    name: &'a str,
    pub(crate) events: Vec<Event<'a>>,
    used: BTreeSet<Cow<'a, str>>,
    /// For each line: the id of its first event, and how many events it has.
    by_line: BTreeMap<u64, (Cow<'a, str>, usize)>,
}

impl<'a> Script<'a> {
    pub(crate) fn new(name: &'a str) -> Self {
        Self { name, events: Vec::new(), used: BTreeSet::new(), by_line: BTreeMap::new() }
    }

    /// The stream's name.
    pub(crate) fn name(&self) -> &'a str {
        self.name
    }

    /// Adds an event of a line. Its id is the line's own, if it has a new one, or else the line's
    /// number; further events of the line get `#2`, `#3`.
    pub(crate) fn push(
        &mut self,
        record: &Record<'a>,
        own: Option<&'a str>,
        kind: EventKind<'a>,
    ) -> usize {
        let line = record.line.number;
        let own = own.filter(|own| !self.used.contains(*own)).map(Cow::Borrowed);
        let id = match (own, self.by_line.get_mut(&line)) {
            (None, Some((first, count))) => {
                *count += 1;
                Cow::Owned(format!("{first}#{count}"))
            }
            (own, _) => {
                let id = own.unwrap_or_else(|| Cow::Owned(format!("{}:{line}", self.name)));
                self.by_line.insert(line, (id.clone(), 1));
                id
            }
        };
        self.used.insert(id.clone());
        self.push_as(record, id, kind)
    }

    /// Adds the beginning of the session and the creation of its main agent.
    pub(crate) fn begin(
        &mut self,
        record: &Record<'a>,
        session: SessionStarted<'a>,
        agent: AgentCreated<'a>,
    ) {
        self.push_as(record, Cow::Borrowed("session"), EventKind::SessionStarted(session));
        self.push_as(record, Cow::Borrowed("created:main"), EventKind::AgentCreated(agent));
    }

    /// Adds an event under an id that was made up here.
    pub(crate) fn push_as(
        &mut self,
        record: &Record<'a>,
        id: Cow<'a, str>,
        kind: EventKind<'a>,
    ) -> usize {
        self.events.push(Event {
            message_id: Some(id),
            at: time(record),
            line: record.line.number,
            place: record.line.place,
            kind,
            extra: None,
            problems: Vec::new(),
        });
        self.events.len() - 1
    }

    pub(crate) fn unknown(
        &mut self,
        record: &Record<'a>,
        own: Option<&'a str>,
        (agent, kind): (Option<Cow<'a, str>>, &'a str),
    ) -> usize {
        let unknown = record.unknown(Cow::Borrowed(kind), agent);
        self.push(record, own, EventKind::Unknown(unknown))
    }

    /// Sets the session's prompt to the first words of a person.
    pub(crate) fn prompted(&mut self, said: Option<Body<'a>>) {
        if let Some(Event { kind: EventKind::SessionStarted(session), .. }) =
            self.events.first_mut()
            && session.prompt.is_none()
        {
            session.prompt = said.map(|body| plain_text(body.json));
        }
    }

    /// Sets the time of an event whose line has none.
    pub(crate) fn set_time(&mut self, at: usize, time: Option<Timestamp>) {
        if let Some(event) = self.events.get_mut(at) {
            event.at = time.or(event.at);
        }
    }

    pub(crate) fn message_at(&mut self, at: usize) -> Option<&mut Message<'a>> {
        match self.events.get_mut(at) {
            Some(Event { kind: EventKind::Message(message), .. }) => Some(message),
            _ => None,
        }
    }

    /// Reports a line that repeats what an event already says.
    pub(crate) fn duplicate(
        &self,
        record: &Record<'a>,
        event: usize,
        reason: &'static str,
        sink: &mut dyn Sink<'a>,
    ) {
        sink.duplicate(Duplicate {
            message_id: self.id_at(event).unwrap_or_default().to_owned(),
            line: record.line.number,
            place: record.line.place,
            reason,
        });
    }

    /// Passes on the events, with those that were held back at their lines.
    pub(crate) fn finish(mut self, sink: &mut dyn Sink<'a>) {
        self.events.sort_by_key(|event| event.line);
        order::put_results_after_calls(&mut self.events);
        self.events.into_iter().for_each(|event| sink.event(event));
    }

    pub(crate) fn id_at(&self, at: usize) -> Option<&str> {
        self.events.get(at)?.message_id.as_deref()
    }
}

fn time(record: &Record<'_>) -> Option<Timestamp> {
    ["timestamp", "ts", "time"].iter().find_map(|name| record.object.time(name))
}

/// A message of an agent that says nothing yet.
pub(crate) fn blank<'a>(agent: Cow<'a, str>, role: Role) -> Message<'a> {
    Message::new(agent, role)
}

/// The creation of an agent of which only the id is known.
pub(crate) fn created<'a>(agent: Cow<'a, str>) -> AgentCreated<'a> {
    AgentCreated::new(agent)
}

/// The beginning of a session of which only the program is known.
pub(crate) fn started<'a>(program: &'static str) -> SessionStarted<'a> {
    SessionStarted { program: Some(Cow::Borrowed(program)), ..SessionStarted::default() }
}
