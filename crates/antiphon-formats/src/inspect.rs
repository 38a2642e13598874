//! Inspect AI's evaluation logs: a zip (`.eval`), unpacked to a line for each member, or one
//! document (`.json`).
//!
//! Each sample is an agent of the session, and so are the agents that worked in it. The requests to
//! models and their answers are in the sample's events. A run that did not finish has a journal
//! instead of a header.

mod attachments;
mod sample;

use std::borrow::Cow;
use std::collections::BTreeMap;

use antiphon_model::json::{self, Members};

use crate::line::Object;
use crate::spans::line;
use crate::spread::{self, Cut};
use crate::{Format, Lines, spans};

pub(crate) const FORMAT: Format = Format {
    name: "inspect",
    product: "Inspect AI",
    what: "Inspect AI evaluation logs (`.eval`, `.json`)",
    versions: "log versions 2 and 3",
    detect,
    lines: Some(lines),
    read: |streams, sink| spans::read("inspect_ai", streams, sink),
    ..crate::ONE_FILE
};

fn detect(head: &[&str]) -> bool {
    let first = head.first().copied().unwrap_or_default();
    if let Some(name) = first.strip_prefix("{\"member\":\"") {
        return ["_journal/", "samples/", "header.json"].iter().any(|own| name.starts_with(own));
    }
    let members = spread::members(head);
    let eval = members.iter().find(|(key, _)| key == "eval").map(|(_, value)| value.as_str());
    let says = |name: &str| eval.is_some_and(|eval| json::member(eval, name).is_some());
    members.iter().any(|(key, _)| key == "version") && says("task") && says("model")
}

/// The parts of a log.
#[derive(Default)]
struct Log<'t> {
    header: Option<Cow<'t, str>>,
    /// The journal's first entry, which replaces the header while the run goes on.
    start: Option<&'t str>,
    samples: Vec<(&'t str, Cow<'t, str>)>,
    rest: Vec<(&'t str, &'t str)>,
    /// Lines that are not JSON objects.
    broken: Vec<&'t str>,
}

fn lines(text: &str) -> Lines {
    let text = tolerated(text.trim_start_matches('\u{feff}').trim());
    let mut problems = Vec::new();
    let log = match text.starts_with("{\"member\":") {
        true => Log::of_members(&text),
        false => {
            problems.extend(spread::not_json_at(&text));
            Log::of_document(&text)
        }
    };
    let mut out = log.session();
    let mut budget = attachments::Budget::default();
    for (name, sample) in &log.samples {
        out.push_str(&sample::lines(name, sample, &mut budget));
    }
    for (name, value) in &log.rest {
        let mut members = Members::default();
        members.word("type", name);
        members.raw("value", &json::compact(value));
        out.push_str(&members.object());
        out.push('\n');
    }
    for broken in &log.broken {
        out.push_str(broken);
        out.push('\n');
    }
    out.push_str(&log.end());
    problems.extend(budget.problem());
    Lines { text: out, problems }
}

impl<'t> Log<'t> {
    fn of_members(text: &'t str) -> Self {
        let mut log = Self::default();
        let mut at_name: BTreeMap<&str, usize> = BTreeMap::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let member = Object::parse(line);
            let member = member.and_then(|it| Some((it.id("member")?, it.raw("value")?)));
            let Some((name, value)) = member else {
                log.broken.push(line);
                if let Some((_, cut)) = line.split_once(",\"value\":")
                    && line.starts_with("{\"member\":\"samples/")
                {
                    log.samples.extend(mended(cut).map(|sample| ("", Cow::Owned(sample))));
                }
                continue;
            };
            match name {
                "header.json" => log.header = Some(Cow::Borrowed(value)),
                "_journal/start.json" => log.start = Some(value),
                _ if name.starts_with("samples/") => {
                    // A sample that was written again replaces the earlier one.
                    let at = *at_name.entry(name).or_insert(log.samples.len());
                    match log.samples.get_mut(at) {
                        Some((_, sample)) => *sample = Cow::Borrowed(value),
                        None => log.samples.push((name, Cow::Borrowed(value))),
                    }
                }
                _ => log.rest.push((name, value)),
            }
        }
        log
    }

    fn of_document(text: &'t str) -> Self {
        let mut log = Self::default();
        let mut header = Members::default();
        let _ = json::members(text, |key, value| match key {
            "samples" => {}
            "reductions" => log.rest.push(("reductions.json", value)),
            _ => header.raw(key, value),
        });
        log.header = Some(Cow::Owned(header.object()));
        let samples = Cut::list(text, "samples");
        log.samples = samples.whole.iter().map(|sample| ("", Cow::Borrowed(*sample))).collect();
        let begun = samples.begun.and_then(mended);
        log.samples.extend(begun.map(|sample| ("", Cow::Owned(sample))));
        log
    }

    fn about(&self) -> Object<'_> {
        let header = self.header.as_deref().or(self.start).unwrap_or("{}");
        Object::parse(header).unwrap_or_default()
    }

    /// The line that describes the session.
    fn session(&self) -> String {
        let eval = self.about().object("eval").unwrap_or_default();
        let packages = eval.object("packages").unwrap_or_default();
        let first = |names: [&str; 2]| names.iter().find_map(|name| eval.text(name));
        let id = first(["eval_id", "run_id"]);
        let facts = [
            ("title", eval.text("task")),
            ("version", packages.text("inspect_ai")),
            ("run", eval.text("run_id")),
            ("task", eval.text("task_id")),
            ("start", eval.text("created")),
        ];
        let facts = facts.each_ref().map(|(name, fact)| (*name, fact.as_deref()));
        line::session(id.as_deref(), &facts)
    }

    /// The line with the header's facts about the whole run, and how it ended, if it did.
    fn end(&self) -> String {
        let about = self.about();
        let mut out = String::new();
        let header = self.header.as_deref().or(self.start);
        let mut members = Members::default();
        members.word("type", if self.header.is_some() { "header" } else { "start" });
        let status = about.text("status").filter(|status| status != "started");
        members.text("ended", status.as_deref());
        let error = about.object("error").and_then(|error| error.text("message"));
        members.text("error", error.as_deref());
        members.raw("value", &json::compact(header.unwrap_or("null")));
        out.push_str(&members.object());
        out.push('\n');
        out
    }
}

/// A truncated sample, completed with what there is: the complete elements of its lists.
fn mended(cut: &str) -> Option<String> {
    let mut members = Members::default();
    let mut names = Vec::new();
    let _ = json::members(cut, |name, value| {
        members.raw(name, value);
        names.push(name.to_owned());
    });
    for list in ["messages", "events"] {
        let whole = Cut::list(cut, list).whole;
        if !whole.is_empty() && !names.iter().any(|name| name == list) {
            members.raw(list, &format!("[{}]", whole.join(",")));
        }
    }
    names.iter().any(|name| name == "id").then(|| members.object())
}

/// Replaces numbers that JSON does not allow (`NaN`, `Infinity`), as Python writes them, by null.
fn tolerated(text: &str) -> Cow<'_, str> {
    if !text.contains("NaN") && !text.contains("Infinity") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr3(b'"', b'N', b'I', rest.as_bytes()) {
        let (before, found) = rest.split_at(at);
        let word = ["NaN", "Infinity"].iter().find(|word| found.starts_with(**word));
        if let Some(word) = word {
            out.push_str(before.strip_suffix('-').unwrap_or(before));
            out.push_str("null");
            rest = found.get(word.len()..).unwrap_or_default();
            continue;
        }
        let taken = if found.starts_with('"') { json::end_of_string(found) } else { 1 };
        out.push_str(before);
        out.push_str(found.get(..taken).unwrap_or(found));
        rest = found.get(taken..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests;
