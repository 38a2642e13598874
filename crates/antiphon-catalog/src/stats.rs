//! Tokens and cost of some sessions.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::TimeRange;
use antiphon_views::{Facts, Group, Prices, Stats, StatsBuilder, StatsQuery};

use crate::{Catalog, CatalogError, Key, SessionQuery, Summary};

/// Counts every request once: from the catalogue's sums, or, for other prices, from its requests.
pub(crate) fn stats<C: Catalog + ?Sized>(
    catalog: &C,
    sessions: &[&Summary],
    wanted: &SessionQuery,
    query: &StatsQuery,
    prices: Option<&Prices>,
) -> Result<Stats, CatalogError> {
    let mut stats = StatsBuilder::new(query);
    if query.group == Group::Block {
        // Limits are those of an account with one agent, whatever else is asked for.
        let of_agent = SessionQuery { agent: wanted.agent.clone(), ..SessionQuery::default() };
        let by_key = matching(sessions, &of_agent);
        let all = catalog.sums(&TimeRange::default(), None)?;
        for sum in all.iter().filter(|sum| by_key.contains_key(&sum.session)) {
            stats.add_time(sum.at);
        }
    }
    let by_key = matching(sessions, wanted);
    let mut counted = BTreeSet::new();
    for sum in catalog.sums(&query.range, prices)? {
        let Some((key, session)) = by_key.get_key_value(&sum.session) else { continue };
        if !query.wants_model(sum.model.as_deref()) {
            continue;
        }
        let facts = Facts {
            session_id: &session.session_id,
            program: session.agent.as_deref(),
            project: session.project.as_deref(),
            model: sum.model.as_deref(),
            sub_agent: sum.sub_agent.as_deref(),
            at: sum.at,
        };
        stats.add(&facts, sum.totals);
        counted.insert(*key);
    }
    let count = if query.is_partial() { counted.len() } else { by_key.len() };
    (0..count).for_each(|_| stats.add_session());
    Ok(stats.finish())
}

fn matching<'s>(sessions: &[&'s Summary], wanted: &SessionQuery) -> BTreeMap<&'s Key, &'s Summary> {
    let matching = sessions.iter().filter(|session| wanted.wants(session));
    matching.map(|session| (&session.key, *session)).collect()
}
