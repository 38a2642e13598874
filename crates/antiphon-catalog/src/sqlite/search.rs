//! Searching every session: prompts, utterances, thinking, tool input and output.
//!
//! Filters say which sessions may hold the words, and in which blocks. A block is asked for and
//! looked through; only a session that has the rarest word is read and folded, and for one rare
//! word not even that ([`glimpse`]). What was said can also be ranked by how well it fits.

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
use crate::search::{Found, Hit, Matching, Query, Search, Sort, entry};
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
    let sessions: Vec<&Key> =
        sessions.iter().filter(|it| about.wants(it)).map(|it| &it.key).collect();
    let look = Look { query, words: &words, limit, sessions: &sessions, texts };
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

/// So many lines or places are looked for before the catalogue is asked.
const SEEN_AT_ONCE: usize = 256;

struct Look<'q> {
    query: &'q Query,
    words: &'q [String],
    limit: usize,
    /// The sessions that the query asks for, in order.
    sessions: &'q [&'q Key],
    texts: &'q dyn Texts,
}

/// Where the words may be, by session.
type Candidates = BTreeMap<Key, Candidate>;

impl Look<'_> {
    /// The sessions that may hold the words, and what the filters of the query ask for.
    fn candidates(&self, catalog: &Sqlite, matching: Matching) -> Result<Candidates, CatalogError> {
        // What was done to a file is looked for in all that a tool gave back, and filters do not
        // tell of all.
        let file = self.query.file.as_deref();
        let telling = |word: &String| Grams::of(if file.is_some() { "" } else { word });
        let mut grams: Vec<Grams> = self.words.iter().map(telling).collect();
        // The name of a file stands where its calls do.
        grams.extend(file.map(Grams::of));
        let matching = if file.is_some() { Matching::All } else { matching };
        let fields = fields::wanted(self.query);
        let found = catalog.candidates(&Asked { words: &grams, matching, fields: &fields })?;
        Ok(found.into_iter().map(|it| (it.session.clone(), it)).collect())
    }

    /// Looks into sessions in their order, until there is enough.
    fn scan(
        &self,
        catalog: &Sqlite,
        candidates: &Candidates,
        matching: Matching,
    ) -> Result<Vec<Hit>, CatalogError> {
        let finders = Finders::of(self.query, self.words);
        let mut left: Vec<&Candidate> =
            self.sessions.iter().filter_map(|session| candidates.get(*session)).collect();
        let mut hits = Vec::new();
        while !left.is_empty() && hits.len() < self.limit {
            let wanted = (self.limit - hits.len()).min(SEEN_AT_ONCE);
            let is_enough = |seen: &[(usize, Seen)]| {
                seen.iter().map(|(_, seen)| seen.len()).sum::<usize>() >= wanted
            };
            let (seen, done) = in_parallel(&left, is_enough, |candidate| {
                Some(self.see(candidate, &finders, matching)).filter(|seen| seen.len() > 0)
            });
            // Lines are events only once the catalogue has said which.
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
                |(at, session)| Some((*at, self.hits_in(session, &finders, matching))),
            );
            found.extend(read.into_iter().map(|(_, hits)| hits));
            found.sort_by_key(|(at, _)| *at);
            hits.extend(found.into_iter().flat_map(|(_, hits)| hits));
            left.drain(..done);
        }
        hits.truncate(self.limit);
        Ok(hits)
    }

    /// What there is in a session, as far as it can be told without the catalogue.
    fn see(&self, candidate: &Candidate, finders: &Finders, matching: Matching) -> Seen {
        // Which of them it is that a session has is not known, where any is enough.
        let word = candidate.word.filter(|_| matching == Matching::All);
        let finder = word.and_then(|word| finders.get(word));
        if let Some(finder) = finder
            && glimpse::is_enough(self.query, self.words)
            && self.texts.stands_alone(&candidate.session)
            && let Some(lines) = glimpse::lines(self.texts, candidate, finder)
        {
            return Seen::Lines(lines);
        }
        if !may_hold(self.texts, candidate, finder) {
            return Seen::Hits(Vec::new());
        }
        Seen::Hits(self.hits_in(&candidate.session, finders, matching))
    }

    /// The places in a session; none in one that cannot be read.
    fn hits_in(&self, session: &Key, finders: &Finders, matching: Matching) -> Vec<Hit> {
        let Some(text) = self.texts.session(session) else { return Vec::new() };
        let marks = Marks::of(&*text.bodies, &finders.words);
        let may_be_in = |entry: Entry<'_>| {
            marks
                .as_ref()
                .is_none_or(|marks| marks.may_be_in(&text.session, entry, self.words, matching))
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

    /// The events that lines are; nothing, if the session has to be read whole.
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

/// What was seen of a session.
enum Seen {
    Hits(Vec<Hit>),
    /// Lines that hold the word.
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

/// Looks at things in their order, on every processor, until what was seen is enough. Says what was
/// seen, and how many things were looked at.
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

/// Those of some sessions that hold a word in what is searched.
pub(super) fn holding(
    catalog: &Sqlite,
    sessions: &[&Key],
    word: &str,
    texts: &dyn Texts,
) -> Result<BTreeSet<Key>, CatalogError> {
    let words = &[Grams::of(word)];
    let found = catalog.candidates(&Asked { words, matching: Matching::All, fields: &[] })?;
    let found: Candidates = found.into_iter().map(|it| (it.session.clone(), it)).collect();
    // A path is written with its slashes as they are, by every agent that was seen.
    let finder = AhoCorasick::builder().ascii_case_insensitive(true).build([word]).ok();
    let candidates = sessions.iter().filter_map(|session| found.get(*session));
    let holding = candidates.filter(|it| may_hold(texts, it, finder.as_ref()));
    Ok(holding.map(|it| it.session.clone()).collect())
}

/// Whether a block that may hold a word holds it.
fn may_hold(texts: &dyn Texts, candidate: &Candidate, finder: Option<&AhoCorasick>) -> bool {
    let Some(finder) = finder else { return true };
    let holds = |held: &Held| {
        // What cannot be read here is told by whoever opens the session.
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
