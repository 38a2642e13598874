//! Codex rollouts: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`.
//!
//! A line is `{"timestamp","type","payload"}`. What was said and done is written twice: as the item
//! that is part of the conversation (`response_item`) and as an event for the user interface
//! (`event_msg`). The items become events; the event messages add the person's own words, exit
//! codes, durations and tokens, and are reported as duplicates. A forked thread begins with a copy
//! of its parent's lines, which is cut ([`replay`]). Token counts are running totals, and are
//! counted by differences ([`tokens`]).
//!
//! Before September 2025 the first line had no envelope (`{id, timestamp, instructions}`), and
//! neither had the items.

mod entry;
mod event_msg;
mod item;
mod outcome;
mod pairs;
mod replay;
mod rollout;
mod searches;
mod session;
mod thread;
mod tokens;

use std::collections::BTreeSet;

use crate::line::Object;
use crate::{Format, Kept, Layout, Servers, Sink, Stream, Syntax};

pub(crate) use tokens::{Count, Tokens};

pub(crate) const FORMAT: Format = Format {
    name: "codex",
    product: "Codex",
    what: "Codex rollouts, with spawned threads",
    versions: "0.50 to 0.146",
    detect,
    stands_alone: true,
    read,
    layout: Layout {
        beside: &["rollout-"],
        belongs,
        names,
        made_by: Some(made_by),
        servers: Some(Servers {
            files: &["config.toml"],
            syntax: Syntax::Toml,
            member: "mcp_servers",
            ..Servers::USUAL
        }),
        kept: Some(Kept {
            variable: "CODEX_HOME",
            folders: &[".codex"],
            below: &["sessions", "archived_sessions"],
            session: |path| crate::layout::named(path, "rollout-", ".jsonl"),
            fallback: None,
            deletes_after_days: None,
        }),
        resume: &["codex", "resume", "{}"],
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

/// The program's name in a session's facts.
pub(crate) const PROGRAM: &str = "codex";

/// The values of `type` on lines with an envelope.
const KINDS: [&str; 9] = [
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "world_state",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "security_risk_score",
];

fn detect(head: &[&str]) -> bool {
    let objects: Vec<Object<'_>> = head.iter().filter_map(|line| Object::parse(line)).collect();
    let is_wrapped = |object: &Object<'_>| {
        object.id("type").is_some_and(|kind| KINDS.contains(&kind))
            && object.raw("payload").is_some_and(|payload| payload.starts_with('{'))
    };
    objects.iter().any(is_wrapped) || is_legacy(&objects)
}

/// Whether these are lines without an envelope, as before September 2025.
fn is_legacy(objects: &[Object<'_>]) -> bool {
    let Some((first, rest)) = objects.split_first() else { return false };
    let is_head = first.id("id").is_some() && first.raw("timestamp").is_some();
    let is_bare = |object: &Object<'_>| {
        object.id("record_type") == Some("state")
            || matches!(object.id("type"), Some("message" | "function_call" | "reasoning"))
    };
    let has_instructions = first.has("instructions") && !first.has("type");
    is_head && has_instructions && rest.first().is_none_or(is_bare)
}

/// Other rollouts are other threads. One belongs to this session if it says that this thread
/// created it; the name of this file ends in the thread's id.
fn belongs(stem: &str, name: &str, head: &str) -> bool {
    let is_rollout = name.starts_with("rollout-") && name.ends_with(".jsonl");
    if !is_rollout || name.contains('/') {
        return false;
    }
    made_by(head).is_some_and(|parent| stem.ends_with(&parent))
}

/// The thread that created the one whose rollout begins like this.
fn made_by(head: &str) -> Option<String> {
    let meta = Object::parse(head.lines().next()?)?;
    let payload = meta.object("payload")?;
    let parent = thread::parent_of(&payload).filter(|parent| !parent.is_empty());
    parent.map(str::to_owned)
}

/// The threads that a rollout says it created: their files' names end in their ids. The file of a
/// thread that is created after midnight is in another folder.
fn names(text: &str) -> Vec<String> {
    let mut ids = BTreeSet::new();
    for key in ["new_thread_id", "agent_thread_id", "agent_id"] {
        for (at, _) in text.match_indices(key) {
            // In a call's output the JSON is a string, and its quotes are escaped.
            let rest = text.get(at + key.len()..).unwrap_or_default();
            let value = rest.trim_start_matches(['\\', '"', ':', ' ']);
            let end = value.find(|it: char| !it.is_ascii_alphanumeric() && it != '-');
            ids.extend(value.get(..end.unwrap_or(value.len())).filter(|id| !id.is_empty()));
        }
    }
    ids.into_iter().map(str::to_owned).collect()
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    session::read(streams, sink);
}

#[cfg(test)]
mod tests;
