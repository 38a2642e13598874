//! A session of several files: which call created which agent.

use std::borrow::Cow;
use std::collections::BTreeMap;

use antiphon_model::{Event, EventKind};

use super::code::Wire;
use super::{PROGRAM, is_state, old};
use crate::line::{Object, Record, records};
use crate::merge::{EventStream, merge};
use crate::script::{created, started};
use crate::{Sink, Stream};

pub(super) const MAIN: Cow<'static, str> = Cow::Borrowed("main");

/// The call that created an agent.
#[derive(Debug, Clone)]
pub(super) struct Launch<'a> {
    pub(super) agent: String,
    pub(super) call: Cow<'a, str>,
    pub(super) in_background: bool,
}

/// The events of one file.
struct FileEvents<'a> {
    agent: Cow<'a, str>,
    events: Vec<Event<'a>>,
    launches: Vec<Launch<'a>>,
    model: Option<Cow<'a, str>>,
    /// The type of agent that it says it is.
    profile: Option<Cow<'a, str>>,
}

pub(super) fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    let mut state: Option<Record<'a>> = None;
    let mut files: Vec<FileEvents<'a>> = Vec::new();
    for (number, stream) in (0..).zip(streams) {
        let mut wire = Wire::new(stream.name, agent_of(stream.name, streams.len() == 1));
        let mut screen = old::Screen::new(stream.name);
        let mut is_old = false;
        for record in records(stream, number) {
            match record {
                Ok(record) if state.is_none() && is_state(&record.object) => state = Some(record),
                Ok(record) => {
                    is_old |= old::is_ours(&record.object);
                    if is_old {
                        screen.line(&record, sink);
                    } else {
                        wire.line(&record, sink);
                    }
                }
                Err(problem) => sink.problem(problem),
            }
        }
        let facts = (wire.model.clone(), wire.profile.clone(), wire.agent.clone());
        let (mut events, launches) = wire.finish();
        events.extend(screen.finish());
        if !events.is_empty() {
            let (model, profile, agent) = facts;
            files.push(FileEvents { agent, events, launches, model, profile });
        }
    }
    let facts = state.as_ref().map(|record| record.object.clone()).unwrap_or_default();
    let main = files.iter().position(|it| it.agent == MAIN).unwrap_or_default();
    if let Some(session) = begun(state.as_ref(), files.get(main)) {
        sink.event(session);
    }
    merge(event_streams(files, &facts), sink);
}

/// The agent's id from a file's name: `agent-0` for `agents/agent-0/wire.jsonl`.
fn agent_of(name: &str, is_alone: bool) -> Cow<'_, str> {
    let mut folders = name.split('/').rev().skip(1);
    match folders.next() {
        Some(agent) => Cow::Borrowed(agent),
        None if is_alone => MAIN,
        None => Cow::Borrowed(name),
    }
}

/// The session's beginning, with its facts.
fn begun<'a>(state: Option<&Record<'a>>, main: Option<&FileEvents<'a>>) -> Option<Event<'a>> {
    let first = main.and_then(|main| main.events.first());
    let (line, place) = match (state, first) {
        (Some(state), _) => (state.line.number, state.line.place),
        (None, Some(first)) => (first.line, first.place),
        (None, None) => return None,
    };
    let mut session = started(PROGRAM);
    let facts = state.map(|record| record.object.clone()).unwrap_or_default();
    session.title = facts.text("title");
    session.cwd = facts.text("workDir");
    let folder = facts.object("agents").and_then(|agents| agents.object("main")?.text("homedir"));
    let named = folder.and_then(|folder| {
        folder.split(['/', '\\']).find(|part| part.starts_with("session_")).map(str::to_owned)
    });
    session.session_id = named.map(Cow::Owned);
    session.prompt = main.and_then(|main| main.events.iter().find_map(prompt));
    Some(Event {
        message_id: Some(Cow::Borrowed("session")),
        at: facts.time("createdAt").or_else(|| first.and_then(|first| first.at)),
        line,
        place,
        kind: EventKind::SessionStarted(session),
        extra: None,
        problems: Vec::new(),
    })
}

fn prompt<'a>(event: &Event<'a>) -> Option<Cow<'a, str>> {
    let EventKind::Message(message) = &event.kind else { return None };
    let is_human = message.source.as_deref() == Some("external") && message.agent == MAIN;
    message.content.filter(|_| is_human).map(|said| antiphon_model::plain_text(said.json))
}

/// Gives each agent the call that created it.
fn event_streams<'a>(files: Vec<FileEvents<'a>>, state: &Object<'a>) -> Vec<EventStream<'a>> {
    let mut makers: BTreeMap<String, (usize, Launch<'a>)> = BTreeMap::new();
    for (at, it) in files.iter().enumerate() {
        for launch in &it.launches {
            makers.entry(launch.agent.clone()).or_insert_with(|| (at, launch.clone()));
        }
    }
    let names: Vec<Cow<'a, str>> = files.iter().map(|it| it.agent.clone()).collect();
    let agents = state.object("agents").unwrap_or_default();
    let mut event_streams = Vec::new();
    for (at, it) in files.into_iter().enumerate() {
        let maker = makers.get(&*it.agent).filter(|(by, _)| *by != at && it.agent != MAIN);
        let mut agent = created(it.agent.clone());
        agent.language_model = it.model;
        if it.agent == MAIN {
            agent.name = Some(Cow::Borrowed("Kimi"));
            agent.adapter_id = Some(Cow::Borrowed(PROGRAM));
        } else {
            let said = agents.object(&it.agent).and_then(|agent| agent.text("parentAgentId"));
            agent.parent_id = maker.and_then(|(by, _)| names.get(*by).cloned()).or(said);
            agent.tool_call_id = maker.map(|(_, launch)| launch.call.clone());
            agent.agent_type = it.profile;
        }
        let in_background = maker.is_some_and(|(_, launch)| launch.in_background);
        let event_stream = EventStream::of(agent, it.events, maker.map(|(by, _)| *by));
        event_streams
            .extend(event_stream.map(|event_stream| EventStream { in_background, ..event_stream }));
    }
    event_streams
}
