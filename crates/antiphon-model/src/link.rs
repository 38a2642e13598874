//! Links: why each event is there.
//!
//! An event may have several, of different kinds: a tool result belongs to its call and may at the
//! same time deliver an utterance. Each is either recorded, or inferred by a named rule; nothing
//! inferred is ever presented as recorded.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{
    AgentIx, Bodies, BodyError, CallIx, Entry, EntryKind, EventIx, MessageRef, Parent, Place, Role,
    Session, Source,
};

/// `from` led to `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link<'s> {
    pub from: MessageRef<'s>,
    pub to: EventIx,
    pub kind: LinkKind,
    pub basis: Basis,
}

/// What connects two events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// A call, and its result.
    Result,
    /// An utterance, and where it arrived.
    Delivery,
    /// A call, and the agent that it made.
    Creation,
    /// A cause that the log names.
    Cause,
    /// A message, and the answer to it.
    Reply,
    /// What the sender was doing, and the message that it sent.
    Sent,
    /// The first of several copies of one text, and the others.
    Broadcast,
    /// A call, and the notice that asked a hook about it.
    Notice,
    /// A hook's answer, and the result of the call that it was asked about.
    Verdict,
    /// The entry before, in the same transcript.
    Previous,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    Recorded,
    Inferred(Rule),
}

/// The rules by which things are inferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The agent's name equals the `name` in the arguments of a call that is still open.
    NameInOpenCall,
    /// The first message to an agent equals the prompt in the arguments of a call.
    SamePrompt,
    /// An agent's file says that it is a sub-agent of the session, and not who made it: the
    /// session's main agent stands for whoever did.
    SameSession,
    /// The sender has a call open: that is what sends.
    OpenCallOfSource,
    /// The sender has no call open: the latest entry in its transcript is what sends.
    LatestEntryOfSource,
    /// The same text from the same source, one right after the other.
    SameTextSameSource,
    /// A result has the words of an utterance that was made while its call was open.
    SameTextInResult,
    /// The system asks an agent while another agent's call is open: it asks about that call.
    OpenCallAtNotice,
    /// An agent that was asked about a call answers before the call's result comes.
    AnswerBeforeResult,
    /// What an agent says follows from what stands in its transcript before.
    TranscriptOrder,
}

impl Rule {
    /// The rule of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::NameInOpenCall,
            Self::SamePrompt,
            Self::SameSession,
            Self::OpenCallOfSource,
            Self::LatestEntryOfSource,
            Self::SameTextSameSource,
            Self::SameTextInResult,
            Self::OpenCallAtNotice,
            Self::AnswerBeforeResult,
            Self::TranscriptOrder,
        ]
        .into_iter()
        .find(|rule| rule.as_str() == name)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::NameInOpenCall => "name-in-open-call",
            Self::SamePrompt => "same-prompt",
            Self::SameSession => "same-session",
            Self::OpenCallOfSource => "open-call-of-source",
            Self::LatestEntryOfSource => "latest-entry-of-source",
            Self::SameTextSameSource => "same-text-same-source",
            Self::SameTextInResult => "same-text-in-result",
            Self::OpenCallAtNotice => "open-call-at-notice",
            Self::AnswerBeforeResult => "answer-before-result",
            Self::TranscriptOrder => "transcript-order",
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl Session {
    /// Every link of the session, in the order of the events that they lead to.
    pub fn links<'s>(&'s self, bodies: &dyn Bodies) -> Result<Vec<Link<'s>>, BodyError> {
        let mut scan = Scan::new(self, bodies);
        for entry in self.entries() {
            scan.link(entry)?;
            scan.advance(entry);
        }
        Ok(scan.links)
    }
}

/// One pass over the log, with what is open at each point of it.
struct Scan<'s, 'b> {
    session: &'s Session,
    bodies: &'b dyn Bodies,
    links: Vec<Link<'s>>,
    /// For each agent: its calls without a result so far, oldest first.
    open: Vec<BTreeSet<CallIx>>,
    /// Calls of all agents without a result so far.
    open_calls: BTreeSet<CallIx>,
    /// For each agent: the latest entry of its transcript.
    latest: Vec<Option<EventIx>>,
    /// For each agent: the call that it was last asked about and has not answered.
    asked: Vec<Option<CallIx>>,
    /// Answers about calls that are still open.
    verdicts: BTreeMap<CallIx, EventIx>,
    /// The first of the copies directly before.
    broadcast: Option<EventIx>,
    /// Utterances since a call is open, by the length of their text: for results that repeat one.
    said: BTreeMap<u32, Vec<EventIx>>,
}

impl<'s, 'b> Scan<'s, 'b> {
    fn new(session: &'s Session, bodies: &'b dyn Bodies) -> Self {
        let agents = session.agents().len();
        Self {
            session,
            bodies,
            links: Vec::new(),
            open: vec![BTreeSet::new(); agents],
            open_calls: BTreeSet::new(),
            latest: vec![None; agents],
            asked: vec![None; agents],
            verdicts: BTreeMap::new(),
            broadcast: None,
            said: BTreeMap::new(),
        }
    }

    fn link(&mut self, entry: Entry<'s>) -> Result<(), BodyError> {
        match entry.kind() {
            EntryKind::Message(role) => {
                self.link_recorded(entry);
                match role {
                    Role::Tool => self.link_result(entry)?,
                    Role::User => self.link_incoming(entry)?,
                    Role::Assistant | Role::System | Role::Other => {}
                }
                self.link_previous(entry, role);
            }
            EntryKind::AgentCreated => self.link_creation(entry),
            EntryKind::Fragment => {
                self.link_recorded(entry);
                if entry.causes().next().is_none() {
                    self.link_sent(entry);
                }
            }
            EntryKind::AgentEnded
            | EntryKind::SessionStarted
            | EntryKind::SessionEnded
            | EntryKind::RunStatus
            | EntryKind::ContextEdited
            | EntryKind::Annotation
            | EntryKind::Gap
            | EntryKind::Recovered
            | EntryKind::Unknown => {}
        }
        Ok(())
    }

    /// Adds the links that the line itself names.
    fn link_recorded(&mut self, entry: Entry<'s>) {
        if let Some(from) = entry.utterance_ref() {
            self.push(from, entry, LinkKind::Delivery, Basis::Recorded);
        }
        for from in entry.causes() {
            self.push(from, entry, LinkKind::Cause, Basis::Recorded);
        }
        if let Some(from) = entry.reply_to() {
            self.push(from, entry, LinkKind::Reply, Basis::Recorded);
        }
    }

    fn link_result(&mut self, entry: Entry<'s>) -> Result<(), BodyError> {
        let Some(call) = entry.call() else {
            return Ok(());
        };
        let made_at = self.session.call(call).event;
        self.push(MessageRef::Event(made_at), entry, LinkKind::Result, Basis::Recorded);
        if let Some(answer) = self.verdicts.remove(&call) {
            let basis = Basis::Inferred(Rule::AnswerBeforeResult);
            self.push(MessageRef::Event(answer), entry, LinkKind::Verdict, basis);
        }
        if entry.utterance_ref().is_none()
            && entry.causes().next().is_none()
            && let Some(said) = self.repeats(entry, made_at)?
        {
            let basis = Basis::Inferred(Rule::SameTextInResult);
            self.push(MessageRef::Event(said), entry, LinkKind::Delivery, basis);
        }
        Ok(())
    }

    /// The utterance, made after `since`, whose words this result repeats.
    fn repeats(&self, result: Entry<'_>, since: EventIx) -> Result<Option<EventIx>, BodyError> {
        let Some(content) = result.content() else {
            return Ok(None);
        };
        let same_length = self.said.get(&content.len).map(Vec::as_slice).unwrap_or_default();
        // Only the nearest are compared: a hostile log could make all lengths equal.
        for &said in same_length.iter().rev().take(16).take_while(|&&said| said > since) {
            if self.same_text(self.session.entry(said), result)? {
                return Ok(Some(said));
            }
        }
        Ok(None)
    }

    /// Links a message from another agent or from the system.
    fn link_incoming(&mut self, entry: Entry<'s>) -> Result<(), BodyError> {
        if entry.utterance_ref().is_some() || entry.causes().next().is_some() {
            return Ok(());
        }
        match entry.source() {
            Source::Agent(_) => {
                if let Some(first) = self.broadcast
                    && self.session.entry(first).source() == entry.source()
                    && self.same_text(self.session.entry(first), entry)?
                {
                    let basis = Basis::Inferred(Rule::SameTextSameSource);
                    self.push(MessageRef::Event(first), entry, LinkKind::Broadcast, basis);
                }
                self.link_sent(entry);
            }
            Source::System => {
                let asker = entry.agent();
                let mut newest = self.open_calls.iter().rev().take(64).copied();
                let others = |&call: &CallIx| Some(self.session.call(call).agent) != asker;
                if let Some(call) = newest.find(others) {
                    let from = MessageRef::Event(self.session.call(call).event);
                    let basis = Basis::Inferred(Rule::OpenCallAtNotice);
                    self.push(from, entry, LinkKind::Notice, basis);
                    if let Some(slot) = slot(&mut self.asked, asker) {
                        *slot = Some(call);
                    }
                }
            }
            Source::Own | Source::External => {}
        }
        Ok(())
    }

    /// Links what the sender was doing: the newest of its open calls, or else its latest entry.
    fn link_sent(&mut self, entry: Entry<'s>) {
        let Source::Agent(sender) = entry.source() else {
            return;
        };
        let open = self.open.get(sender.index()).and_then(|calls| calls.last().copied());
        let (from, rule) = match open {
            Some(call) => (Some(self.session.call(call).event), Rule::OpenCallOfSource),
            None => (self.latest.get(sender.index()).copied().flatten(), Rule::LatestEntryOfSource),
        };
        if let Some(from) = from {
            self.push(MessageRef::Event(from), entry, LinkKind::Sent, Basis::Inferred(rule));
        }
    }

    /// Links the entry before: an assistant speaks from all of its transcript. The first message to
    /// an agent comes with its creation.
    fn link_previous(&mut self, entry: Entry<'s>, role: Role) {
        let latest = || self.latest.get(entry.agent()?.index()).copied().flatten();
        let is_creation = |event| self.session.entry(event).kind() == EntryKind::AgentCreated;
        if let Some(previous) = entry.previous() {
            self.push(previous, entry, LinkKind::Previous, Basis::Recorded);
        } else if let Some(previous) = latest()
            && (role == Role::Assistant || (role == Role::System && is_creation(previous)))
        {
            let basis = Basis::Inferred(Rule::TranscriptOrder);
            self.push(MessageRef::Event(previous), entry, LinkKind::Previous, basis);
        }
    }

    fn link_creation(&mut self, entry: Entry<'s>) {
        let agent = entry.agent_info().filter(|agent| agent.created == Some(entry.ix()));
        let Some(agent) = agent else {
            return;
        };
        let (from, basis) = match agent.parent {
            Parent::Recorded { event: Some(event), .. } => (event, Basis::Recorded),
            Parent::Inferred { call: Some(call), rule, .. } => {
                (self.session.call(call).event, Basis::Inferred(rule))
            }
            Parent::Inferred { call: None, .. }
            | Parent::Recorded { event: None, .. }
            | Parent::None => return,
        };
        self.push(MessageRef::Event(from), entry, LinkKind::Creation, basis);
    }

    /// Updates the state after `entry`.
    fn advance(&mut self, entry: Entry<'s>) {
        let incoming = entry.kind() == EntryKind::Message(Role::User);
        match (incoming, entry.source(), self.broadcast) {
            (true, Source::Agent(_), Some(first))
                if self.session.entry(first).source() == entry.source() => {}
            (true, Source::Agent(_), _) => self.broadcast = Some(entry.ix()),
            _ => self.broadcast = None,
        }
        if entry.role().is_none() && entry.kind() != EntryKind::AgentCreated {
            return;
        }
        if let Some(slot) = slot(&mut self.latest, entry.agent()) {
            *slot = Some(entry.ix());
        }
        if entry.is_utterance() {
            if let Some(call) = slot(&mut self.asked, entry.agent()).and_then(Option::take) {
                self.verdicts.insert(call, entry.ix());
            }
            if let Some(content) = entry.content().filter(|_| !self.open_calls.is_empty()) {
                self.said.entry(content.len).or_default().push(entry.ix());
            }
        }
        for (call, made) in entry.calls() {
            self.open_calls.insert(call);
            if let Some(open) = self.open.get_mut(made.agent.index()) {
                open.insert(call);
            }
        }
        if entry.role() == Some(Role::Tool)
            && let Some(call) = entry.call()
            // A call with several results is open until the last of them.
            && self.session.call(call).last_result() == Some(entry.ix())
        {
            self.close(call);
        }
    }

    fn close(&mut self, call: CallIx) {
        self.open_calls.remove(&call);
        if let Some(open) = self.open.get_mut(self.session.call(call).agent.index()) {
            open.remove(&call);
        }
        if self.open_calls.is_empty() {
            self.said.clear();
        }
    }

    fn same_text(&self, a: Entry<'_>, b: Entry<'_>) -> Result<bool, BodyError> {
        let (Some(a), Some(b)) = (a.content(), b.content()) else {
            return Ok(false);
        };
        // Equal texts have equal lengths, so few bodies are ever read.
        Ok(a.len == b.len && self.read(a)? == self.read(b)?)
    }

    fn read(&self, place: Place) -> Result<String, BodyError> {
        self.bodies.read(place)
    }

    fn push(&mut self, from: MessageRef<'s>, to: Entry<'s>, kind: LinkKind, basis: Basis) {
        self.links.push(Link { from, to: to.ix(), kind, basis });
    }
}

fn slot<T>(column: &mut [Option<T>], agent: Option<AgentIx>) -> Option<&mut Option<T>> {
    agent.and_then(|agent| column.get_mut(agent.index()))
}
