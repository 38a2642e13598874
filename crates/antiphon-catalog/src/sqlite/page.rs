//! The first sessions of a list: all are looked at where they stand, and only those that are shown
//! are read.

use std::cmp::Reverse;

use antiphon_model::Timestamp;
use antiphon_views::Totals;
use rusqlite::Connection;

use super::read::{self, Told};
use super::{CatalogError, roll_up};
use crate::list::Traits;
use crate::{Page, SessionQuery, SessionSort};

/// What comes first: the greatest, and of those that are equal the last to change.
type Order = (Reverse<(u128, i64, i64)>, u128);

pub(super) fn page(
    connection: &Connection,
    query: &SessionQuery,
    sort: SessionSort,
    limit: usize,
) -> Result<Page, CatalogError> {
    let needs_costs = sort == SessionSort::Cost || query.min_cost_usd.is_some();
    let costs = needs_costs.then(|| roll_up::totals(connection)).transpose()?;
    let cost = |number: i64| {
        let totals = costs.as_ref().and_then(|costs| costs.get(&number)).copied();
        totals.unwrap_or_default().known()
    };
    let mut wanted: Vec<(Order, i64)> = Vec::new();
    let mut ids = Vec::new();
    read::each_session(connection, |told| {
        let is_dear = |least: f64| cost(told.number).as_f64() >= least;
        // One in which nothing was said yet is none, and a part is another one's.
        if told.events == 0
            || told.is_part
            || !query.fits(&told.traits())
            || !query.min_cost_usd.is_none_or(is_dear)
        {
            return Ok(());
        }
        let first = match sort {
            SessionSort::Changed => 0,
            SessionSort::Started => told.words.started_at.map_or(0, |at| 1 + from_least(at)),
            SessionSort::Cost => cost(told.number).as_picos(),
            SessionSort::Events => from_least(told.events),
        };
        let words = &told.words;
        let last = words.last_event_at.unwrap_or(words.changed_at);
        let key = u128::from_str_radix(told.key, 16);
        let key = key.map_err(|_| CatalogError::Damaged(format!("`{}` is not a key", told.key)))?;
        wanted.push(((Reverse((first, last, words.changed_at)), key), told.number));
        ids.push(told.session_id.into());
        Ok(())
    })?;
    if limit < wanted.len() {
        wanted.select_nth_unstable(limit);
        wanted.truncate(limit);
    }
    wanted.sort_unstable();
    let mut rows = Vec::with_capacity(wanted.len());
    for (_, number) in wanted {
        let totals: Totals = roll_up::totals_of(connection, number)?;
        rows.push((read::numbered(connection, number)?.row, totals));
    }
    Ok(Page { rows, ids })
}

/// How far a number is from the least one.
fn from_least(number: i64) -> u128 {
    u128::from(number.abs_diff(i64::MIN))
}

impl<'a> Told<'a> {
    fn traits(&self) -> Traits<'a> {
        let words = &self.words;
        Traits {
            agent: words.agent,
            project: words.project,
            role: words.role,
            issue: words.issue,
            changed_at: Timestamp::from_millis(words.changed_at),
            started_at: words.started_at.map(Timestamp::from_millis),
            last_event_at: words.last_event_at.map(Timestamp::from_millis),
        }
    }
}
