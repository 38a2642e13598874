//! Searching every session: prompts, utterances, thinking, tool input and output.
//!
//! Filters say which sessions may contain the words, and in which blocks. Such a block is read and
//! searched; only a session that contains the rarest word is read and folded, and for one rare word
//! not even that ([`glimpse`]). What was said can also be ranked by relevance.

mod finders;
mod glimpse;
mod marks;
mod ranked;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use aho_corasick::AhoCorasick;
use antiphon_model::{Entry, on_every_processor};
use antiphon_views::Reading;

use super::{Asked, Candidate, Held, Sqlite};
use crate::filter::Grams;
use crate::search::{Found, Hit, Matching, Need, Query, Search, Sort, entry};
use crate::{Block, CatalogError, Key, LineAt, Texts, fields};
use finders::Finders;
use glimpse::Line;
use marks::Marks;

/// Searches some sessions.
pub(super) fn search(
    catalog: &Sqlite,
    search: &Search<'_>,
    texts: &dyn Texts,
) -> Result<Found, CatalogError> {
    let Search { query, sort, limit, sessions } = *search;
    let words = query.telling();
    let about = query.about();
    let sessions = query.within(sessions);
    let sessions: Vec<&Key> =
        sessions.iter().filter(|it| about.wants(it)).map(|it| &it.key).collect();
    let look = Look { query, words: &words, limit, sessions: &sessions, texts };
    // A pattern alone has no rank.
    let sort = if words.is_empty() { Sort::Newest } else { sort };
    let mut hits = match sort {
        Sort::Newest => {
            look.scan(catalog, &look.candidates(catalog, Matching::All)?, Matching::All)?
        }
        Sort::Relevance => look.ranked(catalog, Matching::All)?,
    };
    let is_partial = hits.is_empty() && words.len() > 1;
    if is_partial {
        hits = look.ranked(catalog, Matching::Any)?;
    }
    if is_partial && hits.is_empty() && sort == Sort::Newest {
        hits = look.scan(catalog, &look.candidates(catalog, Matching::Any)?, Matching::Any)?;
    }
    Ok(Found { hits, is_partial })
}

/// How many results are collected before lines are looked up in the catalogue.
const SEEN_AT_ONCE: usize = 256;

struct Look<'q> {
    query: &'q Query,
    words: &'q [String],
    limit: usize,
    /// The sessions that match the query, in order.
    sessions: &'q [&'q Key],
    texts: &'q dyn Texts,
}

/// Where the words may be, by session.
type Candidates = BTreeMap<Key, Candidate>;

impl Look<'_> {
    /// The sessions that may contain the words and have the fields that the query asks for.
    fn candidates(&self, catalog: &Sqlite, matching: Matching) -> Result<Candidates, CatalogError> {
        // A `file:` query is answered from everything that a tool returned, which filters do not
        // cover.
        let file = self.query.file.as_deref();
        let telling = |text: &String| Grams::of(if file.is_some() { "" } else { text });
        let needs = self.query.needs(self.words, matching);
        let mut grams: Vec<Vec<Grams>> =
            needs.iter().map(|need| need.iter().map(telling).collect()).collect();
        // The name of a file is in the arguments of its calls, which filters do cover.
        grams.extend(file.map(|file| vec![Grams::of(file)]));
        let matching = if file.is_some() { Matching::All } else { matching };
        let fields = fields::wanted(self.query);
        let found = catalog.candidates(&Asked { needs: &grams, matching, fields: &fields })?;
        Ok(found.into_iter().map(|it| (it.session.clone(), it)).collect())
    }

    /// Searches sessions in order, until there are enough results.
    fn scan(
        &self,
        catalog: &Sqlite,
        candidates: &Candidates,
        matching: Matching,
    ) -> Result<Vec<Hit>, CatalogError> {
        let needs = self.query.needs(self.words, matching);
        let finders = Finders::of(self.query, &needs);
        let mut left: Vec<&Candidate> =
            self.sessions.iter().filter_map(|session| candidates.get(*session)).collect();
        let mut hits = Vec::new();
        while !left.is_empty() && hits.len() < self.limit {
            let wanted = (self.limit - hits.len()).min(SEEN_AT_ONCE);
            let is_enough = |seen: &[(usize, Seen)]| {
                seen.iter().map(|(_, seen)| seen.len()).sum::<usize>() >= wanted
            };
            let (seen, done) = in_parallel(&left, is_enough, |candidate| {
                Some(self.see(candidate, &needs, &finders, matching)).filter(|seen| seen.len() > 0)
            });
            // Which events the lines belong to is only known from the catalogue.
            let (mut found, mut untold) = (Vec::new(), Vec::new());
            for (at, seen) in seen {
                let Some(Candidate { session, .. }) = left.get(at).copied() else { continue };
                let told = match seen {
                    Seen::Hits(hits) => Some(hits),
                    Seen::Lines(lines) => self.told(catalog, session, lines)?,
                };
                match told {
                    Some(hits) => found.push((at, hits)),
                    None => untold.push((at, session)),
                }
            }
            let (read, _) = in_parallel(
                &untold,
                |_| false,
                |(at, session)| Some((*at, self.hits_in(session, &needs, &finders, matching))),
            );
            found.extend(read.into_iter().map(|(_, hits)| hits));
            found.sort_by_key(|(at, _)| *at);
            hits.extend(found.into_iter().flat_map(|(_, hits)| hits));
            left.drain(..done);
        }
        hits.truncate(self.limit);
        Ok(hits)
    }

    /// Searches a session as far as possible without the catalogue.
    fn see(
        &self,
        candidate: &Candidate,
        needs: &[Need],
        finders: &Finders,
        matching: Matching,
    ) -> Seen {
        // If any word is enough, it is not known which one the session contains.
        let need = candidate.need.filter(|_| matching == Matching::All);
        let finder = need.and_then(|need| finders.get(need));
        if let Some(finder) = finder
            && glimpse::is_enough(self.query, needs)
            && self.texts.stands_alone(&candidate.session)
            && let Some(lines) = glimpse::lines(self.texts, candidate, finder)
        {
            return Seen::Lines(lines);
        }
        if !may_hold(self.texts, candidate, finder) {
            return Seen::Hits(Vec::new());
        }
        Seen::Hits(self.hits_in(&candidate.session, needs, finders, matching))
    }

    /// The matches in a session; none if it cannot be read.
    fn hits_in(
        &self,
        session: &Key,
        needs: &[Need],
        finders: &Finders,
        matching: Matching,
    ) -> Vec<Hit> {
        let Some(text) = self.texts.session(session) else { return Vec::new() };
        let marks = Marks::of(&*text.bodies, &finders.needs);
        let may_be_in = |entry: Entry<'_>| {
            let marks = marks.as_ref();
            marks.is_none_or(|marks| marks.may_be_in(&text.session, entry, needs, matching))
        };
        let reading = Reading { session: &text.session, bodies: &*text.bodies };
        let mut hits = Vec::new();
        for entry in text.session.entries().rev().filter(|entry| may_be_in(*entry)) {
            if hits.len() >= self.limit {
                break;
            }
            if let Some(found) = entry::look(&reading, entry, self.query, self.words, matching) {
                hits.push(found.hit(session));
            }
        }
        hits
    }

    /// The matches on these lines; `None` if the whole session has to be read.
    fn told(
        &self,
        catalog: &Sqlite,
        session: &Key,
        lines: Vec<Line>,
    ) -> Result<Option<Vec<Hit>>, CatalogError> {
        let places: Vec<LineAt> = lines.iter().map(|line| line.at).collect();
        let events = catalog.events_at(session, &places)?;
        Ok(glimpse::hits(self, session, lines, &events))
    }
}

/// What a search without the catalogue found in a session.
enum Seen {
    Hits(Vec<Hit>),
    /// Lines that contain the word.
    Lines(Vec<Line>),
}

impl Seen {
    fn len(&self) -> usize {
        match self {
            Self::Hits(hits) => hits.len(),
            Self::Lines(lines) => lines.len(),
        }
    }
}

/// Applies a function to items on every processor, in order, until the results are enough. Returns
/// the results, and how many items were processed.
fn in_parallel<T: Sync, O: Send>(
    things: &[T],
    is_enough: impl Fn(&[(usize, O)]) -> bool + Sync,
    see: impl Fn(&T) -> Option<O> + Sync,
) -> (Vec<(usize, O)>, usize) {
    if is_enough(&[]) {
        return (Vec::new(), 0);
    }
    let looked = AtomicUsize::new(0);
    let seen: Mutex<Vec<(usize, O)>> = Mutex::default();
    on_every_processor(things, |at, thing| {
        looked.fetch_max(at + 1, Ordering::Relaxed);
        let it = see(thing);
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.extend(it.map(|it| (at, it)));
        if is_enough(&seen) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let mut seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    seen.sort_by_key(|(at, _)| *at);
    (seen, looked.into_inner())
}

/// Which of some sessions contain a word in their searched text.
pub(super) fn holding(
    catalog: &Sqlite,
    sessions: &[&Key],
    word: &str,
    texts: &dyn Texts,
) -> Result<BTreeSet<Key>, CatalogError> {
    let needs = &[vec![Grams::of(word)]];
    let found = catalog.candidates(&Asked { needs, matching: Matching::All, fields: &[] })?;
    let found: Candidates = found.into_iter().map(|it| (it.session.clone(), it)).collect();
    // Every known agent writes the slashes of a path unescaped.
    let finder = AhoCorasick::builder().ascii_case_insensitive(true).build([word]).ok();
    let candidates = sessions.iter().filter_map(|session| found.get(*session));
    let holding = candidates.filter(|it| may_hold(texts, it, finder.as_ref()));
    Ok(holding.map(|it| it.session.clone()).collect())
}

/// Whether one of the candidate's blocks contains the word.
fn may_hold(texts: &dyn Texts, candidate: &Candidate, finder: Option<&AhoCorasick>) -> bool {
    let Some(finder) = finder else { return true };
    let holds = |held: &Held| {
        // A block that cannot be read counts as a match: opening the session then reports the
        // failure.
        let blocks = blocks_of(texts, &candidate.session, held);
        blocks.is_none_or(|blocks| blocks.iter().any(|block| finder.is_match(&block.bytes)))
    };
    candidate.files.iter().any(holds)
}

/// The blocks of a file that may hold a word.
fn blocks_of(texts: &dyn Texts, session: &Key, held: &Held) -> Option<Vec<Block>> {
    texts.blocks(session, &held.name, &held.blocks)
}

#[cfg(test)]
mod tests;
