//! Agents: those that were created, and those that are only known from their messages.

use super::column::push_tight;
use super::info::change_text;
use super::strings::StrIx;
use super::{Draft, EntryKind, Session};
use crate::{AgentCreated, AgentEnded, AgentIx, CallIx, EventIx, Rule};

/// An agent of a session.
#[derive(Debug, Clone)]
pub struct Agent {
    id: StrIx,
    name: Option<Box<str>>,
    language_model: Option<Box<str>>,
    agent_type: Option<Box<str>>,
    adapter_id: Option<Box<str>>,
    /// Only a sub-agent has one.
    flavor: Option<Box<str>>,
    /// The event of its creation; `None` if it is only known from its messages.
    pub created: Option<EventIx>,
    /// The first event that mentions it.
    pub first: EventIx,
    pub parent: Parent,
    /// The event that says how it ended.
    pub ended: Option<EventIx>,
    status: Option<Box<str>>,
    transcript: Vec<u32>,
    /// How often it received a message or a result: its calls of one turn were made at once.
    pub(super) turn: u32,
    /// Whether it ever was a parent: only then can it be part of a circle.
    pub(super) has_children: bool,
}

/// The agent that created an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parent {
    /// No parent is known: a root.
    None,
    /// The log says so. `agent` is `None` if it says that a person did.
    Recorded { agent: Option<AgentIx>, event: Option<EventIx> },
    Inferred {
        agent: AgentIx,
        /// The call that created it, if the rule finds one.
        call: Option<CallIx>,
        rule: Rule,
        candidates: u32,
    },
}

impl Parent {
    pub fn agent(self) -> Option<AgentIx> {
        match self {
            Self::None => None,
            Self::Recorded { agent, .. } => agent,
            Self::Inferred { agent, .. } => Some(agent),
        }
    }
}

impl Agent {
    pub fn language_model(&self) -> Option<&str> {
        self.language_model.as_deref()
    }

    pub fn agent_type(&self) -> Option<&str> {
        self.agent_type.as_deref()
    }

    /// How it works with its parent; only an agent with a parent, known or not, has a flavor.
    pub fn flavor(&self) -> Option<&str> {
        self.flavor.as_deref()
    }

    /// The program that runs it.
    pub fn adapter_id(&self) -> Option<&str> {
        self.adapter_id.as_deref()
    }

    /// The name that it was created with.
    pub fn own_name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// How it ended, in the log's own word.
    pub fn status(&self) -> Option<&str> {
        self.status.as_deref()
    }

    /// Its transcript: messages, and edits of its context, in order.
    pub fn transcript(&self) -> impl DoubleEndedIterator<Item = EventIx> + ExactSizeIterator {
        self.transcript.iter().map(|&event| EventIx(event))
    }

    /// Changes the recorded texts about the agent.
    pub(super) fn change_texts(&mut self, change: &dyn Fn(&str) -> Option<String>) {
        let texts = [&mut self.name, &mut self.agent_type, &mut self.status];
        texts.into_iter().for_each(|text| change_text(text, change));
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let text = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
        self.transcript.capacity() * 4
            + text(&self.name)
            + text(&self.language_model)
            + text(&self.agent_type)
            + text(&self.adapter_id)
            + text(&self.flavor)
            + text(&self.status)
    }
}

impl Session {
    pub fn agents(&self) -> impl ExactSizeIterator<Item = (AgentIx, &Agent)> {
        self.agents.iter().enumerate().map(|(n, agent)| {
            let ix = AgentIx(u32::try_from(n).unwrap_or(u32::MAX));
            (ix, agent)
        })
    }

    #[expect(clippy::indexing_slicing, reason = "an `AgentIx` comes from this session alone")]
    pub fn agent(&self, ix: AgentIx) -> &Agent {
        &self.agents[ix.index()]
    }

    pub fn agent_id(&self, ix: AgentIx) -> &str {
        self.agent_ids.get(self.agent(ix).id)
    }

    /// The display name of an agent: its name, or else its id.
    pub fn agent_name(&self, ix: AgentIx) -> &str {
        self.agent(ix).own_name().unwrap_or_else(|| self.agent_id(ix))
    }

    pub fn find_agent(&self, agent_id: &str) -> Option<AgentIx> {
        // Only agents' ids are interned here, in the order in which agents are added.
        self.agent_ids.known(agent_id).map(|id| AgentIx(id.0))
    }

    /// For each agent: those that it created, in the order of their first mention.
    pub fn children(&self) -> Vec<Vec<AgentIx>> {
        let mut children = vec![Vec::new(); self.agents.len()];
        for (ix, agent) in self.agents() {
            if let Some(of_parent) = agent.parent.agent().and_then(|p| children.get_mut(p.index()))
            {
                of_parent.push(ix);
            }
        }
        children
    }

    /// The agent with that id, added on first mention.
    pub(super) fn agent_named(&mut self, agent_id: &str, ix: EventIx) -> Option<AgentIx> {
        let id = self.agent_ids.intern(agent_id)?;
        if id.0 as usize == self.agents.len() {
            self.agents.push(Agent {
                id,
                name: None,
                language_model: None,
                agent_type: None,
                adapter_id: None,
                flavor: None,
                created: None,
                first: ix,
                parent: Parent::None,
                ended: None,
                status: None,
                turn: 0,
                transcript: Vec::new(),
                has_children: false,
            });
        }
        Some(AgentIx(id.0))
    }

    /// Adds an event to an agent's transcript.
    pub(super) fn enter(&mut self, agent: AgentIx, ix: EventIx) {
        if let Some(agent) = self.agents.get_mut(agent.index()) {
            push_tight(&mut agent.transcript, ix.0);
        }
    }

    pub(super) fn fold_agent_created(
        &mut self,
        ix: EventIx,
        row: &mut Draft,
        created: &AgentCreated<'_>,
    ) -> Option<()> {
        row.kind = EntryKind::AgentCreated;
        let ours = self.agent_named(&created.agent, ix)?;
        row.agent = ours.0;
        // An agent that is created again keeps its parent.
        let known = self.agent(ours).parent;
        if known != Parent::None {
            return Some(());
        }
        let parent = self.parent_of(ours, created, ix)?;
        if let Parent::Inferred { call: Some(call), .. } = parent {
            row.call = call.0;
        } else if let Some(call) = &created.tool_call_id
            && let Some(call) = self.nearest_call(call, parent.agent())
        {
            row.call = call.0;
        }
        self.add_causes(ix, &created.cause)?;
        if let Some(parent) = parent.agent().and_then(|p| self.agents.get_mut(p.index())) {
            parent.has_children = true;
        }
        let agent = self.agents.get_mut(ours.index())?;
        agent.created = Some(ix);
        agent.parent = parent;
        let own = |text: &Option<crate::event::Text<'_>>| text.as_deref().map(Into::into);
        agent.name = own(&created.name).or(agent.name.take());
        agent.language_model = own(&created.language_model).or(agent.language_model.take());
        agent.agent_type = own(&created.agent_type).or(agent.agent_type.take());
        agent.adapter_id = own(&created.adapter_id).or(agent.adapter_id.take());
        agent.flavor = own(&created.flavor).or(agent.flavor.take());
        Some(())
    }

    pub(super) fn fold_agent_ended(
        &mut self,
        ix: EventIx,
        row: &mut Draft,
        ended: &AgentEnded<'_>,
    ) -> Option<()> {
        row.kind = EntryKind::AgentEnded;
        row.agent = self.agent_named(&ended.agent, ix)?.0;
        let agent = self.agents.get_mut(row.agent as usize)?;
        agent.ended = Some(ix);
        agent.status = ended.status.as_deref().map(Into::into);
        Some(())
    }
}
