//! Searching every session: prompts, utterances, thinking, tool input and output.
//!
//! The catalogue says which sessions may hold the words, and in which blocks. A block is unpacked
//! and looked through; only a session that has the rarest word is read and folded, and for one rare
//! word not even that ([`glimpse`]). What was said can also be ranked by how well it fits.

mod entry;
mod glimpse;
mod marks;
mod query;
mod ranked;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use aho_corasick::AhoCorasick;
use antiphon_catalog::{Candidate, CatalogError, EventQuery, Held, Key, LineAt, Origin, Pieces};
use antiphon_model::{Entry, Timestamp};
use antiphon_sources::{Error, Opened, open_foreign};
use antiphon_views::Reading;
use serde::Serialize;

use crate::archive::pack::{self, Block};
use crate::archive::{Depth, damages};
use crate::catalogue::{Catalogue, Progress};
use crate::damaged::damage_of;
use crate::damaged::with_causes;
use crate::{LeftOut, SessionQuery, Store, StoredSession, find_bundle, open};

use glimpse::Line;
use marks::Marks;
pub use query::{Query, day_or_time};

/// A place that was found.
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    pub session: String,
    pub message_id: String,
    pub agent_id: Option<String>,
    pub role: &'static str,
    pub tool: Option<String>,
    pub timestamp: Option<Timestamp>,
    pub snippet: String,
    pub path: String,
}

/// In which order places are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// The newest sessions first, in each the latest first.
    Newest,
    /// What fits best first. Only what was said and thought is ranked.
    Relevance,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Answer {
    pub hits: Vec<Hit>,
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
    let words = query.telling();
    let search = Search { query, words: &words, limit, store, damaged: Mutex::default() };
    let mut hits = match sort {
        Sort::Newest => {
            let candidates = search.candidates(&mut catalogue, true)?;
            search.scan(&mut catalogue, &sessions, &candidates, true)?
        }
        Sort::Relevance => search.ranked(&mut catalogue, &sessions, true)?,
    };
    let is_partial = hits.is_empty() && words.len() > 1;
    if is_partial {
        hits = search.ranked(&mut catalogue, &sessions, false)?;
    }
    if is_partial && hits.is_empty() && sort == Sort::Newest {
        let candidates = search.candidates(&mut catalogue, false)?;
        hits = search.scan(&mut catalogue, &sessions, &candidates, false)?;
    }
    search.check(&sessions, &hits);
    let mut left_out = catalogue.left_out();
    let damaged = search.damaged.into_inner().unwrap_or_else(PoisonError::into_inner);
    left_out.extend(damaged.into_values());
    left_out.sort_by(|a, b| a.session.cmp(&b.session));
    left_out.dedup_by(|a, b| a.session == b.session);
    Ok(Answer { is_cut: hits.len() >= limit, is_partial, hits, left_out })
}

/// So many lines or places are looked for before the catalogue is asked.
const SEEN_AT_ONCE: usize = 256;

struct Search<'q> {
    query: &'q Query,
    words: &'q [String],
    limit: usize,
    store: &'q Store,
    /// The sessions that turned out to be damaged.
    damaged: Mutex<BTreeMap<Key, LeftOut>>,
}

/// Where the words may be, by session.
type Candidates = BTreeMap<Key, Candidate>;

impl Search<'_> {
    /// The sessions that may hold the words, and what the filters of the query ask for.
    fn candidates(
        &self,
        catalogue: &mut Catalogue<'_>,
        all: bool,
    ) -> Result<Candidates, CatalogError> {
        // What was done to a file is looked for in all that a tool gave back, and filters do not
        // tell of all.
        let of_file = self.query.file.is_some();
        let telling = |word: &String| Pieces::of(if of_file { "" } else { word });
        let mut pieces: Vec<Pieces> = self.words.iter().map(telling).collect();
        let all = all || of_file;
        if all {
            // The names of tools and files stand where their calls do.
            let names = [&self.query.tool, &self.query.file];
            pieces.extend(names.into_iter().flatten().map(|name| Pieces::of(name)));
        }
        let found = catalogue.ask(|catalog| catalog.candidates(&pieces, all))?;
        let mut found: Candidates = found.into_iter().map(|it| (it.session.clone(), it)).collect();
        let Query { tool, role, since, until, is_error, .. } = self.query.clone();
        let wanted = EventQuery { tool, kind: role, since, until, is_error };
        if self.words.is_empty() && wanted != EventQuery::default() {
            let with = catalogue.ask(|catalog| catalog.sessions_with(&wanted))?;
            let with: BTreeMap<Key, u64> = with.into_iter().collect();
            found.retain(|key, _| with.contains_key(key));
        }
        Ok(found)
    }

    /// Looks into sessions in their order, until there is enough.
    fn scan(
        &self,
        catalogue: &mut Catalogue<'_>,
        sessions: &[StoredSession],
        candidates: &Candidates,
        all: bool,
    ) -> Result<Vec<Hit>, CatalogError> {
        let finders: Vec<Option<AhoCorasick>> = self.words.iter().map(|it| finder(it)).collect();
        let mut left: Vec<(&StoredSession, &Candidate)> = sessions
            .iter()
            .filter(|session| self.is_about(session))
            .filter_map(|session| Some((session, candidates.get(&session.key)?)))
            .collect();
        let mut hits = Vec::new();
        while !left.is_empty() && hits.len() < self.limit {
            let wanted = (self.limit - hits.len()).min(SEEN_AT_ONCE);
            let is_enough = |seen: &[(usize, Seen)]| {
                seen.iter().map(|(_, seen)| seen.len()).sum::<usize>() >= wanted
            };
            let (seen, done) = in_parallel(&left, is_enough, |(session, candidate)| {
                Some(self.see(session, candidate, &finders, all)).filter(|seen| seen.len() > 0)
            });
            // Lines are events only once the catalogue has said which.
            let (mut found, mut untold) = (Vec::new(), Vec::new());
            for (at, seen) in seen {
                let Some((session, _)) = left.get(at).copied() else { continue };
                let told = match seen {
                    Seen::Hits(hits) => Some(hits),
                    Seen::Lines(lines) => self.told(catalogue, session, lines)?,
                };
                match told {
                    Some(hits) => found.push((at, hits)),
                    None => untold.push((at, session)),
                }
            }
            let (read, _) = in_parallel(
                &untold,
                |_| false,
                |(at, session)| Some((*at, self.hits_in(session, &finders, all))),
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
    fn see(
        &self,
        session: &StoredSession,
        candidate: &Candidate,
        finders: &[Option<AhoCorasick>],
        all: bool,
    ) -> Seen {
        // Which of them it is that a session has is not known, where any is enough.
        let word = candidate.word.filter(|_| all);
        let finder = word.and_then(|word| finders.get(word)?.as_ref());
        if let Some(finder) = finder
            && glimpse::is_enough(self.query, self.words)
            && glimpse::is_readable(session)
            && let Some(lines) = glimpse::lines(session, candidate, finder)
        {
            return Seen::Lines(lines);
        }
        if !may_hold(session, candidate, finder) {
            return Seen::Hits(Vec::new());
        }
        Seen::Hits(self.hits_in(session, finders, all))
    }

    /// The places in a session. One that cannot be read, or not whole, is noted.
    fn hits_in(
        &self,
        session: &StoredSession,
        finders: &[Option<AhoCorasick>],
        all: bool,
    ) -> Vec<Hit> {
        match self.in_session(session, finders, all) {
            Ok(hits) => hits,
            Err(error) => {
                self.note_error(session, &error);
                Vec::new()
            }
        }
    }

    fn note_error(&self, session: &StoredSession, error: &Error) {
        self.note(session, format!("cannot be read: {}", with_causes(error)));
    }

    fn note_damage(&self, session: &StoredSession, opened: &Opened) {
        if let Some(problem) = damage_of(&opened.session, session.origin) {
            self.note(session, problem.message.clone());
        }
    }

    /// Notes that a session could not be read as it was written.
    fn note(&self, session: &StoredSession, what: String) {
        let left_out = LeftOut { session: session.session_id.clone(), what };
        // Another process may just have moved what was read. Only what is so still is marked.
        let is_lasting = match session.origin {
            Origin::Archived => !damages(&session.folder, Depth::All).is_empty(),
            Origin::Recorded => true,
        };
        if is_lasting {
            self.store.mark_damaged(&session.key, &left_out);
        }
        let mut damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        damaged.insert(session.key.clone(), left_out);
    }

    /// Checks those copies of the sessions in the answer that have no checksum of their own.
    fn check(&self, sessions: &[StoredSession], hits: &[Hit]) {
        let is_told: BTreeSet<&str> = hits.iter().map(|hit| &*hit.session).collect();
        let told = sessions.iter().filter(|it| is_told.contains(&*it.session_id));
        for session in told.filter(|it| it.origin == Origin::Archived) {
            if let Some(damage) = damages(&session.folder, Depth::Unpacked).first() {
                self.note(session, format!("`{}`: {}", damage.path.display(), damage.what));
            }
        }
    }

    /// The events that lines are; nothing, if the session has to be read whole.
    fn told(
        &self,
        catalogue: &mut Catalogue<'_>,
        session: &StoredSession,
        lines: Vec<Line>,
    ) -> Result<Option<Vec<Hit>>, CatalogError> {
        let places: Vec<LineAt> = lines.iter().map(|line| line.at).collect();
        let events = catalogue.ask(|catalog| catalog.events_at(&session.key, &places))?;
        Ok(glimpse::hits(session, lines, &events, self.query, self.words))
    }

    /// Whether a session is one of those that the query asks for.
    fn is_about(&self, session: &StoredSession) -> bool {
        let Query { agent, project, since, until, .. } = self.query.clone();
        let about = SessionQuery { agent, project, since, until, ..SessionQuery::default() };
        about.wants(session)
    }

    fn in_session(
        &self,
        session: &StoredSession,
        finders: &[Option<AhoCorasick>],
        all: bool,
    ) -> Result<Vec<Hit>, Error> {
        let path = session.path();
        let bundle = find_bundle(&path)?;
        let marks = bundle.as_ref().map(|bundle| Marks::of(bundle, finders));
        let opened = match bundle {
            Some(bundle) => open_foreign(bundle, false),
            None => open(&path)?,
        };
        let may_be_in = |entry: Entry<'_>| {
            marks
                .as_ref()
                .is_none_or(|marks| marks.may_be_in(&opened.session, entry, self.words, all))
        };
        self.note_damage(session, &opened);
        let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
        let mut hits = Vec::new();
        for entry in opened.session.entries().rev().filter(|entry| may_be_in(*entry)) {
            if hits.len() >= self.limit {
                break;
            }
            if let Some(found) = entry::look(&reading, entry, self.query, self.words, all) {
                hits.push(found.hit(session, &path));
            }
        }
        Ok(hits)
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
    let next = AtomicUsize::new(0);
    let seen: Mutex<Vec<(usize, O)>> = Mutex::default();
    let look = || {
        while !is_enough(&seen.lock().unwrap_or_else(PoisonError::into_inner)) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(thing) = things.get(at) else { return };
            if let Some(it) = see(thing) {
                seen.lock().unwrap_or_else(PoisonError::into_inner).push((at, it));
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..threads.min(things.len()) {
            scope.spawn(look);
        }
        look();
    });
    let mut seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    seen.sort_by_key(|(at, _)| *at);
    (seen, next.into_inner().min(things.len()))
}

/// Leaves those sessions that hold a word in what is searched.
pub(crate) fn retain_holding(
    catalogue: &mut Catalogue<'_>,
    sessions: &mut Vec<StoredSession>,
    word: &str,
) -> Result<(), CatalogError> {
    let pieces = [Pieces::of(word)];
    let found = catalogue.ask(|catalog| catalog.candidates(&pieces, true))?;
    let found: Candidates = found.into_iter().map(|it| (it.session.clone(), it)).collect();
    // A path is written with its slashes as they are, by every agent that was seen.
    let finder = AhoCorasick::builder().ascii_case_insensitive(true).build([word]).ok();
    sessions.retain(|session| {
        let candidate = found.get(&session.key);
        candidate.is_some_and(|candidate| may_hold(session, candidate, finder.as_ref()))
    });
    Ok(())
}

/// What finds a word in bytes; nothing, for one that JSON may write otherwise than it is.
fn finder(word: &str) -> Option<AhoCorasick> {
    let is_plain = word.bytes().all(|it| it.is_ascii_graphic() && !b"\"\\/".contains(&it));
    let finder = AhoCorasick::builder().ascii_case_insensitive(true).build([word]);
    finder.ok().filter(|_| is_plain)
}

/// Whether a block that may hold a word holds it.
fn may_hold(session: &StoredSession, candidate: &Candidate, finder: Option<&AhoCorasick>) -> bool {
    let Some(finder) = finder else { return true };
    let holds = |held: &Held| {
        // What cannot be read here is told by whoever opens the session.
        let blocks = blocks_of(session, held);
        blocks.map_or(true, |blocks| blocks.iter().any(|block| finder.is_match(&block.bytes)))
    };
    candidate.files.iter().any(holds)
}

/// The blocks of a file that may hold a word.
fn blocks_of(session: &StoredSession, held: &Held) -> io::Result<Vec<Block>> {
    let folder = match session.origin {
        Origin::Recorded => session.folder.clone(),
        Origin::Archived => crate::archive::newest_copy(&session.folder),
    };
    pack::blocks(&folder.join(Path::new(&held.name)), &held.blocks)
}

#[cfg(test)]
mod tests;
