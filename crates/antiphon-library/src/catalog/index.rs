//! From what is kept of a session to what the catalogue holds of it.

use std::io;

use antiphon_formats::FORMATS;
use antiphon_model::{Detail, Entry, EntryKind, Role, Session, Timestamp};
use antiphon_sources::{Bundle, Error, LOG_FORMAT, Opened, PACKED, open_foreign};
use antiphon_views::{Identity, Reading, sub_agent};

use super::searched::searched;
use super::{
    EventRow, FileBlocks, Filter, FilterMaker, LineAt, MainFile, Record, RequestId, RequestRow, Row,
};
use crate::blocks::{blocks, parts};
use crate::damaged::damage_of;
use crate::opened::open_telling;
use crate::store::Place;
use crate::{Key, Origin};

/// What was said at greater length is found by its beginning; a search that looks for everything
/// looks into all of it.
const PROSE_BYTES_MAX: usize = 256 << 10;

/// Reads a session whole. One in which nothing was said yet has a record without events, so that it
/// is not read again before it changes. Says what is damaged, if anything is.
pub(super) fn record(place: &Place) -> Result<(Record, Option<String>), Error> {
    let mut filters = Filters::new();
    let opened = open_telling(&place.main_file(), &mut |name, bytes| filters.add(name, bytes))?;
    // What is of no known format is read as a log. A copy never is one.
    if place.origin == Origin::Archived && opened.format == LOG_FORMAT {
        let what = format!("not a session of {}", place.agent.as_deref().unwrap_or_default());
        let source = io::Error::new(io::ErrorKind::InvalidData, what);
        return Err(Error::Read { path: place.main_file(), source });
    }
    let damage = damage_of(&opened.session, place.origin);
    let damage = damage.map(|problem| problem.message.clone());
    Ok((assemble(place, &opened, filters), damage))
}

/// The same of a copy whose files are at hand; nothing, for a format of which that is not enough.
pub(crate) fn record_of(place: &Place, files: Vec<(String, Vec<u8>)>) -> Option<Record> {
    let mut filters = Filters::new();
    let mut tell = |name: &str, bytes: Option<&[u8]>| filters.add(name, bytes);
    let bundle = Bundle::of(place.agent.as_deref()?, files, &mut tell)?;
    Some(assemble(place, &open_foreign(bundle, false), filters))
}

/// The filters of a session's files, by the numbers of their streams.
struct Filters {
    maker: FilterMaker,
    files: Vec<FileBlocks>,
    /// Whether the filters are made of all bytes, for each file; otherwise they are still to be
    /// made.
    are_made: Vec<bool>,
}

impl Filters {
    fn new() -> Self {
        Self { maker: FilterMaker::new(), files: Vec::new(), are_made: Vec::new() }
    }

    /// Takes a file. If its bytes are not those of a stream, its filters are of all that it holds.
    fn add(&mut self, name: &str, bytes: Option<&[u8]>) {
        let made = bytes.map(|bytes| filters(&mut self.maker, bytes, |part| vec![part]));
        self.are_made.push(made.is_some());
        self.files.push(FileBlocks { name: name.to_owned(), blocks: made.unwrap_or_default() });
    }

    /// Makes those that are still to be made, of what is searched.
    fn finish(mut self, opened: &Opened) -> Vec<FileBlocks> {
        let numbers = 0..u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let streams = numbers.map(|number| opened.bodies.stream(number).unwrap_or_default());
        let streams: Vec<&[u8]> = streams.collect();
        let searched = searched(&opened.session, &streams);
        let files = self.files.iter_mut().zip(self.are_made).zip(streams.iter().zip(&searched));
        for ((file, is_made), (bytes, searched)) in files {
            if !is_made {
                file.blocks = filters(&mut self.maker, bytes, searched.of_parts());
            }
        }
        self.files
    }
}

/// The filters of every part of every block of a file, made of the texts of each.
fn filters<'a>(
    maker: &mut FilterMaker,
    bytes: &'a [u8],
    mut texts: impl FnMut(&'a [u8]) -> Vec<&'a [u8]>,
) -> Vec<Vec<Filter>> {
    let mut of_block = |block| parts(block).map(|part| maker.make(&texts(part))).collect();
    blocks(bytes).map(&mut of_block).collect()
}

fn assemble(place: &Place, opened: &Opened, filters: Filters) -> Record {
    let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
    let mut row = Row::of(place, &opened.session, opened.format);
    (row.main, row.parts) = main_files(&filters, opened);
    Record {
        row,
        events: opened.session.entries().map(|entry| event(&reading, entry)).collect(),
        requests: requests(&opened.session, &place.key),
        files: filters.finish(opened),
    }
}

/// The main file of the session, and those of others that are among its own. Only a format that
/// says who made a session keeps such files beside their maker's.
fn main_files(filters: &Filters, opened: &Opened) -> (Option<MainFile>, Vec<MainFile>) {
    let format = FORMATS.iter().find(|it| it.name == opened.format && it.made_by.is_some());
    let Some(kept) = format.and_then(|it| it.kept.as_ref()) else { return (None, Vec::new()) };
    let main_file = |(stream, file): (u32, &FileBlocks)| {
        let name = file.name.strip_suffix(PACKED).unwrap_or(&file.name);
        // They stand in one column, one on each line.
        let session = (kept.session)(name).filter(|name| !name.contains('\n'))?.to_owned();
        Some(MainFile { session, len: opened.bodies.stream(stream)?.len() as u64 })
    };
    let mut files = (0..).zip(&filters.files);
    (files.next().and_then(main_file), files.filter_map(main_file).collect())
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

/// What somebody said or thought; what tools say is not prose.
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

impl LineAt {
    fn of(place: antiphon_model::Place) -> Self {
        Self { stream: place.stream, offset: place.offset }
    }
}

impl RequestId {
    /// The same for every session that holds the request; `key` is the session's.
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

    pub(crate) fn of(words: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for word in words {
            hasher.update(&(word.len() as u64).to_le_bytes()).update(word.as_bytes());
        }
        let hash = hasher.finalize();
        let (first, _) = hash.as_bytes().split_first_chunk().unwrap_or((&[0; 16], &[]));
        Self(*first)
    }
}

impl Row {
    /// What is said of the session at a place.
    pub(crate) fn of(place: &Place, session: &Session, format: &str) -> Self {
        let info = session.info();
        let own = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
        let times = session.time_span();
        Self {
            key: place.key.clone(),
            origin: place.origin,
            stamp: place.stamp.clone(),
            session_id: own(&info.session_id).unwrap_or_else(|| place.key.to_string()),
            format: format.to_owned(),
            agent: own(&info.program).or_else(|| place.agent.clone()),
            title: own(&info.title),
            prompt: own(&info.prompt),
            project: own(&info.cwd),
            role: own(&info.role),
            issue: own(&info.issue),
            run_id: own(&info.run_id),
            started_at: times.map(|(first, _)| first),
            last_event_at: times.map(|(_, last)| last),
            end: info.end,
            is_answered: session.status_facts().is_answered,
            outcome: own(&info.outcome),
            events: session.len() as u64,
            agents: session.agents().len() as u64,
            calls: session.calls().len() as u64,
            problems: session.problems().len() as u64,
            main: None,
            parts: Vec::new(),
            is_part: false,
        }
    }
}
