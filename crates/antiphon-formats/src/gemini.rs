//! Gemini CLI chats: `chats/session-<time>-<id>.jsonl`, and the document that older versions wrote.
//!
//! A message is written again, complete, whenever something is added to it: the last line with its
//! id counts, at the place of the first. A call's result is within the message that made the call.
//! `$set` changes the chat's own facts, and may replace all messages; `$rewindTo` withdraws a
//! message and all after it, whose tokens were used all the same. Sub-agents are in `<session
//! id>/<id>.jsonl`; the call that created one names it (`agentId`).

mod chat;
mod message;
mod session;

use crate::line::Object;
use crate::{Format, Kept, Layout, Lines, Servers, Sink, Stream, spread};

pub(crate) use message::{called, output};

pub(crate) const FORMAT: Format = Format {
    name: "gemini",
    product: "Gemini CLI",
    what: "Gemini CLI chats, with sub-agents",
    versions: "0.1 to 0.61",
    detect,
    lines: Some(lines),
    read,
    layout: Layout {
        belongs,
        servers: Some(Servers { files: &["settings.json"], ..Servers::USUAL }),
        kept: Some(Kept {
            variable: "",
            folders: &[".gemini"],
            below: &["tmp"],
            // Older versions wrote documents.
            session: |path| {
                let lines = crate::layout::named(path, "session-", ".jsonl");
                lines.or_else(|| crate::layout::named(path, "session-", ".json"))
            },
            fallback: None,
            deletes_after_days: Some(30),
        }),
        resume: &["gemini", "--resume", "{}"],
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

const PROGRAM: &str = "gemini-cli";

/// Recognises a chat by its facts, which come first or around the messages.
fn detect(head: &[&str]) -> bool {
    let members = spread::members(head);
    let has = |name: &str| members.iter().any(|(key, _)| key == name);
    let lists = head.iter().any(|line| line.contains("\"messages\""));
    let is_stream = head
        .iter()
        .find_map(|line| Object::parse(line))
        .is_some_and(|first| first.id("sessionId").is_some());
    let is_head = has("sessionId") && has("projectHash") && !has("type");
    is_head && (lists || is_stream) || is_saved(head)
}

/// Whether this is a saved conversation (`/chat save`), which is the request to the model.
fn is_saved(head: &[&str]) -> bool {
    let keys = crate::std_session::top_level::keys(head);
    let has = |name: &str| keys.iter().any(|key| key == name);
    let is_ours = has("authType") || has("lastUpdated");
    has("history") && is_ours && head.iter().any(|line| line.contains("\"parts\""))
}

fn lines(text: &str) -> Lines {
    let is_saved = is_saved(&crate::Head::new(text).first_lines());
    spread::spread(text, if is_saved { "history" } else { "messages" })
}

/// A chat's file name ends in the first characters of its id; the folder of its sub-agents is named
/// after the complete id.
fn belongs(stem: &str, name: &str, _: &str) -> bool {
    let Some((folder, file)) = name.split_once('/') else { return false };
    let is_ours = folder.get(..8).is_some_and(|id| stem.ends_with(id)) || folder == stem;
    is_ours && !file.contains('/') && (file.is_empty() || file.ends_with(".jsonl"))
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    session::read(streams, sink);
}

#[cfg(test)]
mod tests;
