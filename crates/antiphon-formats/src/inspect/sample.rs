//! Converts a sample of an evaluation to lines: one for itself, and one for each of its events.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use antiphon_model::json::{self, Members};
use antiphon_model::{Timestamp, Usage};

use crate::inspect::attachments::{Attachments, Budget};
use crate::line::{Object, elements};
use crate::spans::Kind;
use crate::spans::dialect::messages;
use crate::spans::line::SpanLine;

/// How deep the events of tools may be nested.
const DEPTH: usize = 12;
/// What a reference to an earlier message takes from the budget.
const REFERENCE_BYTES: usize = 16;

/// Members that the sample's line does not repeat.
const NOT_REPEATED: &[&str] = &[
    "id",
    "epoch",
    "messages",
    "events",
    "attachments",
    "message_pool",
    "events_data",
    "output",
    "model_usage",
    "uuid",
];

/// The lines of a sample. `name` is the name of its file in the zip, if it has one.
pub(super) fn lines(name: &str, raw: &str, budget: &mut Budget) -> String {
    let object = Object::parse(raw).unwrap_or_default();
    let own = object
        .text("id")
        .map(|id| format!("{id}_epoch_{}", object.text("epoch").unwrap_or("1".into())));
    let id = own.unwrap_or_else(|| name.trim_start_matches("samples/").to_owned());
    let data = object.object("events_data").unwrap_or_default();
    let pool = object.raw("message_pool").or_else(|| data.raw("messages"));
    let mut sample = Sample {
        id: &id,
        attachments: Attachments::new(object.raw("attachments").unwrap_or("{}")),
        pool: elements(pool.unwrap_or("[]")),
        numbers: BTreeMap::new(),
        spans: BTreeMap::new(),
        tools: BTreeMap::new(),
        ends: BTreeMap::new(),
        asking: BTreeSet::new(),
        budget,
        out: String::new(),
        count: 0,
    };
    let events = elements(object.raw("events").unwrap_or("[]"));
    sample.look_ahead(&events);
    sample.begin(&object, &events);
    sample.events(&events, &id, DEPTH);
    sample.out
}

struct Sample<'t, 'b> {
    id: &'b str,
    attachments: Attachments<'t>,
    pool: Vec<&'t str>,
    /// For each message: its numbers on the lines.
    numbers: BTreeMap<&'t str, Vec<usize>>,
    /// For each span: its parent.
    spans: BTreeMap<&'t str, Option<&'t str>>,
    /// For each tool's span: the event that is its call.
    tools: BTreeMap<&'t str, String>,
    ends: BTreeMap<&'t str, Timestamp>,
    /// Spans in which models are asked.
    asking: BTreeSet<&'t str>,
    budget: &'b mut Budget,
    out: String,
    /// How many messages were written.
    count: usize,
}

impl<'t> Sample<'t, '_> {
    /// Finds out which spans there are, and which of them are calls.
    fn look_ahead(&mut self, events: &[&'t str]) {
        let mut calls: BTreeMap<(Option<&'t str>, &'t str), VecDeque<String>> = BTreeMap::new();
        let parsed =
            || events.iter().enumerate().filter_map(|(at, raw)| Some((at, Object::parse(raw)?)));
        for (at, event) in parsed() {
            let span = event.id("span_id");
            match event.id("event").unwrap_or_default() {
                "tool" => {
                    let name = event.id("function").unwrap_or_default();
                    calls.entry((span, name)).or_default().push_back(event_id(&event, self.id, at));
                }
                "model" => self.asking.extend(span),
                "span_end" => {
                    self.ends.extend(event.id("id").zip(event.time("timestamp")));
                }
                _ => {}
            }
        }
        for (_, event) in parsed().filter(|(_, event)| event.id("event") == Some("span_begin")) {
            let Some(id) = event.id("id") else { continue };
            let (parent, kind) = (event.id("parent_id"), event.id("type").unwrap_or_default());
            self.spans.insert(id, parent);
            let call = event.id("name").and_then(|name| calls.get_mut(&(parent, name)));
            if let Some(call) = call.filter(|_| kind == "tool").and_then(VecDeque::pop_front) {
                self.tools.insert(id, call);
            }
        }
        // A span around one that asks a model asks it as well.
        for mut at in self.asking.clone() {
            while let Some(parent) = self.spans.get(at).copied().flatten() {
                if !self.asking.insert(parent) {
                    break;
                }
                at = parent;
            }
        }
    }

    /// Writes the line of the sample itself, which is an agent.
    fn begin(&mut self, object: &Object<'t>, events: &[&'t str]) {
        let mut line = SpanLine::new(self.id, Some(self.id), None);
        line.kind(Kind::Agent, "sample");
        line.text("id", Some(self.id));
        line.text("agent", Some(self.id));
        line.text("agent_type", Some("sample"));
        let first = events.iter().find_map(|raw| Object::parse(raw)?.time("timestamp"));
        line.time("start", object.time("started_at").or(first));
        line.time("end", object.time("completed_at"));
        let usage = object.object("model_usage").unwrap_or_default();
        let total = usage.members().fold(Usage::default(), |mut total, (_, raw)| {
            total += tokens(&Object::parse(raw).unwrap_or_default());
            total
        });
        line.usage(Some(total));
        // Without a request, the messages that the sample has at its end are used.
        let is_request = |raw: &str| raw.contains("\"model\"") && is_event(raw, "model");
        if !events.iter().any(|raw| is_request(raw)) {
            let said = elements(object.raw("messages").unwrap_or("[]"));
            let input = self.said(&said);
            line.messages("input", &input);
        }
        let mut rest = Members::default();
        for (key, value) in object.members().filter(|(key, _)| !NOT_REPEATED.contains(key)) {
            if !["null", "[]", "{}"].contains(&value) {
                rest.raw(key, &json::compact(value));
            }
        }
        line.raw("sample", Some(&rest.object()));
        self.out.push_str(&line.finish());
    }

    fn events(&mut self, events: &[&'t str], around: &str, depth: usize) {
        for (at, raw) in events.iter().enumerate() {
            let event = Object::parse(raw).unwrap_or_default();
            let id = event_id(&event, around, at);
            let span = event.id("span_id");
            let within = span.filter(|span| self.spans.contains_key(span));
            let parent = within.map(|span| self.standing(span)).unwrap_or(around.to_owned());
            match event.id("event").unwrap_or_default() {
                "span_begin" => self.span(&event, raw, around),
                // It was handled with the beginning of its span.
                "span_end" if event.id("id").is_some_and(|id| self.spans.contains_key(id)) => {}
                "model" => self.model(&event, &id, &parent),
                "tool" => {
                    self.tool(&event, &id, &parent);
                    let inner = elements(event.raw("events").unwrap_or("[]"));
                    if depth > 0 && !inner.is_empty() {
                        self.events(&inner, &id, depth - 1);
                    }
                }
                other => {
                    let mut line = self.line(&id, &parent, (Kind::Other, other), &event);
                    line.raw("event", Some(&json::compact(raw)));
                    self.out.push_str(&line.finish());
                }
            }
        }
    }

    /// The id that represents a span: its own, or that of the event of its call.
    fn standing(&self, span: &str) -> String {
        self.tools.get(span).cloned().unwrap_or_else(|| span.to_owned())
    }

    fn line(&self, id: &str, parent: &str, kind: (Kind, &str), event: &Object<'_>) -> SpanLine {
        let mut line = SpanLine::new(id, Some(self.id), Some(parent));
        line.kind(kind.0, kind.1);
        line.time("start", event.time("timestamp"));
        line.time("end", event.time("completed"));
        line
    }

    fn span(&mut self, event: &Object<'t>, raw: &str, around: &str) {
        let Some(id) = event.id("id").filter(|id| !self.tools.contains_key(id)) else { return };
        let parent = event.id("parent_id").filter(|parent| self.spans.contains_key(parent));
        let parent = parent.map_or_else(|| around.to_owned(), |parent| self.standing(parent));
        let own = event.id("type").unwrap_or("span");
        // A scorer that asks a model has a conversation of its own.
        let is_agent = own == "agent" || (own == "scorer" && self.asking.contains(id));
        let kind = if is_agent { Kind::Agent } else { Kind::Other };
        let mut line = SpanLine::new(id, Some(self.id), Some(&parent));
        line.kind(kind, own);
        line.time("start", event.time("timestamp"));
        line.time("end", self.ends.get(id).copied());
        line.text("agent", event.text("name").as_deref());
        line.text("agent_type", Some(own).filter(|_| is_agent));
        line.raw("event", Some(&json::compact(raw)));
        self.out.push_str(&line.finish());
    }

    fn model(&mut self, event: &Object<'t>, id: &str, parent: &str) {
        let mut line = self.line(id, parent, (Kind::Chat, "model"), event);
        let output = event.object("output").unwrap_or_default();
        line.text("model", output.text("model").or_else(|| event.text("model")).as_deref());
        // An answer from a cache of answers cost nothing.
        let is_cached = event.id("cache") == Some("read");
        let usage = output.object("usage").map(|usage| tokens(&usage));
        line.usage(usage.filter(|_| !is_cached));
        let mut input = elements(event.raw("input").unwrap_or("[]"));
        for range in elements(event.raw("input_refs").unwrap_or("[]")) {
            let bounds = elements(range);
            let bound = |at: usize| bounds.get(at).and_then(|raw| raw.parse::<usize>().ok());
            let (Some(from), Some(to)) = (bound(0), bound(1)) else { continue };
            let to = to.min(self.pool.len());
            let referred = self.pool.get(from..to).unwrap_or_default();
            if self.budget.spend(referred.len().saturating_mul(REFERENCE_BYTES)) {
                input.extend_from_slice(referred);
            }
        }
        let input = self.said(&input);
        line.messages("input", &input);
        let choices = elements(output.raw("choices").unwrap_or("[]"));
        let answers: Vec<&str> =
            choices.iter().filter_map(|choice| json::member(choice, "message")).collect();
        let answers = self.said(&answers);
        line.messages("output", &answers);
        line.text("error", event.text("error").or_else(|| output.text("error")).as_deref());
        for name in ["config", "tools", "tool_choice", "role", "retries", "cache"] {
            line.raw(name, event.raw(name).map(json::compact).as_deref());
        }
        self.out.push_str(&line.finish());
    }

    fn tool(&mut self, event: &Object<'t>, id: &str, parent: &str) {
        let mut line = self.line(id, parent, (Kind::Tool, "tool"), event);
        line.text("tool", event.text("function").as_deref());
        line.text("call", event.text("id").as_deref());
        for name in ["arguments", "result"] {
            let value = event.raw(name).map(|raw| self.attachments.resolve(raw, self.budget));
            line.raw(name, value.as_deref().map(json::compact).as_deref());
        }
        let error = event.object("error").and_then(|error| error.text("message"));
        line.text("error", error.as_deref());
        line.raw("failed", event.flag("failed").then_some("true"));
        self.out.push_str(&line.finish());
    }

    /// The numbers of messages, each of which is written once: requests repeat them.
    fn said(&mut self, raw: &[&'t str]) -> Vec<String> {
        let mut out = Vec::new();
        for message in raw {
            if let Some(numbers) = self.numbers.get(message) {
                for number in numbers {
                    let mut same = Members::default();
                    same.word("same", &format!("{}:{number}", self.id));
                    out.push(same.object());
                }
                continue;
            }
            let resolved = self.attachments.resolve(message, self.budget);
            let mut numbers = Vec::new();
            for said in messages(&format!("[{resolved}]"), "user") {
                self.count += 1;
                numbers.push(self.count);
                let mut numbered = Members::default();
                numbered.word("number", &format!("{}:{}", self.id, self.count));
                let _ = json::members(&said, |key, value| numbered.raw(key, value));
                out.push(numbered.object());
            }
            self.numbers.insert(message, numbers);
        }
        out
    }
}

/// The event's own id, or one from its position within its parent.
fn event_id(event: &Object<'_>, around: &str, at: usize) -> String {
    event.text("uuid").map_or_else(|| format!("{around}:{}", at + 1), |id| id.into_owned())
}

fn is_event(raw: &str, name: &str) -> bool {
    Object::parse(raw).is_some_and(|event| event.id("event") == Some(name))
}

/// Converts token counts. Input excludes cached input, unless the total says otherwise.
fn tokens(usage: &Object<'_>) -> Usage {
    let count = |name: &str| usage.number(name).unwrap_or_default();
    let (input, output) = (count("input_tokens"), count("output_tokens"));
    let read = count("input_tokens_cache_read");
    let write = count("input_tokens_cache_write");
    let is_within = usage.number("total_tokens") == input.checked_add(output);
    let cached = if is_within { read.saturating_add(write) } else { 0 };
    Usage {
        input: input.checked_sub(cached).unwrap_or(input),
        output,
        reasoning: count("reasoning_tokens"),
        cache_read: read,
        cache_write: write,
        ..Usage::default()
    }
}
