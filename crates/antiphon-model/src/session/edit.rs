//! Edits of an agent's context, with their references resolved.

use std::collections::BTreeSet;

use super::Session;
use crate::{ContextAction, ContextEdited, Entry, EventIx, json};

/// What was done to a context. The log deletes nothing; a view applies it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextEdit {
    pub action: ContextAction,
    pub kept: Option<Selection>,
    pub dropped: Option<Selection>,
    /// How many of the first entries stay.
    pub kept_first: Option<u64>,
    pub summary: Option<EventIx>,
}

/// Which entries are selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    These(BTreeSet<EventIx>),
    /// From one entry to another, inclusive; a missing end is open.
    Range(Option<EventIx>, Option<EventIx>),
}

impl ContextEdit {
    pub(super) fn of(session: &Session, edited: &ContextEdited<'_>) -> Self {
        let select = |body: crate::Body<'_>| Selection::parse(session, body.json);
        Self {
            action: edited.action,
            kept: edited.kept.map(select),
            dropped: edited.dropped.map(select),
            kept_first: edited.kept_first,
            summary: edited.summary_ref.as_deref().and_then(|id| event(session, id)),
        }
    }
}

impl Selection {
    /// Parses a list of ids, a range `{"from", "to"}`, or one id: from that entry on.
    fn parse(session: &Session, raw: &str) -> Self {
        let named = |raw: &str| json::word(raw).and_then(|id| event(session, &id));
        let mut ids = BTreeSet::new();
        if json::elements(raw, |id| ids.extend(named(id))).is_ok() {
            return Self::These(ids);
        }
        if raw.starts_with('"') {
            return Self::Range(named(raw), None);
        }
        let end = |name| json::member(raw, name).and_then(named);
        Self::Range(end("from"), end("to"))
    }
}

fn event(session: &Session, id: &str) -> Option<EventIx> {
    // The edit itself already has its id, and is in no context.
    session.find_earlier(id).map(Entry::ix)
}
