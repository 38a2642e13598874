//! Searching every session: prompts, utterances, thinking, tool input and output.
//!
//! There is no index yet. The agents' own bytes are looked through for the rarest of the words, as
//! fast as the disk gives them; only a session that has all words is read and folded.

use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::AhoCorasick;
use antiphon_model::{CallIx, Detail, Entry, EntryKind, Role, Timestamp};
use antiphon_views::Reading;
use serde::Serialize;

use crate::{Bundle, Error, StoredSession, open};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Words and phrases, in small letters; all of them must be there.
    pub words: Vec<String>,
    pub tool: Option<String>,
    pub file: Option<String>,
    pub agent: Option<String>,
    pub project: Option<String>,
    pub role: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub is_error: bool,
}

/// Words that say nothing in a question.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "had",
    "has", "have", "how", "i", "in", "is", "it", "its", "me", "my", "of", "on", "or", "that",
    "the", "this", "to", "was", "we", "were", "what", "when", "where", "which", "who", "why",
    "with", "you",
];

impl Query {
    /// Reads what a person types: words, `"a phrase"`, and filters (`tool:Bash`, `is:error` …).
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut query = Self::default();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (word, tail) = match rest.strip_prefix('"') {
                Some(phrase) => phrase.split_once('"').unwrap_or((phrase, "")),
                None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
            };
            let is_phrase = rest.starts_with('"');
            rest = tail.trim_start();
            match word.split_once(':').filter(|(_, value)| !is_phrase && !value.is_empty()) {
                Some((name, value)) => query.filter(name, value, word)?,
                None => query.words.push(word.to_lowercase()),
            }
        }
        query.words.retain(|word| !word.is_empty());
        Ok(query)
    }

    fn filter(&mut self, name: &str, value: &str, whole: &str) -> Result<(), String> {
        let time = || {
            let day = format!("{value}T00:00:00Z");
            let at = Timestamp::parse(value).or_else(|| Timestamp::parse(&day));
            at.ok_or_else(|| format!("`{whole}`: a day is written 2026-03-01"))
        };
        match name {
            "tool" => self.tool = Some(value.to_lowercase()),
            "file" => self.file = Some(value.to_lowercase()),
            "agent" => self.agent = Some(value.to_lowercase()),
            "project" => self.project = Some(value.to_lowercase()),
            "role" => self.role = Some(value.to_lowercase()),
            "since" => self.since = Some(time()?),
            "until" => self.until = Some(time()?),
            "is" if value == "error" => self.is_error = true,
            // Any other colon belongs to the word: `std::fs`, `http://`.
            _ => self.words.push(whole.to_lowercase()),
        }
        Ok(())
    }

    /// The words of a question that mean something; all, if none does.
    fn telling(&self) -> Vec<String> {
        let telling: Vec<String> =
            self.words.iter().filter(|it| !STOP_WORDS.contains(&&***it)).cloned().collect();
        if telling.is_empty() { self.words.clone() } else { telling }
    }
}

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

/// What was found: the newest sessions first, in each the latest first.
#[derive(Debug, Default)]
pub struct Answer {
    pub hits: Vec<Hit>,
    /// Nothing had all words; these have some.
    pub is_partial: bool,
    /// Whether there may be more.
    pub is_cut: bool,
}

/// Searches these sessions, which stand in the order in which they are told.
pub fn search(sessions: &[StoredSession], query: &Query, limit: usize) -> Answer {
    let words = query.telling();
    let all = scan(sessions, query, &words, true, limit);
    if !all.is_empty() || words.len() < 2 {
        return Answer { is_cut: all.len() >= limit, hits: all, is_partial: false };
    }
    let some = scan(sessions, query, &words, false, limit);
    Answer { is_cut: some.len() >= limit, hits: some, is_partial: true }
}

fn scan(
    sessions: &[StoredSession],
    query: &Query,
    words: &[String],
    wants_all: bool,
    limit: usize,
) -> Vec<Hit> {
    // What JSON writes otherwise than it is cannot be looked for in the bytes.
    let plain: Vec<&String> = words
        .iter()
        .filter(|word| word.bytes().all(|it| it.is_ascii_graphic() && !b"\"\\/".contains(&it)))
        .collect();
    // One finder a word: each skips ahead by its rarest letters.
    let finder = |word: &&String| {
        AhoCorasick::builder().ascii_case_insensitive(true).build([word.as_str()]).ok()
    };
    let finders: Vec<AhoCorasick> = plain.iter().filter_map(finder).collect();
    let filter = Prefilter { has_others: finders.len() < words.len(), finders, wants_all };
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Vec<Hit>)>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(sessions.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(session) = sessions.get(at) else { return };
                    let enough = {
                        let found = found.lock().unwrap_or_else(PoisonError::into_inner);
                        found.iter().map(|(_, hits)| hits.len()).sum::<usize>() >= limit
                    };
                    if enough {
                        return;
                    }
                    let hits = in_session(session, query, words, wants_all, &filter, limit);
                    let hits = hits.unwrap_or_default();
                    if !hits.is_empty() {
                        found.lock().unwrap_or_else(PoisonError::into_inner).push((at, hits));
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(at, _)| *at);
    let mut hits: Vec<Hit> = found.into_iter().flat_map(|(_, hits)| hits).collect();
    hits.truncate(limit);
    hits
}

/// Words that can be looked for in bytes.
struct Prefilter {
    finders: Vec<AhoCorasick>,
    wants_all: bool,
    /// There are words that cannot.
    has_others: bool,
}

impl Prefilter {
    /// Whether these texts may hold what is looked for.
    fn may_hold(&self, texts: &[&[u8]]) -> bool {
        let mut found = self.finders.iter().map(|it| texts.iter().any(|text| it.is_match(*text)));
        match self.wants_all {
            true => found.all(|it| it),
            false => self.has_others || found.any(|it| it),
        }
    }
}

fn in_session(
    session: &StoredSession,
    query: &Query,
    words: &[String],
    wants_all: bool,
    filter: &Prefilter,
    limit: usize,
) -> Result<Vec<Hit>, Error> {
    let has = |text: &Option<String>, part: &Option<String>| {
        let Some(part) = part else { return true };
        text.as_ref().is_some_and(|text| text.to_lowercase().contains(part))
    };
    if !has(&session.agent, &query.agent) || !has(&session.project, &query.project) {
        return Ok(Vec::new());
    }
    if !may_hold(&session.path, filter)? {
        return Ok(Vec::new());
    }
    let opened = open(&session.path)?;
    let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
    let mut hits = Vec::new();
    for entry in opened.session.entries().rev() {
        if hits.len() >= limit {
            break;
        }
        let Some(text) = text_of(&reading, entry, query) else { continue };
        let lower = text.to_lowercase();
        let count = words.iter().filter(|word| lower.contains(word.as_str())).count();
        let is_hit = if wants_all { count == words.len() } else { count > 0 };
        if !is_hit || !passes(&reading, entry, query) {
            continue;
        }
        hits.push(Hit {
            session: session.session_id.clone(),
            message_id: entry.id().to_owned(),
            agent_id: entry.agent().map(|it| opened.session.agent_id(it).to_owned()),
            role: entry.kind().as_str(),
            tool: tool_of(&reading, entry),
            timestamp: entry.at(),
            snippet: snippet(&text, &lower, words),
            path: session.path.display().to_string(),
        });
    }
    Ok(hits)
}

fn may_hold(path: &Path, filter: &Prefilter) -> Result<bool, Error> {
    match Bundle::find(path)? {
        Some(bundle) => Ok(filter.may_hold(&bundle.texts().map(str::as_bytes).collect::<Vec<_>>())),
        None => {
            let log = antiphon_journal::Log::find(path)?;
            let texts: Vec<Vec<u8>> =
                log.segments().filter_map(|segment| std::fs::read(segment).ok()).collect();
            Ok(filter.may_hold(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>()))
        }
    }
}

/// All words of an entry: what was said, thought, asked of tools and given back.
fn text_of(reading: &Reading<'_>, entry: Entry<'_>, query: &Query) -> Option<String> {
    let mut text = reading.text(entry).ok()?;
    for (ix, call) in entry.calls() {
        text.push('\n');
        text.push_str(reading.session.tool_name(ix));
        if !call.arguments.is_none() {
            text.push(' ');
            text.push_str(&reading.place_text(call.arguments).ok()?);
        }
    }
    // The structured twin says more only where the result itself is short of words.
    if let Some(twin) =
        entry.detail(Detail::Result).filter(|_| text.len() < 256 || query.file.is_some())
    {
        text.push('\n');
        text.push_str(&reading.bodies.read(twin).ok()?);
    }
    (!text.is_empty()).then_some(text)
}

fn passes(reading: &Reading<'_>, entry: Entry<'_>, query: &Query) -> bool {
    let is_in_time = query.since.is_none_or(|since| entry.at().is_some_and(|at| at >= since))
        && query.until.is_none_or(|until| entry.at().is_some_and(|at| at < until));
    let has_role = query.role.as_ref().is_none_or(|role| entry.kind().as_str() == role);
    let has_tool = query.tool.as_ref().is_none_or(|tool| {
        calls_of(entry).any(|ix| reading.session.tool_name(ix).to_lowercase() == *tool)
    });
    let has_file = query.file.as_ref().is_none_or(|file| {
        calls_of(entry).any(|ix| {
            let arguments = reading.session.call(ix).arguments;
            let text = reading.bodies.read(arguments).unwrap_or_default();
            text.to_lowercase().contains(file)
        })
    });
    is_in_time && has_role && has_tool && has_file && (!query.is_error || entry.is_error())
}

/// The calls that an entry makes, and the one that it is a result of.
fn calls_of(entry: Entry<'_>) -> impl Iterator<Item = CallIx> {
    let is_result = entry.kind() == EntryKind::Message(Role::Tool);
    entry.calls().map(|(ix, _)| ix).chain(entry.call().filter(|_| is_result))
}

fn tool_of(reading: &Reading<'_>, entry: Entry<'_>) -> Option<String> {
    calls_of(entry).next().map(|ix| reading.session.tool_name(ix).to_owned())
}

/// The surroundings of the first word, on one line.
fn snippet(text: &str, lower: &str, words: &[String]) -> String {
    const AROUND: usize = 60;
    let at = words.iter().filter_map(|word| lower.find(word.as_str())).min().unwrap_or_default();
    // Small letters may be of another length; the place is near enough.
    let before = lower.get(..at).map_or(0, |before| before.chars().count());
    let start = before.saturating_sub(AROUND);
    let part: String = text.chars().skip(start).take(AROUND * 3).collect();
    let line = part.split_whitespace().collect::<Vec<_>>().join(" ");
    let (front, back) = (start > 0, text.chars().count() > start + AROUND * 3);
    format!("{}{line}{}", if front { "…" } else { "" }, if back { "…" } else { "" })
}
