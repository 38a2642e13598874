//! Exactly what an agent had in its context at a step, and what it had lost by then.
//!
//! The log deletes nothing. A context is the transcript with every `context_edited` before the step
//! applied, and without the turns on abandoned branches.

use antiphon_model::{
    AgentIx, BodyError, ContextAction, ContextEdit, Entry, EntryKind, EventIx, MessageRef, Role,
    Selection, Session,
};
use serde::Serialize;

use crate::Reading;
use crate::context_tokens::{ContextTokens, context_tokens};

/// The context of an agent at a step.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Context {
    /// The id of the agent.
    pub agent_id: String,
    /// The name of the agent; its id, if it has no name.
    pub name: String,
    /// The id of the message that was asked for; null for the end of the log.
    pub at: Option<String>,
    /// What was in the context, in order.
    pub entries: Vec<ContextEntry>,
    /// What had been in the context before.
    pub dropped: Vec<DroppedEntry>,
    #[serde(flatten)]
    pub tokens: ContextTokens,
}

/// A message in the context of an agent.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextEntry {
    /// The id of the message.
    pub message_id: String,
    /// The role of the message, or the kind of event.
    pub role: EntryKind,
    /// The text of the message; for a call, the tool and its main arguments.
    pub text: String,
}

/// A message that was in the context once.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DroppedEntry {
    /// The id of the message.
    pub message_id: String,
    /// The role of the message, or the kind of event.
    pub role: EntryKind,
    /// The text of the message; for a call, the tool and its main arguments.
    pub text: String,
    /// The id of the event that dropped it.
    pub by: String,
    /// What that event did to the context.
    pub action: ContextAction,
}

/// The context of `agent` at `at`: if that is the agent's own message, what it had when it began to
/// write it; otherwise everything up to and including `at`.
pub fn context(
    reading: &Reading<'_>,
    agent: AgentIx,
    at: Option<EventIx>,
) -> Result<Context, BodyError> {
    let session = reading.session;
    let live = live(session, agent, at);
    let show = |event: EventIx| -> Result<(String, EntryKind, String), BodyError> {
        let entry = session.entry(event);
        Ok((entry.id().to_owned(), entry.kind(), reading.description(entry)?))
    };
    let entries = live.entries.iter().map(|&event| {
        let (message_id, role, text) = show(event)?;
        Ok(ContextEntry { message_id, role, text })
    });
    let dropped = live.dropped.iter().map(|&(event, by, action)| {
        let (message_id, role, text) = show(event)?;
        let by = session.entry(by).id().to_owned();
        Ok(DroppedEntry { message_id, role, text, by, action })
    });
    Ok(Context {
        agent_id: session.agent_id(agent).to_owned(),
        name: session.agent_name(agent).to_owned(),
        at: at.map(|at| session.entry(at).id().to_owned()),
        entries: entries.collect::<Result<_, BodyError>>()?,
        dropped: dropped.collect::<Result<_, BodyError>>()?,
        tokens: context_tokens(reading, agent, at)?,
    })
}

/// The messages that were in the context of `agent` at `at`, in order: see [`context`].
pub fn context_entries(session: &Session, agent: AgentIx, at: Option<EventIx>) -> Vec<EventIx> {
    live(session, agent, at).entries
}

pub(crate) fn live(session: &Session, agent: AgentIx, at: Option<EventIx>) -> Live {
    let is_own_action = |event: EventIx| {
        let entry = session.entry(event);
        entry.agent() == Some(agent) && entry.role() == Some(Role::Assistant)
    };
    let mut live = Live::default();
    for event in session.agent(agent).transcript() {
        if at.is_some_and(|at| event > at || (event == at && is_own_action(at))) {
            break;
        }
        let entry = session.entry(event);
        match entry.edit() {
            Some(edit) => live.apply(session, event, edit),
            None if entry.role().is_some() => live.add(entry),
            None => {}
        }
    }
    live
}

/// A context while the log is read.
#[derive(Debug, Default)]
pub(crate) struct Live {
    pub(crate) entries: Vec<EventIx>,
    pub(crate) dropped: Vec<(EventIx, EventIx, ContextAction)>,
}

impl Live {
    fn add(&mut self, entry: Entry<'_>) {
        // An entry that follows an older one abandons everything after that one.
        if let Some(MessageRef::Event(previous)) = entry.previous()
            && let Some(at) = self.entries.iter().position(|&event| event == previous)
        {
            self.drop_where(entry.ix(), ContextAction::Branch, |position, _| position > at);
        }
        self.entries.push(entry.ix());
    }

    fn apply(&mut self, session: &Session, by: EventIx, edit: &ContextEdit) {
        let is_summary = |event: EventIx| Some(event) == edit.summary;
        let is_system = |event: EventIx| session.entry(event).role() == Some(Role::System);
        if let Some(dropped) = &edit.dropped {
            let chosen = self.choose(dropped);
            self.drop_where(by, edit.action, |at, event| chosen(at, event) && !is_summary(event));
        } else if let Some(kept) = &edit.kept {
            let chosen = self.choose(kept);
            self.drop_where(by, edit.action, |at, event| !chosen(at, event) && !is_summary(event));
        } else if let Some(count) = edit.kept_first {
            self.drop_where(by, edit.action, |at, _| at as u64 >= count);
        } else if edit.action == ContextAction::Compact {
            self.drop_where(by, edit.action, |_, event| !is_system(event) && !is_summary(event));
        }
        // The summary replaces what was removed, and comes before what stayed.
        if let Some(summary) = edit.summary.filter(|summary| !self.entries.contains(summary)) {
            let at = self.entries.iter().take_while(|event| is_system(**event)).count();
            self.entries.insert(at, summary);
        }
    }

    /// A predicate for the selected entries, by position and event.
    fn choose<'s>(&self, selection: &'s Selection) -> impl Fn(usize, EventIx) -> bool + use<'s> {
        let position = |end: &Option<EventIx>| {
            end.and_then(|wanted| self.entries.iter().position(|&event| event == wanted))
        };
        // An end that is not in the context is replaced by the next entry that is.
        let later = |end: &Option<EventIx>| {
            end.map(|wanted| self.entries.iter().take_while(|&&event| event < wanted).count())
        };
        let (from, to) = match selection {
            Selection::Range(from, to) => (position(from).or_else(|| later(from)), position(to)),
            Selection::These(_) => (None, None),
        };
        move |at, event| match selection {
            Selection::These(events) => events.contains(&event),
            Selection::Range(..) => (from.unwrap_or(0)..=to.unwrap_or(usize::MAX)).contains(&at),
        }
    }

    fn drop_where(
        &mut self,
        by: EventIx,
        action: ContextAction,
        goes: impl Fn(usize, EventIx) -> bool,
    ) {
        let entries = std::mem::take(&mut self.entries);
        for (at, event) in entries.into_iter().enumerate() {
            if goes(at, event) {
                self.dropped.push((event, by, action));
            } else {
                self.entries.push(event);
            }
        }
    }
}
