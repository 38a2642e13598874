//! Writing the log of a task.

use std::collections::BTreeMap;
use std::path::Path;

use antiphon_journal::{Draft, Error as LogError, Log, LogBodies, Options, Writer};
use antiphon_model::json::{Json, Members};
use antiphon_model::{
    AgentCreated, AgentEnded, AgentIx, Body, CallIx, Entry, EntryKind, Event, EventKind, Message,
    Role, Session, SessionEnded, SessionStarted, Timestamp, ToolCall,
};
use antiphon_views::{Flavor, Reading, SpanKind, SpanNote, SpanStatus, Usd};

use super::{CollectorError, CompleteSpan, StartSpan, is_key, key};

/// A task whose log is being written.
#[derive(Debug)]
pub(super) struct Task {
    id: String,
    key: String,
    writer: Writer,
    spans: BTreeMap<String, Open>,
    /// Every agent of the log, and how many times an agent of that name was started.
    agents: BTreeMap<String, u64>,
    /// The span of the coordinator, and its agent.
    coordinator: Option<(String, String)>,
}

/// What is known about a span.
#[derive(Debug, Clone)]
struct Open {
    kind: SpanKind,
    /// The agent that the span is, or that makes the call.
    agent: String,
    /// The agent that made the call, and the id of the call, for a sub-agent or a tool.
    call: Option<(String, String)>,
    /// How much of its end is recorded: that takes several events, and a program may be killed
    /// between two of them.
    end: End,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    #[default]
    Nothing,
    /// Its usage is recorded.
    Used,
    /// The agent has ended; the call that created it has no result yet.
    Agent,
    Whole,
}

/// The prefix of the ids that a collector creates.
const PREFIX: &str = "span-";

/// The key of the task in the id of a span.
pub(super) fn key_in(span_id: &str) -> Option<&str> {
    let (key, number) = span_id.strip_prefix(PREFIX)?.split_once('-')?;
    (is_key(key) && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(key)
}

impl Task {
    pub(super) fn open(
        task_id: &str,
        path: &Path,
        options: Options,
    ) -> Result<Self, CollectorError> {
        let writer = Writer::open(path, options)?;
        let mut task = Self {
            id: task_id.to_owned(),
            key: key(task_id),
            spans: BTreeMap::new(),
            agents: BTreeMap::new(),
            coordinator: None,
            writer,
        };
        if task.writer.head().is_some() {
            let log = Log::find(path)?;
            let (session, _) = log.fold()?;
            for half in
                task.recall(&Reading { session: &session, bodies: &LogBodies::new(&log) })?
            {
                task.complete_start(half)?;
            }
        }
        Ok(task)
    }

    /// Reads what an earlier collector recorded. Returns the sub-agents whose call was recorded
    /// without the agent, because the collector was killed.
    fn recall(&mut self, reading: &Reading<'_>) -> Result<Vec<SpanNote>, CollectorError> {
        let session = reading.session;
        for (agent, _) in session.agents() {
            self.agents.insert(session.agent_id(agent).to_owned(), 1);
        }
        let made = session
            .agents()
            .filter_map(|(agent, facts)| Some((session.entry(facts.created?).call()?, agent)));
        let made: BTreeMap<CallIx, AgentIx> = made.collect();
        let mut halves = Vec::new();
        for entry in session.entries() {
            let is_start = entry.kind() == EntryKind::AgentCreated || entry.makes_calls();
            if is_start && let Some(note) = SpanNote::read(reading, entry)? {
                let is_made = entry.calls().all(|(ix, _)| made.contains_key(&ix));
                if note.kind == Some(SpanKind::SubAgent) && !is_made {
                    halves.push(note.clone());
                }
                self.recall_start(session, entry, note, &made);
            }
        }
        if session.info().ended
            && let Some((span, _)) = &self.coordinator
            && let Some(open) = self.spans.get_mut(span)
        {
            open.end = End::Whole;
        }
        Ok(halves)
    }

    /// Records the agent of a sub-agent's call.
    fn complete_start(&mut self, note: SpanNote) -> Result<(), CollectorError> {
        let Some(span_id) = note.span_id else { return Ok(()) };
        let Some((maker, _)) = self.spans.get(&span_id).and_then(|open| open.call.clone()) else {
            return Ok(());
        };
        let agent = self.new_agent(note.agent_id.as_deref().unwrap_or("sub-agent"));
        let start = StartSpan {
            name: note.name.as_deref(),
            adapter_id: note.adapter_id.as_deref(),
            role: note.role.as_deref(),
            ..StartSpan::new(SpanKind::SubAgent, &self.id)
        };
        self.append(created_by_call(&start, &agent, (&maker, &span_id)), None, None)?;
        if let Some(open) = self.spans.get_mut(&span_id) {
            open.agent = agent;
        }
        Ok(())
    }

    fn recall_start(
        &mut self,
        session: &Session,
        entry: Entry<'_>,
        note: SpanNote,
        made: &BTreeMap<CallIx, AgentIx>,
    ) {
        let (Some(span_id), Some(kind), Some(agent)) = (note.span_id, note.kind, entry.agent())
        else {
            return;
        };
        let own = |agent| session.agent_id(agent).to_owned();
        let used = session.find(&used_id(&span_id)).map_or(End::Nothing, |_| End::Used);
        let has_ended = |agent| session.agent(agent).ended.is_some();
        let open = match entry.calls().next() {
            None => Open {
                kind,
                agent: own(agent),
                call: None,
                end: if has_ended(agent) { End::Whole } else { used },
            },
            Some((ix, call)) => Open {
                kind,
                agent: own(made.get(&ix).copied().unwrap_or(agent)),
                call: Some((own(agent), session.call_id(ix).to_owned())),
                end: match made.get(&ix) {
                    _ if !call.is_open() => End::Whole,
                    Some(&agent) if has_ended(agent) => End::Agent,
                    Some(_) | None => used,
                },
            },
        };
        if kind == SpanKind::Coordinator {
            self.coordinator = Some((span_id.clone(), open.agent.clone()));
        }
        self.spans.insert(span_id, open);
    }

    pub(super) fn start(
        &mut self,
        start: &StartSpan<'_>,
        level: Option<usize>,
    ) -> Result<String, CollectorError> {
        self.begin(start)?;
        if start.kind == SpanKind::Coordinator
            && let Some((span, _)) = &self.coordinator
        {
            return Ok(span.clone());
        }
        let span_id = match start.span_id {
            Some(id) if self.spans.contains_key(id) => {
                return Err(CollectorError::SpanExists(id.to_owned()));
            }
            Some(id) => id.to_owned(),
            None if start.kind == SpanKind::Coordinator => format!("session:{}", self.id),
            None => format!("{PREFIX}{}-{}", self.key, self.next()),
        };
        match start.kind {
            SpanKind::Coordinator
            | SpanKind::CliAgent
            | SpanKind::ApiAgent
            | SpanKind::Decomposer => self.start_agent(start, &span_id, level)?,
            SpanKind::SubAgent | SpanKind::ToolCall => self.start_call(start, &span_id)?,
        }
        Ok(span_id)
    }

    /// The number of the next line, which is unique across processes.
    fn next(&self) -> u64 {
        self.writer.head().map_or(0, |head| head.n) + 1
    }

    fn begin(&mut self, start: &StartSpan<'_>) -> Result<(), CollectorError> {
        if self.writer.head().is_some() {
            return Ok(()); // The log of an earlier collector goes on.
        }
        let title = start.name.filter(|_| start.kind == SpanKind::Coordinator);
        let started = SessionStarted {
            session_id: Some(start.task_id.into()),
            task_id: Some(start.task_id.into()),
            run_id: start.run_id.map(Into::into),
            title: title.map(Into::into),
            ..SessionStarted::default()
        };
        self.append(started, Some(&Members::default()), start.started_at)
    }

    /// The id of the agent: the caller's, or else made from adapter or kind, and role.
    fn agent_id(start: &StartSpan<'_>) -> String {
        match (start.agent_id, start.kind) {
            (Some(id), _) => id.to_owned(),
            (None, SpanKind::Coordinator) => format!("coordinator-{}", start.task_id),
            (None, kind) => {
                let what = start.adapter_id.unwrap_or(kind.as_str());
                start.role.map_or_else(|| what.to_owned(), |role| format!("{what}-{role}"))
            }
        }
    }

    /// The agent's name in the log. Each execution of an agent is an agent of its own there, with
    /// its own usage and end.
    fn new_agent(&mut self, agent_id: &str) -> String {
        let mut unique = agent_id.to_owned();
        while self.agents.contains_key(&unique) {
            let times = self.agents.entry(agent_id.to_owned()).or_insert(1);
            *times += 1;
            unique = format!("{agent_id}-{times}");
        }
        self.agents.insert(unique.clone(), 1);
        unique
    }

    fn start_agent(
        &mut self,
        start: &StartSpan<'_>,
        span_id: &str,
        level: Option<usize>,
    ) -> Result<(), CollectorError> {
        let agent_id = Self::agent_id(start);
        let agent = self.new_agent(&agent_id);
        let mut note = noted(start, span_id, &agent_id);
        note.number("level", level);
        self.append(created(start, &agent), Some(&note), start.started_at)?;
        if start.kind == SpanKind::Coordinator {
            self.coordinator = Some((span_id.to_owned(), agent.clone()));
        }
        let (kind, call, end) = (start.kind, None, End::default());
        self.spans.insert(span_id.to_owned(), Open { kind, agent, call, end });
        Ok(())
    }

    fn start_call(&mut self, start: &StartSpan<'_>, span_id: &str) -> Result<(), CollectorError> {
        let maker = self.maker(start)?;
        let is_agent = start.kind == SpanKind::SubAgent;
        let tool = if is_agent { "Task" } else { start.name.unwrap_or("tool") };
        let agent_id = match is_agent {
            true => Self::agent_id(start),
            false => start.agent_id.unwrap_or(&maker).to_owned(),
        };
        let mut arguments = Members::default();
        arguments.text("description", start.name);
        arguments.text("resume", start.agent_id.filter(|_| start.flavor == Flavor::CoWork));
        let arguments = arguments.to_json();
        let call = ToolCall::new(span_id, tool, Some(&arguments));
        let message = Message { tool_calls: vec![call], ..Message::new(&maker, Role::Assistant) };
        let mut note = noted(start, span_id, &agent_id);
        if is_agent {
            // So that the agent can be recorded later from the call alone.
            note.text("name", start.name);
            note.text("adapter_id", start.adapter_id);
        }
        self.append(message, Some(&note), start.started_at)?;
        let mut agent = maker.clone();
        if is_agent {
            agent = self.new_agent(&agent_id);
            let created = created_by_call(start, &agent, (&maker, span_id));
            self.append(created, None, start.started_at)?;
        }
        let (kind, call, end) = (start.kind, Some((maker, span_id.to_owned())), End::default());
        self.spans.insert(span_id.to_owned(), Open { kind, agent, call, end });
        Ok(())
    }

    /// The agent in whose transcript a call is recorded: the parent, or else the coordinator.
    fn maker(&mut self, start: &StartSpan<'_>) -> Result<String, CollectorError> {
        if let Some(parent) = start.parent_span_id.and_then(|parent| self.spans.get(parent)) {
            return Ok(parent.agent.clone());
        }
        if self.coordinator.is_none() {
            let coordinator = StartSpan {
                run_id: start.run_id,
                started_at: start.started_at,
                ..StartSpan::new(SpanKind::Coordinator, start.task_id)
            };
            self.start(&coordinator, None)?;
        }
        let agent = self.coordinator.as_ref().map(|(_, agent)| agent.clone());
        Ok(agent.unwrap_or_default())
    }

    pub(super) fn complete(
        &mut self,
        span_id: &str,
        end: &CompleteSpan<'_>,
    ) -> Result<bool, CollectorError> {
        let unknown = || CollectorError::NoSpan(span_id.to_owned());
        let span = self.spans.get(span_id).cloned().ok_or_else(unknown)?;
        if span.end == End::Whole {
            return Ok(false);
        }
        if span.kind != SpanKind::ToolCall {
            self.complete_agent(span_id, &span, end)?;
        }
        if let Some((maker, call)) = &span.call {
            self.complete_call(maker, call, &span, end)?;
        }
        self.note_end(span_id, End::Whole);
        Ok(true)
    }

    fn note_end(&mut self, span_id: &str, end: End) {
        if let Some(open) = self.spans.get_mut(span_id) {
            open.end = end;
        }
    }

    fn complete_agent(
        &mut self,
        span_id: &str,
        span: &Open,
        end: &CompleteSpan<'_>,
    ) -> Result<(), CollectorError> {
        if (end.usage.is_some() || end.cost_usd.is_some()) && span.end < End::Used {
            let mut message = Message::new(&span.agent, Role::Assistant);
            used(&mut message, end);
            let message_id = Some(used_id(span_id).into());
            let event = Event { message_id, at: end.completed_at, ..Event::new(message) };
            append(&self.writer, &event)?;
            self.note_end(span_id, End::Used);
        }
        if span.end == End::Agent {
            return Ok(());
        }
        let (status, error) = (end.status.as_str(), end.error.map(Into::into));
        let how: EventKind<'_> = match span.kind == SpanKind::Coordinator {
            true => {
                let outcome = Some(status.into());
                SessionEnded { outcome, error, ..SessionEnded::default() }.into()
            }
            false => AgentEnded { error, ..AgentEnded::new(&span.agent, status) }.into(),
        };
        self.append(how, Some(&ended(end)), end.completed_at)?;
        self.note_end(span_id, End::Agent);
        Ok(())
    }

    fn complete_call(
        &mut self,
        maker: &str,
        call: &str,
        span: &Open,
        end: &CompleteSpan<'_>,
    ) -> Result<(), CollectorError> {
        let content = Json::text(end.error.unwrap_or(end.status.as_str()));
        let mut result = Message {
            tool_call_id: Some(call.into()),
            is_error: Some(end.status != SpanStatus::Completed),
            ..Message::new(maker, Role::Tool).saying(&content)
        };
        if span.kind == SpanKind::ToolCall {
            used(&mut result, end);
        }
        self.append(result, Some(&ended(end)), end.completed_at)
    }

    /// Adds an event to the log, with a note about its span, if there is one.
    fn append<'a>(
        &self,
        kind: impl Into<EventKind<'a>>,
        note: Option<&Members>,
        at: Option<Timestamp>,
    ) -> Result<(), CollectorError> {
        let extra = note.map(|note| {
            let mut extra = Members::default();
            extra.json("span", &note.to_json());
            extra.to_json()
        });
        let kind: EventKind<'a> = kind.into();
        append(&self.writer, &Event { at, extra: extra.as_ref().map(Body::of), ..Event::new(kind) })
    }
}

/// Adds an event to a log.
pub(super) fn append(writer: &Writer, event: &Event<'_>) -> Result<(), CollectorError> {
    let draft = Draft::from_event(event).map_err(LogError::from)?;
    writer.append(&draft)?;
    Ok(())
}

/// The creation of an agent.
fn created<'a>(start: &StartSpan<'a>, agent: &'a str) -> AgentCreated<'a> {
    AgentCreated {
        name: start.name.map(Into::into),
        adapter_id: start.adapter_id.map(Into::into),
        agent_type: start.role.map(Into::into),
        ..AgentCreated::new(agent)
    }
}

/// The creation of an agent by a call, given who made the call and its id.
fn created_by_call<'a>(
    start: &StartSpan<'a>,
    agent: &'a str,
    (maker, call): (&'a str, &'a str),
) -> AgentCreated<'a> {
    AgentCreated {
        parent_id: Some(maker.into()),
        tool_call_id: Some(call.into()),
        ..created(start, agent)
    }
}

/// The id of the event with the usage of a span; there is one for each span.
fn used_id(span_id: &str) -> String {
    format!("used:{span_id}")
}

/// The note at the start of a span.
fn noted(start: &StartSpan<'_>, span_id: &str, agent_id: &str) -> Members {
    let mut note = Members::default();
    note.word("span_id", span_id);
    note.text("parent_span_id", start.parent_span_id);
    note.word("kind", start.kind.as_str());
    if start.kind == SpanKind::SubAgent {
        note.word("flavor", start.flavor.as_str());
    }
    note.word("agent_id", agent_id);
    note.text("role", start.role);
    note.text("run_id", start.run_id);
    note
}

/// The note at the end of a span.
fn ended(end: &CompleteSpan<'_>) -> Members {
    let mut note = Members::default();
    note.word("status", end.status.as_str());
    note.number("cost_usd", end.cost_usd);
    note
}

/// Adds usage and cost to a message.
fn used<'a>(message: &mut Message<'a>, end: &CompleteSpan<'a>) {
    message.model = end.model.map(Into::into);
    if end.usage.is_some() || end.cost_usd.is_some() {
        message.usage = Some(end.usage.unwrap_or_default());
        message.cost_usd = end.cost_usd.map(Usd::as_f64);
    }
}
