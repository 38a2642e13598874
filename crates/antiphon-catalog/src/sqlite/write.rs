//! Writing changes: all of them, or none.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_views::Prices;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::super::parts::held;
use super::super::{Record, RequestRow};
use super::read::{self, Columns, Known, Told, fact, to_sql};
use super::{CatalogError, Change, events, filters, requests, roll_up, tool_calls, words};

/// The name of the fact that says which state of the store the catalogue agrees with.
const MARK: &str = "mark";

pub(super) fn write(
    connection: &mut Connection,
    prices: &Prices,
    changes: &[Change],
) -> Result<(), CatalogError> {
    if changes.is_empty() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut writing = Writing::begin(&transaction)?;
    for change in changes {
        match change {
            Change::Replace(record) => writing.replace(record)?,
            Change::Remove(key) => drop(writing.remove(key.as_str())?),
        }
    }
    if changes.iter().any(|change| matches!(change, Change::Remove(_))) {
        // FTS5 only marks what was deleted, until it merges its segments.
        transaction.execute_batch("INSERT INTO words (words) VALUES ('optimize')")?;
    }
    writing.finish(prices)?;
    Ok(transaction.commit()?)
}

/// The state of a transaction.
struct Writing<'t> {
    transaction: &'t Transaction<'t>,
    next_number: i64,
    next_event: i64,
    /// Sessions that were put in, and have nothing in common with others so far.
    alone: BTreeMap<i64, &'t [RequestRow]>,
    /// Other sessions whose sums may have changed.
    touched: BTreeSet<i64>,
}

impl<'t> Writing<'t> {
    fn begin(transaction: &'t Transaction<'t>) -> Result<Self, CatalogError> {
        let select = "SELECT coalesce(max(number), 0) FROM session";
        let last: i64 = transaction.query_row(select, [], |row| row.get(0))?;
        let next_event = fact(transaction, "next_event")?.unwrap_or(1);
        let (alone, touched) = (BTreeMap::new(), BTreeSet::new());
        Ok(Self { transaction, next_number: last + 1, next_event, alone, touched })
    }

    fn replace(&mut self, record: &'t Record) -> Result<(), CatalogError> {
        let number = match self.remove(record.row.key.as_str())? {
            Some(number) => number,
            None => {
                self.next_number += 1;
                self.next_number - 1
            }
        };
        self.insert(record, number)?;
        match self.touch_kin(number, &record.requests)? {
            true => drop(self.touched.insert(number)),
            false => drop(self.alone.insert(number, &record.requests)),
        }
        Ok(())
    }

    /// Removes a session, if it is there, and returns its number.
    fn remove(&mut self, key: &str) -> Result<Option<i64>, CatalogError> {
        let select = "SELECT number, first_event, events FROM session WHERE key = ?1";
        let known = self.transaction.prepare_cached(select)?.query_row([key], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
        });
        let Some((number, first, count)) = known.optional()? else { return Ok(None) };
        self.touch_kin(number, &requests::read(self.transaction, number)?)?;
        self.touched.remove(&number);
        self.alone.remove(&number);
        events::remove(self.transaction, first, count)?;
        requests::remove(self.transaction, number)?;
        roll_up::remove(self.transaction, number)?;
        tool_calls::remove(self.transaction, number)?;
        filters::remove(self.transaction, number)?;
        let delete = "DELETE FROM session WHERE number = ?1";
        self.transaction.prepare_cached(delete)?.execute([number])?;
        Ok(Some(number))
    }

    /// Notes the sessions that are the same run, and those that have a request in common with this
    /// one or with them: a recording that no longer counts leaves its requests to others. Returns
    /// whether there are any.
    fn touch_kin(&mut self, number: i64, own: &[RequestRow]) -> Result<bool, CatalogError> {
        let mut kin = requests::sharers(self.transaction, number, own)?;
        let runs: Vec<i64> = self
            .transaction
            .prepare_cached(
                "SELECT run.number FROM session own
                 JOIN session run ON run.session_id = own.session_id
                 WHERE own.number = ?1 AND run.number <> ?1",
            )?
            .query_map([number], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for run in runs {
            let held = requests::read(self.transaction, run)?;
            kin.append(&mut requests::sharers(self.transaction, run, &held)?);
            kin.insert(run);
        }
        kin.remove(&number);
        let has_kin = !kin.is_empty();
        for other in kin {
            self.alone.remove(&other);
            self.touched.insert(other);
        }
        Ok(has_kin)
    }

    fn insert(&mut self, record: &Record, number: i64) -> Result<(), CatalogError> {
        let first_event = self.next_event;
        self.next_event += to_sql(record.events.len() as u64);
        let row = &record.row;
        let columns = Columns::of(row, number, first_event);
        let insert = format!(
            "INSERT INTO session ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            read::COLUMNS
        );
        self.transaction.prepare_cached(&insert)?.execute(params![
            number,
            row.key.as_str(),
            columns.origin,
            columns.stamp,
            row.session_id,
            to_sql(row.events),
            first_event,
            columns.told,
            columns.main,
            columns.parts,
            columns.sum,
            // Which sessions are parts of others is worked out when all of them are there.
            0,
        ])?;
        events::insert(self.transaction, &record.events, first_event)?;
        requests::insert(self.transaction, number, &record.requests)?;
        tool_calls::insert(self.transaction, number, &record.tool_calls)?;
        filters::insert(self.transaction, number, record)
    }

    /// Counts again whatever may have changed, and updates the number of sessions.
    fn finish(mut self, prices: &Prices) -> Result<(), CatalogError> {
        for number in mark_parts(self.transaction)? {
            self.touch_kin(number, &requests::read(self.transaction, number)?)?;
            self.alone.remove(&number);
            self.touched.insert(number);
        }
        for (number, own) in &self.alone {
            roll_up::count_alone(self.transaction, prices, *number, own)?;
        }
        for number in &self.touched {
            roll_up::count(self.transaction, prices, *number)?;
        }
        let select = "SELECT count(*) FROM session";
        let count: i64 = self.transaction.query_row(select, [], |row| row.get(0))?;
        set_fact(self.transaction, "sessions", count)?;
        set_fact(self.transaction, "next_event", self.next_event)?;
        remove_fact(self.transaction, MARK)?;
        words::unseal(self.transaction)
    }
}

pub(super) fn set_fact(
    transaction: &Transaction<'_>,
    name: &str,
    value: i64,
) -> Result<(), CatalogError> {
    let mut put =
        transaction.prepare_cached("INSERT OR REPLACE INTO fact (name, value) VALUES (?1, ?2)")?;
    put.execute(params![name, value])?;
    Ok(())
}

pub(super) fn remove_fact(transaction: &Transaction<'_>, name: &str) -> Result<(), CatalogError> {
    transaction.prepare_cached("DELETE FROM fact WHERE name = ?1")?.execute([name])?;
    Ok(())
}

pub(super) fn mark(connection: &Connection) -> Result<Option<u64>, CatalogError> {
    Ok(fact(connection, MARK)?.map(i64::cast_unsigned))
}

pub(super) fn set_mark(connection: &mut Connection, mark: u64) -> Result<(), CatalogError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    set_fact(&transaction, MARK, mark.cast_signed())?;
    Ok(transaction.commit()?)
}

/// Updates which sessions are parts of others, and returns those for which that has changed.
fn mark_parts(transaction: &Transaction<'_>) -> Result<Vec<i64>, CatalogError> {
    let select = format!("SELECT {} FROM session WHERE main IS NOT NULL", read::COLUMNS);
    let mut statement = transaction.prepare_cached(&select)?;
    let mut rows = statement.query([])?;
    let mut known = Vec::new();
    while let Some(row) = rows.next()? {
        known.push(Told::read(row)?.known()?);
    }
    let parts = held(known.iter().filter_map(Known::holding));
    let mut update =
        transaction.prepare_cached("UPDATE session SET is_part = ?2 WHERE number = ?1")?;
    let mut changed = Vec::new();
    for known in &known {
        let is_part = parts.contains(&known.row.key);
        if is_part != known.row.is_part {
            update.execute(params![known.number, i64::from(is_part)])?;
            changed.push(known.number);
        }
    }
    Ok(changed)
}
