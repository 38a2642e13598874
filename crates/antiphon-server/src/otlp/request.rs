//! A request of either kind, decoded: records, each with what it came with.

use std::collections::BTreeMap;

use antiphon_model::json::compact;
use prost::Message as _;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::proto;

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Traces,
    Logs,
}

/// JSON that is nested deeper than this is refused before it is read.
const DEPTH_MAX: usize = 100;

/// A span or a log record, as JSON on one line.
#[derive(Debug)]
struct Record {
    trace: String,
    /// The conversation that it says it belongs to.
    conversation: Option<String>,
    raw: String,
    resource: Option<String>,
    scope: Option<String>,
}

/// A request.
#[derive(Debug)]
pub struct Request {
    signal: Signal,
    records: Vec<Record>,
    refused: usize,
}

/// How much of a request was not taken, and why.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) count: usize,
    pub(crate) reason: String,
}

/// What only the ids and attributes of a record say.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(default, borrow)]
    trace_id: Option<std::borrow::Cow<'a, str>>,
    #[serde(default, borrow)]
    span_id: Option<std::borrow::Cow<'a, str>>,
    #[serde(default)]
    attributes: Vec<Attribute<'a>>,
}

#[derive(Deserialize)]
struct Attribute<'a> {
    #[serde(default, borrow)]
    key: std::borrow::Cow<'a, str>,
    #[serde(default, borrow)]
    value: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextValue<'a> {
    #[serde(default, borrow)]
    string_value: Option<std::borrow::Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(default, borrow)]
    resource_spans: Vec<OfResource<'a>>,
    #[serde(default, borrow)]
    resource_logs: Vec<OfResource<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfResource<'a> {
    #[serde(default, borrow)]
    resource: Option<&'a RawValue>,
    #[serde(default, borrow)]
    scope_spans: Vec<OfScope<'a>>,
    #[serde(default, borrow)]
    scope_logs: Vec<OfScope<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfScope<'a> {
    #[serde(default, borrow)]
    scope: Option<&'a RawValue>,
    #[serde(default, borrow)]
    spans: Vec<&'a RawValue>,
    #[serde(default, borrow)]
    log_records: Vec<&'a RawValue>,
}

/// Decodes a request in OTLP's JSON; nothing, if it is none.
pub fn decode_json(bytes: &[u8], signal: Signal) -> Option<Request> {
    // A list would be taken for the members of an object, in their order.
    if is_too_deep(bytes) || !bytes.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let body: Body<'_> = serde_json::from_slice(bytes).ok()?;
    let mut request = Request { signal, records: Vec::new(), refused: 0 };
    let resources = match signal {
        Signal::Traces => body.resource_spans,
        Signal::Logs => body.resource_logs,
    };
    for OfResource { resource, scope_spans, scope_logs } in resources {
        let scopes = if signal == Signal::Traces { scope_spans } else { scope_logs };
        for OfScope { scope, spans, log_records } in scopes {
            let records = if signal == Signal::Traces { spans } else { log_records };
            for raw in records {
                let one_line = |raw: &RawValue| compact(raw.get());
                request.add(one_line(raw), resource.map(one_line), scope.map(one_line));
            }
        }
    }
    Some(request)
}

/// Decodes a request in protobuf; nothing, if it is none.
pub fn decode_protobuf(bytes: &[u8], signal: Signal) -> Option<Request> {
    let mut request = Request { signal, records: Vec::new(), refused: 0 };
    match signal {
        Signal::Traces => {
            for of_resource in proto::Traces::decode(bytes).ok()?.resources {
                let resource = of_resource.resource.as_ref().and_then(json);
                for of_scope in &of_resource.scopes {
                    let scope = of_scope.scope.as_ref().and_then(json);
                    for span in of_scope.spans.iter().filter_map(json) {
                        request.add(span, resource.clone(), scope.clone());
                    }
                }
            }
        }
        Signal::Logs => {
            for of_resource in proto::Logs::decode(bytes).ok()?.resources {
                let resource = of_resource.resource.as_ref().and_then(json);
                for of_scope in &of_resource.scopes {
                    let scope = of_scope.scope.as_ref().and_then(json);
                    for record in of_scope.records.iter().filter_map(json) {
                        request.add(record, resource.clone(), scope.clone());
                    }
                }
            }
        }
    }
    Some(request)
}

fn json<T: Serialize>(value: &T) -> Option<String> {
    serde_json::to_string(value).ok()
}

/// Whether brackets are nested deeper than anything reasonable.
fn is_too_deep(bytes: &[u8]) -> bool {
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    for &byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return true;
                }
            }
            b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Whether this is an id of so many bytes, in hex, and not all zero.
fn is_id(text: &str, bytes: usize) -> bool {
    text.len() == bytes * 2
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        && text.bytes().any(|byte| byte != b'0')
}

const CONVERSATIONS: [&str; 2] = ["gen_ai.conversation.id", "session.id"];

impl Request {
    fn add(&mut self, raw: String, resource: Option<String>, scope: Option<String>) {
        let head: Option<Head<'_>> = serde_json::from_str(&raw).ok();
        let trace = head.as_ref().and_then(|head| head.trace_id.as_deref());
        let span = head.as_ref().and_then(|head| head.span_id.as_deref());
        let is_good = trace.is_some_and(|id| is_id(id, 16))
            && (self.signal == Signal::Logs || span.is_some_and(|id| is_id(id, 8)));
        let (Some(trace), true) = (trace, is_good) else {
            self.refused += 1;
            return;
        };
        let trace = trace.to_ascii_lowercase();
        let attributes = head.iter().flat_map(|head| &head.attributes);
        let conversation = CONVERSATIONS.iter().find_map(|name| {
            let mut named = attributes.clone().filter(|it| it.key == *name);
            let value = named.next()?.value?;
            let value: TextValue<'_> = serde_json::from_str(value.get()).ok()?;
            value.string_value.map(|it| it.into_owned()).filter(|it| !it.is_empty())
        });
        self.records.push(Record { trace, conversation, raw, resource, scope });
    }

    /// How many records there are.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn refused(&self) -> Refused {
        let reason = match (self.refused, self.signal) {
            (0, _) => "",
            (_, Signal::Traces) => "a span needs a trace id of 16 bytes and a span id of 8 bytes",
            (_, Signal::Logs) => "a log record needs the id of the trace that it belongs to",
        };
        Refused { count: self.refused, reason: reason.to_owned() }
    }

    /// The traces that occur, each with the conversation that one of its records names.
    pub(crate) fn traces(&self) -> BTreeMap<&str, Option<&str>> {
        let mut traces: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        for record in &self.records {
            let known = traces.entry(&record.trace).or_default();
            *known = known.or(record.conversation.as_deref());
        }
        traces
    }

    /// The records of some traces as a request of their own, on one line.
    pub(crate) fn line(&self, is_wanted: impl Fn(&str) -> bool) -> String {
        let (resources, scopes, list) = match self.signal {
            Signal::Traces => ("resourceSpans", "scopeSpans", "spans"),
            Signal::Logs => ("resourceLogs", "scopeLogs", "logRecords"),
        };
        let mut groups: Vec<(&Record, Vec<&str>)> = Vec::new();
        for record in self.records.iter().filter(|record| is_wanted(&record.trace)) {
            let same = |other: &Record| {
                (&other.resource, &other.scope) == (&record.resource, &record.scope)
            };
            match groups.last_mut().filter(|(first, _)| same(first)) {
                Some((_, raws)) => raws.push(&record.raw),
                None => groups.push((record, vec![&record.raw])),
            }
        }
        let groups = groups.into_iter().map(|(first, raws)| {
            let resource = first.resource.as_deref().unwrap_or("{}");
            let scope = first.scope.as_deref().unwrap_or("{}");
            let raws = raws.join(",");
            format!(
                r#"{{"resource":{resource},"{scopes}":[{{"scope":{scope},"{list}":[{raws}]}}]}}"#
            )
        });
        let groups: Vec<String> = groups.collect();
        format!(r#"{{"{resources}":[{}]}}"#, groups.join(","))
    }
}

impl Refused {
    /// The answer in protobuf: empty, if everything was taken.
    pub(crate) fn protobuf(&self) -> Vec<u8> {
        let rejected = i64::try_from(self.count).unwrap_or(i64::MAX);
        let error_message = self.reason.clone();
        let partial = proto::PartialSuccess { rejected, error_message };
        let partial_success = Some(partial).filter(|_| self.count > 0);
        proto::Answer { partial_success }.encode_to_vec()
    }

    /// The answer in JSON.
    pub(crate) fn json(&self, signal: Signal) -> Vec<u8> {
        if self.count == 0 {
            return b"{}".to_vec();
        }
        let name = match signal {
            Signal::Traces => "rejectedSpans",
            Signal::Logs => "rejectedLogRecords",
        };
        let reason = serde_json::to_string(&self.reason).unwrap_or_default();
        let count = self.count;
        format!(r#"{{"partialSuccess":{{"{name}":"{count}","errorMessage":{reason}}}}}"#)
            .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::{Signal, decode_json, decode_protobuf};

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    #[test]
    fn spans_without_proper_ids_are_counted_and_the_others_are_kept() {
        let span = |trace: &str, id: &str| {
            format!(r#"{{"traceId":"{trace}","spanId":"{id}","name":"x"}}"#)
        };
        let spans =
            [span(TRACE, "0000000000000000"), span(TRACE, "00f067aa0ba902b7"), span("", "1")];
        let text = format!(
            r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#,
            spans.join(",\n ")
        );
        let request = decode_json(text.as_bytes(), Signal::Traces).unwrap();
        assert_eq!((request.len(), request.refused().count), (1, 2));
        let line = request.line(|trace| trace == TRACE);
        assert!(line.contains("00f067aa0ba902b7") && !line.contains('\n'), "{line}");
        let again = decode_json(line.as_bytes(), Signal::Traces).unwrap();
        assert_eq!((again.len(), again.refused().count), (1, 0));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let deep = format!("{{\"resourceSpans\":{}", "[".repeat(300_000));
        let closed = format!("{{\"x\":{}{}}}", "[".repeat(3000), "]".repeat(3000));
        for text in ["{", "[]", r#"{"resourceSpans": 5}"#, &deep, &closed] {
            assert!(decode_json(text.as_bytes(), Signal::Traces).is_none());
        }
        assert!(decode_protobuf(b"\xff\xff\xff", Signal::Traces).is_none());
        assert_eq!(decode_protobuf(b"", Signal::Logs).unwrap().len(), 0);
    }
}
