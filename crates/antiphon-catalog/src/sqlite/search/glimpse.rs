//! Reading only the lines that contain a word, and nothing else of their session.
//!
//! A session may be long and contain a word once. If a line can be understood alone
//! ([`Texts::stands_alone`]), only that line is read, and the catalogue says which event it is. If
//! anything does not fit together exactly, the whole session is read.

use aho_corasick::AhoCorasick;
use antiphon_model::{Detail, Entry, EntryKind};
use antiphon_views::Reading;

use super::super::EventAt;
use super::{Candidate, Hit, Look, Query, blocks_of, entry};
use crate::search::{Matching, Need};
use crate::{Key, LineAt, Texts};

/// A word on more lines is not rare.
const LINES_MAX: usize = 64;
/// Longer lines are not held in memory together.
const BYTES_MAX: usize = 4 << 20;

/// A line that contains the word.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) at: LineAt,
    /// The name of its file.
    name: String,
    bytes: Vec<u8>,
}

/// Whether a query asks for one word, or for a pattern that is found like one, and nothing else of
/// an event.
pub(super) fn is_enough(query: &Query, needs: &[Need]) -> bool {
    let Query { tool, file, role, since, until, is_error, .. } = query;
    let names = [tool, file, role];
    let is_any = names.iter().all(|it| it.is_none()) && since.is_none() && until.is_none();
    needs.len() == 1 && is_any && !is_error
}

/// The lines of a session that contain the word; `None` if there are too many, or some cannot be
/// read.
pub(super) fn lines(
    texts: &dyn Texts,
    candidate: &Candidate,
    finder: &AhoCorasick,
) -> Option<Vec<Line>> {
    let (mut lines, mut held_bytes) = (Vec::new(), 0);
    for held in &candidate.files {
        for block in blocks_of(texts, &candidate.session, held)? {
            let mut from = 0;
            while let Some(found) = finder.find(block.bytes.get(from..)?) {
                let at = from + found.start();
                let start = memchr::memrchr(b'\n', block.bytes.get(..at)?).map_or(0, |it| it + 1);
                let rest = block.bytes.get(start..)?;
                let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                from = (start + len).max(at + 1);
                let at = LineAt { stream: held.stream, offset: block.offset + start as u64 };
                let bytes = rest.get(..len)?.to_vec();
                held_bytes += len;
                lines.push(Line { at, name: held.name.clone(), bytes });
                if lines.len() > LINES_MAX || held_bytes > BYTES_MAX {
                    return None;
                }
            }
        }
    }
    Some(lines)
}

/// The matches on these lines, the latest first; `None` if the word on some line is not, or may not
/// be, part of an event that begins there.
pub(super) fn hits(
    look: &Look<'_>,
    session: &Key,
    lines: Vec<Line>,
    events: &[EventAt],
) -> Option<Vec<Hit>> {
    let mut hits = Vec::new();
    for Line { at, name, bytes } in lines {
        let own = events.iter().filter(|event| event.line == at && !is_beginning(&event.kind));
        let own: Vec<&EventAt> = own.collect();
        let text = look.texts.line(session, &name, bytes)?;
        let reading = Reading { session: &text.session, bodies: &*text.bodies };
        // A line that is read alone also creates a session and its agents; most lines do not
        // contain these.
        let entries = text.session.entries().filter(|entry| !is_beginning(entry.kind().as_str()));
        let entries: Vec<Entry<'_>> = entries.collect();
        let kinds = entries.iter().map(|entry| entry.kind().as_str());
        if own.is_empty() || !kinds.eq(own.iter().map(|event| &*event.kind)) {
            return None;
        }
        let before = hits.len();
        for (&entry, event) in entries.iter().zip(own) {
            let Some(found) = entry::look(&reading, entry, look.query, look.words, Matching::All)
            else {
                continue;
            };
            if may_be_two(entry) {
                return None;
            }
            let hit = Hit {
                message_id: event.id.clone(),
                agent_id: event.agent.clone(),
                tool: event.tool.clone(),
                timestamp: event.at,
                ..found.hit(session)
            };
            hits.push((event.position, hit));
        }
        // The line may be a part of an event that began on another one.
        if hits.len() == before {
            return None;
        }
    }
    hits.sort_by_key(|(position, _)| std::cmp::Reverse(*position));
    Some(hits.into_iter().map(|(_, hit)| hit).collect())
}

/// Whether a message has thinking as well as text or calls: if it began on an earlier line, these
/// are two events, one of which began there.
fn may_be_two(entry: Entry<'_>) -> bool {
    let says_or_does = entry.contents().next().is_some() || entry.calls().next().is_some();
    entry.detail(Detail::Reasoning).is_some() && says_or_does
}

/// Whether an event of this kind only introduces a session or an agent, and has no searched text.
fn is_beginning(kind: &str) -> bool {
    [EntryKind::SessionStarted, EntryKind::AgentCreated].iter().any(|it| it.as_str() == kind)
}
