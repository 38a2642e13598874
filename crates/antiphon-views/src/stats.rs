//! Tokens and cost over many sessions.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{Session, Timestamp};
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use crate::request::{Request, requests};
use crate::{Prices, Totals};

/// What rows are made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    Model,
    /// An agent's name: ids are different in each session.
    Agent,
    /// The day of the request, in UTC.
    Day,
    Session,
}

/// Sums over sessions: of everything, and by group.
#[derive(Debug, Clone, Serialize)]
pub struct Stats {
    #[serde(skip)]
    group: Group,
    pub totals: Totals,
    #[serde(serialize_with = "rows")]
    pub rows: BTreeMap<StatsKey, Totals>,
    /// The models without a price, by name.
    pub unpriced: BTreeSet<String>,
    /// How many sessions were counted.
    pub sessions: u64,
}

/// What a row is about; `null` where the log does not say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum StatsKey {
    Model { model: Option<String> },
    Agent { agent: Option<String> },
    Day { day: Option<String> },
    Session { session_id: String },
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

    /// Counts a session.
    pub fn add(&mut self, session: &Session, session_id: &str, prices: &Prices) {
        self.add_new(session, session_id, prices, &mut |_| true);
    }

    /// Counts the requests of a session that no other has had: `is_new` is asked about the id of
    /// each that has one. Forks carry the requests of the session that they come from.
    pub fn add_new(
        &mut self,
        session: &Session,
        session_id: &str,
        prices: &Prices,
        is_new: &mut dyn FnMut(&str) -> bool,
    ) {
        let mut parts: BTreeMap<Part<'_>, Totals> = BTreeMap::new();
        let mut unpriced = BTreeSet::new();
        for request in requests(session, prices) {
            if request.entry.request_id().is_some_and(|id| !is_new(id)) {
                continue;
            }
            let part = self.group.part(session, &request);
            parts.entry(part).or_default().add(request.usage, request.cost);
            unpriced.extend(request.unpriced());
        }
        for (part, totals) in parts {
            self.totals += totals;
            *self.rows.entry(self.group.key(part, session_id)).or_default() += totals;
        }
        self.unpriced.extend(unpriced.into_iter().map(String::from));
        self.sessions += 1;
    }

    /// Takes in what was counted elsewhere, by the same group.
    pub fn merge(&mut self, other: Self) {
        debug_assert_eq!(self.group, other.group);
        self.totals += other.totals;
        for (key, totals) in other.rows {
            *self.rows.entry(key).or_default() += totals;
        }
        self.unpriced.extend(other.unpriced);
        self.sessions += other.sessions;
    }
}

/// What a row is about, in a word.
impl std::fmt::Display for StatsKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = match self {
            Self::Model { model: word } | Self::Agent { agent: word } | Self::Day { day: word } => {
                word.as_deref()
            }
            Self::Session { session_id } => Some(session_id.as_str()),
        };
        f.write_str(word.unwrap_or("not said"))
    }
}

/// A part of one session, before it has a name of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part<'s> {
    Whole,
    Word(&'s str),
    /// Days since 1970.
    Day(i64),
    Unsaid,
}

const DAY_MILLIS: i64 = 86_400_000;

impl Group {
    fn part<'s>(self, session: &'s Session, request: &Request<'s>) -> Part<'s> {
        let agent = || request.entry.agent().map(|agent| session.agent_name(agent));
        let day = || request.entry.at().map(|at| at.as_millis().div_euclid(DAY_MILLIS));
        match self {
            Self::Model => request.model.map_or(Part::Unsaid, Part::Word),
            Self::Agent => agent().map_or(Part::Unsaid, Part::Word),
            Self::Day => day().map_or(Part::Unsaid, Part::Day),
            Self::Session => Part::Whole,
        }
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
            Self::Day => StatsKey::Day { day: word },
            Self::Session => StatsKey::Session { session_id: session_id.to_owned() },
        }
    }
}

/// Each row as one object: what it is about, and its sums.
fn rows<S: Serializer>(
    rows: &BTreeMap<StatsKey, Totals>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Row<'r> {
        #[serde(flatten)]
        key: &'r StatsKey,
        #[serde(flatten)]
        totals: &'r Totals,
    }
    let mut list = serializer.serialize_seq(Some(rows.len()))?;
    for (key, totals) in rows {
        list.serialize_element(&Row { key, totals })?;
    }
    list.end()
}

#[cfg(test)]
mod tests;
