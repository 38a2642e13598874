//! Tokens and cost of several requests.

use std::ops::AddAssign;

use antiphon_model::Usage;
use serde::Serialize;

use crate::{Cost, CostBasis, CostFigures, Usd};

/// What some requests used and cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "Sums")]
pub struct Totals {
    pub usage: Usage,
    pub requests: u64,
    /// How many of the requests have neither a price nor a declared cost.
    pub unpriced: u64,
    /// How many of the requests have only a part of their tokens reported.
    pub incomplete: u64,
    /// The sum of the priced requests.
    pub priced: Usd,
    /// How many have no price, so that their declared cost counts.
    pub unpriced_declared: u64,
    /// The sum of those declared costs.
    pub filled: Usd,
    /// How many declare a cost, whether they have a price or not.
    pub declaring: u64,
    /// The sum of all declared costs.
    pub declared: Usd,
}

impl Totals {
    /// Counts one more request. `is_partial`: only a part of its tokens is known.
    pub fn add(&mut self, usage: Usage, cost: Cost, is_partial: bool) {
        self.usage += usage;
        self.requests += 1;
        self.incomplete += u64::from(is_partial);
        if let Some(declared) = cost.declared {
            self.declaring += 1;
            self.declared += declared;
        }
        match (cost.priced, cost.declared) {
            (Some(priced), _) => self.priced += priced,
            (None, Some(declared)) => {
                self.unpriced_declared += 1;
                self.filled += declared;
            }
            (None, None) => self.unpriced += 1,
        }
    }

    /// What the requests cost, by prices or else as declared; `None` if only unpriced requests
    /// would make it zero.
    pub fn cost(&self) -> Option<Usd> {
        let known = self.known();
        (self.unpriced == 0 || known > Usd::ZERO).then_some(known)
    }

    /// The known part of the cost; zero if nothing is known.
    pub fn known(&self) -> Usd {
        [self.priced, self.filled].into_iter().sum()
    }

    /// What [`cost`](Self::cost) is based on; `None` if there is none.
    pub fn basis(&self) -> Option<CostBasis> {
        self.cost().filter(|_| self.requests > 0)?;
        Some(match (self.unpriced_declared, self.priced > Usd::ZERO) {
            (0, _) => CostBasis::Priced,
            (_, false) => CostBasis::Declared,
            (_, true) => CostBasis::Mixed,
        })
    }

    /// The cost that the source itself declares; `None` if it does so for no request.
    pub fn declared(&self) -> Option<Usd> {
        (self.declaring > 0).then_some(self.declared)
    }

    /// Whether the cost leaves something out.
    pub fn is_partial(&self) -> bool {
        self.unpriced > 0 || self.incomplete > 0
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.usage += other.usage;
        self.requests += other.requests;
        self.unpriced += other.unpriced;
        self.incomplete += other.incomplete;
        self.priced += other.priced;
        self.unpriced_declared += other.unpriced_declared;
        self.filled += other.filled;
        self.declaring += other.declaring;
        self.declared += other.declared;
    }
}

/// What some requests used and cost, as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sums {
    #[serde(flatten)]
    pub usage: Usage,
    /// The number of requests.
    pub requests: u64,
    #[serde(flatten)]
    pub cost: CostFigures,
}

impl From<Totals> for Sums {
    fn from(totals: Totals) -> Self {
        Self { usage: totals.usage, requests: totals.requests, cost: totals.into() }
    }
}
