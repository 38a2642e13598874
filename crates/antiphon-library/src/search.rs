//! Searching everything that is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use antiphon_catalog::{CatalogError, Found, Key, ProjectQuery, Query, Search, Sort, Summary};
use antiphon_model::{Entry, Timestamp};
use antiphon_views::Reading;
use serde::Serialize;

use crate::catalogue::{Catalogue, Progress};
use crate::opened::open_files;
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
    /// Where the words and patterns are in the snippet: from and to, in characters.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Vec<usize>>"))]
    pub marks: Vec<(usize, usize)>,
    /// With `-C N`, the messages around it in the same transcript: N before, itself, N after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Vec<SearchTurn>>,
    /// The file or folder of the session in the store.
    pub path: String,
}

/// A message at or near a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchTurn {
    /// The id of the message.
    pub message_id: String,
    /// The role of the message, or the kind of event.
    pub role: &'static str,
    /// What was said, and the calls that were made, shortened if it is long.
    pub text: String,
}

/// A session in which something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchedSession {
    pub id: String,
    pub title: Option<String>,
    pub project: Option<String>,
    /// When something last happened in it.
    pub at: Timestamp,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Answer {
    pub hits: Vec<SearchHit>,
    /// The sessions that they are in, in the order of their first.
    pub sessions: Vec<SearchedSession>,
    /// Whether there is no session that `session:` names.
    pub is_nowhere: bool,
    /// Where nothing was found: words that are not there, each with words that are and are written
    /// almost like it.
    pub nearest: Vec<(String, Vec<String>)>,
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
    search_within(store, query, None, sort, limit, progress)
}

/// Searches only the sessions of some projects, if that is wanted; whatever the query says besides.
pub fn search_within(
    store: &Store,
    query: &Query,
    projects: Option<&ProjectQuery>,
    sort: Sort,
    limit: usize,
    progress: Progress<'_>,
) -> Result<Answer, CatalogError> {
    let mut catalogue = store.catalogue(progress)?;
    let mut sessions = catalogue.sessions()?;
    if let Some(projects) = projects {
        let is_meant = |folder: &str| projects.matches(folder);
        sessions.retain(|session| session.project.as_deref().is_some_and(is_meant));
    }
    let texts = KeptTexts::new(store, &sessions);
    let summaries: Vec<&Summary> = sessions.iter().map(|session| &session.summary).collect();
    let is_nowhere = query.within(&summaries).is_empty() && query.session.is_some();
    let search = Search { query, sort, limit, sessions: &summaries };
    let Found { hits, is_partial } = catalogue.ask(|catalog| catalog.search(&search, &texts))?;
    let found = sessions_of(&hits, &texts);
    let nearest = if hits.is_empty() { nearest(&mut catalogue, query) } else { Vec::new() };
    let hits = named(hits, &texts);
    texts.check(&hits.iter().map(|hit| &*hit.session).collect::<BTreeSet<_>>());
    let mut left_out = catalogue.left_out();
    left_out.extend(texts.damaged());
    left_out.sort_by(|a, b| a.session.cmp(&b.session));
    left_out.dedup_by(|a, b| a.session == b.session);
    let is_cut = hits.len() >= limit;
    Ok(Answer { hits, sessions: found, is_nowhere, nearest, is_partial, is_cut, left_out })
}

/// The sessions of some places, each once.
fn sessions_of(hits: &[antiphon_catalog::Hit], texts: &KeptTexts<'_>) -> Vec<SearchedSession> {
    let mut seen = BTreeSet::new();
    let new = hits.iter().filter(|hit| seen.insert(&hit.session));
    let sessions = new.filter_map(|hit| texts.get(&hit.session)).map(|session| SearchedSession {
        id: session.session_id.clone(),
        title: session.short_title(),
        project: session.project.clone(),
        at: session.at(),
    });
    sessions.collect()
}

/// What a person may have meant by words that are nowhere. If the catalogue cannot say, nobody is
/// told.
fn nearest(catalogue: &mut Catalogue<'_>, query: &Query) -> Vec<(String, Vec<String>)> {
    const OFFERED: usize = 3;
    let near = |word: &String| {
        let near = catalogue.ask(|catalog| catalog.nearest(word, OFFERED)).ok()?;
        (!near.is_empty()).then(|| (word.clone(), near))
    };
    query.words.iter().filter_map(near).collect()
}

/// Adds to each place the messages around it, that many before and after it.
pub fn add_context(hits: &mut [SearchHit], around: usize) {
    let mut by_session: BTreeMap<String, Vec<&mut SearchHit>> = BTreeMap::new();
    for hit in hits {
        by_session.entry(hit.path.clone()).or_default().push(hit);
    }
    for (path, hits) in by_session {
        // One that cannot be read any more has no context.
        let Ok(opened) = open_files(Path::new(&path)) else { continue };
        let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
        for hit in hits {
            hit.context = Some(turns(&reading, hit, around));
        }
    }
}

/// The messages of the transcript that a place is in, around it.
fn turns(reading: &Reading<'_>, hit: &SearchHit, around: usize) -> Vec<SearchTurn> {
    /// Longer texts are shortened: a tool may have returned megabytes.
    const TEXT_MAX: usize = 4000;
    let Some(own) = reading.session.find(&hit.message_id) else { return Vec::new() };
    let is_of_it = |entry: &Entry<'_>| {
        entry.ix() == own.ix() || entry.role().is_some() && entry.agent() == own.agent()
    };
    let all: Vec<Entry<'_>> = reading.session.entries().filter(is_of_it).collect();
    let at = all.iter().position(|entry| entry.ix() == own.ix()).unwrap_or_default();
    let first = at.saturating_sub(around);
    let last = at.saturating_add(around).saturating_add(1).min(all.len());
    let turn = |entry: &Entry<'_>| {
        let text = reading.description(*entry).unwrap_or_default();
        let end = text.char_indices().nth(TEXT_MAX).map(|(end, _)| end);
        let text = end.and_then(|end| text.get(..end)).map(|it| format!("{it}…")).unwrap_or(text);
        SearchTurn { message_id: entry.id().to_owned(), role: entry.kind().as_str(), text }
    };
    all.get(first..last).unwrap_or_default().iter().map(turn).collect()
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
            marks: hit.marks,
            context: None,
            path: path.clone(),
        })
    };
    hits.into_iter().filter_map(name).collect()
}
