//! Converts an observation to a span's line.

use std::collections::BTreeMap;

use antiphon_model::json::{self, Members};
use antiphon_model::{Timestamp, Usage};

use crate::langfuse::Merged;
use crate::line::Object;
use crate::spans::attributes::Attributes;
use crate::spans::dialect::{messages, unwrapped};
use crate::spans::line::{SpanLine, without_cache};
use crate::spans::{Kind, genai};

/// Members that the line has in another form.
const CONVERTED: &[&str] = &[
    "id",
    "traceId",
    "parentObservationId",
    "type",
    "name",
    "startTime",
    "endTime",
    "model",
    "input",
    "output",
    "metadata",
    "usageDetails",
    "usage",
    "level",
    "statusMessage",
];

/// The line of an observation. `sessions` has the session of each trace.
pub(super) fn line(id: &str, merged: &Merged, sessions: &BTreeMap<&str, &str>) -> String {
    let raw = |name: &str| merged.get(name).map(String::as_str).filter(|raw| *raw != "null");
    let text = |name: &str| raw(name).and_then(json::word).filter(|text| !text.is_empty());
    let trace = text("traceId");
    let name = text("name").unwrap_or_default();
    let mut attributes = attributes(raw("metadata"));
    let own = text("type").unwrap_or("SPAN".into());
    let kind = match &*own {
        "GENERATION" => Kind::Chat,
        "AGENT" => Kind::Agent,
        "TOOL" => Kind::Tool,
        // The name alone says nothing here: any step may have any name.
        _ => genai::kind(&attributes, "").0,
    };
    let mut line = SpanLine::new(id, trace.as_deref(), text("parentObservationId").as_deref());
    line.kind(kind, &own);
    line.time("start", text("startTime").and_then(|time| Timestamp::parse(&time)));
    line.time("end", text("endTime").and_then(|time| Timestamp::parse(&time)));
    let usage = tokens(raw("usageDetails")).or_else(|| tokens(raw("usage")));
    let usage = usage.or_else(|| genai::usage(&attributes));
    line.usage(usage.filter(|_| matches!(kind, Kind::Chat | Kind::Agent)));
    let mut talk = genai::talk(&mut attributes, &[]);
    let is_asked = |message: &String| !message.starts_with(r#"{"role":"system""#);
    if let Some(input) = raw("input").filter(|_| !talk.input.iter().any(is_asked)) {
        talk.input.append(&mut messages(input, "user"));
    }
    if let Some(output) = raw("output").filter(|_| talk.output.is_empty()) {
        talk.output = messages(output, "assistant");
    }
    let session = trace.as_deref().and_then(|trace| sessions.get(trace));
    for (key, value) in [
        ("session.id", session.copied()),
        ("gen_ai.response.model", raw("model")),
        ("operation.cost", raw("totalCost").or(raw("calculatedTotalCost"))),
    ] {
        if let Some(value) = value.filter(|value| *value != "null") {
            attributes.insert(key, json::compact(value));
        }
    }
    if kind == Kind::Tool {
        for (key, value) in [("input.value", raw("input")), ("output.value", raw("output"))] {
            if let Some(value) = value {
                attributes.insert(key, unwrapped(value).into_owned());
            }
        }
    }
    let bare = name.strip_prefix("running tool: ").unwrap_or(&name);
    genai::describe(&mut line, (kind, bare), &mut attributes, trace.as_deref());
    if kind != Kind::Tool {
        line.messages("input", &talk.input);
        line.messages("output", &talk.output);
    }
    let failed = text("level").is_some_and(|level| level == "ERROR");
    line.raw("failed", failed.then_some("true"));
    line.text("error", text("statusMessage").filter(|_| failed).as_deref());
    line.raw("attributes", attributes.object().as_deref());
    let mut rest = Members::default();
    for (key, value) in merged.iter().filter(|(key, _)| !CONVERTED.contains(&key.as_str())) {
        if !["null", "[]", "{}"].contains(&value.as_str()) {
            rest.raw(key, &json::compact(value));
        }
    }
    line.raw("observation", Some(&rest.object()));
    line.finish()
}

/// Attributes that an OpenTelemetry library sent: they are in the metadata, which may be a string.
fn attributes(metadata: Option<&str>) -> Attributes {
    let metadata = unwrapped(metadata.unwrap_or("{}"));
    let mut all = Attributes::of_object(&metadata);
    let inner = json::member(&metadata, "attributes").map(|inner| unwrapped(inner).into_owned());
    let Some(inner) = inner.filter(|inner| inner.starts_with('{')) else { return all };
    all.take(&["attributes"]);
    let mut attributes = Attributes::of_object(&inner);
    if let Some(rest) = all.object() {
        attributes.insert("metadata", rest);
    }
    // Input and output are in the observation itself.
    attributes.take(&["input.value", "output.value"]);
    attributes
}

/// Converts tokens by kind. If the total is the sum of all kinds, no kind includes another.
fn tokens(raw: Option<&str>) -> Option<Usage> {
    let tokens = Object::parse(raw?)?;
    let first = |names: &[&str]| names.iter().find_map(|name| tokens.number(name));
    let input = first(&["input", "promptTokens", "prompt_tokens", "input_tokens"]);
    let output = first(&["output", "completionTokens", "completion_tokens", "output_tokens"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let (input, output) = (input.unwrap_or_default(), output.unwrap_or_default());
    let read = first(&[
        "input_cache_read",
        "input_cached_tokens",
        "cache_read_input_tokens",
        "prompt_details.cache_read",
    ]);
    let write = first(&[
        "input_cache_creation",
        "input_cache_write",
        "cache_creation_input_tokens",
        "prompt_details.cache_write",
    ]);
    let thought = first(&[
        "output_reasoning",
        "output_reasoning_tokens",
        "reasoning_tokens",
        "completion_details.reasoning",
    ]);
    let [read, write, thought] = [read, write, thought].map(Option::unwrap_or_default);
    let kinds = [output, read, write, thought];
    let sum = kinds.iter().fold(input, |sum, count| sum.saturating_add(*count));
    let are_apart = tokens.number("total") == Some(sum);
    let apart = Usage {
        input,
        output: output.saturating_add(thought),
        reasoning: thought,
        cache_read: read,
        cache_write: write,
        ..Usage::default()
    };
    Some(match are_apart {
        true => apart,
        false => Usage { input: without_cache(input, read, write), output, ..apart },
    })
}
