//! Qwen Code chats: `projects/<slug>/chats/<session>.jsonl`.
//!
//! The envelope is Claude Code's, the message is Gemini's. Lines of one `uuid` are one message, and
//! the last usage counts. A prompt that follows an older line has left the rest behind (`rewind`).
//! Two records may stand on one line, where two processes wrote at once. The tokens that
//! `ui_telemetry` tells are told by the messages too.

mod lines;
mod tell;

use crate::line::{Object, records};
use crate::merge::{Voice, merge};
use crate::{Format, Layout, Sink, Stream, spread};

pub(crate) const FORMAT: Format = Format {
    name: "qwen",
    product: "Qwen Code",
    what: "Qwen Code chats, with sub-agents",
    versions: "0.18 to 0.21",
    detect,
    lines: Some(lines::apart),
    read,
    layout: Layout {
        belongs,
        kept: Some(crate::Kept {
            variable: "",
            folders: &[".qwen"],
            below: &["projects"],
            // Those of sub-agents lie in the folder of their session.
            session: |path| {
                crate::layout::named(path, "", ".jsonl").filter(|_| !path.contains("/subagents/"))
            },
            fallback: None,
            deletes_after_days: None,
        }),
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

fn detect(head: &[&str]) -> bool {
    let is_glued = || {
        let first = spread::members(head);
        let has = |name: &str| first.iter().any(|(key, _)| key == name);
        let is_envelope = has("uuid") && has("parentUuid") && has("sessionId");
        let parts =
            first.iter().any(|(key, value)| key == "message" && value.contains("\"parts\""));
        is_envelope && (parts || has("systemPayload"))
    };
    head.iter().any(|line| is_ours(line)) || is_glued()
}

/// Whether a line is of this format, and not Claude Code's.
pub(crate) fn is_ours(line: &str) -> bool {
    if !line.contains("\"parts\"") && !line.contains("\"systemPayload\"") {
        return false;
    }
    Object::parse(line).is_some_and(|object| {
        let is_envelope =
            object.has("parentUuid") && object.raw("uuid").is_some() && object.has("sessionId");
        let message = object.object("message");
        let has_parts = message.is_some_and(|message| message.raw("parts").is_some());
        is_envelope && (has_parts || object.raw("systemPayload").is_some())
    })
}

/// Files of sub-agents lie in the folder of their session.
fn belongs(stem: &str, name: &str, _: &str) -> bool {
    let below = name.strip_prefix(stem).and_then(|rest| rest.strip_prefix('/'));
    below.is_some_and(|file| file.ends_with(".jsonl"))
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    let mut voices = Vec::new();
    let mut ids = std::collections::BTreeSet::new();
    for (number, stream) in (0..).zip(streams) {
        let mut tell = tell::Tell::new(stream.name, number == 0, &mut ids);
        for record in records(stream, number) {
            match record {
                Ok(record) => tell.line(&record, sink),
                Err(problem) => sink.problem(problem),
            }
        }
        let (events, started_by) = tell.finish();
        voices.push(Voice { events, started_by, ..Voice::default() });
    }
    merge(voices, sink);
}

#[cfg(test)]
mod tests;
