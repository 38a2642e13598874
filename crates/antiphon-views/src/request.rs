//! The requests of a session, each with what it cost.

use std::collections::BTreeMap;

use antiphon_model::{Entry, Session, Usage};

use crate::{Prices, Usd};

/// A counted request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'s> {
    pub(crate) entry: Entry<'s>,
    pub(crate) usage: Usage,
    pub(crate) model: Option<&'s str>,
    /// `None` where no price is known.
    pub(crate) cost: Option<Usd>,
}

impl<'s> Request<'s> {
    /// What to list as unpriced, if it is.
    pub(crate) fn unpriced(&self) -> Option<&'s str> {
        self.cost.is_none().then(|| self.model.unwrap_or(NO_MODEL))
    }
}

/// How a request is listed of which the log does not say whom it asked.
pub(crate) const NO_MODEL: &str = "unknown";

/// Every request, in the order of the log. One that names no model asked its agent's.
pub(crate) fn requests<'s>(
    session: &'s Session,
    prices: &'s Prices,
) -> impl Iterator<Item = Request<'s>> {
    let mut known = BTreeMap::new();
    session.requests().map(move |(entry, usage, model)| {
        let model = model.or_else(|| entry.agent_info()?.language_model());
        let cost = if usage.is_zero() {
            // Nothing at any price: an answer that a program made up counts nobody as unpriced.
            Some(Usd::ZERO)
        } else {
            model
                .and_then(|model| *known.entry(model).or_insert_with(|| prices.model(model)))
                .and_then(|prices| prices.price(entry.at(), usage))
        };
        Request { entry, usage, model, cost }
    })
}
