//! Usage: each request counted for the session that owns it, added up by quarter of an hour, model
//! and agent.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{TimeRange, Timestamp};
use antiphon_views::{Prices, Pricing, QUARTER_MILLIS, Totals, Usd};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::super::RequestRow;
use super::super::sum::Sum;
use super::coded::{Coder, Decoder, Names};
use super::read::{self, fact};
use super::requests::{self, owned, read_usage, write_usage};
use super::write::set_fact;
use super::{CatalogError, RollUp, Sqlite};
use crate::Key;

/// The key by which requests are added up (the number of the quarter, the model and the agent), and
/// the sums.
type Parts = BTreeMap<(Option<i64>, Option<String>, Option<String>), Totals>;

impl Sqlite {
    /// Prices everything again if the built-in prices have changed.
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

/// Counts a session's requests again.
pub(super) fn count(
    transaction: &Transaction<'_>,
    prices: &Prices,
    session: i64,
) -> Result<(), CatalogError> {
    let owned = owned(transaction, session)?;
    write(transaction, session, &add_up(owned.iter(), prices))
}

/// Counts the requests of a session that has none in common with another.
pub(super) fn count_alone(
    transaction: &Transaction<'_>,
    prices: &Prices,
    session: i64,
    all: &[RequestRow],
) -> Result<(), CatalogError> {
    write(transaction, session, &add_up(requests::owned_alone(all).into_iter(), prices))
}

pub(super) fn remove(transaction: &Transaction<'_>, session: i64) -> Result<(), CatalogError> {
    transaction.prepare_cached("DELETE FROM roll_up WHERE session = ?1")?.execute([session])?;
    Ok(())
}

fn write(transaction: &Transaction<'_>, session: i64, parts: &Parts) -> Result<(), CatalogError> {
    let bytes = coded(parts);
    let put = "INSERT OR REPLACE INTO roll_up (session, parts, sum) VALUES (?1, ?2, ?3)";
    transaction.prepare_cached(put)?.execute(params![session, bytes, sum(session, &bytes)])?;
    Ok(())
}

fn add_up<'a>(requests: impl Iterator<Item = &'a RequestRow>, prices: &Prices) -> Parts {
    let mut parts = Parts::new();
    let mut pricing = Pricing::new(prices);
    for request in requests {
        let RequestRow { model, at, usage, declared, .. } = request;
        let cost = pricing.cost(model.as_deref(), *at, *usage, *declared);
        let quarter = request.at.map(|at| at.as_millis().div_euclid(QUARTER_MILLIS));
        let part = (quarter, request.model.clone(), request.sub_agent.clone());
        parts.entry(part).or_default().add(request.usage, cost, request.is_partial);
    }
    parts
}

fn sum(session: i64, bytes: &[u8]) -> i64 {
    Sum::default().number(Some(session)).bytes(bytes).get()
}

/// Marks a part all of whose requests are complete and priced, as nearly all are; the other counts
/// are left out.
const IS_PLAIN: u64 = 1;

fn coded(parts: &Parts) -> Vec<u8> {
    let (mut coder, mut names) = (Coder::default(), Names::default());
    let mut last = 0;
    for ((quarter, model, sub_agent), totals) in parts {
        let rest = [totals.unpriced, totals.incomplete, totals.unpriced_declared, totals.declaring];
        let is_plain = rest == [0; 4];
        // They are in order, so the next is near.
        coder.number(if is_plain { IS_PLAIN } else { 0 }).optional(quarter.map(|it| it - last));
        last = quarter.unwrap_or(last);
        names.write(&mut coder, model.as_deref());
        names.write(&mut coder, sub_agent.as_deref());
        coder.number(totals.requests).long(totals.priced.as_picos());
        write_usage(&mut coder, totals.usage);
        if !is_plain {
            for count in rest {
                coder.number(count);
            }
            coder.long(totals.filled.as_picos()).long(totals.declared.as_picos());
        }
    }
    coder.finish()
}

fn decoded(bytes: &[u8], mut each: impl FnMut(Part<'_>)) -> Option<()> {
    let (mut decoder, mut names) = (Decoder(bytes), Names::default());
    let mut last = 0_i64;
    while !decoder.is_empty() {
        let is_plain = decoder.number()? == IS_PLAIN;
        let quarter = decoder.optional()?.map(|it| last.wrapping_add(it));
        last = quarter.unwrap_or(last);
        let model = names.read(&mut decoder)?;
        let sub_agent = names.read(&mut decoder)?;
        let (requests, priced) = (decoder.number()?, Usd::from_picos(decoder.long()?));
        let usage = read_usage(&mut decoder)?;
        let mut totals = Totals { usage, requests, priced, ..Totals::default() };
        if !is_plain {
            totals.unpriced = decoder.number()?;
            totals.incomplete = decoder.number()?;
            totals.unpriced_declared = decoder.number()?;
            totals.declaring = decoder.number()?;
            totals.filled = Usd::from_picos(decoder.long()?);
            totals.declared = Usd::from_picos(decoder.long()?);
        }
        each(Part { quarter, model, sub_agent, totals });
    }
    Some(())
}

/// The requests of a session in the same quarter of an hour, with the same model and agent.
struct Part<'a> {
    quarter: Option<i64>,
    model: Option<&'a str>,
    sub_agent: Option<&'a str>,
    totals: Totals,
}

fn damaged(session: i64) -> CatalogError {
    CatalogError::Damaged(format!("the sums of session {session}"))
}

/// Calls `each` with the parts of every session, in the order of the sessions' numbers.
fn each_part(
    connection: &Connection,
    mut each: impl FnMut(i64, Part<'_>),
) -> Result<(), CatalogError> {
    let select = "SELECT session, parts, sum FROM roll_up ORDER BY session";
    let mut statement = connection.prepare_cached(select)?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let session = row.get(0)?;
        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        let is_right = row.get::<_, i64>(2)? == sum(session, bytes);
        let read = is_right.then(|| decoded(bytes, |part| each(session, part))).flatten();
        read.ok_or_else(|| damaged(session))?;
        count += 1;
    }
    match fact(connection, "sessions")?.unwrap_or_default() == count {
        true => Ok(()),
        false => Err(CatalogError::Damaged("sums are missing from it".to_owned())),
    }
}

/// How a quarter of an hour lies to a range.
enum Lies {
    Within,
    Outside,
    /// An end of the range is in it, so that only some of its requests count.
    Across,
}

fn lies(quarter: Option<i64>, range: &TimeRange) -> Lies {
    let first = quarter.and_then(|it| it.checked_mul(QUARTER_MILLIS));
    let last = first.and_then(|first| first.checked_add(QUARTER_MILLIS - 1));
    let contains = |millis: Option<i64>| range.contains(millis.map(Timestamp::from_millis));
    let has_end_within = || {
        let ends = [range.since, range.until].into_iter().flatten().map(Timestamp::as_millis);
        ends.into_iter().any(|end| Some(end) > first && Some(end) <= last)
    };
    match (contains(first), contains(last)) {
        (true, true) => Lies::Within,
        (false, false) if !has_end_within() => Lies::Outside,
        _ => Lies::Across,
    }
}

fn start(quarter: Option<i64>) -> Option<Timestamp> {
    quarter.map(|it| Timestamp::from_millis(it.saturating_mul(QUARTER_MILLIS)))
}

/// The sums of every session in a range of time, with their checksums. Only where an end of the
/// range is within a quarter of an hour are requests counted again.
pub(super) fn read<'p>(
    connection: &Connection,
    range: &TimeRange,
    prices: &dyn Fn() -> &'p Prices,
) -> Result<Vec<RollUp>, CatalogError> {
    let keys: BTreeMap<i64, Key> = read::keys(connection)?.into_iter().collect();
    let mut found = Vec::with_capacity(keys.len());
    let (mut lost, mut across) = (None, BTreeSet::new());
    each_part(connection, |session, part| {
        let Some(key) = keys.get(&session) else {
            lost = Some(session);
            return;
        };
        match lies(part.quarter, range) {
            Lies::Outside => {}
            Lies::Across => drop(across.insert(session)),
            Lies::Within => found.push(RollUp {
                session: key.clone(),
                at: start(part.quarter),
                model: part.model.map(str::to_owned),
                sub_agent: part.sub_agent.map(str::to_owned),
                totals: part.totals,
            }),
        }
    })?;
    if let Some(session) = lost {
        return Err(damaged(session));
    }
    for session in across {
        let Some(key) = keys.get(&session) else { continue };
        let mut parts = parts_in(&owned(connection, session)?, range, prices());
        parts.retain(|(quarter, _, _), _| matches!(lies(*quarter, range), Lies::Across));
        found.extend(roll_ups(key, parts));
    }
    Ok(found)
}

/// The sums of those requests that are in a range.
fn parts_in(owned: &[RequestRow], range: &TimeRange, prices: &Prices) -> Parts {
    add_up(owned.iter().filter(|request| range.contains(request.at)), prices)
}

fn roll_ups(key: &Key, parts: Parts) -> impl Iterator<Item = RollUp> {
    parts.into_iter().map(|((quarter, model, sub_agent), totals)| RollUp {
        session: key.clone(),
        at: start(quarter),
        model,
        sub_agent,
        totals,
    })
}

/// The usage of each session, by its number.
pub(super) fn totals(connection: &Connection) -> Result<BTreeMap<i64, Totals>, CatalogError> {
    let mut all: BTreeMap<i64, Totals> = BTreeMap::new();
    each_part(connection, |session, part| *all.entry(session).or_default() += part.totals)?;
    Ok(all)
}

/// The usage of one session.
pub(super) fn totals_of(connection: &Connection, session: i64) -> Result<Totals, CatalogError> {
    let select = "SELECT parts, sum FROM roll_up WHERE session = ?1";
    let mut statement = connection.prepare_cached(select)?;
    let mut rows = statement.query([session])?;
    let row = rows.next()?.ok_or_else(|| damaged(session))?;
    let bytes = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
    let is_right = row.get::<_, i64>(1)? == sum(session, bytes);
    let mut totals = Totals::default();
    let read = is_right.then(|| decoded(bytes, |part| totals += part.totals)).flatten();
    read.map(|()| totals).ok_or_else(|| damaged(session))
}

/// The sums of every session in a range of time, at other prices.
pub(super) fn by(
    connection: &Connection,
    range: &TimeRange,
    prices: &Prices,
) -> Result<Vec<RollUp>, CatalogError> {
    let mut found = Vec::new();
    for (number, key) in read::keys(connection)? {
        found.extend(roll_ups(&key, parts_in(&owned(connection, number)?, range, prices)));
    }
    Ok(found)
}
