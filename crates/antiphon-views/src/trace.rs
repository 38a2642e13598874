//! Why a message is there: the chain that led to it, and what it led to.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{BodyError, Entry, EntryKind, EventIx, Link, LinkKind, MessageRef};
use serde::Serialize;

use crate::Reading;
use crate::causality::{LinkRow, link_row};

/// An event in the chain that led to a message, or that followed from it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceStep {
    /// The id of the message.
    pub message_id: String,
    /// The id of the agent in whose transcript it is.
    pub agent_id: Option<String>,
    /// The name of that agent; its id, if it has no name.
    pub name: Option<String>,
    /// The role of the message, or the kind of event.
    pub kind: EntryKind,
    /// The text of the message; for a call, the tool and its main arguments.
    pub text: String,
    /// The link that leads to this step; null for the origin.
    pub link: Option<LinkRow>,
}

/// From the origin to `message`: at each step the nearest cause, recorded or inferred.
pub fn trace(reading: &Reading<'_>, message: EventIx) -> Result<Vec<TraceStep>, BodyError> {
    let links = reading.session.links(reading.bodies)?;
    let mut cause_of: BTreeMap<EventIx, &Link<'_>> = BTreeMap::new();
    for link in &links {
        let best = cause_of.entry(link.to).or_insert(link);
        if weight(link) > weight(best) {
            *best = link;
        }
    }
    let mut steps = Vec::new();
    let mut current = Some(message);
    while let Some(event) = current {
        let link = cause_of.get(&event).copied();
        let row = link.map(|link| link_row(reading, link));
        steps.push(step(reading, reading.session.entry(event), row)?);
        // A link leads back to an earlier line, so the chain ends.
        current = match link.map(|link| link.from) {
            Some(MessageRef::Event(from)) if from < event => Some(from),
            Some(MessageRef::Event(_) | MessageRef::Dangling(_)) | None => None,
        };
    }
    steps.reverse();
    Ok(steps)
}

/// Everything that `message` led to, in the order of the log; the message itself comes first.
pub fn trace_forward(reading: &Reading<'_>, message: EventIx) -> Result<Vec<TraceStep>, BodyError> {
    let links = reading.session.links(reading.bodies)?;
    let mut reached = BTreeSet::from([message]);
    let mut steps = vec![step(reading, reading.session.entry(message), None)?];
    // Links come in the order of their targets, so one pass finds everything.
    for link in &links {
        let MessageRef::Event(from) = link.from else { continue };
        if reached.contains(&from) && reached.insert(link.to) {
            let entry = reading.session.entry(link.to);
            steps.push(step(reading, entry, Some(link_row(reading, link)))?);
        }
    }
    Ok(steps)
}

/// Which of several causes to follow: a specific one before "the entry before" and "a copy of", and
/// the nearest of those.
fn weight(link: &Link<'_>) -> (u8, Option<EventIx>) {
    let rank = match link.kind {
        LinkKind::Previous => 0,
        LinkKind::Broadcast => 1,
        LinkKind::Result
        | LinkKind::Delivery
        | LinkKind::Creation
        | LinkKind::Cause
        | LinkKind::Reply
        | LinkKind::Sent
        | LinkKind::Notice
        | LinkKind::Verdict => 2,
    };
    match link.from {
        MessageRef::Event(from) => (rank, Some(from)),
        MessageRef::Dangling(_) => (rank, None),
    }
}

fn step(
    reading: &Reading<'_>,
    entry: Entry<'_>,
    link: Option<LinkRow>,
) -> Result<TraceStep, BodyError> {
    let session = reading.session;
    Ok(TraceStep {
        message_id: entry.id().to_owned(),
        agent_id: entry.agent().map(|agent| session.agent_id(agent).to_owned()),
        name: entry.agent().map(|agent| session.agent_name(agent).to_owned()),
        kind: entry.kind(),
        text: reading.description(entry)?,
        link,
    })
}
