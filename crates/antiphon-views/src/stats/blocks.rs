//! Five-hour blocks, as the limits of subscriptions count them.
//!
//! A block begins at the full hour of the first request after the previous block, and lasts five
//! hours, whatever happens in them. So where blocks begin depends on all requests, and not on those
//! that are counted.

use std::collections::BTreeMap;

use antiphon_model::Timestamp;

use super::{QUARTER_MILLIS, StatsKey};
use crate::Totals;

/// How long a block lasts, in the unit of [`Timestamp::as_millis`].
pub const BLOCK_MILLIS: i64 = 5 * HOUR_MILLIS;

const HOUR_MILLIS: i64 = 3_600_000;

/// Sums by quarters of an hour, from which blocks are put together.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// By the number of the quarter. `None`: there were requests, and none of them is counted.
    quarters: BTreeMap<i64, Option<Totals>>,
    /// The sums of requests without a time.
    without_time: Option<Totals>,
}

impl Blocks {
    pub(super) fn add(&mut self, at: Option<Timestamp>) {
        if let Some(at) = at {
            self.quarters.entry(quarter(at)).or_default();
        }
    }

    pub(super) fn count(&mut self, at: Option<Timestamp>, totals: Totals) {
        let sums = match at {
            Some(at) => self.quarters.entry(quarter(at)).or_default(),
            None => &mut self.without_time,
        };
        *sums.get_or_insert_default() += totals;
    }

    /// The blocks in which something is counted.
    pub(super) fn rows(self, now: Timestamp) -> BTreeMap<StatsKey, Totals> {
        let mut rows = BTreeMap::new();
        rows.extend(self.without_time.map(|totals| (StatsKey::NO_BLOCK, totals)));
        let mut start = None;
        for (quarter, totals) in self.quarters {
            let at = quarter.saturating_mul(QUARTER_MILLIS);
            let begun = match start {
                Some(start) if at < start + BLOCK_MILLIS => start,
                _ => at.div_euclid(HOUR_MILLIS) * HOUR_MILLIS,
            };
            start = Some(begun);
            if let Some(totals) = totals {
                *rows.entry(key(begun, now)).or_default() += totals;
            }
        }
        rows
    }
}

fn quarter(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(QUARTER_MILLIS)
}

fn key(start: i64, now: Timestamp) -> StatsKey {
    let until = Timestamp::from_millis(start.saturating_add(BLOCK_MILLIS));
    let left = until.since(now);
    // A clock that was set back must not make a block of the future run for days.
    let running = (1..=BLOCK_MILLIS).contains(&left);
    StatsKey::Block {
        block: Some(Timestamp::from_millis(start)),
        until: Some(until),
        running,
        left_ms: running.then_some(left),
    }
}
