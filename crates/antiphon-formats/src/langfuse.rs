//! Langfuse: exports of its interface (`trace` and `observations`), and the batches of create and
//! update events that are sent to its API.
//!
//! An observation is sent again whenever it changes; later values complete the earlier ones.

mod observation;

use std::collections::BTreeMap;

use antiphon_model::json::{self, Members};

use crate::line::Object;
use crate::spans::line;
use crate::spread::{self, Cut};
use crate::{Format, Lines, spans};

pub(crate) const FORMAT: Format = Format {
    name: "langfuse",
    product: "Langfuse",
    what: "Langfuse traces (exports and ingestion batches)",
    versions: "exports from 2025 to 2026; ingestion events",
    detect,
    lines: Some(lines),
    read: |streams, sink| spans::read("langfuse", streams, sink),
    ..crate::ONE_FILE
};

fn detect(head: &[&str]) -> bool {
    let text = head.join("\n");
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let mut keys = Vec::new();
    // A truncated document still has its first key.
    let first = text.strip_prefix('{').map(str::trim_start).unwrap_or_default();
    let first = first.strip_prefix('"').and_then(|rest| rest.split('"').next());
    let _ = json::members(text, |key, _| keys.push(key.to_owned()));
    keys.extend(first.map(str::to_owned));
    let has = |name: &str| keys.iter().any(|key| key == name);
    let is_export = has("trace") || has("observations");
    if is_export && text.contains("\"observations\"") {
        return text.contains("\"parentObservationId\"") || text.contains("\"projectId\"");
    }
    events(text).whole.first().is_some_and(|event| is_event(event))
}

/// Whether this is an event of a batch: it has a type and a body.
fn is_event(raw: &str) -> bool {
    let Some(event) = Object::parse(raw) else { return false };
    let kind = event.id("type").unwrap_or_default();
    let known = kind.ends_with("-create") || kind.ends_with("-update") || kind == "sdk-log";
    known && event.raw("body").is_some_and(|body| body.starts_with('{'))
}

/// The events of a batch: a list, a list in an object, or one on each line.
fn events(text: &str) -> Cut<'_> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('[') {
        return Cut::elements(text);
    }
    let batch = Cut::list(text, "batch");
    if !batch.is_empty() {
        return batch;
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Cut { whole: lines.collect(), begun: None }
}

/// Members by name; a later value replaces an earlier one unless it is empty.
type Merged = BTreeMap<String, String>;

#[derive(Default)]
struct Export {
    traces: Vec<(String, Merged)>,
    observations: Vec<(String, Merged)>,
    /// For each kind and id: the index of its object.
    at: BTreeMap<(bool, String), usize>,
    /// Events that are neither traces nor observations.
    rest: Vec<String>,
}

impl Export {
    fn add(&mut self, is_trace: bool, raw: &str, kind: Option<&str>) {
        let own = Object::parse(raw).and_then(|object| Some(object.text("id")?.into_owned()));
        let Some(id) = own else { return self.rest.push(json::compact(raw)) };
        let list = if is_trace { &mut self.traces } else { &mut self.observations };
        let at = *self.at.entry((is_trace, id.clone())).or_insert(list.len());
        if at == list.len() {
            list.push((id, Merged::new()));
        }
        let Some((_, merged)) = list.get_mut(at) else { return };
        let _ = json::members(raw, |key, value| {
            if value != "null" || !merged.contains_key(key) {
                merged.insert(key.to_owned(), value.to_owned());
            }
        });
        if let Some(kind) = kind {
            merged.entry("type".to_owned()).or_insert_with(|| format!("\"{kind}\""));
        }
    }

    fn event(&mut self, raw: &str) {
        let event = Object::parse(raw).unwrap_or_default();
        let kind = event.text("type").unwrap_or_default();
        let Some(body) = event.raw("body").filter(|_| is_event(raw)) else {
            return self.rest.push(json::compact(raw));
        };
        let kind = kind.rsplit_once('-').map_or("", |(kind, _)| kind);
        match kind {
            "trace" => self.add(true, body, None),
            "score" | "sdk" | "dataset-run-item" => self.rest.push(json::compact(raw)),
            "observation" => self.add(false, body, None),
            kind => self.add(false, body, Some(&kind.to_ascii_uppercase())),
        }
    }
}

fn lines(text: &str) -> Lines {
    let document = text.trim_start_matches('\u{feff}').trim();
    let mut export = Export::default();
    let mut problems = Vec::new();
    let observations = Cut::list(document, "observations");
    let trace = Object::parse(document).and_then(|document| document.raw("trace"));
    let trace = trace.or_else(|| json_member_of_cut(document, "trace"));
    if trace.is_some() || !observations.whole.is_empty() {
        problems.extend(spread::not_json_at(document));
        match trace {
            Some(trace) => export.add(true, trace, None),
            None => export.add(true, &without(document, "observations"), None),
        }
        observations.whole.into_iter().for_each(|raw| export.add(false, raw, None));
    } else {
        let is_document = document.starts_with('[') || !Cut::list(document, "batch").is_empty();
        problems.extend(spread::not_json_at(document).filter(|_| is_document));
        events(document).whole.into_iter().for_each(|raw| export.event(raw));
    }
    Lines { text: write(&export), problems }
}

fn write(export: &Export) -> String {
    let first = export.traces.first();
    let fact = |name: &str| {
        let raw = first.and_then(|(_, trace)| trace.get(name));
        raw.and_then(|raw| json::word(raw)).filter(|text| !text.is_empty())
    };
    let session = fact("sessionId").or_else(|| fact("id"));
    let facts = [("title", fact("name")), ("version", fact("release").or(fact("version")))];
    let facts = facts.each_ref().map(|(name, fact)| (*name, fact.as_deref()));
    let mut out = line::session(session.as_deref(), &facts);
    for (_, trace) in &export.traces {
        // The trace's own list of observations is left out: each observation has its own line.
        let mut members = Members::default();
        members.word("type", "trace");
        for (key, value) in
            trace.iter().filter(|(key, _)| !["observations", "type"].contains(&key.as_str()))
        {
            members.raw(key, &json::compact(value));
        }
        out.push_str(&members.object());
        out.push('\n');
    }
    let sessions: BTreeMap<&str, &str> = export
        .traces
        .iter()
        .filter_map(|(id, trace)| Some((id.as_str(), trace.get("sessionId")?.as_str())))
        .collect();
    for (id, merged) in &export.observations {
        out.push_str(&observation::line(id, merged, &sessions));
    }
    for rest in &export.rest {
        out.push_str(rest);
        out.push('\n');
    }
    out
}

/// A complete member of a document that may have been cut.
fn json_member_of_cut<'t>(document: &'t str, name: &str) -> Option<&'t str> {
    let mut found = None;
    let _ = json::members(document, |key, value| {
        if key == name {
            found = Some(value);
        }
    });
    found
}

fn without(object: &str, name: &str) -> String {
    let mut members = Members::default();
    let _ = json::members(object, |key, value| {
        if key != name {
            members.raw(key, value);
        }
    });
    members.object()
}

#[cfg(test)]
mod tests;
