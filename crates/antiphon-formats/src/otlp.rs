//! OpenTelemetry traces as OTLP JSON: a request on each line, or one document.
//!
//! The spans of a trace come in any order, over many requests. Content may be in attributes, in
//! events of the span, or in log records that name it.

mod write;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::Timestamp;
use antiphon_model::json::{self, Members};

use crate::line::Object;
use crate::spans::attributes::Attributes;
use crate::spans::genai::{self, CONVERSATION};
use crate::spans::line::{self, SpanLine};
use crate::spans::{self, Kind};
use crate::spread::{self, Cut};
use crate::{Format, Lines};

pub(crate) const FORMAT: Format = Format {
    name: "otlp",
    what: "OpenTelemetry traces (OTLP JSON; GenAI conventions, OpenInference)",
    versions: "OTLP 1.x; the GenAI conventions of 2024 to 2026",
    detect,
    lines: Some(lines),
    read: |streams, sink| spans::read("opentelemetry", streams, sink),
    write: Some(write::write),
    ..crate::ONE_FILE
};

/// The lists that a request may contain, one per request.
const LISTS: [&str; 3] = ["resourceSpans", "resourceLogs", "resourceMetrics"];

fn detect(head: &[&str]) -> bool {
    let text = head.join("\n");
    let begin = text.trim_start_matches('\u{feff}').trim_start();
    let Some(inner) = begin.strip_prefix('{') else { return false };
    let Some(key) = inner.trim_start().strip_prefix('"') else { return false };
    let traces = LISTS.iter().any(|list| key.strip_prefix(list).is_some_and(is_end_of_key));
    traces && text.contains("\"resourceSpans\"")
}

fn is_end_of_key(rest: &str) -> bool {
    rest.starts_with('"')
}

/// A span or a log record in its request.
struct Found<'t> {
    raw: &'t str,
    resource: Attributes,
    scope: Option<&'t str>,
}

#[derive(Default)]
struct Requests<'t> {
    spans: Vec<Found<'t>>,
    /// For each span: its log records.
    logs: BTreeMap<String, Vec<&'t str>>,
    /// Lines for what is not a request or belongs to no span, kept as it is.
    rest: Vec<String>,
    sessions: Vec<String>,
}

fn lines(text: &str) -> Lines {
    let document = text.trim_start_matches('\u{feff}').trim();
    let mut requests = Requests::default();
    let mut problems = Vec::new();
    let first = document.lines().next().unwrap_or_default();
    if Object::parse(first.trim()).is_some() {
        for line in document.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match Object::parse(line).filter(|it| LISTS.iter().any(|list| it.has(list))) {
                Some(_) => requests.add(line),
                None => requests.rest.push(line.to_owned()),
            }
        }
    } else {
        problems.extend(spread::not_json_at(document));
        requests.add(document);
    }
    let mut out = String::new();
    let mut body = String::new();
    for found in &requests.spans {
        body.push_str(&span(found, &requests.logs, &mut requests.sessions));
    }
    let resource = requests.spans.first().map(|found| &found.resource);
    let fact = |name: &str| resource.and_then(|it| it.text(&[name]));
    let program = fact("service.name");
    let version = fact("service.version");
    let facts = [("program", program.as_deref()), ("version", version.as_deref())];
    out.push_str(&line::session(requests.sessions.first().map(String::as_str), &facts));
    out.push_str(&body);
    let known = requests.spans.iter().filter_map(|found| Object::parse(found.raw)?.text("spanId"));
    let known: BTreeSet<Cow<'_, str>> = known.collect();
    let strays = requests.logs.iter().filter(|(span, _)| !known.contains(span.as_str()));
    let strays = strays.flat_map(|(_, records)| records).map(|record| kept("log", record));
    for rest in requests.rest.iter().cloned().chain(strays) {
        out.push_str(&rest);
        out.push('\n');
    }
    Lines { text: out, problems }
}

impl<'t> Requests<'t> {
    /// Adds the spans and log records of a request that may be truncated.
    fn add(&mut self, request: &'t str) {
        let metrics = Cut::list(request, "resourceMetrics").whole;
        self.rest.extend(metrics.into_iter().map(|metrics| kept("metrics", metrics)));
        for (list, scopes, records) in
            [("resourceSpans", "scopeSpans", "spans"), ("resourceLogs", "scopeLogs", "logRecords")]
        {
            for resource in Cut::list(request, list).all() {
                let about = json::member(resource, "resource").unwrap_or("{}");
                let of_resource =
                    Attributes::of_list(json::member(about, "attributes").unwrap_or("[]"));
                for scope in Cut::list(resource, scopes).all() {
                    for raw in Cut::list(scope, records).whole {
                        let scope = json::member(scope, "scope");
                        match list {
                            "resourceLogs" => self.log(raw),
                            _ => {
                                let resource = of_resource.clone();
                                self.spans.push(Found { raw, resource, scope });
                            }
                        }
                    }
                }
            }
        }
    }

    fn log(&mut self, raw: &'t str) {
        match Object::parse(raw).and_then(|record| record.text("spanId")) {
            Some(span) if !span.is_empty() => {
                self.logs.entry(span.into_owned()).or_default().push(raw);
            }
            _ => self.rest.push(kept("log", raw)),
        }
    }
}

/// A line for a value that belongs to no span, under a name.
fn kept(name: &str, raw: &str) -> String {
    let mut members = Members::default();
    members.word("type", name);
    members.raw("value", &json::compact(raw));
    members.object()
}

/// The line of a span.
fn span(
    found: &Found<'_>,
    logs: &BTreeMap<String, Vec<&str>>,
    sessions: &mut Vec<String>,
) -> String {
    let own = Object::parse(found.raw).unwrap_or_default();
    let id = own.text("spanId").unwrap_or_default();
    let trace = own.text("traceId");
    let parent = own.text("parentSpanId").filter(|parent| !parent.is_empty());
    let name = own.text("name").unwrap_or_default();
    let mut attributes = Attributes::of_list(own.raw("attributes").unwrap_or("[]"));
    if sessions.is_empty() {
        sessions.extend(attributes.text(CONVERSATION).map(|id| id.into_owned()));
    }
    let mut events: Vec<(String, Attributes)> = Vec::new();
    for event in crate::line::elements(own.raw("events").unwrap_or("[]")) {
        let event = Object::parse(event).unwrap_or_default();
        let list = Attributes::of_list(event.raw("attributes").unwrap_or("[]"));
        events.push((event.text("name").unwrap_or_default().into_owned(), list));
    }
    for record in logs.get(&*id).into_iter().flatten() {
        events.push(log_event(&Object::parse(record).unwrap_or_default()));
    }
    let (kind, word) = genai::kind(&attributes, &name);
    let mut line = SpanLine::new(&id, trace.as_deref(), parent.as_deref());
    line.kind(kind, &word);
    line.time("start", nanos(&own, "startTimeUnixNano"));
    line.time("end", nanos(&own, "endTimeUnixNano"));
    let mut talk = genai::talk(&mut attributes, &events);
    line.usage(genai::usage(&attributes));
    genai::describe(&mut line, (kind, &name), &mut attributes, trace.as_deref());
    if kind != Kind::Tool {
        genai::values(&mut attributes, &mut talk);
    }
    line.messages("input", &talk.input);
    line.messages("output", &talk.output);
    let status = own.object("status").unwrap_or_default();
    let failed = matches!(status.text("code").as_deref(), Some("2" | "STATUS_CODE_ERROR"));
    line.raw("failed", failed.then_some("true"));
    let raised = events.iter().find(|(name, _)| name == "exception");
    let raised = raised.and_then(|(_, event)| event.text(&["exception.message"]));
    let failure = status.text("message").filter(|text| failed && !text.is_empty()).or(raised);
    line.text("error", failure.as_deref());
    line.raw("attributes", attributes.object().as_deref());
    line.raw("scope", found.scope.map(json::compact).as_deref());
    let others: Vec<String> = events
        .iter()
        .filter(|(name, _)| !genai::is_talk(name))
        .map(|(name, event)| {
            let mut members = Members::default();
            members.word("name", name);
            members.raw("attributes", event.object().as_deref().unwrap_or("{}"));
            members.object()
        })
        .collect();
    line.messages("events", &others);
    line.raw("links", own.raw("links").map(json::compact).as_deref());
    line.finish()
}

/// Converts a log record that represents an event of a span.
fn log_event(record: &Object<'_>) -> (String, Attributes) {
    let mut attributes = Attributes::of_list(record.raw("attributes").unwrap_or("[]"));
    let body = record.raw("body").unwrap_or("{}");
    let body = format!(r#"[{{"key":"body","value":{body}}}]"#);
    if let Some(body) = Attributes::of_list(&body).take(&["body"]) {
        let _ = json::members(&body, |key, value| attributes.insert(key, value.to_owned()));
    }
    let own = record.text("eventName").filter(|name| !name.is_empty());
    let name = own.or_else(|| attributes.text(&["event.name"]).map(|it| it.into_owned().into()));
    (name.unwrap_or_default().into_owned(), attributes)
}

fn nanos(span: &Object<'_>, name: &str) -> Option<Timestamp> {
    let nanos: i64 = span.text(name)?.parse().ok()?;
    (nanos > 0).then(|| Timestamp::from_millis(nanos / 1_000_000))
}

#[cfg(test)]
mod tests;
