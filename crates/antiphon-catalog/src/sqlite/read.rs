//! Sessions and events, each row checked.

use std::collections::BTreeMap;

use antiphon_model::{Status, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow};

use super::super::parts::{Holding, held};
use super::super::sum::Sum;
use super::super::{MainFile, Stamp};
use super::{CatalogError, EventQuery, LineAt, Row};
use crate::{Key, Origin};

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

/// A session as it stands in its table.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) row: Row,
    pub(super) number: i64,
    /// The number of its first event; the others follow.
    pub(super) first_event: i64,
    pub(super) requests_sum: i64,
    pub(super) roll_up_sum: i64,
}

pub(super) const COLUMNS: &str = "number, key, origin, stamp, session_id, format, agent, title, \
    prompt, project, role, issue, run_id, started_at, last_event_at, ended, outcome, events, \
    agents, calls, problems, first_event, sum, requests_sum, roll_up_sum, main, parts, is_part";

/// Every session, in the order of their numbers.
pub(super) fn sessions(connection: &Connection) -> Result<Vec<Known>, CatalogError> {
    let select = format!("SELECT {COLUMNS} FROM session ORDER BY number");
    let mut statement = connection.prepare_cached(&select)?;
    let mut rows = statement.query([])?;
    let count = fact(connection, "sessions")?.unwrap_or_default();
    // What it says may be wrong: then this is no more than a guess.
    let most = usize::try_from(count).unwrap_or_default().min(1 << 20);
    let mut known = Vec::with_capacity(most);
    while let Some(row) = rows.next()? {
        known.push(session(row)?);
    }
    // A row that its tree has lost would not be missed otherwise.
    if count != to_sql(known.len() as u64) {
        return Err(CatalogError::Damaged("sessions are missing from it".to_owned()));
    }
    let parts = held(known.iter().filter_map(Known::holding));
    if let Some(wrong) = known.iter().find(|it| it.row.is_part != parts.contains(&it.row.key)) {
        return Err(CatalogError::Damaged(format!("the parent of {}", wrong.row.key)));
    }
    Ok(known)
}

pub(super) fn fact(connection: &Connection, name: &str) -> Result<Option<i64>, CatalogError> {
    let mut statement = connection.prepare_cached("SELECT value FROM fact WHERE name = ?1")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

pub(super) fn rows(connection: &Connection) -> Result<Vec<Row>, CatalogError> {
    Ok(sessions(connection)?.into_iter().map(|known| known.row).collect())
}

pub(super) fn session(sql: &SqlRow<'_>) -> Result<Known, CatalogError> {
    let time = |at: usize| -> rusqlite::Result<Option<Timestamp>> {
        Ok(sql.get::<_, Option<i64>>(at)?.map(Timestamp::from_millis))
    };
    let count =
        |at: usize| Ok::<_, rusqlite::Error>(u64::try_from(sql.get::<_, i64>(at)?).unwrap_or(0));
    let key: String = sql.get(1)?;
    let Some(key) = Key::parse(&key) else {
        return Err(CatalogError::Damaged(format!("`{key}` is not a key")));
    };
    let row = Row {
        key,
        origin: if sql.get::<_, i64>(2)? == 0 { Origin::Recorded } else { Origin::Archived },
        stamp: Stamp(sql.get(3)?),
        session_id: sql.get(4)?,
        format: sql.get(5)?,
        agent: sql.get(6)?,
        title: sql.get(7)?,
        prompt: sql.get(8)?,
        project: sql.get(9)?,
        role: sql.get(10)?,
        issue: sql.get(11)?,
        run_id: sql.get(12)?,
        started_at: time(13)?,
        last_event_at: time(14)?,
        end: end(sql.get::<_, i64>(15)? & 15),
        is_answered: sql.get::<_, i64>(15)? & ANSWERED != 0,
        outcome: sql.get(16)?,
        events: count(17)?,
        agents: count(18)?,
        calls: count(19)?,
        problems: count(20)?,
        main: sql.get::<_, Option<String>>(25)?.as_deref().and_then(main_file),
        parts: sql.get::<_, Option<String>>(26)?.iter().flat_map(|it| main_files(it)).collect(),
        is_part: sql.get::<_, i64>(27)? != 0,
    };
    let known = Known {
        row,
        number: sql.get(0)?,
        first_event: sql.get(21)?,
        requests_sum: sql.get(23)?,
        roll_up_sum: sql.get(24)?,
    };
    if sql.get::<_, i64>(22)? != known.sum() {
        return Err(CatalogError::Damaged(format!("the row of {}", known.row.key)));
    }
    Ok(known)
}

fn main_file(line: &str) -> Option<MainFile> {
    let (len, session) = line.split_once(' ')?;
    Some(MainFile { session: session.to_owned(), len: len.parse().ok()? })
}

fn main_files(column: &str) -> impl Iterator<Item = MainFile> {
    column.split('\n').filter_map(main_file)
}

fn line(file: &MainFile) -> String {
    format!("{} {}", file.len, file.session)
}

/// The column of a session's main file; nothing, for none.
pub(super) fn main_column(row: &Row) -> Option<String> {
    row.main.as_ref().map(line)
}

/// The column of a session's parts; nothing, for none.
pub(super) fn parts_column(row: &Row) -> Option<String> {
    (!row.parts.is_empty()).then(|| row.parts.iter().map(line).collect::<Vec<_>>().join("\n"))
}

impl Known {
    pub(super) fn holding(&self) -> Option<Holding<'_>> {
        let Row { key, format, main, parts, .. } = &self.row;
        Some(Holding { key, format, main: main.as_ref()?, parts })
    }

    /// Of all columns but the sums of what changes by itself.
    pub(super) fn sum(&self) -> i64 {
        let row = &self.row;
        let time = |time: Option<Timestamp>| time.map(Timestamp::as_millis);
        let mut sum = Sum::default();
        sum.number(Some(self.number)).number(Some(self.first_event));
        sum.number(Some(self.requests_sum)).text(Some(row.key.as_str()));
        sum.number(Some(origin(row.origin))).text(Some(&row.stamp.0));
        sum.text(Some(&row.session_id)).text(Some(&row.format));
        let words = [
            &row.agent,
            &row.title,
            &row.prompt,
            &row.project,
            &row.role,
            &row.issue,
            &row.run_id,
            &row.outcome,
        ];
        for word in words {
            sum.text(word.as_deref());
        }
        sum.number(time(row.started_at)).number(time(row.last_event_at));
        sum.number(Some(ending(row)));
        for count in [row.events, row.agents, row.calls, row.problems] {
            sum.number(Some(to_sql(count)));
        }
        sum.text(main_column(row).as_deref()).text(parts_column(row).as_deref());
        sum.get()
    }
}

/// Every way in which a session may end, by its number in the catalogue.
const ENDS: [Status; 6] = [
    Status::Completed,
    Status::Failed,
    Status::TimedOut,
    Status::Cancelled,
    Status::Interrupted,
    Status::Running,
];

/// Added to the number of an end where the last message is an answer.
const ANSWERED: i64 = 16;

/// How a session ended and whether it was answered, as one number; 0, if neither is known.
pub(super) fn ending(row: &Row) -> i64 {
    let number = ENDS.iter().zip(1..).find(|(end, _)| row.end == Some(**end));
    number.map_or(0, |(_, number)| number) + if row.is_answered { ANSWERED } else { 0 }
}

fn end(number: i64) -> Option<Status> {
    ENDS.iter().zip(1..).find(|(_, known)| *known == number).map(|(end, _)| *end)
}

pub(super) fn origin(origin: Origin) -> i64 {
    match origin {
        Origin::Recorded => 0,
        Origin::Archived => 1,
    }
}

/// SQLite has no larger numbers; nothing that is counted comes near.
pub(super) fn to_sql(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// An event of its table. Its words are elsewhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventFields<'a> {
    pub(super) number: i64,
    pub(super) id: &'a str,
    pub(super) position: i64,
    pub(super) stream: Option<i64>,
    pub(super) offset: Option<i64>,
    pub(super) agent: Option<&'a str>,
    pub(super) at: Option<i64>,
    pub(super) kind: &'a str,
    pub(super) tool: Option<&'a str>,
    pub(super) is_error: bool,
}

impl<'a> EventFields<'a> {
    fn read(row: &'a SqlRow<'_>) -> Result<Self, CatalogError> {
        let text = |at: usize| row.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
        let some_text =
            |at: usize| row.get_ref(at)?.as_str_or_null().map_err(rusqlite::Error::from);
        let fields = Self {
            number: row.get(0)?,
            id: text(1)?,
            position: row.get(2)?,
            stream: row.get(3)?,
            offset: row.get(4)?,
            agent: some_text(5)?,
            at: row.get(6)?,
            kind: text(7)?,
            tool: some_text(8)?,
            is_error: row.get::<_, i64>(9)? != 0,
        };
        if fields.sum() != row.get::<_, i64>(10)? {
            return Err(CatalogError::Damaged(format!("the row of event {}", fields.number)));
        }
        Ok(fields)
    }

    /// Four bytes: there are many of them.
    pub(super) fn sum(&self) -> i64 {
        let mut sum = Sum::default();
        sum.number(Some(self.number)).number(Some(self.position)).text(Some(self.id));
        sum.number(self.stream).number(self.offset).text(self.agent);
        sum.number(self.at).text(Some(self.kind)).text(self.tool);
        sum.number(Some(i64::from(self.is_error)));
        sum.get() & 0x7fff_ffff
    }

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

const EVENT_COLUMNS: &str =
    "number, id, position, stream, offset, agent, at, kind, tool, is_error, sum";

/// The id of the event with that number.
pub(super) fn event_id(connection: &Connection, number: i64) -> Result<String, CatalogError> {
    let select = format!("SELECT {EVENT_COLUMNS} FROM event WHERE number = ?1");
    let mut statement = connection.prepare_cached(&select)?;
    let mut rows = statement.query([number])?;
    match rows.next()? {
        Some(row) => Ok(EventFields::read(row)?.id.to_owned()),
        None => Err(CatalogError::Damaged(format!("there is no event {number}"))),
    }
}

pub(super) fn events_at(
    connection: &Connection,
    session: &Key,
    lines: &[LineAt],
) -> Result<Vec<EventAt>, CatalogError> {
    let select = format!("SELECT {COLUMNS} FROM session WHERE key = ?1");
    let mut statement = connection.prepare_cached(&select)?;
    let mut rows = statement.query([session.as_str()])?;
    let Some(known) = rows.next()?.map(self::session).transpose()? else { return Ok(Vec::new()) };
    let select = format!("SELECT {EVENT_COLUMNS} FROM event WHERE number >= ?1 AND number < ?2");
    let mut statement = connection.prepare_cached(&select)?;
    let end = known.first_event.saturating_add(to_sql(known.row.events));
    let mut rows = statement.query([known.first_event, end])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let place: (Option<i64>, Option<i64>) = (row.get(3)?, row.get(4)?);
        let is_this =
            |line: &&LineAt| place == (Some(i64::from(line.stream)), Some(to_sql(line.offset)));
        let Some(&line) = lines.iter().find(is_this) else { continue };
        let event = EventFields::read(row)?;
        found.push(EventAt {
            line,
            position: u64::try_from(event.position).unwrap_or_default(),
            id: event.id.to_owned(),
            agent: event.agent.map(str::to_owned),
            at: event.at.map(Timestamp::from_millis),
            kind: event.kind.to_owned(),
            tool: event.tool.map(str::to_owned),
        });
    }
    Ok(found)
}

pub(super) fn sessions_with(
    connection: &Connection,
    query: &EventQuery,
) -> Result<Vec<(Key, u64)>, CatalogError> {
    let sessions = sessions(connection)?;
    let select = format!("SELECT {EVENT_COLUMNS} FROM event");
    let mut statement = connection.prepare_cached(&select)?;
    let mut rows = statement.query([])?;
    let mut by_first: Vec<&Known> = sessions.iter().collect();
    by_first.sort_by_key(|known| known.first_event);
    let mut seen: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let event = EventFields::read(row)?;
        let owner = owner(&by_first, event.number)?;
        let (all, wanted) = seen.entry(owner.number).or_default();
        *all += 1;
        *wanted += u64::from(event.is_wanted(query));
    }
    let mut found = Vec::new();
    for known in &sessions {
        let (all, wanted) = seen.get(&known.number).copied().unwrap_or_default();
        if all != known.row.events {
            return Err(CatalogError::Damaged(format!("events of {} are missing", known.row.key)));
        }
        if wanted > 0 {
            found.push((known.row.key.clone(), wanted));
        }
    }
    Ok(found)
}

/// The session of an event, by its number.
pub(super) fn owner<'k>(by_first: &[&'k Known], event: i64) -> Result<&'k Known, CatalogError> {
    let after = by_first.partition_point(|known| known.first_event <= event);
    let owner = after.checked_sub(1).and_then(|at| by_first.get(at)).copied();
    let is_its = |known: &&Known| event - known.first_event < to_sql(known.row.events);
    owner
        .filter(is_its)
        .ok_or_else(|| CatalogError::Damaged(format!("event {event} belongs to no session")))
}
