//! Makes the spans of a session.

use std::collections::BTreeMap;

use antiphon_model::{AgentIx, BodyError, CallIx, Entry, EntryKind, Role, Usage, json};

use super::{Flavor, Span, SpanKind, SpanNote, SpanStatus, SpanUsage, settle};
use crate::Reading;
use crate::calls::{Delegations, call_ended_at, delegates, has_failed};
use crate::prices::Prices;
use crate::request::{Pricing, requests};
use crate::usd::Usd;

/// Spans while they are collected.
pub(super) struct Builder<'r, 'a> {
    reading: &'r Reading<'a>,
    session_id: &'r str,
    /// Whether a collector wrote the log: then its notes count, and nothing is inferred.
    is_collected: bool,
    spans: Vec<Span>,
    /// For each id: how often it was requested.
    taken: BTreeMap<String, usize>,
    /// For each agent: its own span.
    of_agent: BTreeMap<AgentIx, usize>,
    of_call: BTreeMap<CallIx, usize>,
    delegations: Delegations,
    own: BTreeMap<AgentIx, Own>,
    own_of_call: BTreeMap<CallIx, Own>,
    /// The agent whose role is the session's.
    main: Option<AgentIx>,
    status: SpanStatus,
}

/// An agent's own usage and cost.
type Own = (Usage, Option<Usd>);

impl<'r, 'a> Builder<'r, 'a> {
    pub(super) fn new(
        reading: &'r Reading<'a>,
        session_id: &'r str,
        prices: &Prices,
    ) -> Result<Self, BodyError> {
        let session = reading.session;
        let mut own: BTreeMap<AgentIx, Own> = BTreeMap::new();
        let mut own_of_call: BTreeMap<CallIx, Own> = BTreeMap::new();
        let mut pricing = Pricing::new(prices);
        for request in requests(session) {
            let entry = request.entry;
            let Some(agent) = entry.agent() else { continue };
            let call = entry.call().filter(|_| entry.role() == Some(Role::Tool));
            let (total, cost) = match call {
                Some(call) => own_of_call.entry(call).or_default(),
                None => own.entry(agent).or_default(),
            };
            *total += request.usage;
            if let Some(amount) = pricing.of(&request).amount() {
                *cost.get_or_insert_default() += amount;
            }
        }
        Ok(Self {
            delegations: Delegations::of(session),
            own,
            own_of_call,
            main: crate::main_agent(session),
            status: session.standing().status,
            is_collected: SpanNote::is_collected(reading)?,
            reading,
            session_id,
            spans: Vec::new(),
            taken: BTreeMap::new(),
            of_agent: BTreeMap::new(),
            of_call: BTreeMap::new(),
        })
    }

    pub(super) fn build(mut self) -> Result<Vec<Span>, BodyError> {
        self.coordinator()?;
        for entry in self.reading.session.entries() {
            if let Some(agent) = entry.agent()
                && (entry.kind() == EntryKind::AgentCreated || entry.role().is_some())
            {
                self.agent(agent)?;
            }
            for (call, _) in entry.calls() {
                self.call(call)?;
            }
        }
        if let [only] = self.spans.as_mut_slice() {
            // A command that was recorded with a role has no known agent.
            only.role = self.reading.session.info().role.as_deref().map(Into::into);
        }
        settle(&mut self.spans);
        Ok(self.spans)
    }

    /// The note of a collector on an event.
    fn note(&self, entry: Option<Entry<'_>>) -> Result<SpanNote, BodyError> {
        let entry = entry.filter(|_| self.is_collected);
        let note = entry.map(|entry| SpanNote::read(self.reading, entry)).transpose()?;
        Ok(note.flatten().unwrap_or_default())
    }

    fn creation(&self, agent: AgentIx) -> Option<Entry<'r>> {
        let session = self.reading.session;
        session.agent(agent).created.map(|event| session.entry(event))
    }

    fn coordinator(&mut self) -> Result<(), BodyError> {
        let session = self.reading.session;
        let info = session.info();
        let times = session.time_span();
        let title = info.title.as_deref().unwrap_or(self.session_id);
        let mut span = self.blank(SpanKind::Coordinator, title, "coordinator");
        span.started_at = times.map(|(first, _)| first);
        span.status = self.status;
        if self.is_collected {
            // Nothing else shows whether a coordinator is at work.
            span.status = info.end.unwrap_or(SpanStatus::Running);
        }
        if span.status != SpanStatus::Running {
            let ended = info.ended_by.and_then(|event| session.entry(event).at());
            span.completed_at = ended.or(times.map(|(_, last)| last));
        }
        let mut id = format!("session:{}", self.session_id);
        let mut parent = None;
        let own = self.coordinating_agent()?;
        if let Some((agent, note)) = own {
            let facts = session.agent(agent);
            span.name = facts.own_name().unwrap_or(&span.name).to_owned();
            span.started_at = self.creation(agent).and_then(Entry::at).or(span.started_at);
            self.add_agent(&mut span, agent);
            span.level = note.level.unwrap_or_default();
            self.add_note(&mut span, &note);
            id = note.span_id.unwrap_or(id);
            parent = note.parent_span_id;
            self.of_agent.insert(agent, 0);
        }
        let ended = info.ended_by.filter(|_| info.ended).map(|event| session.entry(event));
        span.cost_usd = self.note(ended)?.cost_usd.or(span.cost_usd);
        self.push(&id, parent, span);
        Ok(())
    }

    /// The agent that a collector marked as the coordinator.
    fn coordinating_agent(&self) -> Result<Option<(AgentIx, SpanNote)>, BodyError> {
        if !self.is_collected {
            return Ok(None);
        }
        for (agent, _) in self.reading.session.agents() {
            let note = self.note(self.creation(agent))?;
            if note.kind == Some(SpanKind::Coordinator) {
                return Ok(Some((agent, note)));
            }
        }
        Ok(None)
    }

    /// The span of an agent, after those of all its ancestors.
    fn agent(&mut self, agent: AgentIx) -> Result<usize, BodyError> {
        let session = self.reading.session;
        // A loop instead of recursion: a hostile log may nest as deep as it is long.
        let mut line = Vec::new();
        let mut up = Some(agent);
        while let Some(agent) = up.filter(|agent| !self.of_agent.contains_key(agent)) {
            line.push(agent);
            up = session.agent(agent).parent.agent();
        }
        while let Some(agent) = line.pop() {
            let parent = session.agent(agent).parent.agent();
            let parent = parent.and_then(|parent| self.of_agent.get(&parent).copied());
            let at = match (self.delegations.maker(agent), parent) {
                (Some(call), Some(_)) => {
                    let made = self.call_below(call, parent)?;
                    // A call that created several agents is the span of the first; the others are
                    // below it.
                    match self.delegations.agent(call) == Some(agent) {
                        true => made,
                        false => self.agent_below(agent, Some(made))?,
                    }
                }
                (_, parent) => self.agent_below(agent, parent)?,
            };
            self.of_agent.insert(agent, at);
        }
        Ok(self.of_agent.get(&agent).copied().unwrap_or_default())
    }

    fn agent_below(&mut self, agent: AgentIx, parent: Option<usize>) -> Result<usize, BodyError> {
        let session = self.reading.session;
        let facts = session.agent(agent);
        let note = self.note(self.creation(agent))?;
        let kind = match (parent, facts.adapter_id()) {
            (Some(_), _) => SpanKind::SubAgent,
            (None, _) if facts.flavor().is_some_and(|it| it != "none") => SpanKind::SubAgent,
            (None, _) if facts.agent_type() == Some("decomposer") => SpanKind::Decomposer,
            // The seed's names: `kilo`, `claude`; but `api-anthropic` for what is called directly.
            (None, Some(adapter)) if !adapter.starts_with("api") => SpanKind::CliAgent,
            (None, Some(_) | None) => SpanKind::ApiAgent,
        };
        let mut span = self.blank(kind, session.agent_name(agent), session.agent_id(agent));
        if kind == SpanKind::SubAgent {
            span.flavor = Flavor::Normal;
        }
        self.add_agent(&mut span, agent);
        self.add_note(&mut span, &note);
        let ended = facts.ended.map(|event| session.entry(event));
        span.cost_usd = self.note(ended)?.cost_usd.or(span.cost_usd);
        span.status = self.agent_status(agent);
        let times = || facts.transcript().filter_map(|event| session.entry(event).at());
        span.started_at = self.creation(agent).and_then(Entry::at).or_else(|| times().next());
        if span.status != SpanStatus::Running {
            span.completed_at = ended.and_then(Entry::at).or_else(|| times().next_back());
        }
        let id = note.span_id.unwrap_or_else(|| format!("agent:{}", session.agent_id(agent)));
        let parent = note.parent_span_id.or_else(|| self.id_at(parent.unwrap_or(0)));
        Ok(self.push(&id, parent, span))
    }

    /// The status of an agent: as recorded. Otherwise one that answered is done; one that did not
    /// ended with its session.
    fn agent_status(&self, agent: AgentIx) -> SpanStatus {
        let session = self.reading.session;
        let facts = session.agent(agent);
        if let Some(word) = facts.status() {
            return SpanStatus::from_word(word);
        }
        if self.is_collected {
            return SpanStatus::Running;
        }
        if facts.parent.agent().is_none() {
            return self.status;
        }
        let mut said = facts.transcript().rev().map(|event| session.entry(event));
        match said.find(|entry| entry.role().is_some()) {
            Some(last) if last.is_utterance() => SpanStatus::Completed,
            Some(_) | None => self.unfinished(),
        }
    }

    /// The status of what was never finished: it runs as long as its session does.
    fn unfinished(&self) -> SpanStatus {
        match self.status {
            SpanStatus::Running => SpanStatus::Running,
            SpanStatus::TimedOut | SpanStatus::Cancelled => self.status,
            SpanStatus::Completed | SpanStatus::Failed | SpanStatus::Interrupted => {
                SpanStatus::Interrupted
            }
        }
    }

    fn call(&mut self, call: CallIx) -> Result<(), BodyError> {
        let parent = self.agent(self.reading.session.call(call).agent)?;
        self.call_below(call, Some(parent))?;
        Ok(())
    }

    fn call_below(&mut self, ix: CallIx, parent: Option<usize>) -> Result<usize, BodyError> {
        if let Some(&at) = self.of_call.get(&ix) {
            return Ok(at);
        }
        let session = self.reading.session;
        let call = session.call(ix);
        let tool = session.tool_name(ix);
        let note = self.note(Some(session.entry(call.event)))?;
        let agent = self.delegations.agent(ix);
        let is_agent = agent.is_some() || delegates(tool);
        let kind = if is_agent { SpanKind::SubAgent } else { SpanKind::ToolCall };
        let owner = agent.unwrap_or(call.agent);
        let name = agent.and_then(|agent| session.agent(agent).own_name()).unwrap_or(tool);
        let mut span = self.blank(kind, name, session.agent_id(owner));
        if let Some(agent) = agent {
            self.add_agent(&mut span, agent);
        }
        if let Some((usage, cost)) = self.own_of_call.get(&ix) {
            span.usage += (*usage).into();
            if let Some(cost) = cost {
                *span.cost_usd.get_or_insert_default() += *cost;
            }
        }
        span.flavor = match is_agent {
            false => Flavor::None,
            true if self.resumes(call.arguments)? => Flavor::CoWork,
            true => Flavor::Normal,
        };
        self.add_note(&mut span, &note);
        let back = self.note(call.last_result().map(|event| session.entry(event)))?;
        span.cost_usd = back.cost_usd.or(span.cost_usd);
        let ended = agent.and_then(|agent| session.agent(agent).status());
        span.status = match (ended.map(SpanStatus::from_word).or(back.status), call.first_result())
        {
            (Some(status), _) => status,
            (None, None) if self.is_collected => SpanStatus::Running,
            (None, None) => self.unfinished(),
            (None, Some(_)) if has_failed(self.reading, ix) => SpanStatus::Failed,
            (None, Some(_)) => SpanStatus::Completed,
        };
        span.started_at = session.call_started_at(ix);
        if span.status != SpanStatus::Running {
            span.completed_at = call_ended_at(self.reading, &self.delegations, ix);
        }
        let id = note.span_id.unwrap_or_else(|| session.call_id(ix).to_owned());
        let parent = note.parent_span_id.or_else(|| self.id_at(parent?));
        let at = self.push(&id, parent, span);
        self.of_call.insert(ix, at);
        Ok(at)
    }

    /// Whether a call continues with an existing agent: `resume` names one.
    fn resumes(&self, arguments: antiphon_model::Place) -> Result<bool, BodyError> {
        if arguments.is_none() {
            return Ok(false);
        }
        let raw = self.reading.bodies.read(arguments)?;
        let inner = json::text(&raw);
        let object = inner.as_deref().unwrap_or(&raw);
        let resume = json::member(object, "resume").and_then(json::text);
        Ok(resume.is_some_and(|agent| !agent.is_empty()))
    }

    fn add_agent(&self, span: &mut Span, agent: AgentIx) {
        let session = self.reading.session;
        let facts = session.agent(agent);
        // The role of a recorded session is that of its main agent.
        let of_session = session.info().role.as_deref().filter(|_| self.main == Some(agent));
        span.adapter_id = facts.adapter_id().map(Into::into);
        span.role = facts.agent_type().or(of_session).map(Into::into);
        if let Some((usage, cost)) = self.own.get(&agent) {
            span.usage = (*usage).into();
            span.cost_usd = *cost;
        }
    }

    fn add_note(&self, span: &mut Span, note: &SpanNote) {
        span.kind = note.kind.unwrap_or(span.kind);
        span.flavor = note.flavor.unwrap_or(span.flavor);
        let set = |slot: &mut Option<String>, word: &Option<String>| {
            *slot = word.clone().or_else(|| slot.take());
        };
        set(&mut span.role, &note.role);
        set(&mut span.run_id, &note.run_id);
        if let Some(agent) = &note.agent_id {
            span.agent_id.clone_from(agent);
        }
    }

    fn blank(&self, kind: SpanKind, name: &str, agent_id: &str) -> Span {
        let info = self.reading.session.info();
        Span {
            span_id: String::new(),
            parent_span_id: None,
            level: 0,
            depth: 0,
            kind,
            task_id: info.task_id.as_deref().unwrap_or(self.session_id).to_owned(),
            run_id: info.run_id.as_deref().map(Into::into),
            agent_id: agent_id.to_owned(),
            adapter_id: None,
            role: None,
            name: name.to_owned(),
            started_at: None,
            completed_at: None,
            status: SpanStatus::Running,
            usage: SpanUsage::default(),
            cost_usd: None,
            flavor: Flavor::None,
            outlives_parent: false,
        }
    }

    fn id_at(&self, at: usize) -> Option<String> {
        self.spans.get(at).map(|span| span.span_id.clone())
    }

    /// Adds a span. Models repeat their call ids; span ids are unique.
    fn push(&mut self, id: &str, parent: Option<String>, mut span: Span) -> usize {
        let mut times = self.taken.get(id).copied().unwrap_or_default();
        span.span_id = loop {
            times += 1;
            let unique = if times == 1 { id.to_owned() } else { format!("{id}#{times}") };
            if times == 1 || !self.taken.contains_key(&unique) {
                break unique;
            }
        };
        self.taken.insert(id.to_owned(), times);
        self.taken.entry(span.span_id.clone()).or_insert(1);
        span.parent_span_id = parent;
        self.spans.push(span);
        self.spans.len() - 1
    }
}
