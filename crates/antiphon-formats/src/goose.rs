//! Goose sessions: `sessions/<id>.jsonl`, and a session of its newer database as one document,
//! `{"session": …, "messages": […]}`, each a row.
//!
//! The first line, or the row of the session, describes it as a whole, with its token counts.
//! Messages have none of their own, so the totals go to the last answer. Input includes cache reads
//! and writes. A message has tool requests and tool responses among its blocks.

mod conversation;
mod database;

use crate::line::{Object, each_record};
use crate::{Format, Kept, Layout, Lines, Sink, Stream, spread};

pub(crate) const FORMAT: Format = Format {
    name: "goose",
    product: "Goose",
    what: "Goose sessions, from files or its database",
    versions: "1.x, from public readers",
    detect,
    lines: Some(lines),
    read,
    layout: Layout {
        kept: Some(Kept {
            variable: "XDG_DATA_HOME",
            folders: &[".local/share"],
            below: &["goose/sessions"],
            session: |path| crate::layout::named(path, "", ".jsonl"),
            fallback: None,
            deletes_after_days: None,
        }),
        database: Some(database::DATABASE),
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

fn detect(head: &[&str]) -> bool {
    let is_session = |facts: &Object<'_>| {
        let others = ["message_count", "total_tokens", "description", "created_at"];
        facts.raw("working_dir").is_some() && others.iter().any(|name| facts.has(name))
    };
    let first = head.iter().find_map(|line| Object::parse(line)).unwrap_or_default();
    let keys = crate::std_session::top_level::keys(head);
    let is_document = ["session", "messages"].iter().all(|name| keys.iter().any(|key| key == name));
    let row = |(key, value): &(String, String)| {
        key == "session" && Object::parse(value).is_some_and(|row| is_session(&row))
    };
    is_session(&first) && !first.has("type") || is_document && spread::members(head).iter().any(row)
}

fn lines(text: &str) -> Lines {
    spread::spread(text, "messages")
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        let mut conversation = conversation::Conversation::new(stream.name);
        each_record(stream, number, sink, |record, _| conversation.line(&record));
        conversation.finish().finish(sink);
    }
}

#[cfg(test)]
mod tests;
