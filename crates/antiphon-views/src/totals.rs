//! Tokens and money of several requests.

use std::ops::{AddAssign, Not};

use antiphon_model::Usage;
use serde::{Serialize, Serializer};

use crate::Usd;

/// A sum over requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    pub usage: Usage,
    pub requests: u64,
    /// How many of the requests have no price.
    pub unpriced: u64,
    /// What the others cost.
    pub priced: Usd,
}

impl Totals {
    /// Counts one more request; `cost` is `None` where no price is known.
    pub fn add(&mut self, usage: Usage, cost: Option<Usd>) {
        self.usage += usage;
        self.requests += 1;
        match cost {
            Some(cost) => self.priced += cost,
            None => self.unpriced += 1,
        }
    }

    /// What the priced requests cost; `None` where that would be nothing because of unpriced ones.
    pub fn cost(&self) -> Option<Usd> {
        (self.unpriced == 0 || self.priced > Usd::ZERO).then_some(self.priced)
    }

    /// Whether the cost leaves something out.
    pub fn is_partial(&self) -> bool {
        self.unpriced > 0
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.usage += other.usage;
        self.requests += other.requests;
        self.unpriced += other.unpriced;
        self.priced += other.priced;
    }
}

impl Serialize for Totals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown {
            #[serde(flatten)]
            usage: Usage,
            requests: u64,
            cost_usd: Option<Usd>,
            #[serde(skip_serializing_if = "Not::not")]
            partial: bool,
        }
        let shown = Shown {
            usage: self.usage,
            requests: self.requests,
            cost_usd: self.cost(),
            partial: self.is_partial(),
        };
        shown.serialize(serializer)
    }
}
