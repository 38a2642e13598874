//! The roles of the agents in a document: the main agent, those with a sub-session of their own,
//! and the others.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{
    Agent, AgentIx, BodyError, CallIx, Detail, Entry, EventIx, Parent, Place, Role, Session,
    Source, Timestamp,
};
use antiphon_views::{
    Delegations, FileChangesOfAll, Reading, call_ended_at, delegates, file_changes_of_all,
    main_agent,
};
use serde_json::{Map, Value};

use super::free_ids::FreeIds;
use super::object::Object;
use crate::interfaces::nearest_role;

/// The roles that the agents of a session have in its document.
pub(super) struct Roles<'a> {
    pub(super) reading: &'a Reading<'a>,
    pub(super) main: Option<AgentIx>,
    /// The agents that were created by a call, in the order of the document.
    pub(super) subs: Vec<Sub>,
    sub_of_agent: BTreeMap<AgentIx, usize>,
    sub_of_call: BTreeMap<CallIx, usize>,
    delegations: Delegations,
    /// Ids of calls that differ from those in the log, which may repeat; in a document they must be
    /// unique.
    renamed: BTreeMap<CallIx, String>,
    /// The calls, sorted by id and then by session; computed on first use.
    by_id: OnceCell<Vec<CallIx>>,
    /// For each call, the last time recorded before it, for calls without a time.
    clock: Vec<Option<Timestamp>>,
    /// The changes to files.
    pub(super) files: FileChangesOfAll,
    /// The tokens of each agent's requests.
    tokens: BTreeMap<AgentIx, u64>,
    /// The first and the last time of each agent's activity.
    times: BTreeMap<AgentIx, (Timestamp, Timestamp)>,
    /// The calls of the session itself: the main agent's, and those of agents that no call created.
    pub(super) calls: Vec<CallIx>,
    /// Messages between agents, as they were recorded.
    pub(super) messages: Vec<EventIx>,
    /// Whether the authors of the document declared it the work of several agents.
    has_team: bool,
    /// Whether the session was read from a document, in which case it is written with the same
    /// members and no others.
    pub(super) is_document: bool,
}

/// An agent with a sub-session.
pub(super) struct Sub {
    /// `None` as long as only the call is known.
    pub(super) agent: Option<AgentIx>,
    /// The kind of agent that the call asked for, if nothing else is known about the agent.
    pub(super) wanted: Option<String>,
    pub(super) id: String,
    pub(super) is_id_recorded: bool,
    /// The sub-session whose call started this one; `None` is the session itself.
    pub(super) parent: Option<usize>,
    pub(super) call: CallIx,
    /// The call of the main session from which this sub-session descends: `call`, or the call that
    /// started its outermost ancestor.
    pub(super) trigger: CallIx,
    pub(super) is_review: bool,
    /// Its number among the tasks, or among the reviews.
    pub(super) number: usize,
    pub(super) calls: Vec<CallIx>,
}

/// An agent that a call has created, or is about to create.
struct CreatedAgent {
    /// Its position in the document that was read, if any, and in the log.
    place: (Option<u64>, EventIx),
    agent: Option<AgentIx>,
    call: CallIx,
    /// The id of its sub-session, if recorded.
    id: Option<String>,
}

impl<'a> Roles<'a> {
    pub(super) fn of(reading: &'a Reading<'a>) -> Result<Self, BodyError> {
        let session = reading.session;
        let main = main_agent(session);
        let mut roles = Self {
            reading,
            main,
            subs: Vec::new(),
            sub_of_agent: BTreeMap::new(),
            sub_of_call: BTreeMap::new(),
            delegations: Delegations::of(session),
            renamed: BTreeMap::new(),
            by_id: OnceCell::new(),
            clock: Vec::new(),
            files: file_changes_of_all(reading)?,
            tokens: BTreeMap::new(),
            times: times(session),
            calls: Vec::new(),
            messages: session
                .entries()
                .filter(|entry| entry.message_type().is_some())
                .map(|entry| entry.ix())
                .collect(),
            has_team: false,
            is_document: false,
        };
        let extra = roles.session_extra()?;
        let mode = extra.get("collaboration").and_then(|it| it.get("mode"));
        roles.has_team = mode.and_then(Value::as_str) == Some("multi_agent");
        roles.is_document = extra.contains_key("standard");
        roles.add_subs()?;
        roles.add_calls();
        for (entry, usage, _) in session.requests() {
            if let Some(agent) = entry.agent() {
                let tokens = roles.tokens.entry(agent).or_default();
                *tokens = tokens.saturating_add(usage.sum());
            }
        }
        Ok(roles)
    }

    /// Section 5.1 of STD-008: several agents were started, or exchanged messages, or worked side
    /// by side without having been started.
    pub(super) fn is_team(&self) -> bool {
        self.has_team
            || self.subs.len() > 1
            || !self.messages.is_empty()
            || self.others().any(|agent| self.acts(agent))
    }

    /// Whether an agent said or did anything itself.
    fn acts(&self, agent: AgentIx) -> bool {
        let session = self.reading.session;
        let mut events = session.agent(agent).transcript();
        events.any(|event| session.entry(event).role() == Some(Role::Assistant))
    }

    fn add_subs(&mut self) -> Result<(), BodyError> {
        let session = self.reading.session;
        let mut made: Vec<CreatedAgent> = Vec::new();
        let mut creating_calls = BTreeSet::new();
        for (agent, facts) in session.agents() {
            let Some(call) = creating_call(session, agent) else { continue };
            // A call names one sub-session, and an agent does not start itself.
            let is_own = session.call(call).agent == agent || Some(agent) == self.main;
            if is_own || !creating_calls.insert(call) {
                continue;
            }
            let created = facts.created.unwrap_or(facts.first);
            let extra = self.extra(session.entry(created))?;
            let position = extra.get("position").and_then(Value::as_u64);
            let id = extra.get("sub_session_id").and_then(Value::as_str).map(str::to_owned);
            made.push(CreatedAgent { place: (position, created), agent: Some(agent), call, id });
        }
        // Section 5.2 of STD-008: a sub-session exists as soon as its call has begun.
        let is_new = |ix: CallIx| !self.is_document && !creating_calls.contains(&ix);
        for (ix, call) in session.calls().filter(|(ix, call)| call.is_open() && is_new(*ix)) {
            if delegates(session.tool_name(ix)) {
                made.push(CreatedAgent {
                    place: (None, call.event),
                    agent: None,
                    call: ix,
                    id: None,
                });
            }
        }
        made.sort_by_key(|made| made.place);
        let mut taken: BTreeSet<String> = made.iter().filter_map(|made| made.id.clone()).collect();
        let mut number = 0;
        for CreatedAgent { agent, call, id, .. } in made {
            let is_id_recorded = id.is_some();
            let id = id.unwrap_or_else(|| {
                let mut ids = std::iter::from_fn(|| {
                    number += 1;
                    Some(format!("sub-{number:03}"))
                });
                ids.find(|id| taken.insert(id.clone())).unwrap_or_default()
            });
            let wanted = match agent {
                Some(_) => None,
                None => self.argument(call, "subagent_type")?,
            };
            let role = agent.and_then(|agent| session.agent(agent).agent_type());
            let is_review = role.or(wanted.as_deref()).map(nearest_role) == Some("reviewer");
            self.subs.push(Sub {
                agent,
                wanted,
                id,
                is_id_recorded,
                parent: None,
                call,
                trigger: call,
                is_review,
                number: 0,
                calls: Vec::new(),
            });
        }
        self.find_triggers();
        Ok(())
    }

    /// Finds the parent of each sub-session, and the call of the main session from which it
    /// descends. Agents that started one another in a cycle have no such call, and get no
    /// sub-session.
    fn find_triggers(&mut self) {
        let session = self.reading.session;
        let at_of: BTreeMap<AgentIx, usize> =
            self.subs.iter().enumerate().filter_map(|(at, sub)| Some((sub.agent?, at))).collect();
        let parents: Vec<Option<usize>> =
            self.subs.iter().map(|sub| at_of.get(&session.call(sub.call).agent).copied()).collect();
        // From those that the main session started, downwards.
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.subs.len()];
        let mut open: Vec<(usize, CallIx)> = Vec::new();
        for (at, (sub, parent)) in self.subs.iter().zip(&parents).enumerate() {
            match parent.and_then(|parent| children.get_mut(parent)) {
                Some(children) => children.push(at),
                None => open.push((at, sub.call)),
            }
        }
        let mut triggers: Vec<Option<CallIx>> = vec![None; self.subs.len()];
        while let Some((at, call)) = open.pop() {
            if let Some(trigger) = triggers.get_mut(at) {
                *trigger = Some(call);
            }
            open.extend(children.get(at).into_iter().flatten().map(|&child| (child, call)));
        }
        let subs = std::mem::take(&mut self.subs);
        let (mut tasks, mut reviews) = (0, 0);
        for (mut sub, trigger) in subs.into_iter().zip(triggers) {
            let Some(trigger) = trigger else { continue };
            let number = if sub.is_review { &mut reviews } else { &mut tasks };
            *number += 1;
            (sub.trigger, sub.number) = (trigger, *number);
            self.sub_of_agent.extend(sub.agent.map(|agent| (agent, self.subs.len())));
            self.sub_of_call.insert(sub.call, self.subs.len());
            self.subs.push(sub);
        }
        for sub in &mut self.subs {
            sub.parent = self.sub_of_agent.get(&session.call(sub.call).agent).copied();
        }
    }

    fn add_calls(&mut self) {
        let session = self.reading.session;
        let mut entries = session.entries().peekable();
        let mut latest = None;
        let mut ids = FreeIds::default();
        for (ix, call) in session.calls() {
            let until = |entry: &Entry<'_>| entry.ix() <= call.event;
            while let Some(entry) = entries.next_if(until) {
                latest = entry.at().or(latest);
            }
            self.clock.push(latest);
            let owner = self.sub_of_agent.get(&call.agent).copied();
            let wanted = match session.call_id(ix) {
                "" => "call",
                id => id,
            };
            let other = ids.take(owner, wanted.into());
            let other =
                other.or_else(|| (wanted != session.call_id(ix)).then(|| wanted.to_owned()));
            self.renamed.extend(other.map(|id| (ix, id)));
            match owner.and_then(|at| self.subs.get_mut(at)) {
                Some(sub) => sub.calls.push(ix),
                None => self.calls.push(ix),
            }
        }
    }

    pub(super) fn call_id(&self, ix: CallIx) -> &str {
        let renamed = self.renamed.get(&ix).map(String::as_str);
        renamed.unwrap_or_else(|| self.reading.session.call_id(ix))
    }

    /// The sub-session that contains a call; `None` is the session itself.
    pub(super) fn owner_of(&self, call: CallIx) -> Option<usize> {
        self.sub_of_agent.get(&self.reading.session.call(call).agent).copied()
    }

    /// Whether the id of a call is enough to find it: calls of the main session are looked up
    /// first, then those of the sub-sessions in their order.
    pub(super) fn is_found_by_id(&self, call: CallIx) -> bool {
        let by_id = self.by_id.get_or_init(|| {
            let mut calls: Vec<CallIx> = self.reading.session.calls().map(|(ix, _)| ix).collect();
            calls.sort_by_key(|&ix| (self.call_id(ix), self.owner_of(ix)));
            calls
        });
        let id = self.call_id(call);
        let first = by_id.get(by_id.partition_point(|&ix| self.call_id(ix) < id));
        first.map(|&first| self.owner_of(first)) == Some(self.owner_of(call))
    }

    /// The sub-session that a call started.
    pub(super) fn sent_by(&self, call: CallIx) -> Option<&Sub> {
        self.sub_of_call.get(&call).and_then(|&at| self.subs.get(at))
    }

    /// When a call ended. One that started an agent lasts as long as the agent, unless the document
    /// that was read says when it ended.
    pub(super) fn ended_at(&self, ix: CallIx) -> Option<Timestamp> {
        let session = self.reading.session;
        let back = session.call(ix).last_result().and_then(|event| session.entry(event).at());
        match self.sent_by(ix) {
            Some(_) if !self.is_document => call_ended_at(self.reading, &self.delegations, ix),
            _ => back,
        }
    }

    /// The sub-session of an agent.
    pub(super) fn sub_of(&self, agent: AgentIx) -> Option<&Sub> {
        self.sub_of_agent.get(&agent).and_then(|&at| self.subs.get(at))
    }

    /// The last time recorded before a call.
    pub(super) fn time_before(&self, call: CallIx) -> Option<Timestamp> {
        self.clock.get(call.index()).copied().flatten()
    }

    /// An argument of a call, if it is a string.
    fn argument(&self, call: CallIx, name: &str) -> Result<Option<String>, BodyError> {
        let given = self.arguments(call)?;
        Ok(given.get(name).and_then(Value::as_str).map(str::to_owned))
    }

    /// The arguments of a call. In the log they are a string that contains JSON.
    pub(super) fn arguments(&self, call: CallIx) -> Result<Value, BodyError> {
        let given = self.reading.session.call(call).arguments;
        let given = if given.is_none() { Value::Null } else { self.value(given)? };
        let inner = given.as_str().and_then(|text| serde_json::from_str(text).ok());
        Ok(inner.unwrap_or(given))
    }

    /// The tokens of an agent's requests.
    pub(super) fn tokens_of(&self, agent: AgentIx) -> u64 {
        self.tokens.get(&agent).copied().unwrap_or_default()
    }

    /// Agents without a sub-session, except the main one.
    pub(super) fn others(&self) -> impl Iterator<Item = AgentIx> {
        let all = self.reading.session.agents().map(|(ix, _)| ix);
        all.filter(|ix| Some(*ix) != self.main && self.sub_of(*ix).is_none())
    }

    pub(super) fn value(&self, place: Place) -> Result<Value, BodyError> {
        let raw = self.reading.bodies.read(place)?;
        // Bytes that are not JSON, because the file has changed since, are returned as a string.
        Ok(serde_json::from_str(&raw).unwrap_or(Value::String(raw)))
    }

    pub(super) fn detail(
        &self,
        entry: Entry<'_>,
        detail: Detail,
    ) -> Result<Option<Value>, BodyError> {
        entry.detail(detail).map(|place| self.value(place)).transpose()
    }

    /// The members of an event that the log has no field for.
    pub(super) fn extra(&self, entry: Entry<'_>) -> Result<Map<String, Value>, BodyError> {
        Ok(match self.detail(entry, Detail::Extra)? {
            Some(Value::Object(extra)) => extra,
            _ => Map::new(),
        })
    }

    pub(super) fn session_extra(&self) -> Result<Map<String, Value>, BodyError> {
        let session = self.reading.session;
        match session.info().started_by {
            Some(started) => self.extra(session.entry(started)),
            None => Ok(Map::new()),
        }
    }

    /// The first and the last time of an agent's activity.
    pub(super) fn time_of(&self, agent: AgentIx) -> Option<(Timestamp, Timestamp)> {
        self.times.get(&agent).copied()
    }

    /// The agent that sent a message.
    pub(super) fn sender(&self, entry: Entry<'_>) -> Option<AgentIx> {
        match entry.source() {
            Source::Agent(agent) => Some(agent),
            Source::Own => entry.agent(),
            Source::External | Source::System => None,
        }
    }
}

/// The first and the last time in each agent's transcript.
fn times(session: &Session) -> BTreeMap<AgentIx, (Timestamp, Timestamp)> {
    let of_agent = |agent: &Agent| {
        let times = agent.transcript().filter_map(|event| session.entry(event).at());
        times.fold(None, |span: Option<(Timestamp, Timestamp)>, at| {
            Some(span.map_or((at, at), |(first, last)| (first.min(at), last.max(at))))
        })
    };
    session.agents().filter_map(|(ix, agent)| Some((ix, of_agent(agent)?))).collect()
}

/// The call that created an agent.
fn creating_call(session: &Session, agent: AgentIx) -> Option<CallIx> {
    let facts = session.agent(agent);
    match facts.parent {
        Parent::Inferred { call, .. } => call,
        Parent::Recorded { agent: parent, .. } => {
            let call = session.entry(facts.created?).call()?;
            (Some(session.call(call).agent) == parent).then_some(call)
        }
        Parent::None => None,
    }
}

/// Sets a time in its recorded spelling, if that is the time in the log, and otherwise in our own.
/// An unused spelling is kept in `x_antiphon`. Returns whether there is a time.
pub(super) fn spelled(
    object: &mut Object<'_>,
    name: &str,
    at: Option<Timestamp>,
    extra: &mut Map<String, Value>,
) -> bool {
    let spelling = extra.remove(name).filter(|it| !it.is_null());
    let said = spelling.as_ref().and_then(Value::as_str).and_then(Timestamp::parse);
    match (at, spelling) {
        (Some(at), Some(spelling)) if said == Some(at) => object.set(name, spelling),
        (at, spelling) => {
            if let Some(spelling) = spelling {
                object.origin().keep(&object.below(name), spelling);
            }
            object.set_some(name, at.map(Timestamp::to_short));
        }
    }
    at.is_some()
}
