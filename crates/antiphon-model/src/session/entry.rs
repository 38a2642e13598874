//! Reading a folded session: an [`Entry`] is one event of it.

use std::fmt;

use serde::Serialize;

use super::{Agent, Call, MessageRef, Row, Session, Source};
use crate::{AgentIx, CallIx, EventIx, Place, Role, Timestamp, Usage};

/// What kind of event an entry is. Details that views seldom need stay in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// An agent was created.
    AgentCreated,
    /// An agent is finished.
    AgentEnded,
    /// The session began.
    SessionStarted,
    /// The session is over.
    SessionEnded,
    /// The state of a run.
    RunStatus,
    /// What an agent has in its context was changed.
    ContextEdited,
    /// A part of a message, while it is being written.
    Fragment,
    /// A phase or a note about what was recorded.
    Annotation,
    /// Events that were lost while recording.
    Gap,
    /// Damage that was repaired when the log was opened.
    Recovered,
    /// An event of a kind that is not known; the line still has it.
    Unknown,
    /// A message; the word is its role.
    #[serde(untagged)]
    Message(Role),
}

impl EntryKind {
    /// The word for it in the log: the role of a message, the event type of the others.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message(role) => role.as_str(),
            Self::AgentCreated => "agent_created",
            Self::AgentEnded => "agent_ended",
            Self::SessionStarted => "session_started",
            Self::SessionEnded => "session_ended",
            Self::RunStatus => "run_status",
            Self::ContextEdited => "context_edited",
            Self::Fragment => "fragment",
            Self::Annotation => "annotation",
            Self::Gap => "gap",
            Self::Recovered => "recovered",
            Self::Unknown => "unknown",
        }
    }
}

/// One event of a session, with what the fold derived from it.
#[derive(Clone, Copy)]
pub struct Entry<'s> {
    pub(super) session: &'s Session,
    pub(super) row: &'s Row,
    pub(super) ix: EventIx,
}

impl<'s> Entry<'s> {
    pub fn ix(self) -> EventIx {
        self.ix
    }

    /// `message_id`; for an event without one, an id made from its line.
    pub fn id(self) -> &'s str {
        self.session.message_ids.get(self.row.id)
    }

    pub fn at(self) -> Option<Timestamp> {
        self.row.at()
    }

    /// The line's number in its stream, from 1.
    pub fn line_number(self) -> u64 {
        self.row.line_number()
    }

    /// The whole line.
    pub fn line(self) -> Place {
        self.row.line()
    }

    pub fn kind(self) -> EntryKind {
        self.row.kind
    }

    pub fn role(self) -> Option<Role> {
        match self.row.kind {
            EntryKind::Message(role) => Some(role),
            EntryKind::AgentCreated
            | EntryKind::AgentEnded
            | EntryKind::SessionStarted
            | EntryKind::SessionEnded
            | EntryKind::RunStatus
            | EntryKind::ContextEdited
            | EntryKind::Fragment
            | EntryKind::Annotation
            | EntryKind::Gap
            | EntryKind::Recovered
            | EntryKind::Unknown => None,
        }
    }

    /// The agent whose transcript it is in, or that it is about.
    pub fn agent(self) -> Option<AgentIx> {
        self.row.agent()
    }

    pub fn agent_id(self) -> Option<&'s str> {
        self.agent().map(|agent| self.session.agent_id(agent))
    }

    pub fn source(self) -> Source {
        self.row.source()
    }

    /// The raw content, if there is one.
    pub fn content(self) -> Option<Place> {
        self.row.content(self.ix.0, &self.session.far_content)
    }

    /// The content and all further content, if a message is kept in several pieces.
    pub fn contents(self) -> impl Iterator<Item = Place> {
        self.content().into_iter().chain(self.session.more_content.all(self.ix.0).copied())
    }

    pub fn request_id(self) -> Option<&'s str> {
        self.session.request_ids.get(self.ix.0).map(|&id| self.session.words.get(id))
    }

    /// The type of an unknown event.
    pub fn event_type(self) -> Option<&'s str> {
        self.session.event_types.get(self.ix.0).map(|&word| self.session.words.get(word))
    }

    /// What this event did to an agent's context.
    pub fn edit(self) -> Option<&'s super::ContextEdit> {
        self.session.edits.get(self.ix.0)
    }

    /// Whether it is an assistant's message without a tool call: said, not done.
    pub fn is_utterance(self) -> bool {
        self.row.kind == EntryKind::Message(Role::Assistant)
            && self.row.call_count == 0
            && self.row.has_content()
    }

    /// The message whose words these are.
    pub fn utterance_ref(self) -> Option<MessageRef<'s>> {
        let raw = self.session.utterance_refs.get(self.ix.0);
        raw.map(|&raw| self.session.reference(raw))
    }

    pub fn causes(self) -> impl Iterator<Item = MessageRef<'s>> {
        let session = self.session;
        session.causes.all(self.ix.0).map(|&raw| session.reference(raw))
    }

    pub fn reply_to(self) -> Option<MessageRef<'s>> {
        self.session.replies.get(self.ix.0).map(|&raw| self.session.reference(raw))
    }

    /// The entry before this one, if the log says that it is not the one in the line before.
    pub fn previous(self) -> Option<MessageRef<'s>> {
        self.session.previous.get(self.ix.0).map(|&raw| self.session.reference(raw))
    }

    /// The calls that this message makes.
    pub fn calls(self) -> impl Iterator<Item = (CallIx, &'s Call)> {
        let count = u32::from(self.row.call_count);
        let first = match count {
            0 => 0,
            // Calls stand in the order of events, and those of an event that could not be folded
            // before its own.
            _ => {
                let end = self.session.calls.partition_point(|call| call.event <= self.ix);
                u32::try_from(end).unwrap_or(u32::MAX).saturating_sub(count)
            }
        };
        (first..first + count)
            .filter_map(move |n| Some((CallIx(n), self.session.calls.get(n as usize)?)))
    }

    pub fn makes_calls(self) -> bool {
        self.row.call_count > 0
    }

    /// The call that this message is a result of, or that created this agent.
    pub fn call(self) -> Option<CallIx> {
        self.row.call()
    }

    /// Whether a result says that it is an error.
    pub fn is_error(self) -> bool {
        self.row.is_error
    }

    pub fn duration_ms(self) -> Option<u64> {
        self.session.durations.get(self.ix.0).copied()
    }

    /// The tokens of this message, if they are known.
    pub fn usage(self) -> Option<Usage> {
        let usage = self.session.usages.get(self.ix.0).map(|(usage, _)| usage);
        usage.filter(|usage| !usage.is_zero() || self.declared_cost_usd().is_none())
    }

    /// The cost of this request as the source itself declares it.
    pub fn declared_cost_usd(self) -> Option<f64> {
        self.session.declared_costs.get(self.ix.0).copied()
    }

    /// Whether the source reports only a part of this request's tokens.
    pub fn is_usage_partial(self) -> bool {
        self.session.partial_usages.get(self.ix.0).is_some()
    }

    /// The model of this request, if it has tokens.
    pub fn model(self) -> Option<&'s str> {
        let (_, model) = self.session.usages.get(self.ix.0)?;
        model.map(|model| self.session.words.get(model))
    }

    pub fn agent_info(self) -> Option<&'s Agent> {
        self.agent().map(|agent| self.session.agent(agent))
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entry({} {})", self.id(), self.row.kind.as_str())
    }
}
