//! Merges a session and its children into one order.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{Event, EventKind};

use super::conversation::{Conversation, SessionEvents};
use super::gather::Session;
use crate::Sink;
use crate::merge::{EventStream, merge};
use crate::script::created;

const MAIN: &str = "main";

pub(super) fn read<'a>(sessions: &[Session<'a>], sink: &mut dyn Sink<'a>) {
    let agents: Vec<Cow<'a, str>> = (0..).zip(sessions).map(agent).collect();
    let parents: Vec<Option<&'a str>> = sessions.iter().map(|session| session.parent).collect();
    let titles: Vec<Option<Cow<'a, str>>> =
        sessions.iter().map(|session| session.said.first()?.info.text("title")).collect();
    let by_id: BTreeMap<&'a str, usize> = (0..)
        .zip(sessions)
        .filter_map(|(at, session): (usize, _)| Some((session.id?, at)))
        .collect();
    let mut read: Vec<SessionEvents<'a>> = sessions
        .iter()
        .zip(&agents)
        .map(|(session, agent)| Conversation::new(session.name, agent.clone()).read(&session.said))
        .collect();
    // For each child: the session that created it, and its calls.
    let mut makers: BTreeMap<Cow<'a, str>, (usize, Vec<Cow<'a, str>>)> = BTreeMap::new();
    let mut creations: BTreeMap<Cow<'a, str>, Event<'a>> = BTreeMap::new();
    for (at, session) in read.iter_mut().enumerate() {
        for (child, call) in std::mem::take(&mut session.made) {
            makers.entry(child).or_insert_with(|| (at, Vec::new())).1.push(call);
        }
        let is_here = |event: &mut Event<'a>| {
            let EventKind::AgentCreated(it) = &event.kind else { return false };
            it.agent != MAIN && by_id.contains_key(&*it.agent)
        };
        for event in session.events.extract_if(.., is_here) {
            if let EventKind::AgentCreated(agent) = &event.kind {
                creations.entry(agent.agent.clone()).or_insert(event);
            }
        }
    }
    let mut event_streams = Vec::new();
    for (at, session) in read.into_iter().enumerate() {
        let Some(agent) = agents.get(at) else { continue };
        let maker = makers.get(agent).filter(|(by, _)| at > 0 && *by != at);
        let mut events = session.events;
        if at > 0 {
            let parent = parents.get(at).copied().flatten().and_then(|id| by_id.get(id));
            let parent = parent.and_then(|at| agents.get(*at)).cloned();
            let creation = creations.remove(agent).filter(|_| maker.is_some());
            let title = titles.get(at).cloned().flatten();
            let creation =
                creation.or_else(|| Some(appeared(agent, parent, title, session.first?)));
            events.splice(0..0, creation.map(|event| with_model(event, session.model)));
        }
        event_streams.push(EventStream {
            events,
            started_by: maker.and_then(|(_, calls)| calls.first()).map(|call| call.to_string()),
            started_in: maker.map(|(by, _)| *by),
            // If it was called again, some of its messages follow the result of its first call.
            in_background: maker.is_some_and(|(_, calls)| calls.len() > 1),
        });
    }
    keep_apart(&mut event_streams, &agents);
    merge(event_streams, sink);
}

/// The id of a session's agent.
fn agent<'a>((at, session): (usize, &Session<'a>)) -> Cow<'a, str> {
    Cow::Borrowed(if at == 0 { MAIN } else { session.id.unwrap_or(session.name) })
}

/// The creation of a child that no call names.
fn appeared<'a>(
    agent: &Cow<'a, str>,
    parent: Option<Cow<'a, str>>,
    title: Option<Cow<'a, str>>,
    first: Event<'a>,
) -> Event<'a> {
    let mut creation = created(agent.clone());
    creation.name = title;
    creation.parent_id = parent.or(Some(Cow::Borrowed(MAIN))).filter(|parent| parent != agent);
    let message_id = Some(Cow::Owned(format!("created:{agent}")));
    Event { message_id, kind: EventKind::AgentCreated(creation), ..first }
}

fn with_model<'a>(mut event: Event<'a>, model: Option<Cow<'a, str>>) -> Event<'a> {
    if let EventKind::AgentCreated(agent) = &mut event.kind {
        agent.language_model = agent.language_model.take().or(model);
    }
    event
}

/// Makes ids unique over all sessions: an id that another session has gets the agent as a prefix.
fn keep_apart<'a>(event_streams: &mut [EventStream<'a>], agents: &[Cow<'a, str>]) {
    let mut seen: BTreeSet<Cow<'a, str>> = BTreeSet::new();
    for (event_stream, agent) in event_streams.iter_mut().zip(agents) {
        for event in &mut event_stream.events {
            let Some(id) = event.message_id.clone() else { continue };
            if !seen.insert(id.clone()) {
                let own: Cow<'a, str> = Cow::Owned(format!("{agent}:{id}"));
                seen.insert(own.clone());
                event.message_id = Some(own);
            }
        }
    }
}
