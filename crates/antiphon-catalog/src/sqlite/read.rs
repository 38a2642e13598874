//! Sessions, each row checked.

use antiphon_model::{Status, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow};

use super::super::parts::{Holding, held};
use super::super::sum::Sum;
use super::super::{MainFile, Stamp};
use super::coded::{Coder, Decoder, Names};
use super::{CatalogError, Row};
use crate::{Key, Origin};

/// A session as it stands in its table.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) row: Row,
    pub(super) number: i64,
    /// The number of its first event; the others follow.
    pub(super) first_event: i64,
}

/// The columns that others ask for have names; the rest stands in `told`.
pub(super) const COLUMNS: &str = "number, key, origin, stamp, session_id, events, first_event, \
    told, main, parts, sum, is_part";

/// What is told of a session, as it stands in its row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told<'a> {
    pub(super) number: i64,
    pub(super) key: &'a str,
    origin: i64,
    stamp: i64,
    pub(super) session_id: &'a str,
    pub(super) events: i64,
    first_event: i64,
    pub(super) is_part: bool,
    main: Option<&'a str>,
    parts: Option<&'a str>,
    pub(super) words: Words<'a>,
}

/// What stands in the column `told`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Words<'a> {
    format: &'a str,
    pub(super) agent: Option<&'a str>,
    title: Option<&'a str>,
    prompt: Option<&'a str>,
    pub(super) project: Option<&'a str>,
    pub(super) role: Option<&'a str>,
    pub(super) issue: Option<&'a str>,
    run_id: Option<&'a str>,
    outcome: Option<&'a str>,
    pub(super) changed_at: i64,
    pub(super) started_at: Option<i64>,
    pub(super) last_event_at: Option<i64>,
    ended: u64,
    agents: u64,
    calls: u64,
    problems: u64,
}

impl<'a> Words<'a> {
    fn of(row: &'a Row) -> Self {
        let time = |time: Option<Timestamp>| time.map(Timestamp::as_millis);
        Self {
            format: &row.format,
            agent: row.agent.as_deref(),
            title: row.title.as_deref(),
            prompt: row.prompt.as_deref(),
            project: row.project.as_deref(),
            role: row.role.as_deref(),
            issue: row.issue.as_deref(),
            run_id: row.run_id.as_deref(),
            outcome: row.outcome.as_deref(),
            changed_at: row.changed_at.as_millis(),
            started_at: time(row.started_at),
            last_event_at: time(row.last_event_at),
            ended: ending(row),
            agents: row.agents,
            calls: row.calls,
            problems: row.problems,
        }
    }

    fn to_bytes(self) -> Vec<u8> {
        let (mut coder, mut names) = (Coder::default(), Names::default());
        coder.signed(self.changed_at);
        // They are near one another, mostly.
        let since = |time: Option<i64>| time.map(|time| time.wrapping_sub(self.changed_at));
        coder.optional(since(self.started_at)).optional(since(self.last_event_at));
        coder.number(self.ended).number(self.agents).number(self.calls).number(self.problems);
        for name in [Some(self.format), self.agent, self.project, self.role] {
            names.write(&mut coder, name);
        }
        for text in [self.title, self.prompt, self.issue, self.run_id, self.outcome] {
            coder.optional_text(text);
        }
        coder.finish()
    }

    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (mut from, mut names) = (Decoder(bytes), Names::default());
        let changed_at = from.signed()?;
        let since = |time: Option<i64>| time.map(|time| changed_at.wrapping_add(time));
        let words = Self {
            changed_at,
            started_at: since(from.optional()?),
            last_event_at: since(from.optional()?),
            ended: from.number()?,
            agents: from.number()?,
            calls: from.number()?,
            problems: from.number()?,
            format: names.read(&mut from)??,
            agent: names.read(&mut from)?,
            project: names.read(&mut from)?,
            role: names.read(&mut from)?,
            title: from.optional_text()?,
            prompt: from.optional_text()?,
            issue: from.optional_text()?,
            run_id: from.optional_text()?,
            outcome: from.optional_text()?,
        };
        from.is_empty().then_some(words)
    }
}

/// What a row is to have.
pub(super) struct Columns {
    pub(super) origin: i64,
    pub(super) stamp: i64,
    pub(super) told: Vec<u8>,
    pub(super) main: Option<String>,
    pub(super) parts: Option<String>,
    pub(super) sum: i64,
}

impl Columns {
    pub(super) fn of(row: &Row, number: i64, first_event: i64) -> Self {
        let told = Words::of(row).to_bytes();
        let (main, parts) = (main_column(row), parts_column(row));
        let (origin, stamp) = (origin(row.origin), row.stamp.0.cast_signed());
        let sum = sum_of(
            [number, origin, stamp, to_sql(row.events), first_event],
            [Some(row.key.as_str()), Some(&row.session_id), main.as_deref(), parts.as_deref()],
            &told,
        );
        Self { origin, stamp, told, main, parts, sum }
    }
}

/// Of all columns but the one that changes by itself.
fn sum_of(numbers: [i64; 5], texts: [Option<&str>; 4], told: &[u8]) -> i64 {
    let mut sum = Sum::default();
    for number in numbers {
        sum.number(Some(number));
    }
    for text in texts {
        sum.text(text);
    }
    sum.bytes(told).get()
}

impl<'a> Told<'a> {
    pub(super) fn read(sql: &'a SqlRow<'_>) -> Result<Self, CatalogError> {
        let text = |at: usize| sql.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
        let some_text =
            |at: usize| sql.get_ref(at)?.as_str_or_null().map_err(rusqlite::Error::from);
        let bytes = sql.get_ref(7)?.as_blob().map_err(rusqlite::Error::from)?;
        let (number, key) = (sql.get(0)?, text(1)?);
        let damaged = || CatalogError::Damaged(format!("the row of {key}"));
        let told = Self {
            number,
            key,
            origin: sql.get(2)?,
            stamp: sql.get(3)?,
            session_id: text(4)?,
            events: sql.get(5)?,
            first_event: sql.get(6)?,
            main: some_text(8)?,
            parts: some_text(9)?,
            is_part: sql.get::<_, i64>(11)? != 0,
            words: Words::read(bytes).ok_or_else(damaged)?,
        };
        let sum = sum_of(
            [number, told.origin, told.stamp, told.events, told.first_event],
            [Some(key), Some(told.session_id), told.main, told.parts],
            bytes,
        );
        match sql.get::<_, i64>(10)? == sum {
            true => Ok(told),
            false => Err(damaged()),
        }
    }

    pub(super) fn known(&self) -> Result<Known, CatalogError> {
        let damaged = || CatalogError::Damaged(format!("`{}` is not a key", self.key));
        let own = |text: Option<&str>| text.map(str::to_owned);
        let time = |millis: Option<i64>| millis.map(Timestamp::from_millis);
        let words = &self.words;
        let row = Row {
            key: Key::parse(self.key).ok_or_else(damaged)?,
            origin: if self.origin == 0 { Origin::Recorded } else { Origin::Archived },
            stamp: Stamp(self.stamp.cast_unsigned()),
            session_id: self.session_id.to_owned(),
            format: words.format.to_owned(),
            agent: own(words.agent),
            title: own(words.title),
            prompt: own(words.prompt),
            project: own(words.project),
            role: own(words.role),
            issue: own(words.issue),
            run_id: own(words.run_id),
            changed_at: Timestamp::from_millis(words.changed_at),
            started_at: time(words.started_at),
            last_event_at: time(words.last_event_at),
            end: end(words.ended & 15),
            is_answered: words.ended & ANSWERED != 0,
            outcome: own(words.outcome),
            events: u64::try_from(self.events).unwrap_or_default(),
            agents: words.agents,
            calls: words.calls,
            problems: words.problems,
            main: self.main.and_then(main_file),
            parts: self.parts.iter().flat_map(|it| main_files(it)).collect(),
            is_part: self.is_part,
        };
        Ok(Known { row, number: self.number, first_event: self.first_event })
    }

    /// What decides whether it is a part, if anything does.
    fn has_main(&self) -> bool {
        self.main.is_some()
    }
}

/// Tells of every session, in the order of their numbers.
pub(super) fn each_session(
    connection: &Connection,
    mut each: impl FnMut(&Told<'_>) -> Result<(), CatalogError>,
) -> Result<(), CatalogError> {
    let select = format!("SELECT {COLUMNS} FROM session ORDER BY number");
    let mut statement = connection.prepare_cached(&select)?;
    let mut rows = statement.query([])?;
    let (mut count, mut holding) = (0, Vec::new());
    while let Some(row) = rows.next()? {
        let told = Told::read(row)?;
        count += 1;
        if told.has_main() {
            holding.push(told.known()?);
        } else if told.is_part {
            return Err(wrong_parent(told.key));
        }
        each(&told)?;
    }
    // A row that its tree has lost would not be missed otherwise.
    if count != fact(connection, "sessions")?.unwrap_or_default() {
        return Err(CatalogError::Damaged("sessions are missing from it".to_owned()));
    }
    let parts = held(holding.iter().filter_map(Known::holding));
    match holding.iter().find(|it| it.row.is_part != parts.contains(&it.row.key)) {
        Some(wrong) => Err(wrong_parent(wrong.row.key.as_str())),
        None => Ok(()),
    }
}

fn wrong_parent(key: &str) -> CatalogError {
    CatalogError::Damaged(format!("the parent of {key}"))
}

/// Every session, in the order of their numbers.
pub(super) fn sessions(connection: &Connection) -> Result<Vec<Known>, CatalogError> {
    let mut known = Vec::new();
    each_session(connection, |told| {
        known.push(told.known()?);
        Ok(())
    })?;
    Ok(known)
}

pub(super) fn fact(connection: &Connection, name: &str) -> Result<Option<i64>, CatalogError> {
    let mut statement = connection.prepare_cached("SELECT value FROM fact WHERE name = ?1")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

pub(super) fn rows(connection: &Connection) -> Result<Vec<Row>, CatalogError> {
    Ok(sessions(connection)?.into_iter().map(|known| known.row).collect())
}

/// The session with that key.
pub(super) fn find(connection: &Connection, key: &Key) -> Result<Option<Known>, CatalogError> {
    let select = format!("SELECT {COLUMNS} FROM session WHERE key = ?1");
    let mut statement = connection.prepare_cached(&select)?;
    let mut rows = statement.query([key.as_str()])?;
    rows.next()?.map(|row| Told::read(row)?.known()).transpose()
}

/// The session with that number.
pub(super) fn numbered(connection: &Connection, number: i64) -> Result<Known, CatalogError> {
    let select = format!("SELECT {COLUMNS} FROM session WHERE number = ?1");
    let mut statement = connection.prepare_cached(&select)?;
    let mut rows = statement.query([number])?;
    match rows.next()? {
        Some(row) => Told::read(row)?.known(),
        None => Err(CatalogError::Damaged(format!("there is no session {number}"))),
    }
}

/// The numbers and keys of all sessions, in the order of the numbers.
pub(super) fn keys(connection: &Connection) -> Result<Vec<(i64, Key)>, CatalogError> {
    let stamps = stamps_of(connection)?;
    Ok(stamps.into_iter().map(|(number, key, _)| (number, key)).collect())
}

/// The key and the stamp of every session. What is wrong with them does not fit to what is kept, so
/// that the session is read again.
pub(super) fn stamps(connection: &Connection) -> Result<Vec<(Key, Stamp)>, CatalogError> {
    let stamps = stamps_of(connection)?;
    Ok(stamps.into_iter().map(|(_, key, stamp)| (key, stamp)).collect())
}

fn stamps_of(connection: &Connection) -> Result<Vec<(i64, Key, Stamp)>, CatalogError> {
    let select = "SELECT number, key, stamp FROM session ORDER BY number";
    let mut statement = connection.prepare_cached(select)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let key = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let damaged = || CatalogError::Damaged(format!("`{key}` is not a key"));
        let stamp = Stamp(row.get::<_, i64>(2)?.cast_unsigned());
        found.push((row.get(0)?, Key::parse(key).ok_or_else(damaged)?, stamp));
    }
    match fact(connection, "sessions")?.unwrap_or_default() == to_sql(found.len() as u64) {
        true => Ok(found),
        false => Err(CatalogError::Damaged("sessions are missing from it".to_owned())),
    }
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
fn main_column(row: &Row) -> Option<String> {
    row.main.as_ref().map(line)
}

/// The column of a session's parts; nothing, for none.
fn parts_column(row: &Row) -> Option<String> {
    (!row.parts.is_empty()).then(|| row.parts.iter().map(line).collect::<Vec<_>>().join("\n"))
}

impl Known {
    pub(super) fn holding(&self) -> Option<Holding<'_>> {
        let Row { key, format, main, parts, .. } = &self.row;
        Some(Holding { key, format, main: main.as_ref()?, parts })
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
const ANSWERED: u64 = 16;

/// How a session ended and whether it was answered, as one number; 0, if neither is known.
fn ending(row: &Row) -> u64 {
    let number = ENDS.iter().zip(1..).find(|(end, _)| row.end == Some(**end));
    number.map_or(0, |(_, number)| number) + if row.is_answered { ANSWERED } else { 0 }
}

fn end(number: u64) -> Option<Status> {
    ENDS.iter().zip(1..).find(|(_, known)| *known == number).map(|(end, _)| *end)
}

fn origin(origin: Origin) -> i64 {
    match origin {
        Origin::Recorded => 0,
        Origin::Archived => 1,
    }
}

/// SQLite has no larger numbers; nothing that is counted comes near.
pub(super) fn to_sql(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
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
