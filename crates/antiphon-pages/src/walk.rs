//! The conversation in the order of a page: a sub-agent's work stands below the call that created
//! it. Both kinds of pages are written along this walk.

use std::collections::BTreeMap;

use antiphon_model::{AgentIx, CallIx, Parent, Role, Session};
use antiphon_views::{Conversation, Delegations, Step, StepKind};

use crate::{Page, PageError};

/// How deep sub-agents are nested; those further down follow at the end. A hostile log may nest as
/// deep as it is long.
const DEPTH_MAX: usize = 6;

/// What writes a page.
pub(crate) trait Writer {
    /// Begins what an agent did. An agent at depth 0 was created by no other.
    fn begin_agent(&mut self, agent: AgentIx, depth: usize) -> Result<(), PageError>;
    /// A step of an agent. A call is followed by the agents that it creates, and then by
    /// [`end_call`](Self::end_call).
    fn step(&mut self, agent: AgentIx, step: &Step, creates: usize) -> Result<(), PageError>;
    fn end_call(&mut self) -> Result<(), PageError>;
    fn end_agent(&mut self, depth: usize) -> Result<(), PageError>;
}

pub(crate) fn walk(page: &Page<'_>, writer: &mut impl Writer) -> Result<(), PageError> {
    let delegations = Delegations::of(page.reading.session);
    let places = Places::of(page.reading.session, &delegations);
    let mut walk = Walk { page, delegations: &delegations, places: &places, waiting: Vec::new() };
    for &root in &places.roots {
        walk.agent(writer, root, 0)?;
        while let Some(next) = walk.waiting.pop() {
            walk.agent(writer, next, 1)?;
        }
    }
    Ok(())
}

/// Where the agents of a session stand.
#[derive(Debug, Default)]
struct Places {
    roots: Vec<AgentIx>,
    by_call: BTreeMap<CallIx, Vec<AgentIx>>,
    /// Those of which it is not known by which call they were created.
    by_agent: BTreeMap<AgentIx, Vec<AgentIx>>,
}

impl Places {
    fn of(session: &Session, delegations: &Delegations) -> Self {
        let mut places = Self::default();
        for (agent, facts) in session.agents() {
            let Some(parent) = facts.parent.agent() else {
                places.roots.push(agent);
                continue;
            };
            let inferred = match facts.parent {
                Parent::Inferred { call, .. } => call,
                Parent::None | Parent::Recorded { .. } => None,
            };
            // A log may name a call of any agent.
            let call = delegations.maker(agent).or(inferred);
            match call.filter(|&call| session.call(call).agent == parent) {
                Some(call) => places.by_call.entry(call).or_default().push(agent),
                None => places.by_agent.entry(parent).or_default().push(agent),
            }
        }
        places
    }
}

struct Walk<'p, 'a> {
    page: &'p Page<'a>,
    delegations: &'p Delegations,
    places: &'p Places,
    /// Agents that are too deep, the next one last.
    waiting: Vec<AgentIx>,
}

impl Walk<'_, '_> {
    fn agent(
        &mut self,
        writer: &mut impl Writer,
        ix: AgentIx,
        depth: usize,
    ) -> Result<(), PageError> {
        let Page { reading, root, .. } = *self.page;
        writer.begin_agent(ix, depth)?;
        // What a sub-agent hears first is its task, whoever says it.
        let mut has_task = reading.session.agent(ix).parent.agent().is_none();
        for step in Conversation::within(reading, ix, root, self.delegations).steps(None) {
            let mut step = step?;
            let is_said = reading.session.entry(step.event).role() == Some(Role::User);
            if step.kind == StepKind::Notice && is_said && !has_task {
                step.kind = StepKind::Prompt;
            }
            has_task = has_task || matches!(step.kind, StepKind::Prompt | StepKind::Message);
            let call = step.call.as_ref().map(|call| call.ix);
            let created = call.and_then(|call| self.places.by_call.get(&call));
            let created = self.near(created.map_or(&[], Vec::as_slice), depth);
            writer.step(ix, &step, created.len())?;
            for &child in created {
                self.agent(writer, child, depth + 1)?;
            }
            if call.is_some() {
                writer.end_call()?;
            }
        }
        let created = self.places.by_agent.get(&ix).map_or(&[][..], Vec::as_slice);
        for &child in self.near(created, depth) {
            self.agent(writer, child, depth + 1)?;
        }
        writer.end_agent(depth)
    }

    /// The agents that are written here; if that would be too deep, none, and they wait.
    fn near<'c>(&mut self, created: &'c [AgentIx], depth: usize) -> &'c [AgentIx] {
        if depth < DEPTH_MAX {
            return created;
        }
        self.waiting.extend(created.iter().rev());
        &[]
    }
}
