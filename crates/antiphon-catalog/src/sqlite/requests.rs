//! The requests of sessions, all of one in a row, and which sessions hold the same.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{Timestamp, Usage};
use antiphon_views::Usd;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::super::sum::Sum;
use super::super::{RequestId, RequestRow};
use super::CatalogError;
use super::coded::{Coder, Decoder, Names};

pub(super) fn insert(
    transaction: &Transaction<'_>,
    session: i64,
    requests: &[RequestRow],
) -> Result<(), CatalogError> {
    let bytes = coded(requests);
    transaction
        .prepare_cached("INSERT INTO request (session, requests, sum) VALUES (?1, ?2, ?3)")?
        .execute(params![session, bytes, sum(session, &bytes)])?;
    let mut insert = transaction
        .prepare_cached("INSERT OR IGNORE INTO request_id (id, session) VALUES (?1, ?2)")?;
    for request in requests {
        insert.execute([request.id.to_sql(), session])?;
    }
    Ok(())
}

pub(super) fn remove(transaction: &Transaction<'_>, session: i64) -> Result<(), CatalogError> {
    let mut delete =
        transaction.prepare_cached("DELETE FROM request_id WHERE id = ?1 AND session = ?2")?;
    for request in read(transaction, session)? {
        delete.execute([request.id.to_sql(), session])?;
    }
    transaction.prepare_cached("DELETE FROM request WHERE session = ?1")?.execute([session])?;
    Ok(())
}

/// Every request of a session, in its order.
pub(super) fn read(connection: &Connection, session: i64) -> Result<Vec<RequestRow>, CatalogError> {
    let damaged = || CatalogError::Damaged(format!("the requests of session {session}"));
    let mut statement =
        connection.prepare_cached("SELECT requests, sum FROM request WHERE session = ?1")?;
    let mut rows = statement.query([session])?;
    let row = rows.next()?.ok_or_else(damaged)?;
    let bytes = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
    match row.get::<_, i64>(1)? == sum(session, bytes) {
        true => decoded(bytes).ok_or_else(damaged),
        false => Err(damaged()),
    }
}

/// The other sessions that hold one of these requests.
pub(super) fn sharers(
    connection: &Connection,
    session: i64,
    requests: &[RequestRow],
) -> Result<BTreeSet<i64>, CatalogError> {
    let select = "SELECT session FROM request_id WHERE id = ?1 AND session <> ?2";
    let mut statement = connection.prepare_cached(select)?;
    let mut found = BTreeSet::new();
    for request in requests {
        let mut rows = statement.query([request.id.to_sql(), session])?;
        while let Some(row) = rows.next()? {
            found.insert(row.get(0)?);
        }
    }
    Ok(found)
}

/// The requests that count for this session.
pub(super) fn owned(
    connection: &Connection,
    session: i64,
) -> Result<Vec<RequestRow>, CatalogError> {
    let all = read(connection, session)?;
    let Some(me) = claimant(connection, session)? else { return Ok(Vec::new()) };
    let mut first = BTreeMap::new();
    let mut claim = |me: &Claimant, requests: &[RequestRow]| {
        for (number, request) in requests.iter().enumerate() {
            let at = request.at.map_or(i64::MAX, Timestamp::as_millis);
            let mine = (at, me.session_id.clone(), me.key.clone(), number);
            match first.get_mut(&request.id) {
                Some(known) if *known <= mine => {}
                Some(known) => *known = mine,
                None => drop(first.insert(request.id, mine)),
            }
        }
    };
    claim(&me, &all);
    for other in sharers(connection, session, &all)? {
        if let Some(claimant) = claimant(connection, other)? {
            claim(&claimant, &read(connection, other)?);
        }
    }
    let is_mine = |number: usize, request: &RequestRow| {
        let owner = first.get(&request.id);
        owner.is_some_and(|(_, _, key, nth)| *key == me.key && *nth == number)
    };
    let numbered = all.into_iter().enumerate();
    let owned = numbered.filter(|(number, request)| is_mine(*number, request));
    Ok(owned.map(|(_, request)| request).collect())
}

/// The same of a session that holds no request of another one, and counts.
pub(super) fn owned_alone(requests: &[RequestRow]) -> Vec<&RequestRow> {
    let mut first: BTreeMap<RequestId, (i64, usize)> = BTreeMap::new();
    for (number, request) in requests.iter().enumerate() {
        let mine = (request.at.map_or(i64::MAX, Timestamp::as_millis), number);
        let known = first.entry(request.id).or_insert(mine);
        *known = mine.min(*known);
    }
    let numbered = requests.iter().enumerate();
    let is_first = |(number, request): &(usize, &RequestRow)| {
        first.get(&request.id).is_some_and(|(_, nth)| nth == number)
    };
    numbered.filter(is_first).map(|(_, request)| request).collect()
}

/// A session that requests may count for.
struct Claimant {
    session_id: String,
    key: String,
}

/// A recording beside the agent's own file does not count, nor does a part of another session; and
/// they take nothing from others.
fn claimant(connection: &Connection, session: i64) -> Result<Option<Claimant>, CatalogError> {
    let mut statement = connection.prepare_cached(
        "SELECT s.session_id, s.key FROM session s
         WHERE s.number = ?1 AND s.is_part = 0 AND (s.origin <> 0 OR NOT EXISTS (
             SELECT 1 FROM session own WHERE own.session_id = s.session_id AND own.origin <> 0))",
    )?;
    let found = statement
        .query_row([session], |row| Ok(Claimant { session_id: row.get(0)?, key: row.get(1)? }));
    Ok(found.optional()?)
}

fn sum(session: i64, bytes: &[u8]) -> i64 {
    Sum::default().number(Some(session)).bytes(bytes).get()
}

const HAS_TIME: u64 = 1;
const DECLARES: u64 = 2;
const IS_PARTIAL: u64 = 4;

fn coded(requests: &[RequestRow]) -> Vec<u8> {
    let mut coder = Coder::default();
    let mut names = Names::default();
    let mut time = 0;
    for request in requests {
        let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
        coder.bytes(&request.id.0.to_le_bytes()).number(
            flag(request.at.is_some(), HAS_TIME)
                | flag(request.declared.is_some(), DECLARES)
                | flag(request.is_partial, IS_PARTIAL),
        );
        if let Some(at) = request.at.map(Timestamp::as_millis) {
            coder.signed(at.wrapping_sub(time));
            time = at;
        }
        names.write(&mut coder, request.model.as_deref());
        names.write(&mut coder, request.sub_agent.as_deref());
        write_usage(&mut coder, request.usage);
        if let Some(declared) = request.declared {
            coder.long(declared.as_picos());
        }
    }
    coder.finish()
}

fn decoded(bytes: &[u8]) -> Option<Vec<RequestRow>> {
    let (mut decoder, mut names) = (Decoder(bytes), Names::default());
    let mut requests = Vec::new();
    let mut time = 0_i64;
    while !decoder.is_empty() {
        let id = RequestId(u64::from_le_bytes(decoder.chunk()?));
        let flags = decoder.number()?;
        let mut at = None;
        if flags & HAS_TIME != 0 {
            time = time.wrapping_add(decoder.signed()?);
            at = Some(Timestamp::from_millis(time));
        }
        requests.push(RequestRow {
            id,
            at,
            model: names.read(&mut decoder)?.map(str::to_owned),
            sub_agent: names.read(&mut decoder)?.map(str::to_owned),
            usage: read_usage(&mut decoder)?,
            declared: match flags & DECLARES {
                0 => None,
                _ => Some(Usd::from_picos(decoder.long()?)),
            },
            is_partial: flags & IS_PARTIAL != 0,
        });
    }
    Some(requests)
}

pub(super) fn write_usage(coder: &mut Coder, usage: Usage) {
    let Usage { input, output, reasoning, cache_read, cache_write, cache_write_1h } = usage;
    for tokens in [input, output, reasoning, cache_read, cache_write, cache_write_1h] {
        coder.number(tokens);
    }
}

pub(super) fn read_usage(decoder: &mut Decoder<'_>) -> Option<Usage> {
    Some(Usage {
        input: decoder.number()?,
        output: decoder.number()?,
        reasoning: decoder.number()?,
        cache_read: decoder.number()?,
        cache_write: decoder.number()?,
        cache_write_1h: decoder.number()?,
    })
}

impl RequestId {
    fn to_sql(self) -> i64 {
        self.0.cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_back_as_they_were() {
        let usage = Usage { input: 1, output: u64::MAX, cache_read: 90_000, ..Usage::default() };
        let request = |at: Option<i64>, declared: Option<u128>| RequestRow {
            id: RequestId::of(&["r"]),
            at: at.map(Timestamp::from_millis),
            model: Some("claude-opus-4-5".to_owned()),
            sub_agent: declared.map(|_| "planner".to_owned()),
            usage,
            declared: declared.map(Usd::from_picos),
            is_partial: at.is_none(),
        };
        let put = vec![
            request(Some(1_767_225_600_000), None),
            request(None, Some(u128::MAX)),
            request(Some(i64::MIN), Some(0)),
        ];
        assert_eq!(decoded(&coded(&put)), Some(put));
    }
}
