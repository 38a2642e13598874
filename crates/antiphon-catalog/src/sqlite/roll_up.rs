//! What was spent: each request for the session that owns it, added up by day, model and agent.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{Timestamp, Usage};
use antiphon_views::{DAY_MILLIS, Prices, Pricing, Totals, Usd};
use rusqlite::{Connection, Row as SqlRow, Transaction, TransactionBehavior, params};

use super::super::sum::Sum;
use super::super::{RequestId, RequestRow};
use super::read::{self, fact, to_sql};
use super::write::{requests_sum, set_fact};
use super::{CatalogError, RollUp, Sqlite};
use crate::Key;

/// What requests are added up by.
type Parts = BTreeMap<(Option<i64>, Option<String>, Option<String>), Totals>;

impl Sqlite {
    /// Prices everything anew, if the prices that come along are others than before.
    pub(super) fn price_anew(&mut self) -> Result<(), CatalogError> {
        let prices = Sum::default().text(Some(Prices::BUNDLED)).get();
        let connection = &mut self.connection;
        if fact(connection, "prices")? == Some(prices) {
            return Ok(());
        }
        let table = self.prices.get_or_init(Prices::bundled);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for known in read::sessions(&transaction)? {
            count(&transaction, table, known.number)?;
        }
        set_fact(&transaction, "prices", prices)?;
        Ok(transaction.commit()?)
    }
}

/// Counts a session's requests anew.
pub(super) fn count(
    transaction: &Transaction<'_>,
    prices: &Prices,
    session: i64,
) -> Result<(), CatalogError> {
    let select = "SELECT requests_sum FROM session WHERE number = ?1";
    let requests_sum: i64 =
        transaction.prepare_cached(select)?.query_row([session], |row| row.get(0))?;
    let parts = add_up(&owned(transaction, session, requests_sum)?, prices);
    transaction.prepare_cached("DELETE FROM roll_up WHERE session = ?1")?.execute([session])?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO roll_up (session, number, day, model, sub_agent, requests, input, output,
             reasoning, cache_read, cache_write, cache_write_1h, unpriced, incomplete, priced,
             unpriced_declared, filled, declaring, declared)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
             ?19)",
    )?;
    let mut sum = Sum::default();
    for (number, ((day, model, sub_agent), totals)) in (0_i64..).zip(&parts) {
        add_row(&mut sum, *day, model.as_deref(), sub_agent.as_deref(), totals);
        let usage = totals.usage;
        insert.execute(params![
            session,
            number,
            day,
            model,
            sub_agent,
            to_sql(totals.requests),
            to_sql(usage.input),
            to_sql(usage.output),
            to_sql(usage.reasoning),
            to_sql(usage.cache_read),
            to_sql(usage.cache_write),
            to_sql(usage.cache_write_1h),
            to_sql(totals.unpriced),
            to_sql(totals.incomplete),
            picos(totals.priced),
            to_sql(totals.unpriced_declared),
            picos(totals.filled),
            to_sql(totals.declaring),
            picos(totals.declared),
        ])?;
    }
    let update = "UPDATE session SET roll_up_sum = ?2 WHERE number = ?1";
    transaction.prepare_cached(update)?.execute([session, sum.get()])?;
    Ok(())
}

fn add_up(requests: &[RequestRow], prices: &Prices) -> Parts {
    let mut parts = Parts::new();
    let mut pricing = Pricing::new(prices);
    for request in requests {
        let RequestRow { model, at, usage, declared, .. } = request;
        let cost = pricing.cost(model.as_deref(), *at, *usage, *declared);
        let day = request.at.map(|at| at.as_millis().div_euclid(DAY_MILLIS));
        let part = (day, request.model.clone(), request.sub_agent.clone());
        parts.entry(part).or_default().add(request.usage, cost, request.is_partial);
    }
    parts
}

/// Whether session `s` counts. A recording beside the agent's own file does not, nor does a part
/// of another session; and they take nothing from others.
const COUNTS: &str = "s.is_part = 0 AND (s.origin <> 0 OR NOT EXISTS (
    SELECT 1 FROM session own WHERE own.session_id = s.session_id AND own.origin <> 0))";

/// The requests that count for this session.
fn owned(connection: &Connection, session: i64, sum: i64) -> Result<Vec<RequestRow>, CatalogError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, at, model, sub_agent, input, output, reasoning, cache_read, cache_write,
             cache_write_1h, declared, is_partial
         FROM request WHERE session = ?1 ORDER BY number",
    )?;
    let all: Vec<RequestRow> =
        statement.query_map([session], request)?.collect::<Result<_, _>>()?;
    if requests_sum(&all) != sum {
        return Err(CatalogError::Damaged(format!("the requests of session {session}")));
    }
    let select = format!("SELECT {COUNTS} FROM session s WHERE s.number = ?1");
    if !connection.prepare_cached(&select)?.query_row([session], |row| row.get(0))? {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached(&format!(
        "SELECT r.number FROM request r JOIN session mine ON mine.number = r.session
         WHERE r.session = ?1 AND EXISTS (
             SELECT 1 FROM request o JOIN session s ON s.number = o.session
             WHERE o.id = r.id AND (o.session <> r.session OR o.number <> r.number) AND ({COUNTS})
             AND (coalesce(o.at, 9223372036854775807), s.session_id, s.key, o.number)
               < (coalesce(r.at, 9223372036854775807), mine.session_id, mine.key, r.number))",
    ))?;
    let lost: BTreeSet<usize> = statement
        .query_map([session], |row| row.get::<_, i64>(0))?
        .map(|number| Ok(usize::try_from(number?).unwrap_or(usize::MAX)))
        .collect::<Result<_, rusqlite::Error>>()?;
    let owned = all.into_iter().enumerate().filter(|(number, _)| !lost.contains(number));
    Ok(owned.map(|(_, request)| request).collect())
}

fn request(row: &SqlRow<'_>) -> rusqlite::Result<RequestRow> {
    Ok(RequestRow {
        id: RequestId(row.get(0)?),
        at: row.get::<_, Option<i64>>(1)?.map(Timestamp::from_millis),
        model: row.get(2)?,
        sub_agent: row.get(3)?,
        usage: usage(row, 4)?,
        declared: row
            .get::<_, Option<String>>(10)?
            .and_then(|it| it.parse().ok())
            .map(Usd::from_picos),
        is_partial: row.get::<_, i64>(11)? != 0,
    })
}

/// An amount of money, as it is written down: SQLite has no numbers that are large enough.
pub(super) fn picos(amount: Usd) -> String {
    amount.as_picos().to_string()
}

/// Tokens, in six columns from this one.
fn usage(row: &SqlRow<'_>, at: usize) -> rusqlite::Result<Usage> {
    let tokens = |column: usize| -> rusqlite::Result<u64> {
        Ok(u64::try_from(row.get::<_, i64>(at + column)?).unwrap_or(0))
    };
    Ok(Usage {
        input: tokens(0)?,
        output: tokens(1)?,
        reasoning: tokens(2)?,
        cache_read: tokens(3)?,
        cache_write: tokens(4)?,
        cache_write_1h: tokens(5)?,
    })
}

pub(super) fn add_usage(sum: &mut Sum, usage: Usage) {
    let Usage { input, output, reasoning, cache_read, cache_write, cache_write_1h } = usage;
    for tokens in [input, output, reasoning, cache_read, cache_write, cache_write_1h] {
        sum.number(Some(to_sql(tokens)));
    }
}

fn add_row(
    sum: &mut Sum,
    day: Option<i64>,
    model: Option<&str>,
    sub_agent: Option<&str>,
    totals: &Totals,
) {
    sum.number(day).text(model).text(sub_agent).number(Some(to_sql(totals.requests)));
    add_usage(sum, totals.usage);
    for count in [totals.unpriced, totals.incomplete, totals.unpriced_declared, totals.declaring] {
        sum.number(Some(to_sql(count)));
    }
    for amount in [totals.priced, totals.filled, totals.declared] {
        sum.text(Some(&picos(amount)));
    }
}

/// The sums of every session, each checked.
pub(super) fn read(connection: &Connection) -> Result<Vec<RollUp>, CatalogError> {
    let mut statement = connection.prepare_cached(
        "SELECT day, model, sub_agent, requests, input, output, reasoning, cache_read, cache_write,
             cache_write_1h, session, unpriced, incomplete, priced, unpriced_declared, filled,
             declaring, declared
         FROM roll_up ORDER BY session, number",
    )?;
    let mut sessions = counted(connection)?;
    let mut found = Vec::with_capacity(sessions.len());
    let mut rows = statement.query([])?;
    let mut at = 0;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(10)?;
        // Both are in the order of their numbers.
        while sessions.get(at).is_some_and(|it| it.number < number) {
            at += 1;
        }
        let Some(counted) = sessions.get_mut(at).filter(|it| it.number == number) else {
            return Err(CatalogError::Damaged(format!("there is no session {number}")));
        };
        let roll_up = roll_up(row, &counted.key)?;
        let (model, sub_agent) = (roll_up.model.as_deref(), roll_up.sub_agent.as_deref());
        add_row(&mut counted.sum, roll_up.day, model, sub_agent, &roll_up.totals);
        found.push(roll_up);
    }
    for counted in &sessions {
        if counted.sum.get() != counted.wanted {
            return Err(CatalogError::Damaged(format!("the sums of {}", counted.key)));
        }
    }
    Ok(found)
}

/// A session whose sums are read.
struct Counted {
    number: i64,
    key: Key,
    /// The checksum that its sums should have, and the one that they have so far.
    wanted: i64,
    sum: Sum,
}

/// Every session, in the order of their numbers.
fn counted(connection: &Connection) -> Result<Vec<Counted>, CatalogError> {
    let select = "SELECT number, key, roll_up_sum FROM session ORDER BY number";
    let mut statement = connection.prepare_cached(select)?;
    let mut rows = statement.query([])?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next()? {
        let key = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let damaged = || CatalogError::Damaged(format!("`{key}` is not a key"));
        let key = Key::parse(key).ok_or_else(damaged)?;
        let (number, wanted) = (row.get(0)?, row.get(2)?);
        sessions.push(Counted { number, key, wanted, sum: Sum::default() });
    }
    match fact(connection, "sessions")?.unwrap_or_default() == to_sql(sessions.len() as u64) {
        true => Ok(sessions),
        false => Err(CatalogError::Damaged("sessions are missing from it".to_owned())),
    }
}

fn roll_up(row: &SqlRow<'_>, session: &Key) -> Result<RollUp, CatalogError> {
    let count =
        |at: usize| Ok::<_, CatalogError>(u64::try_from(row.get::<_, i64>(at)?).unwrap_or(0));
    let amount = |at: usize| {
        let picos = row.get_ref(at)?.as_str().map_err(rusqlite::Error::from)?;
        let read = picos.parse().map(Usd::from_picos);
        read.map_err(|_| CatalogError::Damaged(format!("an amount of `{picos}`")))
    };
    Ok(RollUp {
        session: session.clone(),
        day: row.get(0)?,
        model: row.get(1)?,
        sub_agent: row.get(2)?,
        totals: Totals {
            usage: usage(row, 4)?,
            requests: count(3)?,
            unpriced: count(11)?,
            incomplete: count(12)?,
            priced: amount(13)?,
            unpriced_declared: count(14)?,
            filled: amount(15)?,
            declaring: count(16)?,
            declared: amount(17)?,
        },
    })
}

/// The same by other prices.
pub(super) fn by(connection: &Connection, prices: &Prices) -> Result<Vec<RollUp>, CatalogError> {
    let mut found = Vec::new();
    for known in read::sessions(connection)? {
        let parts = add_up(&owned(connection, known.number, known.requests_sum)?, prices);
        found.extend(parts.into_iter().map(|((day, model, sub_agent), totals)| RollUp {
            session: known.row.key.clone(),
            day,
            model,
            sub_agent,
            totals,
        }));
    }
    Ok(found)
}
