//! The requests of a session, each with its cost and its identity.
//!
//! This is the only place that decides which model a request used, what it cost, and whether two
//! requests are the same. Everything that counts requests (a session's cost, sums over files, the
//! catalogue of the library) uses it.

use std::collections::BTreeMap;

use antiphon_model::{Entry, Session, Timestamp, Usage};
use serde::Serialize;

use crate::{ModelPrices, Prices, Usd};

/// A request, before it is priced.
#[derive(Debug, Clone)]
pub struct Request<'s> {
    pub entry: Entry<'s>,
    pub usage: Usage,
    /// The model that it names, or else its agent's.
    pub model: Option<&'s str>,
    /// The cost that the source itself declares.
    pub declared: Option<Usd>,
    /// Whether the source reports only a part of its tokens.
    pub is_partial: bool,
    pub identity: Identity<'s>,
}

/// Identifies a request in every session that contains it, such as forks and copies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identity<'s> {
    /// The id that the service gave it. Several messages of a session may share it, if one request
    /// was answered in parts that were counted separately: the first is 0.
    Service { id: &'s str, part: u32 },
    /// Without such an id: the session in which it was made (or the sub-agent, if its lines have no
    /// ids of their own), its message, and the time of that.
    Message { session: &'s str, message: &'s str, at: Option<Timestamp>, part: u32 },
    /// Without either: the position, which identifies it in this session only.
    Position(usize),
}

/// The cost of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// By the table of prices; `None` if that has no price.
    pub priced: Option<Usd>,
    /// By the source's own declaration.
    pub declared: Option<Usd>,
}

/// What a cost is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CostBasis {
    /// Tokens and a table of prices.
    Priced,
    /// What the source itself declares.
    Declared,
    /// Both, for different requests.
    Mixed,
}

impl Cost {
    /// The price, or else what was declared.
    pub fn amount(self) -> Option<Usd> {
        self.priced.or(self.declared)
    }

    pub fn basis(self) -> Option<CostBasis> {
        match (self.priced, self.declared) {
            (Some(_), _) => Some(CostBasis::Priced),
            (None, Some(_)) => Some(CostBasis::Declared),
            (None, None) => None,
        }
    }
}

/// The name for the model of a request if the log does not name one.
pub(crate) const NO_MODEL: &str = "unknown";

/// Every request, in the order of the log.
pub fn requests(session: &Session) -> impl Iterator<Item = Request<'_>> {
    let own_id = session.info().session_id.as_deref();
    let mut parts: BTreeMap<&str, u32> = BTreeMap::new();
    session.requests().map(move |(entry, usage, model)| {
        let named = entry.request_id();
        let part = match named {
            // Without repeated ids, a million messages need not be counted.
            None if !session.has_repeated_ids() => 0,
            _ => {
                let count = parts.entry(named.unwrap_or_else(|| entry.id())).or_default();
                *count += 1;
                *count - 1
            }
        };
        let identity = match (named, own_id) {
            (Some(id), _) => Identity::Service { id, part },
            (None, Some(session)) => {
                let (session, message) = match line_of(entry) {
                    Some(line) => (thread(entry).unwrap_or(session), line),
                    None => (session, entry.id()),
                };
                Identity::Message { session, message, at: entry.at(), part }
            }
            (None, None) => Identity::Position(entry.ix().index()),
        };
        Request {
            entry,
            usage,
            model: model_of(entry, model),
            declared: entry.declared_cost_usd().and_then(Usd::from_f64),
            is_partial: entry.is_usage_partial(),
            identity,
        }
    })
}

/// The model of a request: the one that it names, or else its agent's.
pub(crate) fn model_of<'s>(entry: Entry<'s>, named: Option<&'s str>) -> Option<&'s str> {
    named.or_else(|| entry.agent_info()?.language_model())
}

/// The line of a message without an id of its own: readers name it `<file>:<line>`, and `#2` for
/// the second message of a line. A copy of the file may have another name. A line identifies a
/// message only together with its time.
pub(crate) fn line_of(entry: Entry<'_>) -> Option<&str> {
    let (_, line) = entry.id().rsplit_once(':').filter(|_| entry.at().is_some())?;
    let number = line.split_once('#').map_or(line, |(number, _)| number);
    (number.parse() == Ok(entry.line_number())).then_some(line)
}

/// The thread of an entry, if it has a file of its own: alone and among the files of the session
/// that created it, a thread has the same lines.
pub(crate) fn thread(entry: Entry<'_>) -> Option<&str> {
    entry.agent_id().filter(|_| entry.line().stream > 0)
}

/// Prices requests. Looking up a model takes longer than multiplying, so each is looked up once.
#[derive(Debug)]
pub struct Pricing<'p> {
    prices: &'p Prices,
    known: BTreeMap<String, Option<&'p ModelPrices>>,
}

impl<'p> Pricing<'p> {
    pub fn new(prices: &'p Prices) -> Self {
        Self { prices, known: BTreeMap::new() }
    }

    /// The cost of a request to this model at this time.
    pub fn cost(
        &mut self,
        model: Option<&str>,
        at: Option<Timestamp>,
        usage: Usage,
        declared: Option<Usd>,
    ) -> Cost {
        if usage.is_zero() {
            // Without tokens there is nothing to price, and nothing unpriced: an answer that a
            // program made up is free, unless a cost is declared.
            let priced = declared.is_none().then_some(Usd::ZERO);
            return Cost { priced, declared };
        }
        let priced = model.and_then(|model| self.model(model)?.price(at, usage));
        Cost { priced, declared }
    }

    /// The cost of one request of a session.
    pub(crate) fn of(&mut self, request: &Request<'_>) -> Cost {
        self.cost(request.model, request.entry.at(), request.usage, request.declared)
    }

    fn model(&mut self, name: &str) -> Option<&'p ModelPrices> {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let found = self.prices.model(name);
        self.known.insert(name.to_owned(), found);
        found
    }
}

#[cfg(test)]
mod tests;
