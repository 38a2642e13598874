//! The tool calls of sessions, all of a session in one row.

use std::collections::BTreeMap;

use antiphon_model::Timestamp;
use antiphon_views::CountedCall;
use rusqlite::{Connection, Transaction, params};

use super::super::sum::Sum;
use super::super::{EachCall, RequestId, ToolCallRow};
use super::CatalogError;
use super::coded::{Coder, Decoder, Names};
use super::read::{self, fact};
use crate::Key;

pub(super) fn insert(
    transaction: &Transaction<'_>,
    session: i64,
    calls: &[ToolCallRow],
) -> Result<(), CatalogError> {
    let bytes = coded(calls);
    transaction
        .prepare_cached("INSERT INTO tool_call (session, calls, sum) VALUES (?1, ?2, ?3)")?
        .execute(params![session, bytes, sum(session, &bytes)])?;
    Ok(())
}

pub(super) fn remove(transaction: &Transaction<'_>, session: i64) -> Result<(), CatalogError> {
    transaction.prepare_cached("DELETE FROM tool_call WHERE session = ?1")?.execute([session])?;
    Ok(())
}

/// Calls `each` with every call of every session, in the order of the sessions' numbers.
pub(super) fn each(connection: &Connection, each: EachCall<'_>) -> Result<(), CatalogError> {
    let keys: BTreeMap<i64, Key> = read::keys(connection)?.into_iter().collect();
    let select = "SELECT session, calls, sum FROM tool_call ORDER BY session";
    let mut statement = connection.prepare_cached(select)?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let session = row.get(0)?;
        let damaged = || CatalogError::Damaged(format!("the calls of session {session}"));
        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        let key = keys.get(&session).ok_or_else(damaged)?;
        if row.get::<_, i64>(2)? != sum(session, bytes) {
            return Err(damaged());
        }
        decoded(bytes, |id, call| each(key, id, call)).ok_or_else(damaged)?;
        count += 1;
    }
    match fact(connection, "sessions")?.unwrap_or_default() == count {
        true => Ok(()),
        false => Err(CatalogError::Damaged("calls are missing from it".to_owned())),
    }
}

fn sum(session: i64, bytes: &[u8]) -> i64 {
    Sum::default().number(Some(session)).bytes(bytes).get()
}

const HAS_TIME: u64 = 1;
const HAS_COMMAND: u64 = 2;
const HAS_FAILED: u64 = 4;
const HAS_DURATION: u64 = 8;

fn coded(calls: &[ToolCallRow]) -> Vec<u8> {
    let mut coder = Coder::default();
    let (mut names, mut errors) = (Names::default(), Names::default());
    let mut time = 0;
    for call in calls {
        let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
        coder.bytes(&call.id.0.to_le_bytes()).number(
            flag(call.at.is_some(), HAS_TIME)
                | flag(call.command.is_some(), HAS_COMMAND)
                | flag(call.error.is_some(), HAS_FAILED)
                | flag(call.duration_ms.is_some(), HAS_DURATION),
        );
        if let Some(at) = call.at.map(Timestamp::as_millis) {
            coder.signed(at.wrapping_sub(time));
            time = at;
        }
        names.write(&mut coder, Some(&call.tool));
        names.write(&mut coder, call.model.as_deref());
        if let Some(command) = &call.command {
            names.write(&mut coder, Some(command));
        }
        if let Some(error) = &call.error {
            errors.write(&mut coder, Some(error));
        }
        if let Some(duration) = call.duration_ms {
            coder.number(duration);
        }
        coder.number(call.output_tokens);
    }
    coder.finish()
}

fn decoded(bytes: &[u8], mut each: impl FnMut(RequestId, &CountedCall<'_>)) -> Option<()> {
    let mut decoder = Decoder(bytes);
    let (mut names, mut errors) = (Names::default(), Names::default());
    let mut time = 0_i64;
    while !decoder.is_empty() {
        let id = RequestId(u64::from_le_bytes(decoder.chunk()?));
        let flags = decoder.number()?;
        let mut at = None;
        if flags & HAS_TIME != 0 {
            time = time.wrapping_add(decoder.signed()?);
            at = Some(Timestamp::from_millis(time));
        }
        let (tool, model) = (names.read(&mut decoder)??, names.read(&mut decoder)?);
        let has = |flag: u64| flags & flag != 0;
        let command = if has(HAS_COMMAND) { names.read(&mut decoder)? } else { None };
        let error = if has(HAS_FAILED) { errors.read(&mut decoder)? } else { None };
        let duration_ms = if has(HAS_DURATION) { Some(decoder.number()?) } else { None };
        let output_tokens = decoder.number()?;
        each(id, &CountedCall { at, tool, command, model, error, duration_ms, output_tokens });
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_come_back_as_they_were() {
        let call = |nth: i64| ToolCallRow {
            id: RequestId::of(&[&nth.to_string()]),
            at: (nth != 2).then(|| Timestamp::from_millis(nth * 1_767_225_600_000)),
            tool: if nth < 50 { "Bash".to_owned() } else { format!("tool {nth}") },
            command: (nth % 2 == 0).then(|| format!("cargo {nth}")),
            model: (nth % 3 == 0).then(|| "claude-opus-4-5".to_owned()),
            error: (nth % 5 == 0).then(|| format!("error: {}", nth % 7)),
            duration_ms: (nth % 4 != 0).then_some(u64::MAX),
            output_tokens: nth.unsigned_abs(),
        };
        let put: Vec<ToolCallRow> = (0..120).map(call).collect();
        let bytes = coded(&put);
        let mut got = Vec::new();
        let read = decoded(&bytes, |id, call| {
            let own = |word: Option<&str>| word.map(str::to_owned);
            got.push(ToolCallRow {
                id,
                at: call.at,
                tool: call.tool.to_owned(),
                command: own(call.command),
                model: own(call.model),
                error: own(call.error),
                duration_ms: call.duration_ms,
                output_tokens: call.output_tokens,
            });
        });
        assert_eq!((read, got), (Some(()), put));
        assert_eq!(decoded(&bytes[..bytes.len() - 1], |_, _| {}), None);
    }
}
