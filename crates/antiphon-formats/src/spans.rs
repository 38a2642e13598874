//! Sessions that were watched as spans: what began, what ended, and within what.
//!
//! Every tracing format becomes the same lines first, one for each span ([`line::SpanLine`]), with
//! its messages in the form that chat services take. Here a session is made of those lines. The
//! spans of agents are agents, those of requests are what a model was sent and answered, those of
//! tools are calls and results. Each request repeats the conversation so far, and only what is new
//! is told; a span around others repeats their tokens, and only the innermost are counted.
//!
//! Spans come in any order, so time orders them: nothing else can.

pub(crate) mod attributes;
mod cast;
pub(crate) mod dialect;
pub(crate) mod genai;
pub(crate) mod line;
mod parts;
mod tell;
mod tree;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{Event, EventKind, SessionEnded, Timestamp, Usage};

use crate::line::{Object, Record, elements, records};
use crate::merge::merge;
use crate::script::started;
use crate::{Duplicate, Sink, Stream};

/// What a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An agent at work.
    Agent,
    /// A request to a model.
    Chat,
    /// A tool at work.
    Tool,
    Other,
}

/// A message of a request, and the line that it stands on.
#[derive(Debug, Clone)]
struct Said<'a> {
    record: Record<'a>,
    object: Object<'a>,
}

/// A span as it was read.
#[derive(Debug)]
struct Span<'a> {
    record: Record<'a>,
    /// Its own id; with its trace's, where two traces have the same.
    id: Cow<'a, str>,
    kind: Kind,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    usage: Option<Usage>,
    input: Vec<Said<'a>>,
    output: Vec<Said<'a>>,
}

/// Reads sessions whose lines are spans. `program` is who wrote them, if they do not say.
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
    let voices = tell::tell(&spans, &tree, &mut around, sink);
    around.into_iter().for_each(|event| sink.event(event));
    merge(voices, sink);
    ends.into_iter().for_each(|event| sink.event(event));
}

/// A span within others that nothing lies in and that says nothing is a step of an agent, whatever
/// it calls itself.
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

/// A message; one that stands on an earlier line is that one.
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

/// The line that says what the session is, or one that says nothing that we know.
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
