//! An index of the document for the rules: its sessions, and their calls by id.

use std::collections::{BTreeMap, BTreeSet};

use super::Standard;
use super::at::At;

/// A document, with maps of everything that other parts refer to.
#[derive(Debug)]
pub(super) struct Document<'d> {
    pub(super) root: At<'d>,
    pub(super) standard: Standard,
    /// The main session, then the sub-sessions in their order.
    pub(super) sessions: Vec<Part<'d>>,
    by_id: BTreeMap<&'d str, usize>,
    /// If an id occurs in several sessions, its first occurrence.
    calls_by_id: BTreeMap<&'d str, CallPlace>,
}

/// The main session, or a sub-session.
#[derive(Debug)]
pub(super) struct Part<'d> {
    pub(super) at: At<'d>,
    pub(super) id: Option<&'d str>,
    pub(super) calls: Vec<At<'d>>,
    by_id: BTreeMap<&'d str, usize>,
}

/// A call, by the index of its session and its index there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallPlace {
    pub(super) session: usize,
    pub(super) call: usize,
}

impl<'d> Document<'d> {
    pub(super) fn new(root: At<'d>, standard: Standard) -> Self {
        let subs = root.list("sub_sessions");
        let main = Part::new(root.clone(), root.text("session_id"));
        let subs = subs.into_iter().map(|at| {
            let id = at.text("sub_session_id");
            Part::new(at, id)
        });
        let sessions: Vec<_> = std::iter::once(main).chain(subs).collect();
        let by_id = first_places(sessions.iter().map(|session| session.id));
        let mut calls_by_id = BTreeMap::new();
        for (session, part) in sessions.iter().enumerate() {
            for (id, &call) in &part.by_id {
                calls_by_id.entry(*id).or_insert(CallPlace { session, call });
            }
        }
        Self { root, standard, sessions, by_id, calls_by_id }
    }

    /// The sub-sessions, with their indexes in `sessions`.
    pub(super) fn sub_sessions(&self) -> impl Iterator<Item = (usize, &Part<'d>)> {
        self.sessions.iter().enumerate().skip(1)
    }

    /// The session or sub-session with this id.
    pub(super) fn session(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The sub-session with this id.
    pub(super) fn sub_session(&self, id: &str) -> Option<usize> {
        self.session(id).filter(|&place| place > 0)
    }

    pub(super) fn call_in(&self, session: usize, id: &str) -> Option<CallPlace> {
        let call = self.sessions.get(session)?.by_id.get(id).copied()?;
        Some(CallPlace { session, call })
    }

    /// The call with this id in any session, the main one first.
    pub(super) fn call_anywhere(&self, id: &str) -> Option<CallPlace> {
        self.calls_by_id.get(id).copied()
    }

    pub(super) fn call(&self, place: CallPlace) -> Option<&At<'d>> {
        self.sessions.get(place.session)?.calls.get(place.call)
    }

    /// All calls of all sessions.
    pub(super) fn calls(&self) -> impl Iterator<Item = (CallPlace, &At<'d>)> {
        self.sessions.iter().enumerate().flat_map(|(session, part)| {
            let calls = part.calls.iter().enumerate();
            calls.map(move |(call, at)| (CallPlace { session, call }, at))
        })
    }

    /// Whether several agents worked; the session of a single agent may be in the same format.
    pub(super) fn is_multi_agent(&self) -> bool {
        let collaboration = self.root.member("collaboration");
        let mode = collaboration.as_ref().and_then(|at| at.text("mode"));
        self.standard == Standard::Std008 && mode != Some("single")
    }

    /// The ids of the orchestrator and the participants; `None` if the document does not name them.
    pub(super) fn agents(&self) -> Option<BTreeSet<&'d str>> {
        let collaboration = self.root.member("collaboration")?;
        let participants = collaboration.member("participants")?;
        let orchestrator = collaboration.member("orchestrator")?;
        let agents = participants.items().chain([orchestrator]);
        Some(agents.filter_map(|agent| agent.text("agent_id")).collect())
    }
}

impl<'d> Part<'d> {
    fn new(at: At<'d>, id: Option<&'d str>) -> Self {
        let calls = at.member("tool_calls");
        let calls = calls.iter().flat_map(At::items).filter(|call| call.value.is_object());
        let calls: Vec<_> = calls.collect();
        let by_id = first_places(calls.iter().map(|call| call.text("call_id")));
        Self { at, id, calls, by_id }
    }
}

/// The first position of each id; duplicates have a rule of their own.
fn first_places<'d>(ids: impl Iterator<Item = Option<&'d str>>) -> BTreeMap<&'d str, usize> {
    let mut places = BTreeMap::new();
    for (place, id) in ids.enumerate() {
        if let Some(id) = id {
            places.entry(id).or_insert(place);
        }
    }
    places
}

/// Whether a tool starts another agent: `Task` in the standards, `Agent` in current programs.
pub(super) fn is_delegation(tool: &str) -> bool {
    matches!(tool, "Task" | "Agent")
}
