//! What only some events have: bodies and words beside an event's content.

use super::strings::StrIx;
use super::{Entry, Session};
use crate::{
    AgentCreated, AgentEnded, Body, CallIx, Event, EventIx, EventKind, Message, Place,
    SessionEnded, Timestamp, ToolCall,
};

/// A body that an event may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The reasoning before a message.
    Reasoning,
    /// The result in structured form.
    Result,
    ContextContribution,
    SubagentInfo,
    Payload,
    /// What an agent was created for.
    Task,
    /// What an agent returned in the end.
    Output,
    /// A summary as its author declared it.
    Declared,
    /// Facts for which the log has no name.
    Extra,
}

/// A word that an event or a call may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    MessageType,
    CorrelationId,
    Category,
    Description,
    RawCommand,
}

impl Session {
    pub(super) fn add_details(&mut self, ix: EventIx, event: &Event<'_>) -> Option<()> {
        match &event.kind {
            EventKind::Message(message) => self.add_message_details(ix, message)?,
            EventKind::AgentCreated(AgentCreated { task, .. }) => {
                self.add_detail(ix, Detail::Task, *task);
            }
            EventKind::AgentEnded(AgentEnded { output, .. }) => {
                self.add_detail(ix, Detail::Output, *output);
            }
            EventKind::SessionEnded(SessionEnded { declared, .. }) => {
                self.add_detail(ix, Detail::Declared, *declared);
            }
            EventKind::SessionStarted(_)
            | EventKind::RunStatus(_)
            | EventKind::ContextEdited(_)
            | EventKind::Fragment(_)
            | EventKind::Annotation(_)
            | EventKind::Gap(_)
            | EventKind::Recovered(_)
            | EventKind::Unknown(_) => {}
        }
        self.add_detail(ix, Detail::Extra, event.extra);
        Some(())
    }

    fn add_message_details(&mut self, ix: EventIx, message: &Message<'_>) -> Option<()> {
        self.add_detail(ix, Detail::Reasoning, message.reasoning);
        self.add_detail(ix, Detail::Result, message.result);
        self.add_detail(ix, Detail::ContextContribution, message.context_contribution);
        self.add_detail(ix, Detail::SubagentInfo, message.subagent_info);
        self.add_detail(ix, Detail::Payload, message.payload);
        if let Some(at) = message.started_at {
            self.started.push(ix.0, at.as_millis());
        }
        for (word, text) in [
            (Word::MessageType, &message.message_type),
            (Word::CorrelationId, &message.correlation_id),
        ] {
            if let Some(text) = text {
                let text = self.words.intern(text)?;
                self.event_words.push(ix.0, (word, text));
            }
        }
        Some(())
    }

    fn add_detail(&mut self, ix: EventIx, detail: Detail, body: Option<Body<'_>>) {
        if let Some(body) = body {
            self.details.push(ix.0, (detail, body.place));
        }
    }

    pub(super) fn add_call_words(&mut self, ix: CallIx, call: &ToolCall<'_>) -> Option<()> {
        for (word, text) in [
            (Word::Category, &call.category),
            (Word::Description, &call.description),
            (Word::RawCommand, &call.raw_command),
        ] {
            if let Some(text) = text {
                let text = self.words.intern(text)?;
                self.call_words.push(ix.0, (word, text));
            }
        }
        Some(())
    }

    /// The category that was recorded with a call.
    pub fn call_category(&self, ix: CallIx) -> Option<&str> {
        self.call_word(ix, Word::Category)
    }

    /// What a call is for, in words for a person.
    pub fn call_description(&self, ix: CallIx) -> Option<&str> {
        self.call_word(ix, Word::Description)
    }

    /// A call as a terminal would show it.
    pub fn raw_command(&self, ix: CallIx) -> Option<&str> {
        self.call_word(ix, Word::RawCommand)
    }

    fn call_word(&self, ix: CallIx, word: Word) -> Option<&str> {
        let mut words = self.call_words.all(ix.0).filter(|(it, _)| *it == word);
        words.next().map(|&(_, text): &(Word, StrIx)| self.words.get(text))
    }

    /// The annotations, in the order of the log: the place of each object.
    pub fn annotations(&self) -> impl Iterator<Item = (Entry<'_>, Place)> {
        let entries = self.annotations.iter().map(|&event| self.entry(EventIx(event)));
        entries.filter_map(|entry| Some((entry, entry.content()?)))
    }
}

impl<'s> Entry<'s> {
    pub fn detail(self, wanted: Detail) -> Option<Place> {
        let mut details = self.session.details.all(self.ix.0).filter(|(it, _)| *it == wanted);
        details.next().map(|&(_, place)| place)
    }

    /// The type of a message between agents.
    pub fn message_type(self) -> Option<&'s str> {
        self.word(Word::MessageType)
    }

    pub fn correlation_id(self) -> Option<&'s str> {
        self.word(Word::CorrelationId)
    }

    fn word(self, word: Word) -> Option<&'s str> {
        let mut words = self.session.event_words.all(self.ix.0).filter(|(it, _)| *it == word);
        words.next().map(|&(_, text)| self.session.words.get(text))
    }

    /// When the call of this result began, if that was recorded with it.
    pub fn started_at(self) -> Option<Timestamp> {
        self.session.started.get(self.ix.0).map(|&millis| Timestamp::from_millis(millis))
    }
}
