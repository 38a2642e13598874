//! What each agent cost, by itself and with the agents that it created; and the requests behind it.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{AgentIx, Session, Timestamp, Usage};
use serde::Serialize;

use crate::outline::{Node, outline};
use crate::request::{NO_MODEL, Pricing, requests};
use crate::{CostFigures, CostReasons, Prices, Totals};

/// The cost of a session. `own` of all nodes adds up to `total`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostTree {
    /// The id of the session.
    pub session_id: String,
    /// The agents that no other agent created, each with those that it created.
    pub tree: Vec<CostNode>,
    /// What the session used and cost.
    pub total: Totals,
    /// The names of the models without a price.
    pub unpriced: Vec<String>,
    /// The day on which the prices were valid.
    pub prices_date: String,
    /// Why it cost that, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<CostReasons>,
}

/// What an agent used and cost.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostNode {
    /// The id of the agent.
    pub agent_id: String,
    /// The name of the agent; its id, if it has no name.
    pub name: String,
    /// How many requests the agent itself made.
    pub requests: u64,
    /// The models that it used.
    pub models: Vec<String>,
    /// What the agent itself used and cost.
    pub own: Totals,
    /// The same together with the agents below it.
    pub total: Totals,
    /// The agents that it created.
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
        why: None,
    }
}

/// One counted request.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerRow {
    /// The id of the message with the answer.
    pub message_id: String,
    /// The id of the agent that made the request.
    pub agent_id: Option<String>,
    /// The name of that agent; its id, if it has no name.
    pub name: Option<String>,
    /// The model that was used.
    pub model: Option<String>,
    #[serde(flatten)]
    pub usage: Usage,
    #[serde(flatten)]
    pub cost: CostFigures,
    /// The id that the service gave the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The number of the session's file, from 0.
    pub stream: u32,
    /// The line in that file, from 1.
    pub line: u64,
    /// When the answer came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

/// Every request that the cost consists of, in the order of the log.
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
            cost: CostFigures::of_request(cost, request.is_partial),
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
