//! Counting the requests of sessions that were read: each once, for the session that owns it.

use std::collections::BTreeMap;

use antiphon_model::{Session, Timestamp};

use super::{Facts, Stats, StatsBuilder, StatsQuery, facts};
use crate::request::{Identity, Pricing, requests};
use crate::{Prices, Totals};

/// The requests of a session that may be counted.
#[derive(Debug)]
pub struct SessionRequests {
    session_id: String,
    program: Option<String>,
    project: Option<String>,
    /// Whether its requests are counted. Those of others still say where blocks begin.
    is_wanted: bool,
    requests: Vec<Counted>,
}

#[derive(Debug)]
struct Counted {
    /// Identifies the request in every session that contains it; `None` if no other session can.
    id: Option<Box<str>>,
    at: Option<Timestamp>,
    model: Option<String>,
    sub_agent: Option<String>,
    totals: Totals,
}

impl SessionRequests {
    /// `is_wanted`: whether the session is among those that are counted.
    pub fn read(session: &Session, session_id: &str, is_wanted: bool, prices: &Prices) -> Self {
        let mut pricing = Pricing::new(prices);
        let counted = requests(session).map(|request| {
            let Facts { model, sub_agent, at, .. } = facts(session, &request, session_id);
            let mut totals = Totals::default();
            totals.add(request.usage, pricing.of(&request), request.is_partial);
            Counted {
                id: shared_id(&request.identity),
                at,
                model: model.map(str::to_owned),
                sub_agent: sub_agent.map(str::to_owned),
                totals,
            }
        });
        let info = session.info();
        Self {
            session_id: session_id.to_owned(),
            program: info.program.as_deref().map(str::to_owned),
            project: info.cwd.as_deref().map(str::to_owned),
            is_wanted,
            requests: counted.collect(),
        }
    }
}

pub(super) fn count(query: &StatsQuery, sessions: &[SessionRequests]) -> Stats {
    let mut stats = StatsBuilder::new(query);
    let owners = owners(sessions);
    for (at, session) in sessions.iter().enumerate() {
        let mut has_any = false;
        for request in &session.requests {
            if request.id.as_ref().is_some_and(|id| owners.get(&**id) != Some(&at)) {
                continue;
            }
            stats.add_time(request.at);
            let is_wanted = session.is_wanted
                && query.range.contains(request.at)
                && query.wants_model(request.model.as_deref());
            if is_wanted {
                let facts = Facts {
                    session_id: &session.session_id,
                    program: session.program.as_deref(),
                    project: session.project.as_deref(),
                    model: request.model.as_deref(),
                    sub_agent: request.sub_agent.as_deref(),
                    at: request.at,
                };
                stats.add(&facts, request.totals);
                has_any = true;
            }
        }
        if session.is_wanted && (has_any || !query.is_partial()) {
            stats.add_session();
        }
    }
    stats.finish()
}

/// An identity as one string. The separator occurs in no id.
fn shared_id(identity: &Identity<'_>) -> Option<Box<str>> {
    Some(match identity {
        Identity::Service { id, part: 0 } => (*id).into(),
        Identity::Service { id, part } => format!("{id}\0{part}").into(),
        Identity::Message { session, message, at, part } => {
            let at = at.map_or(i64::MIN, Timestamp::as_millis);
            format!("\0{session}\0{message}\0{at}\0{part}").into()
        }
        Identity::Position(_) => return None,
    })
}

/// The owner of each request that several sessions contain, as forks do: the session in which it is
/// earliest, and of several the one with the first id.
fn owners(sessions: &[SessionRequests]) -> BTreeMap<&str, usize> {
    let mut first: BTreeMap<&str, (i64, &str, usize)> = BTreeMap::new();
    for (at, session) in sessions.iter().enumerate() {
        for request in &session.requests {
            let Some(id) = &request.id else { continue };
            let time = request.at.map_or(i64::MAX, Timestamp::as_millis);
            let mine = (time, session.session_id.as_str(), at);
            let known = first.entry(id).or_insert(mine);
            *known = (*known).min(mine);
        }
    }
    first.into_iter().map(|(id, (_, _, at))| (id, at)).collect()
}
