//! What tokens cost: a dated table of prices, and the price of a request by it.
//!
//! The bundled table is `prices/models.json`; `docs/prices.md` says where it is from and how to use
//! another. A model that is not in the table is unpriced, which is not free.

mod name;
mod table;

use std::collections::BTreeMap;

use antiphon_model::{Timestamp, Usage};

use crate::Usd;
pub use table::PricesError;

/// A table of prices.
#[derive(Debug, Clone)]
pub struct Prices {
    source: String,
    date: String,
    models: Vec<ModelPrices>,
    /// For each name and alias, in lower case: the index in `models`.
    names: BTreeMap<String, usize>,
}

/// What one model costs, over time.
#[derive(Debug, Clone)]
pub struct ModelPrices {
    name: String,
    /// The newest last.
    periods: Vec<Period>,
}

/// A period in which prices did not change.
#[derive(Debug, Clone)]
struct Period {
    /// Its first moment; `None` if it has no beginning.
    from: Option<Timestamp>,
    /// The first moment after it; `None` if it applies whenever no newer one does.
    until: Option<Timestamp>,
    rates: Rates,
    /// Rates for requests with more input tokens than this, in ascending order.
    above: Vec<(u64, Rates)>,
}

/// Trillionths of a dollar per token, which is millionths of a dollar per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rates {
    input: u64,
    output: u64,
    reasoning: u64,
    cache_read: u64,
    cache_write: u64,
    cache_write_1h: u64,
}

impl Prices {
    /// The bundled table as text, as an example for others.
    pub const BUNDLED: &str = include_str!("../prices/models.json");

    /// The bundled table. Each call parses it: keep the result.
    #[expect(clippy::expect_used, reason = "it is a constant, and a test parses it")]
    pub fn bundled() -> Self {
        Self::parse(Self::BUNDLED).expect("the bundled table is well-formed")
    }

    /// Reads a table. An error names the place in it.
    pub fn parse(json: &str) -> Result<Self, PricesError> {
        table::parse(json)
    }

    /// Where the prices are from, in the table's own words.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The date of the prices, `YYYY-MM-DD`.
    pub fn date(&self) -> &str {
        &self.date
    }

    pub fn models(&self) -> &[ModelPrices] {
        &self.models
    }

    /// The prices of a model, by any of the names that programs give it: the table's own, one with
    /// a provider before it, one with a date after it. Never by a part of a name.
    pub fn model(&self, name: &str) -> Option<&ModelPrices> {
        let name = name.trim().to_ascii_lowercase();
        let known = name::candidates(&name).into_iter().find_map(|name| self.names.get(name))?;
        self.models.get(*known)
    }

    /// The price of a request; `None` if no price is known.
    pub fn price(&self, model: &str, at: Option<Timestamp>, usage: Usage) -> Option<Usd> {
        self.model(model)?.price(at, usage)
    }
}

impl ModelPrices {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The price of a request at that time, or without a time by the newest prices; `None` at a
    /// time for which the table has none.
    pub fn price(&self, at: Option<Timestamp>, usage: Usage) -> Option<Usd> {
        let period = match at {
            Some(at) => self.periods.iter().rev().find(|period| period.holds_at(at))?,
            None => self.periods.last()?,
        };
        Some(period.rates_for(usage).price(usage))
    }
}

impl Period {
    fn holds_at(&self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= at) && self.until.is_none_or(|until| at < until)
    }

    /// The rates for all of a request: all input counts, cached or not.
    fn rates_for(&self, usage: Usage) -> Rates {
        let read = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        let step = self.above.iter().rev().find(|&&(tokens, _)| read > tokens);
        step.map_or(self.rates, |&(_, rates)| rates)
    }
}

impl Rates {
    fn price(self, usage: Usage) -> Usd {
        let reasoning = usage.reasoning.min(usage.output);
        let hour = usage.cache_write_1h.min(usage.cache_write);
        let parts = [
            (usage.input, self.input),
            (usage.output - reasoning, self.output),
            (reasoning, self.reasoning),
            (usage.cache_read, self.cache_read),
            (usage.cache_write - hour, self.cache_write),
            (hour, self.cache_write_1h),
        ];
        parts.into_iter().map(|(n, rate)| Usd::from_picos(u128::from(n) * u128::from(rate))).sum()
    }
}

#[cfg(test)]
mod tests;
