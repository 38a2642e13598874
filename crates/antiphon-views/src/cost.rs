//! What each agent cost, by itself and with those that it made; and the requests behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Not;

use antiphon_model::{AgentIx, Session, Timestamp, Usage};
use serde::Serialize;

use crate::outline::{Node, outline};
use crate::request::{Basis, NO_MODEL, Pricing, requests};
use crate::{Prices, Totals, Usd};

/// The cost of a session. `own` of all nodes sums to `total`.
#[derive(Debug, Serialize)]
pub struct CostTree {
    pub session_id: String,
    pub tree: Vec<CostNode>,
    pub total: Totals,
    /// The models without a price, by name.
    pub unpriced: Vec<String>,
    /// The day of which the prices are.
    pub prices_date: String,
}

#[derive(Debug, Serialize)]
pub struct CostNode {
    pub agent_id: String,
    pub name: String,
    /// How many requests the agent itself made.
    pub requests: u64,
    /// The models that it asked.
    pub models: Vec<String>,
    pub own: Totals,
    /// `own`, and the totals of the children.
    pub total: Totals,
    pub children: Vec<Self>,
}

impl Node for CostNode {
    fn adopt(&mut self, child: Self) {
        self.total += child.total;
        self.children.push(child);
    }
}

/// What the agents of a session cost, in the order and the shape of [`tree`](crate::tree()).
pub fn cost(session: &Session, session_id: &str, prices: &Prices) -> CostTree {
    let mut total = Totals::default();
    let mut unpriced = BTreeSet::new();
    let mut agents: BTreeMap<AgentIx, (Totals, BTreeSet<&str>)> = BTreeMap::new();
    let mut pricing = Pricing::new(prices);
    for request in requests(session) {
        let cost = pricing.of(&request);
        total.add(request.usage, cost, request.is_partial);
        if cost.amount().is_none() {
            unpriced.insert(request.model.unwrap_or(NO_MODEL));
        }
        // Only messages have usage, and a message has an agent.
        if let Some(agent) = request.entry.agent() {
            let (own, models) = agents.entry(agent).or_default();
            own.add(request.usage, cost, request.is_partial);
            models.extend(request.model);
        }
    }
    let tree = outline(session, |agent| {
        let (own, models) = agents.remove(&agent).unwrap_or_default();
        CostNode {
            agent_id: session.agent_id(agent).to_owned(),
            name: session.agent_name(agent).to_owned(),
            requests: own.requests,
            models: models.into_iter().map(Into::into).collect(),
            own,
            total: own,
            children: Vec::new(),
        }
    });
    CostTree {
        session_id: session_id.to_owned(),
        tree,
        total,
        unpriced: unpriced.into_iter().map(Into::into).collect(),
        prices_date: prices.date().to_owned(),
    }
}

/// One counted request.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct LedgerRow {
    pub message_id: String,
    pub agent_id: Option<String>,
    pub name: Option<String>,
    pub model: Option<String>,
    #[serde(flatten)]
    pub usage: Usage,
    /// `null` where neither a price is known nor a cost was declared.
    pub cost_usd: Option<Usd>,
    /// What `cost_usd` rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// What the source itself says that the request cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared_usd: Option<Usd>,
    /// Whether the source tells only a part of its tokens.
    #[serde(skip_serializing_if = "Not::not")]
    pub partial: bool,
    /// The service's id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Where it stands: the stream of the session, and the line in it, from 1.
    pub stream: u32,
    pub line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

/// Every request that the cost is made of, in the order of the log.
pub fn ledger(session: &Session, prices: &Prices) -> Vec<LedgerRow> {
    let mut pricing = Pricing::new(prices);
    let rows = requests(session).map(|request| {
        let entry = request.entry;
        let cost = pricing.of(&request);
        LedgerRow {
            message_id: entry.id().to_owned(),
            agent_id: entry.agent().map(|agent| session.agent_id(agent).to_owned()),
            name: entry.agent().map(|agent| session.agent_name(agent).to_owned()),
            model: request.model.map(Into::into),
            usage: request.usage,
            cost_usd: cost.amount(),
            basis: cost.basis(),
            declared_usd: cost.declared,
            partial: request.is_partial,
            request_id: entry.request_id().map(Into::into),
            stream: entry.line().stream,
            line: entry.line_number(),
            timestamp: entry.at(),
        }
    });
    rows.collect()
}

#[cfg(test)]
mod tests;
