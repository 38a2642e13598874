//! Changes: all of them, or none.

use std::collections::BTreeSet;

use antiphon_model::Timestamp;
use antiphon_views::Prices;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::super::parts::held;
use super::super::sum::Sum;
use super::super::{Record, RequestRow};
use super::read::{self, EventFields, Known, fact, to_sql};
use super::{CatalogError, Change, filters, roll_up, words};

pub(super) fn write(
    connection: &mut Connection,
    prices: &Prices,
    changes: &[Change],
) -> Result<(), CatalogError> {
    if changes.is_empty() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Sessions whose sums may be others now.
    let mut touched = BTreeSet::new();
    for change in changes {
        match change {
            Change::Replace(record) => {
                let number = remove(&transaction, record.row.key.as_str(), &mut touched)?;
                let number = match number {
                    Some(number) => number,
                    None => 1 + last_number(&transaction)?,
                };
                insert(&transaction, record, number)?;
                touched.insert(number);
                add_kin(&transaction, number, &mut touched)?;
            }
            Change::Remove(key) => {
                if let Some(number) = remove(&transaction, key.as_str(), &mut touched)? {
                    touched.remove(&number);
                }
            }
        }
    }
    if changes.iter().any(|change| matches!(change, Change::Remove(_))) {
        // FTS5 only marks what was deleted, until it merges its segments.
        transaction.execute_batch("INSERT INTO words (words) VALUES ('optimize')")?;
    }
    for number in mark_parts(&transaction)? {
        touched.insert(number);
        add_kin(&transaction, number, &mut touched)?;
    }
    for number in touched {
        roll_up::count(&transaction, prices, number)?;
    }
    let count: i64 = transaction.query_row("SELECT count(*) FROM session", [], |row| row.get(0))?;
    set_fact(&transaction, "sessions", count)?;
    words::unseal(&transaction)?;
    Ok(transaction.commit()?)
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

fn last_number(transaction: &Transaction<'_>) -> Result<i64, CatalogError> {
    let last =
        transaction.query_row("SELECT coalesce(max(number), 0) FROM session", [], |row| row.get(0));
    Ok(last?)
}

/// Removes a session, if it is there, and gives its number.
fn remove(
    transaction: &Transaction<'_>,
    key: &str,
    touched: &mut BTreeSet<i64>,
) -> Result<Option<i64>, CatalogError> {
    let select = "SELECT number, first_event, events FROM session WHERE key = ?1";
    let known = transaction.prepare_cached(select)?.query_row([key], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    });
    let Some((number, first, events)) = known.optional()? else { return Ok(None) };
    add_kin(transaction, number, touched)?;
    let events = params![first, first.saturating_add(events)];
    for delete in [
        "DELETE FROM words WHERE rowid >= ?1 AND rowid < ?2",
        "DELETE FROM event WHERE number >= ?1 AND number < ?2",
    ] {
        transaction.prepare_cached(delete)?.execute(events)?;
    }
    for delete in [
        "DELETE FROM request WHERE session = ?1",
        "DELETE FROM roll_up WHERE session = ?1",
        "DELETE FROM session WHERE number = ?1",
    ] {
        transaction.prepare_cached(delete)?.execute([number])?;
    }
    filters::remove(transaction, number)?;
    Ok(Some(number))
}

/// The sessions that are the same run, and those that hold a request of this one or of them: a
/// recording that does not count any more gives its requests to others.
fn add_kin(
    transaction: &Transaction<'_>,
    number: i64,
    kin: &mut BTreeSet<i64>,
) -> Result<(), CatalogError> {
    for select in [
        "SELECT run.number FROM session own JOIN session run ON run.session_id = own.session_id
         WHERE own.number = ?1 AND run.number <> ?1",
        "SELECT other.session FROM session own
         JOIN session run ON run.session_id = own.session_id
         JOIN request held ON held.session = run.number
         JOIN request other ON other.id = held.id AND other.session <> held.session
         WHERE own.number = ?1 AND other.session <> ?1",
    ] {
        let mut statement = transaction.prepare_cached(select)?;
        for other in statement.query_map([number], |row| row.get(0))? {
            kin.insert(other?);
        }
    }
    Ok(())
}

/// Notes which sessions are parts of others now, and gives those of which that has changed.
fn mark_parts(transaction: &Transaction<'_>) -> Result<Vec<i64>, CatalogError> {
    let select = format!("SELECT {} FROM session WHERE main IS NOT NULL", read::COLUMNS);
    let mut statement = transaction.prepare_cached(&select)?;
    let mut rows = statement.query([])?;
    let mut known = Vec::new();
    while let Some(row) = rows.next()? {
        known.push(read::session(row)?);
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

fn insert(transaction: &Transaction<'_>, record: &Record, number: i64) -> Result<(), CatalogError> {
    let first_event = fact(transaction, "next_event")?.unwrap_or(1);
    set_fact(transaction, "next_event", first_event + to_sql(record.events.len() as u64))?;
    let known = Known {
        row: record.row.clone(),
        number,
        first_event,
        requests_sum: requests_sum(&record.requests),
        roll_up_sum: 0,
    };
    let row = &known.row;
    let time = |time: Option<Timestamp>| time.map(Timestamp::as_millis);
    let insert = format!(
        "INSERT INTO session ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, \
         ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28)",
        read::COLUMNS
    );
    transaction.prepare_cached(&insert)?.execute(params![
        number,
        row.key.as_str(),
        read::origin(row.origin),
        row.stamp.0,
        row.session_id,
        row.format,
        row.agent,
        row.title,
        row.prompt,
        row.project,
        row.role,
        row.issue,
        row.run_id,
        time(row.started_at),
        time(row.last_event_at),
        read::ending(row),
        row.outcome,
        to_sql(row.events),
        to_sql(row.agents),
        to_sql(row.calls),
        to_sql(row.problems),
        first_event,
        known.sum(),
        known.requests_sum,
        known.roll_up_sum,
        read::main_column(row),
        read::parts_column(row),
        // Who holds whom is noted when all of them are there.
        0,
    ])?;
    insert_events(transaction, record, first_event)?;
    insert_requests(transaction, &record.requests, number)?;
    filters::insert(transaction, number, record)
}

fn insert_events(
    transaction: &Transaction<'_>,
    record: &Record,
    first: i64,
) -> Result<(), CatalogError> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO event (number, id, position, stream, offset, agent, at, kind, tool, is_error,
             sum)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    let mut say = transaction.prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?;
    for (position, event) in (0..).zip(&record.events) {
        let fields = EventFields {
            number: first + position,
            id: &event.id,
            position,
            stream: event.line.map(|line| i64::from(line.stream)),
            offset: event.line.map(|line| to_sql(line.offset)),
            agent: event.agent.as_deref(),
            at: event.at.map(Timestamp::as_millis),
            kind: event.kind,
            tool: event.tool.as_deref(),
            is_error: event.is_error,
        };
        insert.execute(params![
            fields.number,
            fields.id,
            fields.position,
            fields.stream,
            fields.offset,
            fields.agent,
            fields.at,
            fields.kind,
            fields.tool,
            i64::from(fields.is_error),
            fields.sum(),
        ])?;
        if let Some(prose) = &event.prose {
            say.execute(params![fields.number, prose])?;
        }
    }
    Ok(())
}

fn insert_requests(
    transaction: &Transaction<'_>,
    requests: &[RequestRow],
    session: i64,
) -> Result<(), CatalogError> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO request (id, session, number, at, model, sub_agent, input, output, reasoning,
             cache_read, cache_write, cache_write_1h, declared, is_partial)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    for (number, request) in (0_i64..).zip(requests) {
        let usage = request.usage;
        insert.execute(params![
            request.id.0,
            session,
            number,
            request.at.map(Timestamp::as_millis),
            request.model,
            request.sub_agent,
            to_sql(usage.input),
            to_sql(usage.output),
            to_sql(usage.reasoning),
            to_sql(usage.cache_read),
            to_sql(usage.cache_write),
            to_sql(usage.cache_write_1h),
            request.declared.map(roll_up::picos),
            i64::from(request.is_partial),
        ])?;
    }
    Ok(())
}

/// Of a session's requests, in order.
pub(super) fn requests_sum(requests: &[RequestRow]) -> i64 {
    let mut sum = Sum::default();
    for request in requests {
        sum.bytes(&request.id.0).number(request.at.map(Timestamp::as_millis));
        sum.text(request.model.as_deref()).text(request.sub_agent.as_deref());
        roll_up::add_usage(&mut sum, request.usage);
        sum.text(request.declared.map(roll_up::picos).as_deref());
        sum.number(Some(i64::from(request.is_partial)));
    }
    sum.get()
}
