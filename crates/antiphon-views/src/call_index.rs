//! Finds calls by their id and their agent, without searching the session.

use std::sync::OnceLock;

use antiphon_model::{AgentIx, CallIx, Session};

use crate::phases::main_agent;

/// An index over the calls of a session.
#[derive(Debug)]
pub struct CallIndex<'s> {
    session: &'s Session,
    main: Option<AgentIx>,
    all: Vec<CallIx>,
    by_agent: Vec<Vec<CallIx>>,
    /// In the order of their ids, then of their agents, then of the log; made when an id is asked
    /// for.
    by_id: OnceLock<Vec<CallIx>>,
}

/// Why an id names no call, or more than one.
#[derive(Debug, PartialEq, Eq)]
pub enum CallNotFound {
    Unknown,
    /// Several agents made a call with that id.
    Ambiguous {
        agents: Vec<String>,
    },
}

/// How many similar ids are suggested.
const NEAR_MAX: usize = 3;
/// How many agents that share an id are named.
const AGENTS_MAX: usize = 10;

impl<'s> CallIndex<'s> {
    pub fn new(session: &'s Session) -> Self {
        let mut index = Self {
            session,
            main: main_agent(session),
            all: Vec::with_capacity(session.calls().len()),
            by_agent: vec![Vec::new(); session.agents().len()],
            by_id: OnceLock::new(),
        };
        for (ix, call) in session.calls() {
            index.all.push(ix);
            if let Some(own) = index.by_agent.get_mut(call.agent.index()) {
                own.push(ix);
            }
        }
        index
    }

    fn by_id(&self) -> &[CallIx] {
        self.by_id.get_or_init(|| {
            let mut calls = self.all.clone();
            calls.sort_by_key(|&ix| (self.session.call_id(ix), self.agent(ix), ix));
            calls
        })
    }

    fn agent(&self, call: CallIx) -> AgentIx {
        self.session.call(call).agent
    }

    /// The calls with that id, in the order of their agents.
    fn with_id(&self, id: &str) -> &[CallIx] {
        let calls = self.by_id();
        let start = calls.partition_point(|&ix| self.session.call_id(ix) < id);
        let rest = calls.get(start..).unwrap_or_default();
        let end = rest.partition_point(|&ix| self.session.call_id(ix) == id);
        rest.get(..end).unwrap_or_default()
    }

    /// The calls of an agent, in order.
    pub fn of_agent(&self, agent: AgentIx) -> &[CallIx] {
        self.by_agent.get(agent.index()).map_or(&[], Vec::as_slice)
    }

    /// The calls from one to another, inclusive; of their agent only, if one agent made both.
    pub fn between(&self, from: CallIx, to: CallIx) -> &[CallIx] {
        let agent = self.session.call(from).agent;
        let calls = match agent == self.session.call(to).agent {
            true => self.of_agent(agent),
            false => &self.all,
        };
        let start = calls.partition_point(|&ix| ix < from);
        let end = calls.partition_point(|&ix| ix <= to);
        calls.get(start..end).unwrap_or_default()
    }

    /// The call that an id means: the given agent's, or else the main agent's, or else the only
    /// agent's with such a call. Of several, the first that does not come before `start`.
    pub fn find(
        &self,
        id: &str,
        agent: Option<AgentIx>,
        start: Option<CallIx>,
    ) -> Result<CallIx, CallNotFound> {
        let known = self.with_id(id);
        let of = |agent: AgentIx| {
            let from = known.partition_point(|&ix| self.agent(ix) < agent);
            let own = known.get(from..).unwrap_or_default();
            let own = own.get(..own.partition_point(|&ix| self.agent(ix) == agent))?;
            let at = start.map_or(0, |start| own.partition_point(|&ix| ix < start));
            own.get(at).or(own.first()).copied()
        };
        if let Some(agent) = agent {
            return of(agent).ok_or(CallNotFound::Unknown);
        }
        if let Some(found) = self.main.and_then(of) {
            return Ok(found);
        }
        let mut agents = known.chunk_by(|&a, &b| self.agent(a) == self.agent(b));
        match (agents.next(), agents.next()) {
            (Some([first, ..]), None) => of(self.agent(*first)).ok_or(CallNotFound::Unknown),
            (Some(_), Some(_)) => {
                let agents = known.chunk_by(|&a, &b| self.agent(a) == self.agent(b));
                let agents = agents.take(AGENTS_MAX).filter_map(|calls| calls.first());
                let name = |&ix: &CallIx| self.session.agent_id(self.agent(ix)).to_owned();
                Err(CallNotFound::Ambiguous { agents: agents.map(name).collect() })
            }
            (Some([]) | None, _) => Err(CallNotFound::Unknown),
        }
    }

    /// Ids with the same beginning or end as this one, as suggestions for a mistyped id.
    pub fn near(&self, id: &str) -> Vec<String> {
        let likeness = |other: &str| {
            let same = |(a, b): &(char, char)| a.eq_ignore_ascii_case(b);
            let begin = id.chars().zip(other.chars()).take_while(same).count();
            let end = id.chars().rev().zip(other.chars().rev()).take_while(same).count();
            begin.max(end)
        };
        let mut ids: Vec<&str> = self.by_id().iter().map(|&ix| self.session.call_id(ix)).collect();
        ids.dedup();
        let mut known: Vec<(usize, &str)> =
            ids.into_iter().map(|known| (likeness(known), known)).collect();
        known.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        let near = known.into_iter().filter(|(likeness, _)| *likeness > 0).take(NEAR_MAX);
        near.map(|(_, known)| known.to_owned()).collect()
    }
}
