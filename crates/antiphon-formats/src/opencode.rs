//! OpenCode sessions: one document, as `opencode export` writes it; and as older versions kept
//! them, a file for the session, for each message and for each part ([`layout`]).
//!
//! A message has its facts (`info`) and its parts; a tool's part has both the call and its result.
//! The tokens of a message are the sum of its steps. A child session is a document or a file of its
//! own, which names its parent; the call that created it names the child.

mod conversation;
mod database;
mod family;
mod gather;
mod layout;
pub(crate) mod part;

use crate::line::Object;
use crate::{
    Format, Kept, Layout, Lines, ServerValue, Servers, SettingsFolder, Sink, Stream, spread,
};

pub(crate) const FORMAT: Format = Format {
    name: "opencode",
    product: "OpenCode",
    what: "OpenCode sessions, exported or from its folders or database, with sub-agents",
    versions: "0.3 to 1.3",
    detect,
    lines: Some(lines),
    read,
    layout: Layout {
        beside: &["ses"],
        belongs: layout::belongs,
        above: layout::above,
        leads: layout::leads,
        made_by: Some(layout::made_by),
        servers: Some(Servers {
            folder: SettingsFolder::Configuration("opencode"),
            files: &["opencode.json", "opencode.jsonc"],
            member: "mcp",
            server: &[
                ("type", ServerValue::Text("local")),
                ("command", ServerValue::CommandLine),
                ("enabled", ServerValue::True),
            ],
            ..Servers::USUAL
        }),
        kept: Some(Kept {
            variable: "XDG_DATA_HOME",
            folders: &[".local/share"],
            below: &["opencode/storage/session", "opencode/project"],
            session: layout::session,
            fallback: None,
            deletes_after_days: None,
        }),
        database: Some(database::DATABASE),
        resume: &["opencode", "--session", "{}"],
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

pub(crate) const PROGRAM: &str = "opencode";

fn detect(head: &[&str]) -> bool {
    let keys = crate::std_session::top_level::keys(head);
    let has = |name: &str| keys.iter().any(|key| key == name);
    let is_session = |info: &str| {
        let info = Object::parse(info).unwrap_or_default();
        let facts = ["directory", "projectID", "slug", "time"];
        info.raw("id").is_some() && facts.iter().any(|fact| info.has(fact))
    };
    let members = spread::members(head);
    let is_export =
        has("messages") && members.iter().any(|(key, value)| key == "info" && is_session(value));
    is_export || is_info(&members)
}

/// Whether these are the facts of a session from a file of their own.
fn is_info(members: &[(String, String)]) -> bool {
    let value = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let time = value("time").and_then(|time| Object::parse(time)).unwrap_or_default();
    let is_of_another = ["role", "type", "info", "messages", "sessionID", "sessionId"];
    let names_itself = value("projectID").is_some()
        || value("directory").is_some()
        || value("id").is_some_and(|id| id.starts_with("\"ses_"));
    names_itself
        && value("id").is_some()
        && value("title").is_some()
        && time.number("created").is_some()
        && !is_of_another.iter().any(|name| value(name).is_some())
}

fn lines(text: &str) -> Lines {
    spread::spread(text, "messages")
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    family::read(&gather::gather(streams, sink), sink);
}

#[cfg(test)]
mod tests;
