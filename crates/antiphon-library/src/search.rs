//! Searching everything that is kept.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_catalog::{CatalogError, Found, Key, Query, Search, Sort, Summary};
use antiphon_model::Timestamp;
use serde::Serialize;

use crate::catalogue::Progress;
use crate::texts::KeptTexts;
use crate::{LeftOut, Store};

/// A message that was found.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchHit {
    /// The id of the session.
    pub session: String,
    /// The id of the message.
    pub message_id: String,
    /// The id of the agent in whose transcript it is.
    pub agent_id: Option<String>,
    /// The role of the message, or the kind of event.
    pub role: &'static str,
    /// The tool that it calls, or whose result it is.
    pub tool: Option<String>,
    /// When it was said.
    pub timestamp: Option<Timestamp>,
    /// The text around the match.
    pub snippet: String,
    /// The file or folder of the session in the store.
    pub path: String,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Answer {
    pub hits: Vec<SearchHit>,
    /// Nothing had all words; these have some, what fits best first.
    pub is_partial: bool,
    /// Whether there may be more.
    pub is_cut: bool,
    /// Sessions that could not be read, or are damaged, so that places in them may be missing.
    pub left_out: Vec<LeftOut>,
}

/// Searches everything that is kept.
pub fn search(
    store: &Store,
    query: &Query,
    sort: Sort,
    limit: usize,
    progress: Progress<'_>,
) -> Result<Answer, CatalogError> {
    let mut catalogue = store.catalogue(progress)?;
    let sessions = catalogue.sessions()?;
    let texts = KeptTexts::new(store, &sessions);
    let summaries: Vec<&Summary> = sessions.iter().map(|session| &session.summary).collect();
    let search = Search { query, sort, limit, sessions: &summaries };
    let Found { hits, is_partial } = catalogue.ask(|catalog| catalog.search(&search, &texts))?;
    let hits = named(hits, &texts);
    texts.check(&hits.iter().map(|hit| &*hit.session).collect::<BTreeSet<_>>());
    let mut left_out = catalogue.left_out();
    left_out.extend(texts.damaged());
    left_out.sort_by(|a, b| a.session.cmp(&b.session));
    left_out.dedup_by(|a, b| a.session == b.session);
    Ok(Answer { is_cut: hits.len() >= limit, is_partial, hits, left_out })
}

/// Places with what their sessions are called, and where these are.
fn named(hits: Vec<antiphon_catalog::Hit>, texts: &KeptTexts<'_>) -> Vec<SearchHit> {
    let mut paths: BTreeMap<Key, String> = BTreeMap::new();
    let name = |hit: antiphon_catalog::Hit| {
        let session = texts.get(&hit.session)?;
        let path = paths.entry(hit.session).or_insert_with(|| session.path().display().to_string());
        Some(SearchHit {
            session: session.session_id.clone(),
            message_id: hit.message_id,
            agent_id: hit.agent_id,
            role: hit.role,
            tool: hit.tool,
            timestamp: hit.timestamp,
            snippet: hit.snippet,
            path: path.clone(),
        })
    };
    hits.into_iter().filter_map(name).collect()
}
