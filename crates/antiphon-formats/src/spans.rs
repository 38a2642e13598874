//! Sessions that were traced as spans: what began, what ended, and within what.
//!
//! Every tracing format is first converted to the same lines, one for each span
//! ([`line::SpanLine`]), with its messages as in OpenAI's chat API. This module makes a session of
//! those lines. Spans of agents become agents, those of requests become messages to and from a
//! model, those of tools become calls and results. Each request repeats the conversation so far,
//! and only what is new becomes an event; an outer span repeats the tokens of the spans in it, and
//! only the innermost are counted.
//!
//! Spans come in any order, so they are ordered by time.

mod agent;
pub(crate) mod attributes;
mod cast;
pub(crate) mod dialect;
pub(crate) mod genai;
pub(crate) mod line;
mod parts;
mod tree;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{Event, EventKind, SessionEnded, Timestamp, Usage};

use crate::line::{Object, Record, elements, records};
use crate::merge::merge;
use crate::script::started;
use crate::{Duplicate, Sink, Stream};

/// The kind of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An agent's work.
    Agent,
    /// A request to a model.
    Chat,
    /// The execution of a tool.
    Tool,
    Other,
}

/// A message of a request, and the line that it is on.
#[derive(Debug, Clone)]
struct Said<'a> {
    record: Record<'a>,
    object: Object<'a>,
}

/// A span as it was read.
#[derive(Debug)]
struct Span<'a> {
    record: Record<'a>,
    /// Its own id; with its trace's id, if two traces contain the same one.
    id: Cow<'a, str>,
    kind: Kind,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    usage: Option<Usage>,
    input: Vec<Said<'a>>,
    output: Vec<Said<'a>>,
}

/// Reads sessions whose lines are spans. `program` is who wrote them, if they do not say so.
pub(crate) fn read<'a>(program: &'static str, streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    let mut spans = Vec::new();
    let mut seen: BTreeMap<(Option<&'a str>, &'a str), usize> = BTreeMap::new();
    let mut ids: BTreeSet<Cow<'a, str>> = BTreeSet::new();
    let mut numbered = BTreeMap::new();
    let mut around: Vec<Event<'a>> = Vec::new();
    let mut ends: Vec<Event<'a>> = Vec::new();
    for (number, stream) in (0..).zip(streams) {
        for record in records(stream, number) {
            let record = match record {
                Ok(record) => record,
                Err(problem) => {
                    sink.problem(problem);
                    continue;
                }
            };
            let Some(id) = record.object.id("span") else {
                let fact = facts(program, stream.name, &record, around.is_empty());
                let is_end = matches!(fact.kind, EventKind::SessionEnded(_));
                let list = if is_end { &mut ends } else { &mut around };
                list.push(fact);
                continue;
            };
            let trace = record.object.id("trace");
            if let Some(first) = seen.get(&(trace, id)).and_then(|at| spans.get(*at)) {
                sink.duplicate(again(first, &record));
                continue;
            }
            seen.insert((trace, id), spans.len());
            let mut own = Cow::Borrowed(id);
            if ids.contains(&own) {
                own = Cow::Owned(format!("{}:{id}", trace.unwrap_or_default()));
            }
            ids.insert(own.clone());
            spans.push(Span::new(record, own, &mut numbered));
        }
    }
    if around.is_empty()
        && let Some(first) = spans.first()
    {
        let session = EventKind::SessionStarted(started(program));
        around.push(event(&first.record, Cow::Borrowed("session"), first.start, session));
    }
    let parents: Vec<Option<usize>> = spans.iter().map(|span| span.parent(&seen)).collect();
    drop_hollow_agents(&mut spans, &parents);
    let tree = tree::Tree::new(&spans, &parents);
    let event_streams = agent::events_by_agent(&spans, &tree, &mut around, sink);
    around.into_iter().for_each(|event| sink.event(event));
    merge(event_streams, sink);
    ends.into_iter().for_each(|event| sink.event(event));
}

/// An agent's span that has a parent, but no children and no messages, is a step of an agent,
/// whatever kind it claims to be.
fn drop_hollow_agents(spans: &mut [Span<'_>], parents: &[Option<usize>]) {
    let holding: BTreeSet<usize> = parents.iter().copied().flatten().collect();
    for (at, (span, parent)) in spans.iter_mut().zip(parents).enumerate() {
        let says = !span.input.is_empty() || !span.output.is_empty() || span.usage.is_some();
        if span.kind == Kind::Agent && parent.is_some() && !says && !holding.contains(&at) {
            span.kind = Kind::Other;
        }
    }
}

impl<'a> Span<'a> {
    fn new(
        record: Record<'a>,
        id: Cow<'a, str>,
        numbered: &mut BTreeMap<&'a str, Said<'a>>,
    ) -> Self {
        let kind = match record.object.id("kind").unwrap_or_default() {
            "agent" => Kind::Agent,
            "chat" => Kind::Chat,
            "tool" => Kind::Tool,
            _ => Kind::Other,
        };
        let mut messages = |name: &str| {
            let list = elements(record.object.raw(name).unwrap_or_default());
            list.into_iter().map(|raw| said(&record, raw, numbered)).collect()
        };
        let (input, output) = (messages("input"), messages("output"));
        let usage = record.object.object("usage").map(|tokens| line::usage(&tokens));
        let (start, end) = (record.object.time("start"), record.object.time("end"));
        Self { id, kind, start, end, usage, input, output, record }
    }

    fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.record.object.text(name)
    }

    fn parent(&self, seen: &BTreeMap<(Option<&'a str>, &'a str), usize>) -> Option<usize> {
        let parent = self.record.object.id("parent")?;
        seen.get(&(self.record.object.id("trace"), parent)).copied()
    }
}

/// Reads a message; a reference to an earlier line is resolved.
fn said<'a>(
    record: &Record<'a>,
    raw: &'a str,
    numbered: &mut BTreeMap<&'a str, Said<'a>>,
) -> Said<'a> {
    let object = Object::parse(raw).unwrap_or_default();
    if let Some(first) = object.raw("same").and_then(|number| numbered.get(number)) {
        return first.clone();
    }
    let said = Said { record: record.clone(), object };
    if let Some(number) = said.object.raw("number") {
        numbered.insert(number, said.clone());
    }
    said
}

/// Reads a line about the session: its beginning, its end, or one that is not recognised.
fn facts<'a>(program: &'static str, name: &str, record: &Record<'a>, is_first: bool) -> Event<'a> {
    let object = &record.object;
    if !is_first || !object.has("session") {
        let id = Cow::Owned(format!("{name}:{}", record.line.number));
        if let Some(status) = object.text("ended") {
            let outcome = match &*status {
                "success" => Cow::Borrowed("completed"),
                "error" => Cow::Borrowed("failed"),
                _ => status,
            };
            let (error, declared) = (object.text("error"), None);
            let ended = SessionEnded { outcome: Some(outcome), reason: None, error, declared };
            return event(record, id, None, EventKind::SessionEnded(ended));
        }
        let kind = object.text("type").unwrap_or(Cow::Borrowed("line"));
        let unknown = record.unknown(kind, None);
        return event(record, id, None, EventKind::Unknown(unknown));
    }
    let mut session = started(program);
    session.session_id = object.text("session");
    session.program = object.text("program").or(session.program);
    session.version = object.text("version");
    session.title = object.text("title");
    session.cwd = object.text("cwd");
    session.task_id = object.text("task");
    session.run_id = object.text("run");
    let at = object.time("start");
    event(record, Cow::Borrowed("session"), at, EventKind::SessionStarted(session))
}

fn again<'a>(first: &Span<'a>, record: &Record<'a>) -> Duplicate {
    Duplicate {
        message_id: first.id.to_string(),
        line: record.line.number,
        place: record.line.place,
        reason: "duplicate of an earlier span",
    }
}

fn event<'a>(
    record: &Record<'a>,
    id: Cow<'a, str>,
    at: Option<Timestamp>,
    kind: EventKind<'a>,
) -> Event<'a> {
    Event {
        message_id: Some(id),
        at,
        line: record.line.number,
        place: record.line.place,
        kind,
        extra: None,
        problems: Vec::new(),
    }
}
