//! Kimi sessions: those of Kimi Code, `sessions/<folder>/session_<id>/`, and of the older Kimi CLI,
//! `sessions/<hash>/<id>/wire.jsonl`.
//!
//! Kimi Code has a file for each agent, `agents/<agent>/wire.jsonl`, and describes the session in
//! `state.json`. A step is one answer: it begins, its parts and calls follow, and its end has the
//! token counts, which `usage.record` repeats. What a person typed is repeated where it enters the
//! context. The result of the call that created a sub-agent names the sub-agent.
//!
//! The older program writes the events of its user interface, those of sub-agents in the same file.

mod code;
mod old;
mod session;
mod step;

use crate::line::Object;
use crate::{Format, Kept, Layout, Lines, Sink, Stream, spread};

pub(crate) const FORMAT: Format = Format {
    name: "kimi",
    product: "Kimi Code",
    what: "Kimi Code and Kimi CLI sessions, with sub-agents",
    versions: "wire file version 1.4; older ones from the program's source code",
    detect,
    lines: Some(lines),
    read,
    layout: Layout {
        belongs,
        kept: Some(Kept {
            variable: "KIMI_CODE_HOME",
            folders: &[".kimi-code", ".kimi"],
            below: &["sessions"],
            session,
            fallback: None,
            deletes_after_days: None,
        }),
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

const PROGRAM: &str = "kimi";

/// The prefixes of its lines' types.
const KINDS: [&str; 8] = [
    "context.append_",
    "turn.prompt",
    "turn.steer",
    "llm.request",
    "config.update",
    "usage.record",
    "tools.set_active_tools",
    "profile.bind",
];

fn detect(head: &[&str]) -> bool {
    head.iter().filter_map(|line| Object::parse(line)).any(|object| is_ours(&object))
        || Object::parse(&head.join("\n")).is_some_and(|document| is_state(&document))
}

fn is_ours(object: &Object<'_>) -> bool {
    let kind = object.id("type").unwrap_or_default();
    let is_header = kind == "metadata" && object.raw("protocol_version").is_some();
    let is_record = object.raw("time").is_some() && KINDS.iter().any(|it| kind.starts_with(it));
    is_header || is_record || old::is_ours(object) || is_state(object)
}

/// Whether this is the content of `state.json`, which describes a session and lists its agents.
fn is_state(object: &Object<'_>) -> bool {
    let is_agent = |raw: &str| Object::parse(raw).is_some_and(|agent| agent.has("parentAgentId"));
    let agents = object.object("agents").filter(|_| !object.has("type"));
    agents.is_some_and(|agents| agents.members().any(|(_, agent)| is_agent(agent)))
}

/// Only `state.json` is a document that has to become lines.
fn lines(text: &str) -> Lines {
    let first = text.trim_start_matches('\u{feff}').trim_start().lines().next();
    if first.is_some_and(|first| first.trim() == "{") {
        return spread::spread(text, "");
    }
    Lines { text: text.to_owned(), problems: Vec::new() }
}

/// Each agent has a folder beside `state.json`.
fn belongs(stem: &str, name: &str, _: &str) -> bool {
    let agent = name.strip_prefix("agents/").filter(|_| stem == "state");
    let is_wire = |file: &str| matches!(file.split_once('/'), Some((_, "wire.jsonl")));
    agent.is_some_and(|file| file.is_empty() || is_wire(file))
}

fn session(path: &str) -> Option<&str> {
    let mut parts = path.split('/').rev();
    let (file, folder) = (parts.next()?, parts.next()?);
    match file {
        "state.json" => Some(folder).filter(|folder| folder.starts_with("session_")),
        "wire.jsonl" if parts.next().is_some_and(|above| above != "agents") => {
            // The folder of a session is directly in that of a project; a sub-agent's is deeper.
            parts.next().is_none().then_some(folder)
        }
        _ => None,
    }
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    session::read(streams, sink);
}

#[cfg(test)]
mod tests;
