//! From a session that was read to its record in the catalogue.

use std::cell::Cell;

use antiphon_model::{Detail, Entry, EntryKind, Role, Session, Timestamp};
use antiphon_views::{CallIdentity, Identity, Reading, call_facts, clip, sub_agent};

use super::fields::Fields;
use super::filter::{Filter, FilterMaker};
use super::row::first_long;
use super::searched::searched;
use super::{EventRow, FileBlocks, LineAt, Record, RequestId, RequestRow, Row, Stamp, ToolCallRow};
use crate::blocks::{blocks, parts};
use crate::{Key, Origin};

/// The ranked index contains this much of a message; an ordinary search reads all of it.
const PROSE_BYTES_MAX: usize = 256 << 10;

/// The width of a title in a list, in columns.
pub const TITLE_WIDTH: usize = 60;

/// The session that a record is about.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub key: &'a Key,
    pub origin: Origin,
    pub stamp: Stamp,
    /// When something was last added to it.
    pub changed_at: Timestamp,
    /// The session's name, if the session does not have one itself.
    pub name: &'a str,
    /// The program that ran it, if the session does not say.
    pub agent: Option<&'a str>,
    /// The format's name in the registry.
    pub format: &'a str,
}

/// The filters of a session's files, by the numbers of their streams, while they are built.
#[derive(Debug)]
pub struct Index {
    maker: Lent,
    files: Vec<FileBlocks>,
    /// For each file, whether its filters were built from all of its bytes; otherwise they are
    /// built later.
    are_made: Vec<bool>,
}

thread_local! {
    /// One per thread: its table is larger than most sessions, and allocating it takes longer than
    /// reading them.
    static MAKER: Cell<Option<FilterMaker>> = const { Cell::new(None) };
}

/// The thread's [`FilterMaker`], while it is in use.
#[derive(Debug)]
struct Lent(Option<FilterMaker>);

impl Lent {
    fn take() -> Self {
        Self(MAKER.take())
    }

    fn get(&mut self) -> &mut FilterMaker {
        self.0.get_or_insert_with(FilterMaker::new)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // Fails only in a thread that is ending and needs it no more.
        let _ = MAKER.try_with(|maker| maker.set(self.0.take()));
    }
}

impl Default for Index {
    fn default() -> Self {
        Self { maker: Lent::take(), files: Vec::new(), are_made: Vec::new() }
    }
}

impl Index {
    /// Adds a file. If its bytes are not those of a stream, its filters are built from all of its
    /// content.
    pub fn add(&mut self, name: &str, bytes: Option<&[u8]>) {
        let made = bytes.map(|bytes| filters(self.maker.get(), bytes, |part| vec![part]));
        self.are_made.push(made.is_some());
        self.files.push(FileBlocks { name: name.to_owned(), blocks: made.unwrap_or_default() });
    }

    /// The names of the files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.name.as_str())
    }

    /// The record of a session that was read from exactly these files.
    pub fn record(self, subject: &Subject<'_>, reading: &Reading<'_>) -> Record {
        Record {
            row: Row::of(subject, reading.session),
            events: reading.session.entries().map(|entry| event(reading, entry)).collect(),
            requests: requests(reading.session, subject.key),
            tool_calls: tool_calls(reading, subject.key),
            fields: Fields::of(reading.session),
            files: self.finish(reading),
        }
    }

    /// Builds the filters that are missing, from the searched text.
    fn finish(mut self, reading: &Reading<'_>) -> Vec<FileBlocks> {
        let numbers = 0..u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let streams = numbers.map(|number| reading.bodies.stream(number).unwrap_or_default());
        let streams: Vec<&[u8]> = streams.collect();
        let searched = searched(reading.session, &streams);
        let files = self.files.iter_mut().zip(self.are_made).zip(streams.iter().zip(&searched));
        for ((file, is_made), (bytes, searched)) in files {
            if !is_made {
                file.blocks = filters(self.maker.get(), bytes, searched.of_parts());
            }
        }
        self.files
    }
}

/// The filters of every part of every block of a file, built from the texts of each.
fn filters<'a>(
    maker: &mut FilterMaker,
    bytes: &'a [u8],
    mut texts: impl FnMut(&'a [u8]) -> Vec<&'a [u8]>,
) -> Vec<Vec<Filter>> {
    let mut of_block = |block| parts(block).map(|part| maker.make(&texts(part))).collect();
    blocks(bytes).map(&mut of_block).collect()
}

fn event(reading: &Reading<'_>, entry: Entry<'_>) -> EventRow {
    let session = reading.session;
    let result_of = entry.call().filter(|_| entry.role() == Some(Role::Tool));
    let call = entry.calls().map(|(ix, _)| ix).next().or(result_of);
    EventRow {
        id: entry.id().to_owned(),
        line: Some(entry.line()).filter(|place| !place.is_none()).map(LineAt::of),
        agent: entry.agent().map(|it| session.agent_id(it).to_owned()),
        at: entry.at(),
        kind: entry.kind().as_str(),
        tool: call.map(|ix| session.tool_name(ix).to_owned()),
        is_error: entry.is_error(),
        prose: prose(reading, entry),
    }
}

/// What an agent or a person said or thought; the output of tools is not prose.
fn prose(reading: &Reading<'_>, entry: Entry<'_>) -> Option<String> {
    if !matches!(entry.kind(), EntryKind::Message(Role::User | Role::Assistant | Role::System)) {
        return None;
    }
    let mut text = reading.text(entry).unwrap_or_default();
    if let Some(thought) = entry.detail(Detail::Reasoning) {
        text.push('\n');
        text.push_str(&reading.place_text(thought).unwrap_or_default());
    }
    let mut end = text.len().min(PROSE_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    (!text.trim().is_empty()).then_some(text)
}

fn requests(session: &Session, key: &Key) -> Vec<RequestRow> {
    let requests = antiphon_views::requests(session).map(|request| RequestRow {
        id: RequestId::of_identity(&request.identity, key),
        at: request.entry.at(),
        model: request.model.map(str::to_owned),
        sub_agent: request.entry.agent().and_then(|it| sub_agent(session, it)).map(str::to_owned),
        usage: request.usage,
        declared: request.declared,
        is_partial: request.is_partial,
    });
    requests.collect()
}

fn tool_calls(reading: &Reading<'_>, key: &Key) -> Vec<ToolCallRow> {
    let calls = call_facts(reading).into_iter().map(|call| ToolCallRow {
        id: RequestId::of_call(&call.identity, key),
        at: call.at,
        tool: call.tool.to_owned(),
        command: call.command,
        model: call.model.map(str::to_owned),
        error: call.error,
        duration_ms: call.duration_ms,
        output_tokens: call.output_tokens,
    });
    calls.collect()
}

impl LineAt {
    fn of(place: antiphon_model::Place) -> Self {
        Self { stream: place.stream, offset: place.offset }
    }
}

impl RequestId {
    /// An id that is the same in every session that contains the request; `key` is the session's.
    fn of_identity(identity: &Identity<'_>, key: &Key) -> Self {
        match identity {
            Identity::Service { id, part } => Self::of(&["service", id, &part.to_string()]),
            Identity::Message { session, message, at, part } => {
                let at = at.map_or(i64::MIN, Timestamp::as_millis).to_string();
                Self::of(&["message", session, message, &at, &part.to_string()])
            }
            Identity::Position(position) => {
                Self::of(&["position", key.as_str(), &position.to_string()])
            }
        }
    }

    /// The same for a call.
    fn of_call(identity: &CallIdentity<'_>, key: &Key) -> Self {
        match identity {
            CallIdentity::Service { request, call } => Self::of(&["service", request, call]),
            CallIdentity::Message { session, message, at, call } => {
                let at = at.map_or(i64::MIN, Timestamp::as_millis).to_string();
                Self::of(&["message", session, message, &at, call])
            }
            CallIdentity::Position(position) => {
                Self::of(&["position", key.as_str(), &position.to_string()])
            }
        }
    }

    pub(crate) fn of(words: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for word in words {
            hasher.update(&(word.len() as u64).to_le_bytes()).update(word.as_bytes());
        }
        Self(first_long(&hasher.finalize()))
    }
}

impl Row {
    /// The row of a session.
    pub fn of(subject: &Subject<'_>, session: &Session) -> Self {
        let info = session.info();
        let own = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
        let times = session.time_span();
        Self {
            key: subject.key.clone(),
            origin: subject.origin,
            stamp: subject.stamp,
            session_id: own(&info.session_id).unwrap_or_else(|| subject.name.to_owned()),
            format: subject.format.to_owned(),
            agent: own(&info.program).or_else(|| subject.agent.map(str::to_owned)),
            title: own(&info.title),
            prompt: info.prompt.as_deref().map(|prompt| clip(prompt, TITLE_WIDTH)),
            project: own(&info.cwd),
            role: own(&info.role),
            issue: own(&info.issue),
            run_id: own(&info.run_id),
            changed_at: subject.changed_at,
            started_at: times.map(|(first, _)| first),
            last_event_at: times.map(|(_, last)| last),
            end: info.end,
            is_answered: session.status_facts().is_answered,
            outcome: own(&info.outcome),
            events: session.len() as u64,
            agents: session.agents().len() as u64,
            calls: session.calls().len() as u64,
            // A last line that is still being written is not a problem.
            problems: session.problems().iter().filter(|it| it.code != "torn").count() as u64,
            main: None,
            parts: Vec::new(),
            is_part: false,
        }
    }
}
