//! The events of sessions, many in one row: one for each would take several times the room, and
//! nobody asks for one without its session.
//!
//! A row has up to [`AT_ONCE`] events that follow one another, each told by what is another than in
//! the one before it, and a checksum over all of them.

use antiphon_model::Timestamp;
use rusqlite::{CachedStatement, Connection, Row as SqlRow, Transaction, params};

use super::super::sum::Sum;
use super::super::{EventQuery, EventRow};
use super::coded::{Coder, Decoder, Names};
use super::read::{self, Known, to_sql};
use super::uuid::{self, uuid};
use super::{CatalogError, LineAt};
use crate::Key;

/// So many events have a row together: whoever asks for one reads the others before it.
const AT_ONCE: usize = 256;

/// An event that was found by its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EventAt {
    pub(super) line: LineAt,
    /// Where it stands in the session.
    pub(super) position: u64,
    pub(super) id: String,
    pub(super) agent: Option<String>,
    pub(super) at: Option<Timestamp>,
    pub(super) kind: String,
    pub(super) tool: Option<String>,
}

/// An event. Its words are elsewhere.
#[derive(Debug, Clone, Copy, Default)]
struct Event<'a> {
    line: Option<LineAt>,
    agent: Option<&'a str>,
    at: Option<i64>,
    kind: &'a str,
    tool: Option<&'a str>,
    is_error: bool,
}

const IS_ERROR: u64 = 1;
const HAS_LINE: u64 = 2;
const HAS_TIME: u64 = 4;

/// Writes the events of a session, whose numbers begin with this one.
pub(super) fn insert(
    transaction: &Transaction<'_>,
    events: &[EventRow],
    first: i64,
) -> Result<(), CatalogError> {
    let mut insert =
        transaction.prepare_cached("INSERT INTO event (first, events, sum) VALUES (?1, ?2, ?3)")?;
    let mut say = transaction.prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?;
    for (first, chunk) in (first..).step_by(AT_ONCE).zip(events.chunks(AT_ONCE)) {
        let bytes = coded(chunk);
        insert.execute(params![first, bytes, sum(first, &bytes)])?;
    }
    for (number, event) in (first..).zip(events) {
        if let Some(prose) = &event.prose {
            say.execute(params![number, prose])?;
        }
    }
    Ok(())
}

/// Removes so many events from this number on, which are all of a session.
pub(super) fn remove(
    transaction: &Transaction<'_>,
    first: i64,
    count: i64,
) -> Result<(), CatalogError> {
    let numbers = params![first, first.saturating_add(count)];
    for delete in [
        "DELETE FROM words WHERE rowid >= ?1 AND rowid < ?2",
        "DELETE FROM event WHERE first >= ?1 AND first < ?2",
    ] {
        transaction.prepare_cached(delete)?.execute(numbers)?;
    }
    Ok(())
}

fn coded(events: &[EventRow]) -> Vec<u8> {
    let mut coder = Coder::default();
    let mut names = Names::default();
    let (mut id, mut line, mut time) = ("", LineAt { stream: 0, offset: 0 }, 0);
    for event in events {
        write_id(&mut coder, id, &event.id);
        id = &event.id;
        let at = event.at.map(Timestamp::as_millis);
        let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
        coder.number(
            flag(event.is_error, IS_ERROR)
                | flag(event.line.is_some(), HAS_LINE)
                | flag(at.is_some(), HAS_TIME),
        );
        if let Some(own) = event.line {
            coder.number(own.stream.into());
            coder.signed(own.offset.wrapping_sub(line.offset).cast_signed());
            line = own;
        }
        if let Some(own) = at {
            coder.signed(own.wrapping_sub(time));
            time = own;
        }
        for name in [event.agent.as_deref(), Some(event.kind), event.tool.as_deref()] {
            names.write(&mut coder, name);
        }
    }
    coder.finish()
}

/// An id: a UUID as its number, another one by what it has in common with the one before it.
fn write_id(coder: &mut Coder, before: &str, id: &str) {
    if let Some(number) = uuid(id) {
        coder.number(0).bytes(&number.to_le_bytes());
        return;
    }
    let mut same = before.bytes().zip(id.bytes()).take_while(|(a, b)| a == b).count();
    while !id.is_char_boundary(same) {
        same -= 1;
    }
    coder.number(same as u64 + 1).text(id.get(same..).unwrap_or_default());
}

/// Puts the next id into the place of the one before it.
fn read_id(decoder: &mut Decoder<'_>, id: &mut String) -> Option<()> {
    match usize::try_from(decoder.number()?).ok()?.checked_sub(1) {
        None => {
            id.clear();
            uuid::push(id, u128::from_le_bytes(decoder.chunk()?));
        }
        Some(same) => {
            id.get(..same)?;
            id.truncate(same);
            id.push_str(decoder.text()?);
        }
    }
    Some(())
}

/// Reads events one after the other.
struct Events<'a> {
    decoder: Decoder<'a>,
    names: Names<'a>,
    /// The id of the one that was read last.
    id: String,
    line: LineAt,
    time: i64,
    /// The number of the next one.
    number: i64,
}

impl<'a> Events<'a> {
    fn new(first: i64, bytes: &'a [u8]) -> Self {
        let line = LineAt { stream: 0, offset: 0 };
        let (decoder, names) = (Decoder(bytes), Names::default());
        Self { decoder, names, id: String::new(), line, time: 0, number: first }
    }

    /// The events of a row: `first`, `events` and `sum`, in this order.
    fn of_row(row: &'a SqlRow<'_>) -> Result<Self, CatalogError> {
        let first: i64 = row.get(0)?;
        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        match row.get::<_, i64>(2)? == sum(first, bytes) {
            true => Ok(Self::new(first, bytes)),
            false => Err(damaged(first)),
        }
    }

    fn next(&mut self) -> Result<Option<Event<'a>>, CatalogError> {
        if self.decoder.is_empty() {
            return Ok(None);
        }
        let event = self.read().ok_or_else(|| damaged(self.number))?;
        self.number = self.number.saturating_add(1);
        Ok(Some(event))
    }

    fn read(&mut self) -> Option<Event<'a>> {
        let decoder = &mut self.decoder;
        read_id(decoder, &mut self.id)?;
        let flags = decoder.number()?;
        let mut event = Event { is_error: flags & IS_ERROR != 0, ..Event::default() };
        if flags & HAS_LINE != 0 {
            let stream = u32::try_from(decoder.number()?).ok()?;
            let offset = self.line.offset.wrapping_add(decoder.signed()?.cast_unsigned());
            self.line = LineAt { stream, offset };
            event.line = Some(self.line);
        }
        if flags & HAS_TIME != 0 {
            self.time = self.time.wrapping_add(decoder.signed()?);
            event.at = Some(self.time);
        }
        event.agent = self.names.read(decoder)?;
        event.kind = self.names.read(decoder)??;
        event.tool = self.names.read(decoder)?;
        Some(event)
    }
}

fn sum(first: i64, bytes: &[u8]) -> i64 {
    Sum::default().number(Some(first)).bytes(bytes).get()
}

fn damaged(event: i64) -> CatalogError {
    CatalogError::Damaged(format!("the row of event {event}"))
}

impl Event<'_> {
    fn is_wanted(&self, query: &EventQuery) -> bool {
        let at = self.at.map(Timestamp::from_millis);
        query.since.is_none_or(|since| at.is_some_and(|at| at >= since))
            && query.until.is_none_or(|until| at.is_some_and(|at| at < until))
            && query.kind.as_ref().is_none_or(|kind| self.kind == *kind)
            && (!query.is_error || self.is_error)
            && query
                .tool
                .as_ref()
                .is_none_or(|tool| self.tool.is_some_and(|own| own.to_lowercase() == *tool))
    }
}

/// The id of the event with that number.
pub(super) fn id(connection: &Connection, number: i64) -> Result<String, CatalogError> {
    let mut statement = connection.prepare_cached(
        "SELECT first, events, sum FROM event WHERE first <= ?1 ORDER BY first DESC LIMIT 1",
    )?;
    let mut rows = statement.query([number])?;
    if let Some(row) = rows.next()? {
        let mut events = Events::of_row(row)?;
        while events.next()?.is_some() {
            if events.number > number {
                return Ok(events.id);
            }
        }
    }
    Err(CatalogError::Damaged(format!("there is no event {number}")))
}

pub(super) fn at_lines(
    connection: &Connection,
    session: &Key,
    lines: &[LineAt],
) -> Result<Vec<EventAt>, CatalogError> {
    let Some(known) = read::find(connection, session)? else { return Ok(Vec::new()) };
    let mut statement = all_of(connection)?;
    let mut rows = statement.query([known.first_event, known.end()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut events = Events::of_row(row)?;
        while let Some(event) = events.next()? {
            let Some(line) = event.line.filter(|line| lines.contains(line)) else { continue };
            let position = events.number - 1 - known.first_event;
            found.push(EventAt {
                line,
                position: u64::try_from(position).unwrap_or_default(),
                id: events.id.clone(),
                agent: event.agent.map(str::to_owned),
                at: event.at.map(Timestamp::from_millis),
                kind: event.kind.to_owned(),
                tool: event.tool.map(str::to_owned),
            });
        }
    }
    Ok(found)
}

/// The sessions with such events, and how many each has.
pub(super) fn sessions_with(
    connection: &Connection,
    query: &EventQuery,
) -> Result<Vec<(Key, u64)>, CatalogError> {
    let mut statement = all_of(connection)?;
    let mut found = Vec::new();
    for known in read::sessions(connection)? {
        let mut rows = statement.query([known.first_event, known.end()])?;
        let (mut all, mut wanted) = (0, 0);
        while let Some(row) = rows.next()? {
            let mut events = Events::of_row(row)?;
            while let Some(event) = events.next()? {
                all += 1;
                wanted += u64::from(event.is_wanted(query));
            }
        }
        if all != known.row.events {
            return Err(CatalogError::Damaged(format!("events of {} are missing", known.row.key)));
        }
        if wanted > 0 {
            found.push((known.row.key, wanted));
        }
    }
    Ok(found)
}

/// The rows from one number to another.
fn all_of(connection: &Connection) -> Result<CachedStatement<'_>, CatalogError> {
    let select = "SELECT first, events, sum FROM event WHERE first >= ?1 AND first < ?2
                  ORDER BY first";
    Ok(connection.prepare_cached(select)?)
}

impl Known {
    /// The number after its last event.
    fn end(&self) -> i64 {
        self.first_event.saturating_add(to_sql(self.row.events))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &str, line: Option<(u32, u64)>, at: Option<i64>, tool: Option<&str>) -> EventRow {
        EventRow {
            id: id.to_owned(),
            line: line.map(|(stream, offset)| LineAt { stream, offset }),
            agent: tool.map(|_| "main".to_owned()),
            at: at.map(Timestamp::from_millis),
            kind: "assistant",
            tool: tool.map(str::to_owned),
            is_error: tool.is_some(),
            prose: None,
        }
    }

    #[test]
    fn events_come_back_as_they_were_whatever_their_ids_and_places() {
        let uuid = "0f0e0d0c-0b0a-4909-8807-060504030201";
        let put = [
            event(uuid, Some((0, 9)), Some(1_767_225_600_000), Some("Bash")),
            event(&format!("{uuid}#2"), Some((0, 9)), Some(1_767_225_600_000), None),
            event(&uuid.to_uppercase(), Some((3, u64::MAX)), None, Some("Read")),
            event("", None, Some(i64::MIN), Some("Bash")),
            event("naïve", Some((u32::MAX, 0)), Some(i64::MAX), None),
            event("naüve", None, None, None),
            event("0f0e0d0c-0b0a-4909-8807-06050403020-", None, None, None),
            event("ffffffff-ffff-ffff-ffff-ffffffffffff", None, Some(0), None),
        ];
        let bytes = coded(&put);
        let mut events = Events::new(7, &bytes);
        for (number, wanted) in (8..).zip(&put) {
            let event = events.next().unwrap().unwrap();
            assert_eq!((events.number, &events.id), (number, &wanted.id));
            assert_eq!((event.line, event.agent), (wanted.line, wanted.agent.as_deref()));
            assert_eq!(event.at.map(Timestamp::from_millis), wanted.at);
            let seen = (event.kind, event.tool, event.is_error);
            assert_eq!(seen, (wanted.kind, wanted.tool.as_deref(), wanted.is_error));
        }
        assert!(events.next().unwrap().is_none());
    }
}
