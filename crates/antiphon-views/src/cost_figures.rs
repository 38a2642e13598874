//! The members of a JSON document that say what something cost.

use std::ops::Not;

use serde::Serialize;

use crate::{Cost, CostBasis, Totals, Usd};

/// What one or more requests cost, as every document says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostFigures {
    /// The cost in US dollars, by list price, or as declared by the source if there is no price;
    /// null if nothing is known.
    pub cost_usd: Option<Usd>,
    /// What `cost_usd` is based on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<CostBasis>,
    /// The cost that the source itself declares, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared_usd: Option<Usd>,
    /// Whether `cost_usd` leaves requests out, or the source gives only part of their tokens.
    #[serde(skip_serializing_if = "Not::not")]
    pub partial: bool,
}

impl Default for CostFigures {
    /// The figures of nothing.
    fn default() -> Self {
        Totals::default().into()
    }
}

impl CostFigures {
    /// The figures of a single request. `partial`: only a part of its tokens is known.
    pub(crate) fn of_request(cost: Cost, partial: bool) -> Self {
        Self { cost_usd: cost.amount(), basis: cost.basis(), declared_usd: cost.declared, partial }
    }
}

impl From<Totals> for CostFigures {
    fn from(totals: Totals) -> Self {
        Self {
            cost_usd: totals.cost(),
            basis: totals.basis(),
            declared_usd: totals.declared(),
            partial: totals.is_partial(),
        }
    }
}
