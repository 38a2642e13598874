//! A session of several files: who launched whom, and the facts of the whole.

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
use crate::merge::Voice;
use crate::{Sink, Stream};

/// The main agent has no id of its own.
pub(super) const MAIN: &str = "main";

/// What the streams of a session share.
#[derive(Debug)]
pub(super) struct Session<'a> {
    transcripts: Vec<Transcript<'a>>,
    shared: Shared<'a>,
}

#[derive(Debug, Default)]
pub(super) struct Shared<'a> {
    /// Every line's id, over all streams: forks and resumed sessions repeat lines.
    pub(super) seen: BTreeSet<&'a str>,
    pub(super) launches: BTreeMap<Cow<'a, str>, Launch<'a>>,
    /// What a call asked for, by its id.
    pub(super) delegations: BTreeMap<&'a str, Delegation<'a>>,
    /// By sub-agent: the requests that only progress lines tell of.
    pub(super) left: BTreeMap<Cow<'a, str>, Left<'a>>,
    /// By sub-agent: where its maker was told what it came to.
    pub(super) reports: BTreeMap<Cow<'a, str>, Report<'a>>,
    pub(super) facts: Facts<'a>,
    /// The sub-agents that have a file of their own.
    pub(super) own_files: BTreeSet<&'a str>,
    /// Lines of other agents that tell of those: what the files have is not told again.
    pub(super) told: Vec<Line<'a>>,
}

/// The call that made a sub-agent.
#[derive(Debug, Clone)]
pub(super) struct Launch<'a> {
    pub(super) call: Cow<'a, str>,
    pub(super) by: Option<Cow<'a, str>>,
    pub(super) in_background: bool,
}

/// Requests whose tokens are not final, and not counted.
#[derive(Debug, Clone)]
pub(super) struct Left<'a> {
    /// The first line that tells of one.
    pub(super) line: Line<'a>,
    /// By message: the tokens that were told last.
    pub(super) requests: BTreeMap<&'a str, Usage>,
}

/// What a sub-agent's maker was told of it.
#[derive(Debug, Clone)]
pub(super) struct Report<'a> {
    pub(super) line: Line<'a>,
    pub(super) at: Option<Timestamp>,
    pub(super) tokens: Option<u64>,
}

/// A call that may make a sub-agent.
#[derive(Debug, Clone, Default)]
pub(super) struct Delegation<'a> {
    pub(super) agent: Cow<'a, str>,
    pub(super) description: Option<Cow<'a, str>>,
    pub(super) agent_type: Option<Cow<'a, str>>,
    pub(super) prompt: Option<&'a str>,
}

/// What the lines say of the session as a whole; the last word counts.
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

    /// Reads what other agents' lines tell of sub-agents that have a file: it may have been cut.
    pub(super) fn read_told(&mut self, sink: &mut dyn Sink<'a>) {
        let files = self.transcripts.iter().enumerate().skip(1);
        let files: BTreeMap<Cow<'a, str>, usize> =
            files.map(|(at, transcript)| (transcript.agent().clone(), at)).collect();
        for line in std::mem::take(&mut self.shared.told) {
            let record = Object::parse(line.text).map(|object| Record { line, object });
            let Some(told) = record.as_ref().and_then(ProgressLine::of) else { continue };
            let own = files.get(&told.agent).and_then(|&at| self.transcripts.get_mut(at));
            if let Some(own) = own {
                own.told_again(&told, &mut self.shared, sink);
            }
        }
    }

    /// The sidecar names the call that made the agent. Its keys changed names.
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

    /// What the session says of itself, on its first line.
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

    /// One voice per agent, each begun by its creation. Of a sub-agent of which no line is there,
    /// its creation is all that is known.
    pub(super) fn finish(self, sink: &mut dyn Sink<'a>) -> Vec<Voice<'a>> {
        let shared = self.shared;
        let mut voices = Vec::new();
        let told: Vec<_> = self.transcripts.into_iter().flat_map(Transcript::finish).collect();
        // A sub-agent's file may be read alone.
        let known: BTreeSet<Cow<'a, str>> = told.iter().map(|(agent, _)| agent.clone()).collect();
        let has_main = known.contains(MAIN);
        for (agent, events) in told {
            let mut voice = Voice { events, ..Voice::default() };
            let Some(first) = voice.events.first() else { continue };
            let place = first.place;
            let (line, time) = (first.line, voice.events.iter().find_map(|event| event.at));
            let recorded = shared.launches.get(&agent);
            let guessed = match recorded {
                None if agent != MAIN => shared.launch_with_prompt(&voice.events),
                Some(_) | None => None,
            };
            let launch = recorded.or(guessed.as_ref());
            let event = |id: String, kind| Event {
                message_id: Some(Cow::Owned(id)),
                at: time,
                line,
                place,
                kind,
                extra: None,
                problems: Vec::new(),
            };
            let mut created = created(&agent, launch, &shared, &voice.events);
            created.rule = guessed.is_some().then_some(Rule::SamePrompt);
            if launch.is_none() && has_main && agent != MAIN {
                created.parent_id = Some(Cow::Borrowed(MAIN));
                created.rule = Some(Rule::SameSession);
            }
            // Whose it is, its file alone does not tell; that it is somebody's, it does.
            created.flavor = (!has_main && agent != MAIN).then_some(Cow::Borrowed("normal"));
            let created = event(format!("created:{agent}"), EventKind::AgentCreated(created));
            voice.started_by = launch.map(|launch| launch.call.clone().into_owned());
            voice.in_background = launch.is_some_and(|launch| launch.in_background);
            voice.events.insert(0, created);
            voices.push(voice);
        }
        for (agent, Left { line, requests }) in &shared.left {
            let mut usage = Usage::default();
            requests.values().for_each(|it| usage += *it);
            let (agent, requests) = (agent.to_string(), requests.len());
            let told = ProblemKind::ToldSubAgent { agent, requests, tokens: usage.sum() };
            sink.problem(told.at(line.number, line.place));
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
            voices.push(Voice { events: vec![created], started_by, ..Voice::default() });
        }
        voices
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

/// What the program started a sub-agent for on its own, without a call: its id says so, as in
/// `acompact-123` and `aprompt_suggestion-123`.
fn own_task<'a>(agent: &str) -> Option<Cow<'a, str>> {
    let tasks = ["compact", "prompt_suggestion"];
    let (task, _) = agent.strip_prefix('a')?.rsplit_once('-')?;
    tasks.into_iter().find(|known| *known == task).map(Cow::Borrowed)
}

impl<'a> Shared<'a> {
    /// The call whose prompt is what the agent was told first. The oldest versions say no more.
    fn launch_with_prompt(&self, events: &[Event<'a>]) -> Option<Launch<'a>> {
        let told = events.iter().find_map(|event| {
            let EventKind::Message(message) = &event.kind else { return None };
            message.content
        })?;
        let (call, delegation) =
            self.delegations.iter().find(|(_, delegation)| delegation.prompt == Some(told.json))?;
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

/// `subagents/agent-aaa.jsonl` is the file of agent `aaa`.
fn agent_of_file(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    let id = file.strip_prefix("agent-").unwrap_or(file);
    id.strip_suffix(".jsonl").or_else(|| id.strip_suffix(".meta.json")).unwrap_or(id)
}

/// When a line was written.
pub(super) fn time(object: &Object<'_>) -> Option<Timestamp> {
    object.time("timestamp")
}
