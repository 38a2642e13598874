//! Qwen Code chats: `projects/<slug>/chats/<session>.jsonl`.
//!
//! The envelope is Claude Code's, the message is Gemini's. Lines with the same `uuid` are one
//! message, and the last usage counts. A prompt that follows an older line abandons what came
//! between (`rewind`). Two records may be on one line, if two processes wrote at once. The token
//! counts of `ui_telemetry` repeat those of the messages.

mod chat;
mod lines;

use crate::line::{Object, each_record};
use crate::merge::{EventStream, merge};
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
            // Files of sub-agents are in the folder of their session.
            session: |path| {
                crate::layout::named(path, "", ".jsonl").filter(|_| !path.contains("/subagents/"))
            },
            fallback: None,
            deletes_after_days: None,
        }),
        resume: &["qwen", "--resume", "{}"],
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

/// Whether a line is of this format and not Claude Code's.
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

/// Files of sub-agents are in the folder of their session.
fn belongs(stem: &str, name: &str, _: &str) -> bool {
    let below = name.strip_prefix(stem).and_then(|rest| rest.strip_prefix('/'));
    below.is_some_and(|file| file.ends_with(".jsonl"))
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    let mut event_streams = Vec::new();
    let mut ids = std::collections::BTreeSet::new();
    for (number, stream) in (0..).zip(streams) {
        let mut chat = chat::Chat::new(stream.name, number == 0, &mut ids);
        each_record(stream, number, sink, |record, sink| chat.line(&record, sink));
        let (events, started_by) = chat.finish();
        event_streams.push(EventStream { events, started_by, ..EventStream::default() });
    }
    merge(event_streams, sink);
}

#[cfg(test)]
mod tests;
