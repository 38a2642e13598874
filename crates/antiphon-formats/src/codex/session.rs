//! A session of several rollouts: which thread created which, and facts about the session.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{AgentCreated, Event, EventKind, SessionStarted};

use super::PROGRAM;
use super::entry::{Entry, entries};
use super::replay::Replay;
use super::rollout::{Cast, Rollout, Text};
use super::thread::{Launch, Meta, Thread};
use crate::merge::{EventStream, merge};
use crate::{Sink, Stream, script};

/// The agent of the main file.
const MAIN: &str = "main";

pub(super) fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    let numbered = || (0..).zip(streams);
    let threads: Vec<Thread<'a>> =
        numbered().map(|(number, stream)| Thread::scan(stream, number)).collect();
    let agents = agents(streams, &threads);
    let cast = cast(&threads, &agents);
    let by_id: BTreeMap<&str, usize> = threads.iter().enumerate().rev().filter_map(by_id).collect();
    let parents: Vec<Option<usize>> = threads
        .iter()
        .enumerate()
        .map(|(at, thread)| {
            let meta = thread.meta.as_ref()?;
            let parent = *by_id.get(meta.parent.or(meta.forked_from)?)?;
            (parent != at).then_some(parent)
        })
        .collect();
    let replays: Vec<Replay> = threads
        .iter()
        .zip(&parents)
        .map(|(thread, parent)| Replay::of(thread, parent.and_then(|at| threads.get(at))))
        .collect();
    let launches = launches(&threads, &replays);
    let mut used = BTreeSet::new();
    let mut event_streams = Vec::new();
    for ((number, stream), (thread, replay)) in numbered().zip(threads.iter().zip(&replays)) {
        let at = number as usize;
        let Some(agent) = agents.get(at).cloned() else { continue };
        let parent = parents.get(at).copied().flatten();
        let maker = parent.and_then(|parent| agents.get(parent)).cloned();
        let asker = asker(thread.meta.as_ref(), maker.clone());
        let mut rollout =
            Rollout::new(stream.name, (agent.clone(), asker), &cast, thread, &mut used);
        rollout.read(stream, number, replay, sink);
        let prompt = rollout.prompt.take();
        let model = rollout.events.iter().find_map(model_of);
        let mut event_stream =
            EventStream { events: std::mem::take(&mut rollout.events), ..EventStream::default() };
        let launch = thread.meta.as_ref().and_then(|meta| launches.get(meta.id?));
        // A fork by the person has no parent agent.
        let is_child = at > 0 && thread.meta.as_ref().is_some_and(|meta| meta.parent.is_some());
        let mut created = created(agent, thread.meta.as_ref(), model);
        if is_child {
            created.parent_id = maker;
            created.tool_call_id = launch.and_then(|launch| launch.call.clone());
            created.task = launch.and_then(|launch| launch.task);
            event_stream.started_by = created.tool_call_id.as_deref().map(str::to_owned);
        }
        // A thread is created, and its parent goes on.
        event_stream.in_background = true;
        let Some(first) = first_entry(stream, number, thread) else { continue };
        if at == 0 {
            let started = EventKind::SessionStarted(started(thread, prompt));
            sink.event(opening(&first, "session".to_owned(), started));
        }
        let id = format!("created:{}", created.agent);
        event_stream.events.insert(0, opening(&first, id, EventKind::AgentCreated(created)));
        event_streams.push(event_stream);
    }
    merge(event_streams, sink);
}

fn by_id<'a>((at, thread): (usize, &Thread<'a>)) -> Option<(&'a str, usize)> {
    Some((thread.meta.as_ref()?.id?, at))
}

/// The agents of the streams: the first is the main one, the others are named after their threads.
fn agents<'a>(streams: &[Stream<'a>], threads: &[Thread<'a>]) -> Vec<Text<'a>> {
    let mut taken = BTreeSet::from([MAIN]);
    let name = |(at, (stream, thread)): (usize, (&Stream<'a>, &Thread<'a>))| {
        let own = thread.meta.as_ref().and_then(|meta| meta.id).filter(|_| at > 0);
        match own.filter(|id| taken.insert(id)) {
            Some(id) => Cow::Borrowed(id),
            None if at == 0 => Cow::Borrowed(MAIN),
            None => Cow::Borrowed(stream.name),
        }
    };
    streams.iter().zip(threads).enumerate().map(name).collect()
}

fn cast<'a>(threads: &[Thread<'a>], agents: &[Text<'a>]) -> Cast<'a> {
    let mut cast = Cast::default();
    cast.by_path.insert(Cow::Borrowed("/root"), Cow::Borrowed(MAIN));
    for (thread, agent) in threads.iter().zip(agents) {
        let Some(meta) = &thread.meta else { continue };
        if let Some(id) = meta.id {
            cast.by_thread.insert(Cow::Borrowed(id), agent.clone());
        }
        cast.by_path.extend(meta.path.clone().map(|path| (path, agent.clone())));
    }
    for launch in threads.iter().flat_map(|thread| &thread.launches) {
        let agent = cast.by_thread.get(&launch.thread).unwrap_or(&launch.thread).clone();
        if let Some(path) = launch.path.clone() {
            cast.by_path.entry(path).or_insert(agent);
        }
    }
    cast
}

/// For each thread: the call that created it. Copied lines are skipped: another thread made those
/// calls.
fn launches<'t, 'a>(
    threads: &'t [Thread<'a>],
    replays: &[Replay],
) -> BTreeMap<&'t str, &'t Launch<'a>> {
    let mut launches = BTreeMap::new();
    for (thread, replay) in threads.iter().zip(replays) {
        for launch in &thread.launches {
            let is_copy = replay.has_line(launch.line, launch.ordinal);
            if !is_copy && launch.call.is_some() {
                launches.entry(&*launch.thread).or_insert(launch);
            }
        }
    }
    launches
}

/// Who speaks in the person's place: in a sub-agent's thread, its parent.
fn asker<'a>(meta: Option<&Meta<'a>>, maker: Option<Text<'a>>) -> Text<'a> {
    match meta {
        Some(meta) if meta.parent.is_some() || meta.is_subagent => {
            maker.unwrap_or(Cow::Borrowed("system"))
        }
        _ => Cow::Borrowed("external"),
    }
}

fn model_of<'a>(event: &Event<'a>) -> Option<Text<'a>> {
    let EventKind::Message(message) = &event.kind else { return None };
    message.model.clone()
}

fn created<'a>(
    agent: Text<'a>,
    meta: Option<&Meta<'a>>,
    model: Option<Text<'a>>,
) -> AgentCreated<'a> {
    let is_main = agent == MAIN;
    let name = meta.and_then(|meta| meta.nickname.clone().or_else(|| meta.path.clone()));
    AgentCreated {
        name: name.or(is_main.then_some(Cow::Borrowed("Codex"))),
        language_model: model,
        agent_type: meta.and_then(|meta| meta.role.clone()),
        adapter_id: is_main.then_some(Cow::Borrowed(PROGRAM)),
        ..script::created(agent)
    }
}

fn started<'a>(thread: &Thread<'a>, prompt: Option<Text<'a>>) -> SessionStarted<'a> {
    let meta = thread.meta.as_ref();
    SessionStarted {
        session_id: meta.and_then(|meta| meta.id).map(Cow::Borrowed),
        title: thread.title.clone(),
        prompt,
        cwd: meta.and_then(|meta| meta.cwd.clone()),
        branch: meta.and_then(|meta| meta.branch.clone()),
        version: meta.and_then(|meta| meta.version.clone()),
        ..script::started(PROGRAM)
    }
}

/// Where a thread begins: its `session_meta`, or else its first line.
fn first_entry<'a>(stream: &Stream<'a>, number: u32, thread: &Thread<'a>) -> Option<Entry<'a>> {
    let line = thread.meta.as_ref().map(|meta| meta.line);
    let mut entries = entries(stream, number).flatten();
    entries.find(|entry| line.is_none_or(|line| line == entry.line()))
}

/// An event at the beginning of a thread.
fn opening<'a>(entry: &Entry<'a>, id: String, kind: EventKind<'a>) -> Event<'a> {
    Event {
        message_id: Some(Cow::Owned(id)),
        at: entry.record.object.time("timestamp"),
        line: entry.line(),
        place: entry.record.line.place,
        kind,
        extra: None,
        problems: Vec::new(),
    }
}
