//! What was spent: each request for the session that owns it, added up by day, model and agent.

use std::collections::BTreeMap;

use antiphon_views::{DAY_MILLIS, Prices, Pricing, Totals, Usd};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::super::RequestRow;
use super::super::sum::Sum;
use super::coded::{Coder, Decoder, Names};
use super::read::{self, fact};
use super::requests::{self, owned, read_usage, write_usage};
use super::write::set_fact;
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
    let owned = owned(transaction, session)?;
    write(transaction, session, &add_up(owned.iter(), prices))
}

/// Counts the requests of a session that nobody shares.
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
        let day = request.at.map(|at| at.as_millis().div_euclid(DAY_MILLIS));
        let part = (day, request.model.clone(), request.sub_agent.clone());
        parts.entry(part).or_default().add(request.usage, cost, request.is_partial);
    }
    parts
}

fn sum(session: i64, bytes: &[u8]) -> i64 {
    Sum::default().number(Some(session)).bytes(bytes).get()
}

/// A part whose requests are all of one kind, by far the most, has nothing to say of the others.
const IS_PLAIN: u64 = 1;

fn coded(parts: &Parts) -> Vec<u8> {
    let (mut coder, mut names) = (Coder::default(), Names::default());
    for ((day, model, sub_agent), totals) in parts {
        let rest = [totals.unpriced, totals.incomplete, totals.unpriced_declared, totals.declaring];
        let is_plain = rest == [0; 4];
        coder.number(if is_plain { IS_PLAIN } else { 0 }).optional(*day);
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
    while !decoder.is_empty() {
        let is_plain = decoder.number()? == IS_PLAIN;
        let (day, model) = (decoder.optional()?, names.read(&mut decoder)?);
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
        each(Part { day, model, sub_agent, totals });
    }
    Some(())
}

/// The requests of a session that have the same day, model and agent.
struct Part<'a> {
    day: Option<i64>,
    model: Option<&'a str>,
    sub_agent: Option<&'a str>,
    totals: Totals,
}

fn damaged(session: i64) -> CatalogError {
    CatalogError::Damaged(format!("the sums of session {session}"))
}

/// Tells of every session's parts, session by session in the order of their numbers.
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

/// The sums of every session, each checked.
pub(super) fn read(connection: &Connection) -> Result<Vec<RollUp>, CatalogError> {
    let keys: BTreeMap<i64, Key> = read::keys(connection)?.into_iter().collect();
    let mut found = Vec::with_capacity(keys.len());
    let mut lost = None;
    each_part(connection, |session, part| match keys.get(&session) {
        Some(key) => found.push(RollUp {
            session: key.clone(),
            day: part.day,
            model: part.model.map(str::to_owned),
            sub_agent: part.sub_agent.map(str::to_owned),
            totals: part.totals,
        }),
        None => lost = Some(session),
    })?;
    match lost {
        Some(session) => Err(damaged(session)),
        None => Ok(found),
    }
}

/// What each session spent, by its number.
pub(super) fn totals(connection: &Connection) -> Result<BTreeMap<i64, Totals>, CatalogError> {
    let mut all: BTreeMap<i64, Totals> = BTreeMap::new();
    each_part(connection, |session, part| *all.entry(session).or_default() += part.totals)?;
    Ok(all)
}

/// What one session spent.
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

/// The same by other prices.
pub(super) fn by(connection: &Connection, prices: &Prices) -> Result<Vec<RollUp>, CatalogError> {
    let mut found = Vec::new();
    for (number, key) in read::keys(connection)? {
        let parts = add_up(owned(connection, number)?.iter(), prices);
        found.extend(parts.into_iter().map(|((day, model, sub_agent), totals)| RollUp {
            session: key.clone(),
            day,
            model,
            sub_agent,
            totals,
        }));
    }
    Ok(found)
}
