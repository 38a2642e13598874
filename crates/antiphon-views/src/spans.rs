//! Spans: a run, its coordinator, the agents under it, and what they called.
//!
//! A projection of the session; nothing of it is stored. A call that makes or resumes an agent is
//! one span, of the agent: there is no tool call beside it. A level is the parent's plus one.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{
    AgentIx, BodyError, CallIx, EntryKind, EventIx, Session, Timestamp, Usage, json,
};
use serde::Serialize;

use crate::Reading;
use crate::calls::{call_duration, has_failed};
use crate::outline::{Node, nest};
use crate::prices::Prices;
use crate::request::{Pricing, requests};
use crate::usd::Usd;

/// One unit of an agent's work.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    pub span_id: String,
    pub parent_span_id: Option<String>,
    pub level: usize,
    pub kind: SpanKind,
    pub task_id: String,
    pub run_id: Option<String>,
    pub agent_id: String,
    pub adapter_id: Option<String>,
    pub role: Option<String>,
    pub name: String,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub status: SpanStatus,
    /// Its own; what its children used stands at them.
    pub usage: SpanUsage,
    /// Of what could be priced; none if nothing could.
    pub cost_usd: Option<Usd>,
    pub flavor: Flavor,
    /// It ended after the span that it belongs to.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outlives_parent: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpanKind {
    Coordinator,
    CliAgent,
    ApiAgent,
    Decomposer,
    SubAgent,
    ToolCall,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpanStatus {
    Running,
    Completed,
    Failed,
    TimedOut,
    Cancelled,
}

impl SpanStatus {
    /// The status behind a log's own word for how something ended.
    fn from_word(word: &str) -> Self {
        match word {
            "failed" | "error" => Self::Failed,
            "timed-out" | "timeout" => Self::TimedOut,
            "cancelled" | "interrupted" => Self::Cancelled,
            "running" => Self::Running,
            _ => Self::Completed,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavor {
    /// No sub-agent.
    None,
    Normal,
    /// It goes on with what another knew.
    CoWork,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpanUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub reasoning_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
}

impl std::ops::AddAssign for SpanUsage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.reasoning_tokens += other.reasoning_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
    }
}

impl From<Usage> for SpanUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input,
            output_tokens: usage.output,
            reasoning_tokens: usage.reasoning,
            cache_read_tokens: usage.cache_read,
            cache_write_tokens: usage.cache_write,
        }
    }
}

/// Every span of a session: the coordinator, then the others in the order in which they began.
pub fn spans(
    reading: &Reading<'_>,
    session_id: &str,
    prices: &Prices,
) -> Result<Vec<Span>, BodyError> {
    let mut builder = Builder::new(reading, session_id, prices);
    builder.coordinator();
    for entry in reading.session.entries() {
        if entry.kind() == EntryKind::AgentCreated
            && let Some(agent) = entry.agent()
        {
            builder.agent(agent)?;
        }
        if let Some(agent) = entry.agent().filter(|_| entry.role().is_some()) {
            builder.agent(agent)?;
        }
        for (call, _) in entry.calls() {
            builder.call(call)?;
        }
    }
    Ok(builder.finish())
}

/// A span with those below it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpanNode {
    #[serde(flatten)]
    pub span: Span,
    pub total_usage: SpanUsage,
    pub total_cost_usd: Option<Usd>,
    pub children: Vec<Self>,
}

impl SpanNode {
    #[expect(clippy::indexing_slicing, reason = "only positions of these spans are nested")]
    fn of(spans: &[Span], at: usize) -> Self {
        let span = spans[at].clone();
        let (total_usage, total_cost_usd) = (span.usage, span.cost_usd);
        Self { span, total_usage, total_cost_usd, children: Vec::new() }
    }
}

impl Node for SpanNode {
    fn adopt(&mut self, child: Self) {
        self.total_usage += child.total_usage;
        if let Some(cost) = child.total_cost_usd {
            *self.total_cost_usd.get_or_insert_default() += cost;
        }
        self.children.push(child);
    }
}

/// The same spans, each within its parent: a forest where there are several roots.
pub fn span_tree(spans: &[Span]) -> Vec<SpanNode> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); spans.len()];
    let mut roots = Vec::new();
    for (at, span) in spans.iter().enumerate() {
        places.insert(&span.span_id, at);
        let parent = span.parent_span_id.as_deref().and_then(|parent| places.get(parent));
        match parent.and_then(|&parent| children.get_mut(parent)) {
            Some(siblings) => siblings.push(at),
            None => roots.push(at),
        }
    }
    let below = |at: usize| children.get(at).map_or(&[][..], Vec::as_slice);
    nest(roots, below, |at| SpanNode::of(spans, at))
}

/// Spans while they are gathered. A parent is always pushed before its children.
struct Builder<'r, 'a> {
    reading: &'r Reading<'a>,
    session_id: &'r str,
    spans: Vec<Span>,
    taken: BTreeSet<String>,
    /// By agent: the span that is its own.
    of_agent: BTreeMap<AgentIx, usize>,
    of_call: BTreeMap<CallIx, usize>,
    /// By call: the agent that it made.
    made: BTreeMap<CallIx, AgentIx>,
    own: BTreeMap<AgentIx, (Usage, Option<Usd>)>,
}

/// Tools that hand work to another agent, by the names in the seeds.
fn delegates(tool: &str) -> bool {
    matches!(tool, "Task" | "Agent" | "task")
}

impl<'r, 'a> Builder<'r, 'a> {
    fn new(reading: &'r Reading<'a>, session_id: &'r str, prices: &Prices) -> Self {
        let session = reading.session;
        let mut own: BTreeMap<AgentIx, (Usage, Option<Usd>)> = BTreeMap::new();
        let mut pricing = Pricing::new(prices);
        for request in requests(session) {
            let Some(agent) = request.entry.agent() else { continue };
            let (total, cost) = own.entry(agent).or_default();
            *total += request.usage;
            if let Some(amount) = pricing.of(&request).amount() {
                *cost.get_or_insert_default() += amount;
            }
        }
        let made = session.agents().filter_map(|(agent, _)| Some((maker(session, agent)?, agent)));
        Self {
            made: made.collect(),
            own,
            reading,
            session_id,
            spans: Vec::new(),
            taken: BTreeSet::new(),
            of_agent: BTreeMap::new(),
            of_call: BTreeMap::new(),
        }
    }

    fn coordinator(&mut self) {
        let session = self.reading.session;
        let info = session.info();
        let span = session.time_span();
        let title = info.title.as_deref().unwrap_or(self.session_id);
        let mut coordinator = self.blank(SpanKind::Coordinator, title, "coordinator");
        coordinator.started_at = span.map(|(first, _)| first);
        coordinator.status = session_status(session);
        if coordinator.status != SpanStatus::Running {
            coordinator.completed_at = span.map(|(_, last)| last);
        }
        self.push("session", None, coordinator);
    }

    /// The span of an agent, with those of all who made it.
    fn agent(&mut self, agent: AgentIx) -> Result<usize, BodyError> {
        let session = self.reading.session;
        // Upwards in a loop: a hostile log nests as deep as it is long.
        let mut line = Vec::new();
        let mut up = Some(agent);
        while let Some(agent) = up.filter(|agent| !self.of_agent.contains_key(agent)) {
            line.push(agent);
            up = session.agent(agent).parent.agent();
        }
        while let Some(agent) = line.pop() {
            let parent = session.agent(agent).parent.agent();
            let parent = parent.and_then(|parent| self.of_agent.get(&parent).copied());
            let at = match (maker(session, agent), parent) {
                (Some(call), Some(_)) => self.call_below(call, parent)?,
                (_, parent) => self.agent_below(agent, parent),
            };
            self.of_agent.insert(agent, at);
        }
        Ok(self.of_agent.get(&agent).copied().unwrap_or_default())
    }

    fn agent_below(&mut self, agent: AgentIx, parent: Option<usize>) -> usize {
        let session = self.reading.session;
        let facts = session.agent(agent);
        let kind = match (parent, facts.adapter_id()) {
            (Some(_), _) => SpanKind::SubAgent,
            (None, _) if facts.agent_type() == Some("decomposer") => SpanKind::Decomposer,
            // The seed's names: `kilo`, `claude`; but `api-anthropic` for what is called directly.
            (None, Some(adapter)) if !adapter.starts_with("api") => SpanKind::CliAgent,
            (None, Some(_) | None) => SpanKind::ApiAgent,
        };
        let mut span = self.blank(kind, session.agent_name(agent), session.agent_id(agent));
        self.add_agent(&mut span, agent);
        if self.of_agent.is_empty() && span.role.is_none() {
            // The role that a session was given is that of the agent with which it begins.
            span.role = session.info().role.as_deref().map(Into::into);
        }
        span.status = match facts.status() {
            Some(word) => SpanStatus::from_word(word),
            None => session_status(session),
        };
        let times = facts.transcript().map(|event| session.entry(event).at());
        let (mut first, mut last) = (None, None);
        for time in times.flatten() {
            first = first.or(Some(time));
            last = Some(time);
        }
        span.started_at = first;
        span.completed_at = last.filter(|_| span.status != SpanStatus::Running);
        let id = format!("agent:{}", session.agent_id(agent));
        self.push(&id, Some(parent.unwrap_or(0)), span)
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
        let agent = self.made.get(&ix).copied();
        let is_agent = agent.is_some() || delegates(tool);
        let kind = if is_agent { SpanKind::SubAgent } else { SpanKind::ToolCall };
        let owner = agent.unwrap_or(call.agent);
        let name = agent.and_then(|agent| session.agent(agent).own_name()).unwrap_or(tool);
        let mut span = self.blank(kind, name, session.agent_id(owner));
        if let Some(agent) = agent {
            self.add_agent(&mut span, agent);
        }
        span.flavor = match is_agent {
            false => Flavor::None,
            true if self.resumes(call.arguments)? => Flavor::CoWork,
            true => Flavor::Normal,
        };
        let ended = agent.and_then(|agent| session.agent(agent).status());
        span.status = match (ended, call.first_result()) {
            (Some(word), _) => SpanStatus::from_word(word),
            (None, None) => SpanStatus::Running,
            (None, Some(_)) if has_failed(self.reading, ix) => SpanStatus::Failed,
            (None, Some(_)) => SpanStatus::Completed,
        };
        span.started_at = session.call_made_at(ix);
        span.completed_at = self.ended_at(ix, agent);
        let at = self.push(session.call_id(ix), parent, span);
        self.of_call.insert(ix, at);
        Ok(at)
    }

    /// When a call came back; an agent that went on in the background ends with its last words.
    fn ended_at(&self, ix: CallIx, agent: Option<AgentIx>) -> Option<Timestamp> {
        let session = self.reading.session;
        let call = session.call(ix);
        let back = call.last_result().map(|event| session.entry(event));
        let recorded = call_duration(self.reading, ix).filter(|(_, basis)| *basis == "recorded");
        let by_duration = session.call_made_at(ix).zip(recorded).map(|(start, (took, _))| {
            Timestamp::from_millis(start.as_millis().saturating_add(took))
        });
        let last_words = agent.and_then(|agent| {
            let last: EventIx = session.agent(agent).transcript().next_back()?;
            session.entry(last).at()
        });
        let back_at = back.and_then(|entry| entry.at()).or(by_duration)?;
        Some(last_words.map_or(back_at, |words| words.max(back_at)))
    }

    /// Whether a call goes on with an agent: `resume` names one.
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
        let facts = self.reading.session.agent(agent);
        span.adapter_id = facts.adapter_id().map(Into::into);
        span.role = facts.agent_type().map(Into::into);
        if let Some((usage, cost)) = self.own.get(&agent) {
            span.usage = (*usage).into();
            span.cost_usd = *cost;
        }
    }

    fn blank(&self, kind: SpanKind, name: &str, agent_id: &str) -> Span {
        let info = self.reading.session.info();
        Span {
            span_id: String::new(),
            parent_span_id: None,
            level: 0,
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

    /// Adds a span below another. Models repeat their call ids; span ids are unique.
    fn push(&mut self, id: &str, parent: Option<usize>, mut span: Span) -> usize {
        span.span_id = id.to_owned();
        for again in 2.. {
            if self.taken.insert(span.span_id.clone()) {
                break;
            }
            span.span_id = format!("{id}#{again}");
        }
        if let Some(parent) = parent.and_then(|parent| self.spans.get(parent)) {
            span.level = parent.level + 1;
            span.parent_span_id = Some(parent.span_id.clone());
            let ends = span.completed_at.zip(parent.completed_at);
            span.outlives_parent = ends.is_some_and(|(own, parents)| own > parents);
        }
        self.spans.push(span);
        self.spans.len() - 1
    }

    fn finish(mut self) -> Vec<Span> {
        // A command that is no agent has a role all the same.
        if self.of_agent.is_empty()
            && let Some(coordinator) = self.spans.first_mut()
        {
            coordinator.role = self.reading.session.info().role.as_deref().map(Into::into);
        }
        self.spans
    }
}

/// The call that made an agent.
fn maker(session: &Session, agent: AgentIx) -> Option<CallIx> {
    session.entry(session.agent(agent).created?).call()
}

/// How a session stands: as it says itself, or by whether anything is open in it.
fn session_status(session: &Session) -> SpanStatus {
    let info = session.info();
    if info.ended {
        return SpanStatus::from_word(info.outcome.as_deref().unwrap_or("completed"));
    }
    let last = session.entries().rev().find(|entry| entry.role().is_some());
    match last.is_some_and(antiphon_model::Entry::is_utterance) {
        true => SpanStatus::Completed,
        false => SpanStatus::Running,
    }
}
