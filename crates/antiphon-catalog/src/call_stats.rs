//! The tool calls of some sessions.

use std::collections::{BTreeSet, HashMap};

use antiphon_model::Timestamp;
use antiphon_views::{CallStats, CallStatsBuilder, CallStatsQuery, CountedCall};

use crate::{Catalog, CatalogError, Key, Origin, RequestId, SessionQuery, Summary};

/// A session, as calls are counted for it.
struct Owner<'s> {
    session_id: &'s str,
    key: &'s Key,
    is_wanted: bool,
}

/// A call, and the session that it counts for.
struct Owned {
    at: i64,
    /// The number of its owner.
    owner: usize,
    tool: u32,
    command: Option<u32>,
    model: Option<u32>,
    error: Option<u32>,
    duration_ms: Option<u64>,
    output_tokens: u64,
}

/// Counts every call once: for the session in which it is earliest, then for the one whose id and
/// key come first. A recording does not count beside the agent's own file, nor does a part of
/// another session.
pub(crate) fn call_stats<C: Catalog + ?Sized>(
    catalog: &C,
    sessions: &[&Summary],
    wanted: &SessionQuery,
    query: &CallStatsQuery,
) -> Result<CallStats, CatalogError> {
    let owners = owners(sessions, wanted);
    let numbers: HashMap<&Key, usize> =
        owners.iter().enumerate().map(|(number, owner)| (owner.key, number)).collect();
    let (mut words, mut calls, mut known) = (Words::default(), Vec::new(), HashMap::new());
    // Calls come session by session.
    let mut last: Option<(Key, Option<usize>)> = None;
    catalog.each_call(&mut |key, id: RequestId, call| {
        let is_same = last.as_ref().is_some_and(|(last, _)| last == key);
        if !is_same {
            last = Some((key.clone(), numbers.get(key).copied()));
        }
        let Some(owner) = last.as_ref().and_then(|(_, owner)| *owner) else { return };
        let owned = Owned {
            at: call.at.map_or(i64::MAX, Timestamp::as_millis),
            owner,
            tool: words.number(call.tool),
            command: call.command.map(|word| words.number(word)),
            model: call.model.map(|word| words.number(word)),
            error: call.error.map(|word| words.number(word)),
            duration_ms: call.duration_ms,
            output_tokens: call.output_tokens,
        };
        match known.get(&id) {
            None => {
                known.insert(id, calls.len());
                calls.push(owned);
            }
            Some(&at) => {
                let rank = |call: &Owned| {
                    let owner = owners.get(call.owner);
                    (call.at, owner.map(|owner| (owner.session_id, owner.key)))
                };
                if let Some(first) = calls.get_mut(at).filter(|first| rank(&owned) < rank(first)) {
                    *first = owned;
                }
            }
        }
    })?;
    let mut stats = CallStatsBuilder::new(query);
    let mut counted = BTreeSet::new();
    for call in &calls {
        if !owners.get(call.owner).is_some_and(|owner| owner.is_wanted) {
            continue;
        }
        let word = |number: Option<u32>| number.and_then(|number| words.get(number));
        let facts = CountedCall {
            at: (call.at != i64::MAX).then(|| Timestamp::from_millis(call.at)),
            tool: words.get(call.tool).unwrap_or_default(),
            command: word(call.command),
            model: word(call.model),
            error: word(call.error),
            duration_ms: call.duration_ms,
            output_tokens: call.output_tokens,
        };
        if query.wants(&facts) {
            stats.add(&facts);
            counted.insert(call.owner);
        }
    }
    counted.iter().for_each(|_| stats.add_session());
    Ok(stats.finish())
}

/// The sessions that calls may count for.
fn owners<'s>(sessions: &[&'s Summary], wanted: &SessionQuery) -> Vec<Owner<'s>> {
    let is_copy = |session: &&&Summary| session.origin == Origin::Archived;
    let copied: BTreeSet<&str> =
        sessions.iter().filter(is_copy).map(|session| session.session_id.as_str()).collect();
    let counts = |session: &&&Summary| {
        let is_beside = session.origin == Origin::Recorded && copied.contains(&*session.session_id);
        !session.is_part && !is_beside
    };
    let owner = |session: &&'s Summary| Owner {
        session_id: &session.session_id,
        key: &session.key,
        is_wanted: wanted.wants(session),
    };
    sessions.iter().filter(counts).map(owner).collect()
}

/// Words, each stored once.
#[derive(Default)]
struct Words {
    numbers: HashMap<Box<str>, u32>,
    all: Vec<Box<str>>,
}

impl Words {
    fn number(&mut self, word: &str) -> u32 {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.numbers.insert(word.into(), number);
        self.all.push(word.into());
        number
    }

    fn get(&self, number: u32) -> Option<&str> {
        self.all.get(number as usize).map(|word| &**word)
    }
}
