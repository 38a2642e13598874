//! Searching one entry for words.

use antiphon_model::{CallIx, Detail, Entry, EntryKind, Place, Role};
use antiphon_views::Reading;

use super::{Hit, Matching, Query, Snippet};
use crate::Key;
use crate::searched::{SHORT_BYTES, says_more};

/// An entry that matches.
pub(crate) struct Found<'a> {
    reading: &'a Reading<'a>,
    entry: Entry<'a>,
    snippet: Snippet,
}

impl Found<'_> {
    pub(crate) fn hit(self, session: &Key) -> Hit {
        let Self { reading, entry, snippet } = self;
        Hit {
            session: session.clone(),
            message_id: entry.id().to_owned(),
            agent_id: entry.agent().map(|it| reading.session.agent_id(it).to_owned()),
            role: entry.kind().as_str(),
            tool: calls_of(entry).next().map(|ix| reading.session.tool_name(ix).to_owned()),
            timestamp: entry.at(),
            snippet: snippet.text,
            marks: snippet.marks,
        }
    }
}

/// The entry, if it contains all of the words, or any, and matches the rest of the query.
pub(crate) fn look<'a>(
    reading: &'a Reading<'a>,
    entry: Entry<'a>,
    query: &Query,
    words: &[String],
    matching: Matching,
) -> Option<Found<'a>> {
    let text = text_of(reading, entry, query)?;
    let lower = text.to_lowercase();
    let has = words.iter().map(|word| lower.contains(word.as_str()));
    // Of no words, all are there and none is.
    let is_hit = words.is_empty() || matching.holds(has);
    let is_hit = is_hit && query.patterns.iter().all(|pattern| pattern.is_match(&text));
    (is_hit && passes(reading, entry, query)).then(|| Found {
        reading,
        entry,
        snippet: Snippet::of(&text, &lower, words, &query.patterns),
    })
}

/// The entry with what was said around the words, if it matches the query. The caller knows from
/// the ranked index, which knows more forms of the words, that it contains them.
pub(crate) fn look_at_prose<'a>(
    reading: &'a Reading<'a>,
    entry: Entry<'a>,
    query: &Query,
    words: &[String],
) -> Option<Found<'a>> {
    let text = text_of(reading, entry, query)?;
    let lower = text.to_lowercase();
    let is_hit = query.patterns.iter().all(|pattern| pattern.is_match(&text));
    (is_hit && passes(reading, entry, query)).then(|| Found {
        reading,
        entry,
        snippet: Snippet::of(&text, &lower, words, &query.patterns),
    })
}

/// All text of an entry: what was said, thought, passed to tools and returned by them.
pub(crate) fn text_of(reading: &Reading<'_>, entry: Entry<'_>, query: &Query) -> Option<String> {
    let mut text = reading.text(entry).ok()?;
    if let Some(thought) = entry.detail(Detail::Reasoning) {
        text.push('\n');
        text.push_str(&reading.place_text(thought).ok()?);
    }
    for (ix, call) in entry.calls() {
        text.push('\n');
        text.push_str(reading.session.tool_name(ix));
        if !call.arguments.is_none() {
            text.push(' ');
            text.push_str(&reading.place_text(call.arguments).ok()?);
        }
    }
    // Most structured copies of a result repeat its text.
    let is_searched =
        |twin: &Place| text.len() < SHORT_BYTES || query.file.is_some() || says_more(entry, *twin);
    if let Some(twin) = entry.detail(Detail::Result).filter(is_searched) {
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

/// The calls that an entry makes, and the one whose result it is.
fn calls_of(entry: Entry<'_>) -> impl Iterator<Item = CallIx> {
    let is_result = entry.kind() == EntryKind::Message(Role::Tool);
    entry.calls().map(|(ix, _)| ix).chain(entry.call().filter(|_| is_result))
}
