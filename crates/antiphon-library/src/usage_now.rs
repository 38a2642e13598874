//! What was used today and in the running block, as far as the catalogue knows.
//!
//! It must be there at once: nothing is brought up to date, and nothing is written.

use std::collections::BTreeMap;

use antiphon_catalog::{Catalog as _, Sqlite};
use antiphon_model::{Span, TimeRange, Timestamp, Zone};
use antiphon_views::{Facts, Group, StatsBuilder, StatsKey, StatsQuery, Totals};

use crate::Store;

/// What was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageNow {
    pub today: Totals,
    /// What the running five-hour window has used, and how long it still lasts, in milliseconds.
    pub block: Option<(Totals, i64)>,
    /// What the session that was asked for has used.
    pub session: Totals,
}

impl Store {
    /// What was used today, in the running block and by a session; `None` if there is no catalogue
    /// that can be read at once.
    pub fn usage_now(&self, now: Timestamp, zone: &Zone, session_id: &str) -> Option<UsageNow> {
        let catalog = Sqlite::open_to_read(&self.catalog_file()).ok()?;
        let rows = catalog.rows().ok()?;
        let ids: BTreeMap<_, _> =
            rows.iter().map(|row| (&row.key, row.session_id.as_str())).collect();
        let sums = catalog.sums(&TimeRange::default(), None).ok()?;
        let mut used = UsageNow::default();
        let query = StatsQuery { now, ..StatsQuery::all(Group::Block) };
        let mut blocks = StatsBuilder::new(&query);
        let today = zone.span_name(now, Span::Day);
        for sum in &sums {
            let is_today = sum.at.and_then(|at| zone.span_name(at, Span::Day)) == today;
            if is_today && today.is_some() {
                used.today += sum.totals;
            }
            if ids.get(&sum.session) == Some(&session_id) {
                used.session += sum.totals;
            }
            blocks.add_time(sum.at);
            blocks.add(&Facts { at: sum.at, ..Facts::default() }, sum.totals);
        }
        let running = |(key, totals): (&StatsKey, &Totals)| {
            let StatsKey::Block { left_ms: Some(left), .. } = key else { return None };
            Some((*totals, *left))
        };
        used.block = blocks.finish().rows.iter().find_map(running);
        Some(used)
    }
}
