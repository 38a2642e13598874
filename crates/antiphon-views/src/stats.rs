//! Tokens and cost over many sessions.

mod blocks;
mod key;
mod sessions;

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{AgentIx, Session, TimeRange, Timestamp, Zone};
use serde::Serialize;

pub use blocks::BLOCK_MILLIS;
pub use key::{Group, StatsKey, StatsRow};
pub use sessions::SessionRequests;

use crate::Totals;
use crate::request::{NO_MODEL, Request};
use blocks::Blocks;

/// A quarter of an hour, in the unit of [`Timestamp::as_millis`]. In every zone a day and an hour
/// begin with one, and so do five-hour blocks: sums of quarters can be put together into any of
/// them.
pub const QUARTER_MILLIS: i64 = 900_000;

/// Which requests are counted, and how they are grouped.
#[derive(Debug, Clone)]
pub struct StatsQuery {
    pub group: Group,
    /// The zone whose hours, days, weeks and months are counted.
    pub zone: Zone,
    pub range: TimeRange,
    /// A part of the name of the model, in lower case; `None` for every model.
    pub model: Option<String>,
    /// Decides which block is still running.
    pub now: Timestamp,
}

impl StatsQuery {
    /// All requests, in one of these groups. No block is running.
    pub fn all(group: Group) -> Self {
        Self {
            group,
            zone: Zone::utc(),
            range: TimeRange::default(),
            model: None,
            now: Timestamp::from_millis(i64::MAX),
        }
    }

    /// Whether it asks for some of the requests of a session only.
    pub fn is_partial(&self) -> bool {
        !self.range.is_open() || self.model.is_some()
    }

    /// Whether a request to this model is meant.
    pub fn wants_model(&self, model: Option<&str>) -> bool {
        let Some(wanted) = &self.model else { return true };
        model.is_some_and(|model| model.to_lowercase().contains(wanted))
    }
}

/// Facts that some requests of one session have in common.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Facts<'s> {
    pub session_id: &'s str,
    pub program: Option<&'s str>,
    pub project: Option<&'s str>,
    pub model: Option<&'s str>,
    /// `None` for the session's own agent.
    pub sub_agent: Option<&'s str>,
    /// When the requests were made; all of them within a quarter of an hour.
    pub at: Option<Timestamp>,
}

/// Sums over sessions: of everything, and by group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stats {
    /// The sums of everything.
    pub totals: Totals,
    /// The sums of each group, in order.
    #[serde(serialize_with = "key::rows")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<StatsRow<'static>>"))]
    pub rows: BTreeMap<StatsKey, Totals>,
    /// The names of the models without a price.
    pub unpriced: BTreeSet<String>,
    /// How many sessions were counted; with a range or a model, those with such a request.
    pub sessions: u64,
}

impl Stats {
    /// Counts sessions: each request once, for the session that owns it.
    pub fn of(query: &StatsQuery, sessions: &[SessionRequests]) -> Self {
        sessions::count(query, sessions)
    }
}

/// Sums that are being added up.
#[derive(Debug)]
pub struct StatsBuilder<'q> {
    query: &'q StatsQuery,
    stats: Stats,
    blocks: Blocks,
    /// The names of the spans of the calendar, by the quarters of an hour in them.
    spans: BTreeMap<i64, Option<String>>,
}

impl<'q> StatsBuilder<'q> {
    pub fn new(query: &'q StatsQuery) -> Self {
        let stats = Stats {
            totals: Totals::default(),
            rows: BTreeMap::new(),
            unpriced: BTreeSet::new(),
            sessions: 0,
        };
        Self { query, stats, blocks: Blocks::default(), spans: BTreeMap::new() }
    }

    /// Says that there were requests at this time, whether they are counted or not: a block begins
    /// with its first request.
    pub fn add_time(&mut self, at: Option<Timestamp>) {
        if self.query.group == Group::Block {
            self.blocks.add(at);
        }
    }

    /// Adds the sums of some requests that are to be counted. Each time must have been told by
    /// [`Self::add_time`].
    pub fn add(&mut self, facts: &Facts<'_>, totals: Totals) {
        self.stats.totals += totals;
        if totals.unpriced > 0 {
            self.stats.unpriced.insert(facts.model.unwrap_or(NO_MODEL).to_owned());
        }
        let group = self.query.group;
        if group == Group::Block {
            self.blocks.count(facts.at, totals);
            return;
        }
        let span = group.span().and_then(|span| {
            let at = facts.at?;
            let quarter = at.as_millis().div_euclid(QUARTER_MILLIS);
            let name = || self.query.zone.span_name(at, span);
            self.spans.entry(quarter).or_insert_with(name).clone()
        });
        *self.stats.rows.entry(group.key(facts, span)).or_default() += totals;
    }

    pub fn add_session(&mut self) {
        self.stats.sessions += 1;
    }

    pub fn finish(mut self) -> Stats {
        self.stats.rows.append(&mut self.blocks.rows(self.query.now));
        self.stats
    }
}

fn facts<'s>(session: &'s Session, request: &Request<'s>, session_id: &'s str) -> Facts<'s> {
    let info = session.info();
    Facts {
        session_id,
        program: info.program.as_deref(),
        project: info.cwd.as_deref(),
        model: request.model,
        sub_agent: request.entry.agent().and_then(|agent| sub_agent(session, agent)),
        at: request.entry.at(),
    }
}

/// The type of a sub-agent; `None` if the agent has no parent.
pub fn sub_agent(session: &Session, agent: AgentIx) -> Option<&str> {
    let info = session.agent(agent);
    info.parent.agent()?;
    Some(info.agent_type().unwrap_or_else(|| session.agent_name(agent)))
}

#[cfg(test)]
mod tests;
