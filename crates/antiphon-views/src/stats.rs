//! Tokens and cost over many sessions.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{AgentIx, Session, Timestamp, Usage};
use serde::Serialize;
use serde::ser::Serializer;

use crate::request::{Cost, Identity, NO_MODEL, Pricing, Request, requests};
use crate::{Prices, Sums, Totals};

/// The key by which rows are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    Model,
    /// The program that ran the session.
    Agent,
    /// The kind or the name of the sub-agent that made the request.
    SubAgent,
    /// The day of the request, in UTC.
    Day,
    /// The folder that the session worked in.
    Project,
    Session,
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
    /// Days since 1970.
    pub day: Option<i64>,
}

/// Sums over sessions: of everything, and by group.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stats {
    #[serde(skip)]
    group: Group,
    /// The sums of everything.
    pub totals: Totals,
    /// The sums of each group, in order.
    #[serde(serialize_with = "rows")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<StatsRow<'static>>"))]
    pub rows: BTreeMap<StatsKey, Totals>,
    /// The names of the models without a price.
    pub unpriced: BTreeSet<String>,
    /// How many sessions were counted.
    pub sessions: u64,
}

/// What a row is about; null if the log does not say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum StatsKey {
    Model {
        /// The model that was used.
        model: Option<String>,
    },
    Agent {
        /// The program that ran the session.
        agent: Option<String>,
    },
    SubAgent {
        /// The kind of sub-agent; null for the session's own agent.
        sub_agent: Option<String>,
    },
    Project {
        /// The folder in which the session worked.
        project: Option<String>,
    },
    Day {
        /// The day of the request, in UTC: `2026-03-01`.
        day: Option<String>,
    },
    Session {
        /// The id of the session.
        session_id: String,
    },
}

/// A row: what it is about, and its sums.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatsRow<'r> {
    #[serde(flatten)]
    pub key: &'r StatsKey,
    #[serde(flatten)]
    pub sums: Sums,
}

impl Stats {
    pub fn new(group: Group) -> Self {
        Self {
            group,
            totals: Totals::default(),
            rows: BTreeMap::new(),
            unpriced: BTreeSet::new(),
            sessions: 0,
        }
    }

    /// Counts sessions: each request once, for the session that owns it.
    pub fn of(group: Group, sessions: &[SessionRequests]) -> Self {
        let mut stats = Self::new(group);
        let owners = owners(sessions);
        for (at, session) in sessions.iter().enumerate() {
            for request in &session.requests {
                if request.id.as_ref().is_some_and(|id| owners.get(&**id) != Some(&at)) {
                    continue;
                }
                let mut totals = Totals::default();
                totals.add(request.usage, request.cost, request.is_partial);
                stats.totals += totals;
                *stats.rows.entry(request.row.clone()).or_default() += totals;
                stats.unpriced.extend(request.unpriced.clone());
            }
            stats.sessions += 1;
        }
        stats
    }

    /// Adds sums that were computed elsewhere, of a session that [`Self::add_session`] counts.
    pub fn add_totals(&mut self, facts: &Facts<'_>, totals: Totals) {
        self.totals += totals;
        let key = self.group.key(self.group.part(facts), facts.session_id);
        *self.rows.entry(key).or_default() += totals;
        if totals.unpriced > 0 {
            self.unpriced.insert(facts.model.unwrap_or(NO_MODEL).to_owned());
        }
    }

    pub fn add_session(&mut self) {
        self.sessions += 1;
    }
}

/// The requests of a session, each with its row.
#[derive(Debug)]
pub struct SessionRequests {
    session_id: String,
    requests: Vec<Counted>,
}

#[derive(Debug)]
struct Counted {
    /// Identifies the request in every session that contains it; `None` if no other session can.
    id: Option<Box<str>>,
    at: Option<Timestamp>,
    row: StatsKey,
    usage: Usage,
    cost: Cost,
    is_partial: bool,
    unpriced: Option<String>,
}

impl SessionRequests {
    pub fn read(session: &Session, session_id: &str, group: Group, prices: &Prices) -> Self {
        let mut pricing = Pricing::new(prices);
        let counted = requests(session).map(|request| {
            let part = group.part(&facts(session, &request, session_id));
            let cost = pricing.of(&request);
            let is_unpriced = cost.amount().is_none();
            Counted {
                id: shared_id(&request.identity),
                at: request.entry.at(),
                row: group.key(part, session_id),
                usage: request.usage,
                cost,
                is_partial: request.is_partial,
                unpriced: is_unpriced.then(|| request.model.unwrap_or(NO_MODEL).to_owned()),
            }
        });
        Self { session_id: session_id.to_owned(), requests: counted.collect() }
    }
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

/// What a row is about, in a word.
impl std::fmt::Display for StatsKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = match self {
            Self::Model { model: word }
            | Self::Agent { agent: word }
            | Self::Project { project: word }
            | Self::Day { day: word } => word.as_deref(),
            Self::SubAgent { sub_agent } => Some(sub_agent.as_deref().unwrap_or("no sub-agent")),
            Self::Session { session_id } => Some(session_id.as_str()),
        };
        f.write_str(word.unwrap_or("(unknown)"))
    }
}

/// A part of one session, borrowed, before it becomes a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part<'s> {
    Whole,
    Word(&'s str),
    /// Days since 1970.
    Day(i64),
    Unsaid,
}

/// A day, in the unit of [`Timestamp::as_millis`].
pub const DAY_MILLIS: i64 = 86_400_000;

impl Group {
    fn part<'s>(self, facts: &Facts<'s>) -> Part<'s> {
        let word = match self {
            Self::Model => facts.model,
            Self::Agent => facts.program,
            Self::SubAgent => facts.sub_agent,
            Self::Project => facts.project,
            Self::Day => return facts.day.map_or(Part::Unsaid, Part::Day),
            Self::Session => return Part::Whole,
        };
        word.map_or(Part::Unsaid, Part::Word)
    }

    fn key(self, part: Part<'_>, session_id: &str) -> StatsKey {
        let word = match part {
            Part::Word(word) => Some(word.to_owned()),
            Part::Day(day) => {
                let start = Timestamp::from_millis(day.saturating_mul(DAY_MILLIS)).to_string();
                start.split_once('T').map(|(day, _)| day.to_owned())
            }
            Part::Whole | Part::Unsaid => None,
        };
        match self {
            Self::Model => StatsKey::Model { model: word },
            Self::Agent => StatsKey::Agent { agent: word },
            Self::SubAgent => StatsKey::SubAgent { sub_agent: word },
            Self::Project => StatsKey::Project { project: word },
            Self::Day => StatsKey::Day { day: word },
            Self::Session => StatsKey::Session { session_id: session_id.to_owned() },
        }
    }
}

fn facts<'s>(session: &'s Session, request: &Request<'s>, session_id: &'s str) -> Facts<'s> {
    let info = session.info();
    let at = request.entry.at();
    Facts {
        session_id,
        program: info.program.as_deref(),
        project: info.cwd.as_deref(),
        model: request.model,
        sub_agent: request.entry.agent().and_then(|agent| sub_agent(session, agent)),
        day: at.map(|at| at.as_millis().div_euclid(DAY_MILLIS)),
    }
}

/// The type of a sub-agent; `None` if the agent has no parent.
pub fn sub_agent(session: &Session, agent: AgentIx) -> Option<&str> {
    let info = session.agent(agent);
    info.parent.agent()?;
    Some(info.agent_type().unwrap_or_else(|| session.agent_name(agent)))
}

/// Each row as one object.
fn rows<S: Serializer>(
    rows: &BTreeMap<StatsKey, Totals>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer
        .collect_seq(rows.iter().map(|(key, totals)| StatsRow { key, sums: Sums::from(*totals) }))
}

#[cfg(test)]
mod tests;
