//! Moves results that were written before their calls behind them.
//!
//! A program that writes from several threads may write a tool's result before the message that
//! called the tool. A result is moved only to a call that has none: models choose the ids and
//! repeat them, and the call of an early result may be in no file at all.

use std::collections::BTreeMap;

use antiphon_model::{Event, EventKind, Message, Role};

/// Where a call is made, and whether a result follows.
#[derive(Debug, Clone, Copy)]
struct Made {
    at: usize,
    is_answered: bool,
}

/// Moves each result that precedes its call behind the message that makes the call. Everything else
/// keeps its order.
pub(crate) fn put_results_after_calls(events: &mut Vec<Event<'_>>) {
    let early = early_results(events);
    if early.is_empty() {
        return;
    }
    let mut waiting: BTreeMap<usize, Vec<Event<'_>>> = BTreeMap::new();
    let mut ordered = Vec::with_capacity(events.len());
    for (at, event) in std::mem::take(events).into_iter().enumerate() {
        match early.get(&at) {
            Some(&call) => waiting.entry(call).or_default().push(event),
            None => ordered.push(event),
        }
        ordered.extend(waiting.remove(&at).into_iter().flatten());
    }
    *events = ordered;
}

/// For the index of each result that precedes its call: the index of the call.
fn early_results(events: &[Event<'_>]) -> BTreeMap<usize, usize> {
    let mut made: BTreeMap<(&str, &str), Made> = BTreeMap::new();
    let mut early: Vec<(usize, (&str, &str))> = Vec::new();
    for (at, message) in events.iter().enumerate().filter_map(|(at, it)| Some((at, message(it)?))) {
        if let Some(call) = message.tool_call_id.as_deref().filter(|_| message.role == Role::Tool) {
            let key = (&*message.agent, call);
            match made.get_mut(&key) {
                Some(made) => made.is_answered = true,
                None => early.push((at, key)),
            }
        }
        for call in &message.tool_calls {
            let known = Made { at, is_answered: false };
            made.entry((&*message.agent, &*call.id)).or_insert(known);
        }
    }
    let call = |key| made.get(&key).filter(|made| !made.is_answered);
    early.into_iter().filter_map(|(at, key)| Some((at, call(key)?.at))).collect()
}

/// The message that an event is, if it is one.
pub(crate) fn message<'e, 'a>(event: &'e Event<'a>) -> Option<&'e Message<'a>> {
    let EventKind::Message(message) = &event.kind else { return None };
    Some(message)
}
