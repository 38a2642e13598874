//! A list: some sessions, in an order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use antiphon_model::{TimeRange, Timestamp};
use antiphon_views::Totals;

use crate::{Catalog, CatalogError, EventQuery, Key, ProjectQuery, Summary, Texts};

/// Which sessions match; a field that is `None` matches all. Strings match as substrings, in lower
/// case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionQuery {
    pub agent: Option<String>,
    pub project: Option<ProjectQuery>,
    pub role: Option<String>,
    pub issue: Option<String>,
    /// The whole name of a tool that was called.
    pub tool: Option<String>,
    pub file: Option<String>,
    pub min_cost_usd: Option<f64>,
    /// The session was active at or after this time.
    pub since: Option<Timestamp>,
    /// The session began before this time.
    pub until: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionSort {
    /// The last changed first.
    Changed,
    /// The last started first.
    Started,
    /// The most expensive first.
    Cost,
    /// The longest first.
    Events,
}

/// What a query looks at in a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traits<'a> {
    pub(crate) agent: Option<&'a str>,
    pub(crate) project: Option<&'a str>,
    pub(crate) role: Option<&'a str>,
    pub(crate) issue: Option<&'a str>,
    pub(crate) changed_at: Timestamp,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) last_event_at: Option<Timestamp>,
}

impl<'a> Traits<'a> {
    fn of(session: &'a Summary) -> Self {
        Self {
            agent: session.agent.as_deref(),
            project: session.project.as_deref(),
            role: session.role.as_deref(),
            issue: session.issue.as_deref(),
            changed_at: session.changed_at,
            started_at: session.started_at,
            last_event_at: session.last_event_at,
        }
    }
}

impl SessionQuery {
    /// Whether a session of this program that worked in this folder is meant; the rest of the query
    /// does not matter.
    pub fn wants_session(&self, agent: Option<&str>, project: Option<&str>) -> bool {
        let of_agent = self.agent.as_ref();
        let of_project = self.project.as_ref();
        of_agent.is_none_or(|it| agent.is_some_and(|agent| agent.to_lowercase().contains(it)))
            && of_project.is_none_or(|it| project.is_some_and(|project| it.matches(project)))
    }

    /// Whether a session matches, as far as its row says.
    pub fn wants(&self, session: &Summary) -> bool {
        self.fits(&Traits::of(session))
    }

    pub(crate) fn fits(&self, session: &Traits<'_>) -> bool {
        let has = |text: &Option<&str>, part: &Option<String>| {
            let Some(part) = part else { return true };
            text.is_some_and(|text| text.to_lowercase().contains(part))
        };
        let last = session.last_event_at.unwrap_or(session.changed_at);
        let first = session.started_at.unwrap_or(session.changed_at);
        self.wants_session(session.agent, session.project)
            && has(&session.role, &self.role)
            && has(&session.issue, &self.issue)
            && self.since.is_none_or(|since| last >= since)
            && self.until.is_none_or(|until| first < until)
    }
}

/// Those of some sessions that match, in an order, each with its tokens and cost.
pub(crate) fn list<C: Catalog + ?Sized>(
    catalog: &C,
    sessions: &[&Summary],
    query: &SessionQuery,
    sort: SessionSort,
    texts: &dyn Texts,
) -> Result<Vec<(Key, Totals)>, CatalogError> {
    // The order of a hash map does not matter here: it is only looked up.
    let mut sums: HashMap<Key, Totals> = HashMap::new();
    for sum in catalog.sums(&TimeRange::default(), None)? {
        *sums.entry(sum.session).or_default() += sum.totals;
    }
    let mut sessions = sessions.to_vec();
    sessions.retain(|session| query.wants(session));
    if let Some(tool) = &query.tool {
        let with = EventQuery { tool: Some(tool.clone()), ..EventQuery::default() };
        let with: BTreeMap<Key, u64> = catalog.events(&with)?.into_iter().collect();
        sessions.retain(|session| with.contains_key(&session.key));
    }
    if let Some(file) = &query.file {
        let keys: Vec<&Key> = sessions.iter().map(|session| &session.key).collect();
        let holding = catalog.holding(&keys, file, texts)?;
        sessions.retain(|session| holding.contains(&session.key));
    }
    let totals = |session: &Summary| sums.get(&session.key).copied().unwrap_or_default();
    let mut listed: Vec<(&Summary, Totals)> =
        sessions.into_iter().map(|session| (session, totals(session))).collect();
    if let Some(least) = query.min_cost_usd {
        listed.retain(|(_, totals)| totals.known().as_f64() >= least);
    }
    match sort {
        // They come in this order already.
        SessionSort::Changed => {}
        SessionSort::Started => listed.sort_by_key(|(session, _)| Reverse(session.started_at)),
        SessionSort::Cost => listed.sort_by_key(|(_, totals)| Reverse(totals.known())),
        SessionSort::Events => listed.sort_by_key(|(session, _)| Reverse(session.events)),
    }
    Ok(listed.into_iter().map(|(session, totals)| (session.key.clone(), totals)).collect())
}
