//! A session and its children, in one order.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{Event, EventKind};

use super::gather::Session;
use super::tell::{SessionEvents, Tell};
use crate::Sink;
use crate::merge::{Voice, merge};
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
    let mut told: Vec<SessionEvents<'a>> = sessions
        .iter()
        .zip(&agents)
        .map(|(session, agent)| Tell::new(session.name, agent.clone()).tell(&session.said))
        .collect();
    // By child: the session that made it, its calls, and what it said of the child.
    let mut makers: BTreeMap<Cow<'a, str>, (usize, Vec<Cow<'a, str>>)> = BTreeMap::new();
    let mut creations: BTreeMap<Cow<'a, str>, Event<'a>> = BTreeMap::new();
    for (at, session) in told.iter_mut().enumerate() {
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
    let mut voices = Vec::new();
    for (at, session) in told.into_iter().enumerate() {
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
        voices.push(Voice {
            events,
            started_by: maker.and_then(|(_, calls)| calls.first()).map(|call| call.to_string()),
            started_in: maker.map(|(by, _)| *by),
            // One that was called again said some of it after its first call had returned.
            in_background: maker.is_some_and(|(_, calls)| calls.len() > 1),
        });
    }
    keep_apart(&mut voices, &agents);
    merge(voices, sink);
}

/// What the agent of a session is called.
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

/// Ids are of all sessions; where one has what another has, it says whose it is.
fn keep_apart<'a>(voices: &mut [Voice<'a>], agents: &[Cow<'a, str>]) {
    let mut seen: BTreeSet<Cow<'a, str>> = BTreeSet::new();
    for (voice, agent) in voices.iter_mut().zip(agents) {
        for event in &mut voice.events {
            let Some(id) = event.message_id.clone() else { continue };
            if !seen.insert(id.clone()) {
                let own: Cow<'a, str> = Cow::Owned(format!("{agent}:{id}"));
                seen.insert(own.clone());
                event.message_id = Some(own);
            }
        }
    }
}
