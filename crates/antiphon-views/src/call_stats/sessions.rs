//! Counting the calls of sessions that were read: each once.

use std::collections::BTreeMap;

use antiphon_model::{Reading, Timestamp};

use super::{CallStats, CallStatsBuilder, CallStatsQuery, CountedCall};
use crate::call_facts::{CallIdentity, call_facts};

/// The calls of a session that may be counted.
#[derive(Debug)]
pub struct SessionCalls {
    session_id: String,
    /// Whether its calls are counted; otherwise it only takes those that are its own.
    is_wanted: bool,
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    /// Identifies the call in every session that contains it; `None` if no other session can.
    id: Option<Box<str>>,
    at: Option<Timestamp>,
    tool: String,
    command: Option<String>,
    model: Option<String>,
    error: Option<String>,
    duration_ms: Option<u64>,
    output_tokens: u64,
}

impl SessionCalls {
    /// `is_wanted`: whether the session is among those that are counted.
    pub fn read(reading: &Reading<'_>, session_id: &str, is_wanted: bool) -> Self {
        let call = |facts: crate::CallFacts<'_>| Call {
            id: shared_id(&facts.identity),
            at: facts.at,
            tool: facts.tool.to_owned(),
            command: facts.command,
            model: facts.model.map(str::to_owned),
            error: facts.error,
            duration_ms: facts.duration_ms,
            output_tokens: facts.output_tokens,
        };
        let calls = call_facts(reading).into_iter().map(call).collect();
        Self { session_id: session_id.to_owned(), is_wanted, calls }
    }
}

impl CallStats {
    /// Counts sessions: each call once, for the session in which it is earliest, and of several the
    /// one with the first id.
    pub fn of(query: &CallStatsQuery, sessions: &[SessionCalls]) -> Self {
        let mut owners: BTreeMap<&str, (i64, &str, usize)> = BTreeMap::new();
        for (number, session) in sessions.iter().enumerate() {
            for call in &session.calls {
                let Some(id) = &call.id else { continue };
                let time = call.at.map_or(i64::MAX, Timestamp::as_millis);
                let mine = (time, session.session_id.as_str(), number);
                let known = owners.entry(id).or_insert(mine);
                *known = mine.min(*known);
            }
        }
        let mut stats = CallStatsBuilder::new(query);
        for (number, session) in sessions.iter().enumerate().filter(|(_, it)| it.is_wanted) {
            let is_own = |call: &&Call| match &call.id {
                Some(id) => owners.get(&**id).is_some_and(|(_, _, owner)| *owner == number),
                None => true,
            };
            let facts = |call: &Call| -> bool {
                let call = CountedCall {
                    at: call.at,
                    tool: &call.tool,
                    command: call.command.as_deref(),
                    model: call.model.as_deref(),
                    error: call.error.as_deref(),
                    duration_ms: call.duration_ms,
                    output_tokens: call.output_tokens,
                };
                stats.add(&call);
                query.wants(&call)
            };
            let counted = session.calls.iter().filter(is_own).map(facts);
            if counted.filter(|is_counted| *is_counted).count() > 0 {
                stats.add_session();
            }
        }
        stats.finish()
    }
}

/// An identity as one string. The separator occurs in no id.
fn shared_id(identity: &CallIdentity<'_>) -> Option<Box<str>> {
    Some(match identity {
        CallIdentity::Service { request, call } => format!("{request}\0{call}").into(),
        CallIdentity::Message { session, message, at, call } => {
            let at = at.map_or(i64::MIN, Timestamp::as_millis);
            format!("\0{session}\0{message}\0{at}\0{call}").into()
        }
        CallIdentity::Position(_) => return None,
    })
}
