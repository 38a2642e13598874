//! OpenCode sessions, as `opencode export` writes them: one document.
//!
//! A message has its facts (`info`) and its parts; a tool's part holds the call and what came back.
//! The tokens of a message are the sum of its steps. A child session is a document of its own; the
//! call that made it names it.

pub(crate) mod part;
mod tell;

use crate::line::{Object, records};
use crate::{Format, Lines, Sink, Stream, spread};

pub(crate) const FORMAT: Format = Format {
    name: "opencode",
    what: "OpenCode sessions, as `opencode export` writes them",
    versions: "1.2",
    detect,
    lines: Some(lines),
    read,
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
    has("messages") && members.iter().any(|(key, value)| key == "info" && is_session(value))
}

fn lines(text: &str) -> Lines {
    spread::spread(text, "messages")
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        let mut tell = tell::Tell::new(stream.name);
        for record in records(stream, number) {
            match record {
                Ok(record) => tell.line(&record),
                Err(problem) => sink.problem(problem),
            }
        }
        tell.finish().into_iter().for_each(|event| sink.event(event));
    }
}

#[cfg(test)]
mod tests;
