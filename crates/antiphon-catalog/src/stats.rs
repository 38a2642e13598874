//! Tokens and cost of some sessions.

use std::collections::BTreeMap;

use antiphon_views::{Facts, Group, Prices, Stats};

use crate::{Catalog, CatalogError, Key, Summary};

/// Counts every request once: from the catalogue's sums, or, for other prices, from its requests.
pub(crate) fn stats<C: Catalog + ?Sized>(
    catalog: &C,
    sessions: &[&Summary],
    group: Group,
    prices: Option<&Prices>,
) -> Result<Stats, CatalogError> {
    let sums = catalog.sums(prices)?;
    let mut stats = Stats::new(group);
    let by_key: BTreeMap<&Key, &Summary> =
        sessions.iter().map(|session| (&session.key, *session)).collect();
    for sum in &sums {
        let Some(session) = by_key.get(&sum.session) else { continue };
        let facts = Facts {
            session_id: &session.session_id,
            program: session.agent.as_deref(),
            project: session.project.as_deref(),
            model: sum.model.as_deref(),
            sub_agent: sum.sub_agent.as_deref(),
            day: sum.day,
        };
        stats.add_totals(&facts, sum.totals);
    }
    sessions.iter().for_each(|_| stats.add_session());
    Ok(stats)
}
