//! Which agent created which, if the log does not say.
//!
//! The seed looks for the new agent's name anywhere in the text of the newest call, and so makes
//! Jack a child of any agent that mentions him. Here the arguments are parsed, the name must be
//! equal, the call must still be open, and of several the oldest that has created no agent yet is
//! taken. A field that names the parent, the call or the cause takes precedence. An agent without a
//! parent is another root.

use std::collections::{BTreeMap, VecDeque};

use super::agent::Parent;
use super::{Session, is_outside};
use crate::{AgentCreated, AgentIx, CallIx, EventIx, Rule, ToolCall, json};

/// How many ancestors are checked for a circle.
const ANCESTORS_MAX: usize = 10_000;

/// Calls with a `name` in their arguments, by that name: these may create an agent.
#[derive(Debug, Default, Clone)]
pub(super) struct Makers {
    by_name: BTreeMap<Box<str>, SameName>,
}

#[derive(Debug, Default, Clone)]
struct SameName {
    /// Calls that have created no agent yet, oldest first; closed ones among them are skipped.
    fresh: VecDeque<CallIx>,
    /// The call that created the last agent of that name.
    used: Option<CallIx>,
}

impl SameName {
    /// The call that creates the next agent of that name, and how many calls it could have been.
    fn take(&mut self, is_open: impl Fn(CallIx) -> bool) -> Option<(CallIx, u32)> {
        while self.fresh.front().is_some_and(|&call| !is_open(call)) {
            self.fresh.pop_front();
        }
        // A hostile log can have any number of them; beyond this many they are not counted.
        let open = self.fresh.iter().take(64).filter(|&&call| is_open(call)).count();
        if let Some(call) = self.fresh.pop_front() {
            self.used = Some(call);
            return Some((call, u32::try_from(open).unwrap_or(u32::MAX)));
        }
        self.used.filter(|&call| is_open(call)).map(|call| (call, 1))
    }
}

impl Makers {
    pub(super) fn note(&mut self, call: CallIx, made: &ToolCall<'_>) {
        let Some(arguments) = made.arguments else {
            return;
        };
        // Most calls contain no name, and are not parsed.
        if memchr::memmem::find(arguments.json.as_bytes(), b"name").is_none() {
            return;
        }
        // Arguments are JSON, or a string that contains JSON.
        let inner = json::text(arguments.json);
        let object = inner.as_deref().unwrap_or(arguments.json);
        let Some(name) = json::member(object, "name").and_then(json::text) else {
            return;
        };
        match self.by_name.get_mut(&*name) {
            Some(same) => same.fresh.push_back(call),
            None => {
                let same = SameName { fresh: VecDeque::from([call]), used: None };
                self.by_name.insert((&*name).into(), same);
            }
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let names = self.by_name.keys().map(|name| name.len()).sum::<usize>();
        let calls = self.by_name.values().map(|same| same.fresh.capacity() * 4).sum::<usize>();
        names + calls + self.by_name.len() * size_of::<(Box<str>, SameName)>()
    }
}

impl Session {
    pub(super) fn parent_of(
        &mut self,
        ours: AgentIx,
        created: &AgentCreated<'_>,
        ix: EventIx,
    ) -> Option<Parent> {
        let recorded = self.recorded_parent(created, ix)?;
        Some(match recorded {
            Parent::None => self.inferred_parent(created.name.as_deref()),
            Parent::Recorded { .. } | Parent::Inferred { .. } => recorded,
        })
        // An agent that is its own ancestor would make every walk up the tree endless.
        .map(|parent| if self.descends_from(parent.agent(), ours) { Parent::None } else { parent })
    }

    fn recorded_parent(&mut self, created: &AgentCreated<'_>, ix: EventIx) -> Option<Parent> {
        let maker = created.parent_id.as_deref().and_then(|parent| self.find_agent(parent));
        let call = created.tool_call_id.as_deref().and_then(|id| self.nearest_call(id, maker));
        let cause = created.cause.first().and_then(|cause| {
            let message = cause.split_once('.').map_or(&**cause, |(message, _)| message);
            self.find(cause).or_else(|| self.find(message)).map(|entry| entry.ix())
        });
        let event = call.map(|call| self.call(call).event).or(cause);
        let named = match created.parent_id.as_deref().filter(|parent| !is_outside(parent)) {
            Some(parent) => Some(self.agent_named(parent, ix)?),
            None => None,
        };
        if let Some(rule) = created.rule
            && let Some(agent) = call.map(|call| self.call(call).agent).or(named)
        {
            return Some(Parent::Inferred { agent, call, rule, candidates: 1 });
        }
        if created.parent_id.is_some() {
            return Some(Parent::Recorded { agent: named, event });
        }
        let by_event = event.and_then(|event| self.entry(event).agent());
        if by_event.is_some() {
            return Some(Parent::Recorded { agent: by_event, event });
        }
        if created.cause.first().is_some_and(|cause| is_outside(cause)) {
            return Some(Parent::Recorded { agent: None, event: None });
        }
        Some(Parent::None)
    }

    fn inferred_parent(&mut self, name: Option<&str>) -> Parent {
        let Some(same) = name.and_then(|name| self.makers.by_name.get_mut(name)) else {
            return Parent::None;
        };
        let calls = &self.calls;
        let is_open = |call: CallIx| calls.get(call.index()).is_some_and(super::Call::is_open);
        let Some((call, candidates)) = same.take(is_open) else {
            return Parent::None;
        };
        let rule = Rule::NameInOpenCall;
        let agent = self.call(call).agent;
        Parent::Inferred { agent, call: Some(call), rule, candidates }
    }

    /// Whether `agent` is `ancestor` or below it. A line of ancestors too long to follow at every
    /// creation counts as a circle.
    fn descends_from(&self, agent: Option<AgentIx>, ancestor: AgentIx) -> bool {
        if agent != Some(ancestor) && !self.agent(ancestor).has_children {
            return false;
        }
        let parent = |agent: &AgentIx| self.agent(*agent).parent.agent();
        let mut line = std::iter::successors(agent, parent).take(ANCESTORS_MAX + 1).enumerate();
        line.any(|(steps, agent)| agent == ancestor || steps == ANCESTORS_MAX)
    }
}
