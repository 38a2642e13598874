//! A session of several files: which call created which sub-agent, and facts about the session.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{
    AgentCreated, Event, EventKind, Line, Place, ProblemKind, Rule, SessionStarted, Timestamp,
    Usage,
};

use super::PROGRAM;
use super::progress::ProgressLine;
use super::transcript::Transcript;
use crate::line::{Object, Record, not_an_object};
use crate::merge::EventStream;
use crate::{Sink, Stream};

/// The id of the main agent, which has none of its own.
pub(super) const MAIN: &str = "main";

/// A session while its streams are read.
#[derive(Debug)]
pub(super) struct Session<'a> {
    transcripts: Vec<Transcript<'a>>,
    shared: Shared<'a>,
}

#[derive(Debug, Default)]
pub(super) struct Shared<'a> {
    /// The ids of lines in all streams: forks and resumed sessions repeat lines.
    pub(super) seen: BTreeSet<&'a str>,
    pub(super) launches: BTreeMap<Cow<'a, str>, Launch<'a>>,
    /// For each call's id: what it asked for.
    pub(super) delegations: BTreeMap<&'a str, Delegation<'a>>,
    /// For each sub-agent: the requests that only progress lines report.
    pub(super) left: BTreeMap<Cow<'a, str>, Left<'a>>,
    /// For each sub-agent: where its result was reported to its parent.
    pub(super) reports: BTreeMap<Cow<'a, str>, Report<'a>>,
    pub(super) facts: Facts<'a>,
    /// The sub-agents that have a file of their own.
    pub(super) own_files: BTreeSet<&'a str>,
    /// Progress lines about those sub-agents, to be compared with the files.
    pub(super) progress_lines: Vec<Line<'a>>,
}

/// The call that created a sub-agent.
#[derive(Debug, Clone)]
pub(super) struct Launch<'a> {
    pub(super) call: Cow<'a, str>,
    pub(super) by: Option<Cow<'a, str>>,
    pub(super) in_background: bool,
}

/// Requests whose token counts are not final, and not counted.
#[derive(Debug, Clone)]
pub(super) struct Left<'a> {
    /// The first line that reports one of them.
    pub(super) line: Line<'a>,
    /// For each message: the tokens that were reported last.
    pub(super) requests: BTreeMap<&'a str, Usage>,
}

/// What was reported to a sub-agent's parent.
#[derive(Debug, Clone)]
pub(super) struct Report<'a> {
    pub(super) line: Line<'a>,
    pub(super) at: Option<Timestamp>,
    pub(super) tokens: Option<u64>,
}

/// A call that may create a sub-agent.
#[derive(Debug, Clone, Default)]
pub(super) struct Delegation<'a> {
    pub(super) agent: Cow<'a, str>,
    pub(super) description: Option<Cow<'a, str>>,
    pub(super) agent_type: Option<Cow<'a, str>>,
    pub(super) prompt: Option<&'a str>,
}

/// What the lines say about the session as a whole; later values replace earlier ones.
#[derive(Debug, Default)]
pub(super) struct Facts<'a> {
    pub(super) session_id: Option<&'a str>,
    pub(super) cwd: Option<Cow<'a, str>>,
    pub(super) branch: Option<Cow<'a, str>>,
    pub(super) version: Option<Cow<'a, str>>,
    pub(super) title: Option<Cow<'a, str>>,
    pub(super) custom_title: Option<Cow<'a, str>>,
    pub(super) prompt: Option<Cow<'a, str>>,
}

impl<'a> Session<'a> {
    pub(super) fn new(streams: &[Stream<'a>]) -> Self {
        let files = streams.iter().skip(1).filter(|stream| !is_sidecar(stream));
        let own_files = files.map(|stream| agent_of_file(stream.name)).collect();
        Self { transcripts: Vec::new(), shared: Shared { own_files, ..Shared::default() } }
    }

    pub(super) fn read(&mut self, stream: &Stream<'a>, number: u32, sink: &mut dyn Sink<'a>) {
        if is_sidecar(stream) {
            self.read_sidecar(stream, number, sink);
            return;
        }
        let agent = match number {
            0 => MAIN,
            _ => agent_of_file(stream.name),
        };
        let mut transcript = Transcript::new(stream.name, Cow::Borrowed(agent), number);
        transcript.read(stream, &mut self.shared, sink);
        self.transcripts.push(transcript);
    }

    /// Reads the progress lines about sub-agents that have a file, because the file may be
    /// truncated.
    pub(super) fn read_progress_lines(&mut self, sink: &mut dyn Sink<'a>) {
        let files = self.transcripts.iter().enumerate().skip(1);
        let files: BTreeMap<Cow<'a, str>, usize> =
            files.map(|(at, transcript)| (transcript.agent().clone(), at)).collect();
        for line in std::mem::take(&mut self.shared.progress_lines) {
            let record = Object::parse(line.text).map(|object| Record { line, object });
            let Some(progress) = record.as_ref().and_then(ProgressLine::of) else { continue };
            let own = files.get(&progress.agent).and_then(|&at| self.transcripts.get_mut(at));
            if let Some(own) = own {
                own.progress_after_file(&progress, &mut self.shared, sink);
            }
        }
    }

    /// Reads a sidecar, which names the call that created the agent. Its keys have changed over
    /// time.
    fn read_sidecar(&mut self, stream: &Stream<'a>, number: u32, sink: &mut dyn Sink<'a>) {
        let Some(meta) = Object::parse(stream.text) else {
            let len = u32::try_from(stream.text.len()).unwrap_or(u32::MAX);
            let place = Place { stream: number, offset: 0, len };
            return sink.problem(not_an_object(&Line::new(stream.text, 1, place), false));
        };
        let names = ["toolUseId", "tool_use_id", "toolUseID", "parentToolUseId"];
        let Some(call) = names.iter().find_map(|name| meta.text(name)) else { return };
        let parents = ["parentAgentId", "parent_agent_id"];
        let by = parents.iter().find_map(|name| meta.text(name));
        let agent = Cow::Borrowed(agent_of_file(stream.name));
        let launch = Launch { call, by, in_background: meta.flag("isAsync") };
        self.shared.launches.entry(agent).or_insert(launch);
    }

    /// The session's beginning, with its facts, on its first line.
    pub(super) fn started(&self) -> Option<Event<'a>> {
        let events = || self.transcripts.iter().flat_map(Transcript::events);
        let first = events().next()?;
        Some(Event {
            message_id: Some(Cow::Borrowed("session")),
            at: events().filter_map(|event| event.at).min(),
            line: first.line,
            place: first.place,
            kind: EventKind::SessionStarted(self.shared.facts.started()),
            extra: None,
            problems: Vec::new(),
        })
    }

    /// The events of each agent, preceded by its creation. For a sub-agent without lines, the
    /// creation is all that is known.
    pub(super) fn finish(self, sink: &mut dyn Sink<'a>) -> Vec<EventStream<'a>> {
        let shared = self.shared;
        let mut event_streams = Vec::new();
        let by_agent: Vec<_> = self.transcripts.into_iter().flat_map(Transcript::finish).collect();
        // A sub-agent's file may be read alone.
        let known: BTreeSet<_> = by_agent.iter().map(|(agent, _)| agent.clone()).collect();
        let has_main = known.contains(MAIN);
        for (agent, events) in by_agent {
            let mut event_stream = EventStream { events, ..EventStream::default() };
            let Some(first) = event_stream.events.first() else { continue };
            let place = first.place;
            let (line, time) = (first.line, event_stream.events.iter().find_map(|event| event.at));
            let recorded = shared.launches.get(&agent);
            let guessed = match recorded {
                None if agent != MAIN => shared.launch_with_prompt(&event_stream.events),
                Some(_) | None => None,
            };
            let launch = recorded.or(guessed.as_ref());
            let mut created = created(&agent, launch, &shared, &event_stream.events);
            created.rule = guessed.is_some().then_some(Rule::SamePrompt);
            if launch.is_none() && has_main && agent != MAIN {
                created.parent_id = Some(Cow::Borrowed(MAIN));
                created.rule = Some(Rule::SameSession);
            }
            // Its file alone does not name its parent, but shows that it is a sub-agent.
            created.flavor = (!has_main && agent != MAIN).then_some(Cow::Borrowed("normal"));
            let created = Event {
                message_id: Some(Cow::Owned(format!("created:{agent}"))),
                at: time,
                line,
                place,
                kind: EventKind::AgentCreated(created),
                extra: None,
                problems: Vec::new(),
            };
            event_stream.started_by = launch.map(|launch| launch.call.clone().into_owned());
            event_stream.in_background = launch.is_some_and(|launch| launch.in_background);
            event_stream.events.insert(0, created);
            event_streams.push(event_stream);
        }
        for (agent, Left { line, requests }) in &shared.left {
            let mut usage = Usage::default();
            requests.values().for_each(|it| usage += *it);
            let (agent, requests) = (agent.to_string(), requests.len());
            let unfinished = ProblemKind::ToldSubAgent { agent, requests, tokens: usage.sum() };
            sink.problem(unfinished.at(line.number, line.place));
        }
        for (agent, report) in &shared.reports {
            let Some(launch) = shared.launches.get(agent).filter(|_| !known.contains(agent)) else {
                continue;
            };
            let Report { line: Line { number, place, .. }, at, tokens } = *report;
            let absent = ProblemKind::AbsentSubAgent { agent: agent.to_string(), tokens };
            sink.problem(absent.at(number, place));
            let created = created(agent, Some(launch), &shared, &[]);
            let created = Event {
                message_id: Some(Cow::Owned(format!("created:{agent}"))),
                at,
                line: number,
                place,
                kind: EventKind::AgentCreated(created),
                extra: None,
                problems: Vec::new(),
            };
            let started_by = Some(launch.call.clone().into_owned());
            event_streams.push(EventStream {
                events: vec![created],
                started_by,
                ..EventStream::default()
            });
        }
        event_streams
    }
}

fn created<'a>(
    agent: &Cow<'a, str>,
    launch: Option<&Launch<'a>>,
    shared: &Shared<'a>,
    events: &[Event<'a>],
) -> AgentCreated<'a> {
    let delegation = launch.and_then(|launch| shared.delegations.get(&*launch.call));
    let model = events.iter().find_map(|event| {
        let EventKind::Message(message) = &event.kind else { return None };
        message.model.clone().filter(|_| message.usage.is_some())
    });
    let is_main = agent == MAIN;
    AgentCreated {
        agent: agent.clone(),
        name: match is_main {
            true => Some(Cow::Borrowed("Claude Code")),
            false => delegation.and_then(|delegation| delegation.description.clone()),
        },
        language_model: model,
        parent_id: launch.and_then(|l| l.by.clone().or(delegation.map(|e| e.agent.clone()))),
        tool_call_id: launch.map(|launch| launch.call.clone()),
        cause: Vec::new(),
        agent_type: delegation
            .and_then(|delegation| delegation.agent_type.clone())
            .or_else(|| own_task(agent)),
        adapter_id: is_main.then_some(Cow::Borrowed(PROGRAM)),
        flavor: None,
        task: None,
        rule: None,
    }
}

/// The task for which the program itself started a sub-agent, without a call. Its id says so, as in
/// `acompact-123` and `aprompt_suggestion-123`.
fn own_task<'a>(agent: &str) -> Option<Cow<'a, str>> {
    let tasks = ["compact", "prompt_suggestion"];
    let (task, _) = agent.strip_prefix('a')?.rsplit_once('-')?;
    tasks.into_iter().find(|known| *known == task).map(Cow::Borrowed)
}

impl<'a> Shared<'a> {
    /// The call whose prompt is the agent's first message: the only evidence in the oldest
    /// versions.
    fn launch_with_prompt(&self, events: &[Event<'a>]) -> Option<Launch<'a>> {
        let prompt = events.iter().find_map(|event| {
            let EventKind::Message(message) = &event.kind else { return None };
            message.content
        })?;
        let (call, delegation) = self
            .delegations
            .iter()
            .find(|(_, delegation)| delegation.prompt == Some(prompt.json))?;
        let by = Some(delegation.agent.clone());
        Some(Launch { call: Cow::Borrowed(call), by, in_background: false })
    }
}

impl<'a> Facts<'a> {
    fn started(&self) -> SessionStarted<'a> {
        SessionStarted {
            session_id: self.session_id.map(Cow::Borrowed),
            title: self.custom_title.clone().or_else(|| self.title.clone()),
            prompt: self.prompt.clone(),
            cwd: self.cwd.clone(),
            branch: self.branch.clone(),
            program: Some(Cow::Borrowed(PROGRAM)),
            version: self.version.clone(),
            ..SessionStarted::default()
        }
    }

    pub(super) fn learn(&mut self, object: &Object<'a>) {
        self.session_id = self.session_id.or_else(|| object.id("sessionId"));
        if self.cwd.is_none() {
            self.cwd = object.text("cwd");
            self.branch = object.text("gitBranch");
        }
        if let Some(version) = object.text("version") {
            self.version = Some(version);
        }
        match object.id("type") {
            Some("ai-title") => self.title = object.text("aiTitle").or(self.title.take()),
            Some("custom-title") => {
                self.custom_title = object.text("customTitle").or(self.custom_title.take());
            }
            _ => {}
        }
    }
}

fn is_sidecar(stream: &Stream<'_>) -> bool {
    stream.name.ends_with(".meta.json")
}

/// The agent's id from a file's name: `aaa` for `subagents/agent-aaa.jsonl`.
fn agent_of_file(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    let id = file.strip_prefix("agent-").unwrap_or(file);
    id.strip_suffix(".jsonl").or_else(|| id.strip_suffix(".meta.json")).unwrap_or(id)
}

/// When a line was written.
pub(super) fn time(object: &Object<'_>) -> Option<Timestamp> {
    object.time("timestamp")
}
