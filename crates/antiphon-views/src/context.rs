//! Exactly what an agent had in its context at a step, and what it had lost by then.
//!
//! The log deletes nothing. A context is the transcript with every `context_edited` before the
//! step applied, and with the turns that a branch left behind put aside.

use std::collections::BTreeSet;

use antiphon_model::{
    AgentIx, BodyError, ContextAction, ContextEdited, Entry, EntryKind, EventIx, EventKind, Line,
    MessageRef, Role, decode, json,
};
use serde::Serialize;

use crate::Reading;

#[derive(Debug, Serialize)]
pub struct Context {
    pub agent_id: String,
    pub name: String,
    /// The step; the end of the log, if none was asked for.
    pub at: Option<String>,
    pub entries: Vec<ContextEntry>,
    pub dropped: Vec<Dropped>,
}

#[derive(Debug, Serialize)]
pub struct ContextEntry {
    pub message_id: String,
    pub role: &'static str,
    pub text: String,
}

/// An entry that was in the context once.
#[derive(Debug, Serialize)]
pub struct Dropped {
    pub message_id: String,
    pub role: &'static str,
    pub text: String,
    /// The event that dropped it, and what that was.
    pub by: String,
    pub action: &'static str,
}

/// The context of `agent` at `at`: when that is something the agent said or did, what it had when
/// it began to; otherwise everything up to and with it.
pub fn context(
    reading: &Reading<'_>,
    agent: AgentIx,
    at: Option<EventIx>,
) -> Result<Context, BodyError> {
    let session = reading.session;
    let own_deed = |event: EventIx| {
        let entry = session.entry(event);
        entry.agent() == Some(agent) && entry.role() == Some(Role::Assistant)
    };
    let mut live = Live::default();
    for event in session.agent(agent).transcript() {
        if at.is_some_and(|at| event > at || (event == at && own_deed(at))) {
            break;
        }
        let entry = session.entry(event);
        #[expect(clippy::wildcard_enum_match_arm, reason = "a transcript holds nothing else")]
        match entry.kind() {
            EntryKind::ContextEdited => live.edit(reading, entry)?,
            EntryKind::Message(_) => live.add(entry),
            _ => {}
        }
    }
    let show = |event: EventIx| -> Result<(String, &'static str, String), BodyError> {
        let entry = session.entry(event);
        Ok((entry.id().to_owned(), entry.kind().as_str(), reading.deed(entry)?))
    };
    let entries = live.entries.iter().map(|&event| {
        let (message_id, role, text) = show(event)?;
        Ok(ContextEntry { message_id, role, text })
    });
    let dropped = live.dropped.iter().map(|&(event, by, action)| {
        let (message_id, role, text) = show(event)?;
        let by = session.entry(by).id().to_owned();
        Ok(Dropped { message_id, role, text, by, action: action.as_str() })
    });
    Ok(Context {
        agent_id: session.agent_id(agent).to_owned(),
        name: session.agent_name(agent).to_owned(),
        at: at.map(|at| session.entry(at).id().to_owned()),
        entries: entries.collect::<Result<_, BodyError>>()?,
        dropped: dropped.collect::<Result<_, BodyError>>()?,
    })
}

/// A context while the log is walked.
#[derive(Debug, Default)]
struct Live {
    entries: Vec<EventIx>,
    dropped: Vec<(EventIx, EventIx, ContextAction)>,
}

impl Live {
    fn add(&mut self, entry: Entry<'_>) {
        // An entry that follows an older one has left everything after that one behind.
        if let Some(MessageRef::Event(previous)) = entry.previous()
            && let Some(at) = self.entries.iter().position(|&event| event == previous)
        {
            self.drop_where(entry.ix(), ContextAction::Branch, |position, _| position > at);
        }
        self.entries.push(entry.ix());
    }

    fn edit(&mut self, reading: &Reading<'_>, entry: Entry<'_>) -> Result<(), BodyError> {
        let text = reading.line(entry)?;
        let line = Line::new(&text, entry.line_number(), entry.line());
        let Ok(event) = decode(&line) else { return Ok(()) };
        let EventKind::ContextEdited(edit) = event.kind else { return Ok(()) };
        self.apply(reading, entry.ix(), &edit);
        Ok(())
    }

    fn apply(&mut self, reading: &Reading<'_>, by: EventIx, edit: &ContextEdited<'_>) {
        let session = reading.session;
        let summary = edit.summary_ref.as_deref().and_then(|id| session.find(id)).map(Entry::ix);
        let is_summary = |event: EventIx| Some(event) == summary;
        if let Some(dropped) = edit.dropped {
            let chosen = self.choose(reading, dropped.json);
            self.drop_where(by, edit.action, |at, event| chosen(at, event) && !is_summary(event));
        } else if let Some(kept) = edit.kept {
            let chosen = self.choose(reading, kept.json);
            self.drop_where(by, edit.action, |at, event| !chosen(at, event) && !is_summary(event));
        } else if let Some(count) = edit.kept_first {
            self.drop_where(by, edit.action, |at, _| at as u64 >= count);
        } else if edit.action == ContextAction::Compact {
            let is_system = |event| session.entry(event).role() == Some(Role::System);
            self.drop_where(by, edit.action, |_, event| !is_system(event) && !is_summary(event));
        }
        // The summary stands for what went, before what stayed.
        if let Some(summary) = summary.filter(|summary| !self.entries.contains(summary)) {
            let is_system = |event: &EventIx| session.entry(*event).role() == Some(Role::System);
            let at = self.entries.iter().take_while(|event| is_system(event)).count();
            self.entries.insert(at, summary);
        }
    }

    /// Which entries a `kept` or `dropped` means: a list of ids, or a range `{"from", "to"}` in
    /// which both ends count and either may be left out.
    fn choose(&self, reading: &Reading<'_>, raw: &str) -> impl Fn(usize, EventIx) -> bool + use<> {
        let event =
            |raw: &str| json::word(raw).and_then(|id| reading.session.find(&id)).map(Entry::ix);
        let mut ids = BTreeSet::new();
        let mut range = None;
        if json::elements(raw, |id| ids.extend(event(id))).is_err() {
            let position = |end: &str| {
                let wanted = event(json::member(raw, end)?)?;
                self.entries.iter().position(|&event| event == wanted)
            };
            let from = position("from").unwrap_or(0);
            let to = position("to").unwrap_or(usize::MAX);
            range = Some(from..=to);
        }
        move |at, event| ids.contains(&event) || range.as_ref().is_some_and(|r| r.contains(&at))
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
