//! Collects the sessions of some streams, each with its messages, and each message with its parts.
//!
//! A stream is a complete document, or one of the files for a session, a message or a part. What a
//! file belongs to is the name of its folder, or named in the file itself.

use std::collections::BTreeMap;

use crate::line::{Object, Record, each_record, elements};
use crate::{Sink, Stream};

/// A session: its facts and its messages.
#[derive(Debug)]
pub(super) struct Session<'a> {
    /// The name of its stream.
    pub(super) name: &'a str,
    pub(super) id: Option<&'a str>,
    pub(super) parent: Option<&'a str>,
    /// The session's own facts first, if they are there.
    pub(super) said: Vec<Said<'a>>,
}

/// A message, or the facts of a session.
#[derive(Debug)]
pub(super) struct Said<'a> {
    pub(super) record: Record<'a>,
    pub(super) info: Object<'a>,
    /// The id to use if it has none itself.
    pub(super) id: Option<&'a str>,
    pub(super) parts: Vec<Piece<'a>>,
}

/// A part, and the record that contains it.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    pub(super) record: Record<'a>,
    pub(super) raw: &'a str,
    pub(super) id: Option<&'a str>,
}

/// A file that belongs to a session or a message.
struct File<'a> {
    /// The name of its folder, and its own.
    folder: Option<&'a str>,
    stem: &'a str,
    record: Record<'a>,
}

impl<'a> File<'a> {
    fn id(&self) -> &'a str {
        self.record.object.id("id").unwrap_or(self.stem)
    }
}

pub(super) fn gather<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) -> Vec<Session<'a>> {
    let mut sessions: Vec<Session<'a>> = Vec::new();
    let (mut messages, mut parts): (Vec<File<'a>>, Vec<File<'a>>) = Default::default();
    let mut by_name: BTreeMap<&'a str, usize> = BTreeMap::new();
    for (number, stream) in (0..).zip(streams) {
        let mut lines = Vec::new();
        each_record(stream, number, sink, |record, _| lines.push(record));
        let file = |record: Record<'a>| {
            let mut names = stream.name.rsplit('/');
            let name = names.next().unwrap_or_default();
            let stem = name.strip_suffix(".json").unwrap_or(name);
            File { folder: names.next(), stem, record }
        };
        let is_single = lines.len() == 1 && number > 0;
        let single = lines.pop_if(|record| is_single && !record.object.has("info"));
        let kind = single.as_ref().map(|record| kind(stream.name, &record.object));
        match (single, kind) {
            (Some(record), Some(Kind::Message)) => messages.push(file(record)),
            (Some(record), Some(Kind::Part)) => parts.push(file(record)),
            (single, _) => {
                lines.extend(single);
                let session = session(stream.name, lines);
                let stem = stream.name.rsplit('/').next().unwrap_or_default();
                by_name.entry(stem.strip_suffix(".json").unwrap_or(stem)).or_insert(sessions.len());
                by_name.extend(session.id.map(|id| (id, sessions.len())));
                sessions.push(session);
            }
        }
    }
    place(&mut sessions, &by_name, messages, parts);
    sessions
}

/// What a file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Session,
    Message,
    Part,
}

/// Decides by the folder, because a truncated file may not say what it is.
fn kind(name: &str, object: &Object<'_>) -> Kind {
    let mut folders = name.strip_prefix("session/").unwrap_or(name).split('/');
    match folders.next() {
        Some("message") => Kind::Message,
        Some("part") => Kind::Part,
        _ if object.has("role") => Kind::Message,
        _ if object.has("type") => Kind::Part,
        _ => Kind::Session,
    }
}

/// Reads a document, or a file with a session's facts.
fn session<'a>(name: &'a str, lines: Vec<Record<'a>>) -> Session<'a> {
    let said: Vec<Said<'a>> = lines.into_iter().map(Said::of).collect();
    let facts = said.first().map(|said| &said.info).filter(|info| !info.has("role"));
    let id = facts.and_then(|info| info.id("id"));
    let parent = facts.and_then(|info| info.id("parentID"));
    Session { name, id, parent, said }
}

impl<'a> Said<'a> {
    fn of(record: Record<'a>) -> Self {
        let info = record.object.object("info").unwrap_or_else(|| match record.object.has("id") {
            true => record.object.clone(),
            false => Object::default(),
        });
        let raws = elements(record.object.raw("parts").unwrap_or_default());
        let piece = |raw| Piece { record: record.clone(), raw, id: None };
        let parts = raws.into_iter().map(piece).collect();
        Self { record, info, id: None, parts }
    }
}

/// Adds messages to their sessions and parts to their messages. If the owner is missing, they are
/// added to the first session.
fn place<'a>(
    sessions: &mut [Session<'a>],
    by_name: &BTreeMap<&'a str, usize>,
    messages: Vec<File<'a>>,
    parts: Vec<File<'a>>,
) {
    let mut places: BTreeMap<&'a str, (usize, usize)> = BTreeMap::new();
    for file in messages {
        let own = file.record.object.id("sessionID");
        let at = [file.folder, own].into_iter().flatten().find_map(|name| by_name.get(name));
        let at = at.copied().unwrap_or_default();
        let Some(session) = sessions.get_mut(at) else { continue };
        let place = (at, session.said.len());
        places.insert(file.stem, place);
        places.insert(file.id(), place);
        let (id, info) = (Some(file.id()), file.record.object.clone());
        session.said.push(Said { record: file.record, info, id, parts: Vec::new() });
    }
    for file in parts {
        let own = file.record.object.id("messageID");
        let at = [own, file.folder].into_iter().flatten().find_map(|name| places.get(name));
        let (id, raw) = (Some(file.id()), file.record.line.text);
        match at.and_then(|(at, said)| sessions.get_mut(*at)?.said.get_mut(*said)) {
            Some(said) => said.parts.push(Piece { record: file.record, raw, id }),
            None => {
                let Some(session) = sessions.first_mut() else { continue };
                let info = Object::default();
                session.said.push(Said { record: file.record, info, id, parts: Vec::new() });
            }
        }
    }
}
