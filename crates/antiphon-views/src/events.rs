//! Events with everything that is known about each: its text, its calls and its links.

use std::collections::BTreeMap;

use antiphon_model::{BodyError, Entry, EventIx, Link, MessageRef, Role, Timestamp};
use serde::Serialize;

use crate::calls::{Delegations, call_row};
use crate::causality::link_row;
use crate::timeline::timeline_row;
use crate::{CallRow, FactBasis, LinkRow, Reading, TimelineKind, TimelineRow};

/// An event of a session, with its calls and its links.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionEvent {
    /// The position in the session, from 1.
    pub n: usize,
    /// The id of the event.
    pub message_id: String,
    /// The id of the agent that it belongs to.
    pub agent_id: Option<String>,
    /// The name of that agent; its id, if it has no name.
    pub name: Option<String>,
    /// What happened.
    pub kind: TimelineKind,
    /// The role of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Where a message came from: an agent's id, `external` or `system`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The text of the message; for calls, their tools and main arguments.
    pub text: String,
    /// How many bytes of the text were left out at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<usize>,
    /// When it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// For a result, how long the call took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// Whether the duration is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_basis: Option<FactBasis>,
    /// Whether it is the result of a call that failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The tool calls that it makes.
    pub calls: Vec<CallRow>,
    /// The links that lead to it and away from it.
    pub links: Vec<LinkRow>,
}

/// An event with its line, as it is in the log or in the agent's file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WholeEvent {
    #[serde(flatten)]
    pub event: SessionEvent,
    /// The line in which it is recorded.
    pub line: String,
}

/// Up to `limit` events behind the first `from`, one at a time. A text is cut behind `text_bytes`.
pub fn session_events<'a>(
    reading: Reading<'a>,
    from: usize,
    limit: usize,
    text_bytes: usize,
) -> Result<impl Iterator<Item = Result<SessionEvent, BodyError>> + 'a, BodyError> {
    let session = reading.session;
    let entries = session.entries_from(from.min(session.len())).take(limit);
    let until = from.saturating_add(limit);
    let links = Links::between(&reading, from, until)?;
    let delegations = Delegations::of(session);
    Ok(entries.map(move |entry| event(&reading, &delegations, &links, entry, text_bytes)))
}

/// One event, whole.
pub fn whole_event(reading: &Reading<'_>, ix: EventIx) -> Result<WholeEvent, BodyError> {
    let links = Links::between(reading, ix.index(), ix.index() + 1)?;
    let entry = reading.session.entry(ix);
    let delegations = Delegations::of(reading.session);
    let event = event(reading, &delegations, &links, entry, usize::MAX)?;
    Ok(WholeEvent { event, line: reading.line(entry)? })
}

fn event<'a>(
    reading: &Reading<'a>,
    delegations: &Delegations,
    links: &Links<'a>,
    entry: Entry<'a>,
    text_bytes: usize,
) -> Result<SessionEvent, BodyError> {
    let TimelineRow {
        step,
        message_id,
        agent_id,
        name,
        kind,
        role,
        source,
        tools: _,
        mut text,
        timestamp,
        duration_ms,
        duration_basis,
        is_error,
    } = timeline_row(reading, entry)?;
    let calls = entry.calls().map(|(ix, _)| call_row(reading, delegations, ix));
    let whole = text.len();
    text.truncate(text.floor_char_boundary(text_bytes));
    Ok(SessionEvent {
        n: step,
        message_id,
        agent_id,
        name,
        kind,
        role,
        source,
        truncated: Some(whole - text.len()).filter(|&rest| rest > 0),
        text,
        timestamp,
        duration_ms,
        duration_basis,
        is_error,
        calls: calls.collect::<Result<_, _>>()?,
        links: links.of(entry.ix()).map(|link| link_row(reading, link)).collect(),
    })
}

/// The links of some events, in both directions.
struct Links<'a> {
    links: Vec<Link<'a>>,
    by_event: BTreeMap<EventIx, Vec<usize>>,
}

impl<'a> Links<'a> {
    fn between(reading: &Reading<'a>, from: usize, until: usize) -> Result<Self, BodyError> {
        let is_wanted = |event: EventIx| (from..until).contains(&event.index());
        let mut links = Vec::new();
        let mut by_event: BTreeMap<EventIx, Vec<usize>> = BTreeMap::new();
        for link in reading.session.links(reading.bodies)? {
            let source = match link.from {
                MessageRef::Event(event) => Some(event).filter(|&event| event != link.to),
                MessageRef::Dangling(_) => None,
            };
            let ends: Vec<EventIx> =
                [Some(link.to), source].into_iter().flatten().filter(|&it| is_wanted(it)).collect();
            for &end in &ends {
                by_event.entry(end).or_default().push(links.len());
            }
            if !ends.is_empty() {
                links.push(link);
            }
        }
        Ok(Self { links, by_event })
    }

    fn of(&self, event: EventIx) -> impl Iterator<Item = &Link<'a>> {
        let numbers = self.by_event.get(&event).map(Vec::as_slice).unwrap_or_default();
        numbers.iter().filter_map(|&at| self.links.get(at))
    }
}

#[cfg(test)]
mod tests;
