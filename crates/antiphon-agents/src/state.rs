//! What a session is at a moment: its agents with their transcripts, and a few counts.
//!
//! All of it is rebuilt from a log, and nothing else is ever needed.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{AgentIx, BodyError, CallIx, EventIx, Reading, Usage, json};
use antiphon_views::{Prices, Pricing, Usd, requests};

use crate::agent::{Agent, AgentKey};
use crate::cast::{Cast, Watch};
use crate::model::AnswerCounts;
use crate::past::{answers_by_model, transcript_of};

/// The agents of a session, and what was counted.
#[derive(Debug, Default)]
pub(crate) struct State {
    agents: Vec<Agent>,
    by_id: BTreeMap<String, AgentKey>,
    /// The first agent that nobody made.
    pub(crate) root: Option<AgentKey>,
    /// Hooks, in the order in which they were made.
    pub(crate) hooks: Vec<AgentKey>,
    /// How often agents of a name have been answered by a model.
    pub(crate) answers: AnswerCounts,
    /// The ids of all calls: models repeat theirs.
    pub(crate) call_ids: BTreeSet<String>,
    pub(crate) cost: Usd,
}

impl State {
    pub(crate) fn agent(&self, key: AgentKey) -> &Agent {
        #[expect(clippy::indexing_slicing, reason = "a key comes from this session alone")]
        &self.agents[key.0]
    }

    pub(crate) fn agent_mut(&mut self, key: AgentKey) -> &mut Agent {
        #[expect(clippy::indexing_slicing, reason = "a key comes from this session alone")]
        &mut self.agents[key.0]
    }

    pub(crate) fn agents(&self) -> impl ExactSizeIterator<Item = (AgentKey, &Agent)> {
        self.agents.iter().enumerate().map(|(n, agent)| (AgentKey(n), agent))
    }

    pub(crate) fn find(&self, id: &str) -> Option<AgentKey> {
        self.by_id.get(id).copied()
    }

    /// An id that no agent has.
    pub(crate) fn new_agent_id(&self) -> String {
        let candidates = (self.agents.len() + 1..).map(|number| format!("agent_{number:03}"));
        let mut free = candidates.filter(|id| !self.by_id.contains_key(id));
        free.next().unwrap_or_default()
    }

    pub(crate) fn add(&mut self, agent: Agent) -> AgentKey {
        let key = AgentKey(self.agents.len());
        match agent.parent {
            Some(parent) => {
                self.agent_mut(parent).children.insert(agent.name.clone(), key);
            }
            None => self.root = self.root.or(Some(key)),
        }
        if agent.is_hook() {
            self.hooks.push(key);
        }
        self.by_id.insert(agent.id.clone(), key);
        self.agents.push(agent);
        key
    }

    /// The names from below the root down to an agent.
    pub(crate) fn path(&self, key: AgentKey) -> Vec<String> {
        let mut path = Vec::new();
        let mut at = self.agent(key);
        while let Some(parent) = at.parent {
            path.push(at.name.clone());
            at = self.agent(parent);
        }
        path.reverse();
        path
    }

    pub(crate) fn count_cost(
        &mut self,
        prices: &Prices,
        model: Option<&str>,
        usage: Usage,
        declared: Option<f64>,
    ) {
        let declared = declared.and_then(Usd::from_f64);
        let cost = Pricing::new(prices).cost(model, None, usage, declared);
        self.cost += cost.amount().unwrap_or(Usd::ZERO);
    }

    /// The state of a session as its log has it, up to an event and with it. `cast` says what
    /// nobody who was made by a call says of itself.
    pub(crate) fn of(
        reading: &Reading<'_>,
        up_to: Option<EventIx>,
        cast: &Cast,
        prices: &Prices,
    ) -> Result<Self, BodyError> {
        let mut state = Self::default();
        for (ix, agent) in reading.session.agents() {
            if up_to.is_none_or(|end| agent.first <= end) {
                state.restore(reading, ix, up_to, cast)?;
            }
        }
        state.answers = answers_by_model(reading, up_to)?;
        let calls = reading.session.calls();
        state.call_ids = calls.map(|(ix, _)| reading.session.call_id(ix).to_owned()).collect();
        let mut pricing = Pricing::new(prices);
        for request in requests(reading.session) {
            if up_to.is_none_or(|end| request.entry.ix() <= end) {
                let at = request.entry.at();
                let cost = pricing.cost(request.model, at, request.usage, request.declared);
                state.cost += cost.amount().unwrap_or(Usd::ZERO);
            }
        }
        Ok(state)
    }

    fn restore(
        &mut self,
        reading: &Reading<'_>,
        ix: AgentIx,
        up_to: Option<EventIx>,
        cast: &Cast,
    ) -> Result<(), BodyError> {
        let session = reading.session;
        let agent = session.agent(ix);
        let id = session.agent_id(ix).to_owned();
        let parent = agent.parent.agent();
        // A parent that a log names and that comes later, or never, is none.
        let parent = parent.and_then(|parent| self.find(session.agent_id(parent)));
        let name = session.agent_name(ix).to_owned();
        let watch = match agent.agent_type() {
            Some("hook") => Some(watch_of(reading, ix, &name, cast)?),
            _ => None,
        };
        let of_cast = match parent {
            None => Some(&cast.root),
            Some(parent) if Some(parent) == self.root => {
                cast.agents.iter().find(|member| member.name == name)
            }
            Some(_) => None,
        };
        self.add(Agent {
            id,
            name,
            parent,
            depth: parent.map_or(0, |parent| self.agent(parent).depth + 1),
            model: agent.language_model().map(str::to_owned),
            tools: of_cast.and_then(|member| member.tools.clone()),
            watch,
            transcript: transcript_of(reading, ix, up_to)?,
            children: BTreeMap::new(),
        });
        Ok(())
    }
}

/// What a hook watches: as the call says that made it, or else as the cast does.
fn watch_of(
    reading: &Reading<'_>,
    hook: AgentIx,
    name: &str,
    cast: &Cast,
) -> Result<Watch, BodyError> {
    let session = reading.session;
    let created = session.agent(hook).created.map(|event| session.entry(event));
    let by_call = match created.and_then(|event| event.call()) {
        Some(call) => watch_of_call(reading, call)?,
        None => None,
    };
    let by_cast = || cast.hooks.iter().find(|hook| hook.name == name);
    Ok(by_call.or_else(|| by_cast().map(|hook| hook.watch.clone())).unwrap_or_default())
}

fn watch_of_call(reading: &Reading<'_>, call: CallIx) -> Result<Option<Watch>, BodyError> {
    let arguments = antiphon_model::Arguments::of(reading, call)?;
    let hook = json::member(arguments.as_str(), "hook");
    Ok(hook.and_then(|hook| serde_json::from_str(hook).ok()))
}
