//! When agents were at work, and when none was.
//!
//! An agent works from when it receives a message until it answers, and a call from when it is made
//! until it ends. The time during which at least one of these goes on is busy, however many there
//! are; the rest is idle: mostly waiting for a person.

use antiphon_model::{EntryKind, Role, Timestamp};
use serde::Serialize;

use crate::Reading;
use crate::calls::call_back_at;

/// How a session's time was spent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Busy {
    /// The time from the first event to the last, in milliseconds.
    pub wall_ms: i64,
    /// The time during which an agent or a call was active, in milliseconds, each moment counted
    /// once.
    pub busy_ms: i64,
    /// The times during which none was, in order. With `busy_ms` they make up `wall_ms`.
    pub idle: Vec<Idle>,
}

/// A time during which no agent and no call was active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Idle {
    /// When it began.
    pub from: Timestamp,
    /// When it ended.
    pub to: Timestamp,
    /// How long it was, in milliseconds.
    pub ms: i64,
}

/// How the time was spent; `None` for a log without times.
pub fn busy(reading: &Reading<'_>) -> Option<Busy> {
    let session = reading.session;
    let times = || session.entries().filter_map(|entry| entry.at());
    let (first, last) = (times().min()?, times().max()?);
    let mut stretches = work(reading);
    stretches.sort_unstable();
    let mut idle = Vec::new();
    let mut done = first;
    for (from, to) in stretches {
        add_idle(&mut idle, done, from.min(last));
        done = done.max(to.min(last));
    }
    add_idle(&mut idle, done, last);
    let wall_ms = last.since(first);
    let busy_ms = wall_ms - idle.iter().map(|idle| idle.ms).sum::<i64>();
    Some(Busy { wall_ms, busy_ms, idle })
}

fn add_idle(idle: &mut Vec<Idle>, from: Timestamp, to: Timestamp) {
    let ms = to.since(from);
    if ms > 0 {
        idle.push(Idle { from, to, ms });
    }
}

/// Every period of work, in no order.
fn work(reading: &Reading<'_>) -> Vec<(Timestamp, Timestamp)> {
    let session = reading.session;
    let mut stretches = Vec::new();
    for (_, agent) in session.agents() {
        let mut before = agent.created.and_then(|event| session.entry(event).at());
        for event in agent.transcript() {
            let entry = session.entry(event);
            let Some(at) = entry.at() else { continue };
            let is_work = matches!(
                entry.kind(),
                EntryKind::Message(Role::Assistant) | EntryKind::ContextEdited
            );
            stretches.extend(before.filter(|_| is_work).map(|before| (before, at)));
            before = Some(at);
        }
    }
    for (ix, _) in session.calls() {
        // The agent that a call created counts by itself: some calls return while it goes on for
        // days.
        stretches.extend(session.call_started_at(ix).zip(call_back_at(reading, ix)));
    }
    // A clock may go back.
    stretches.retain(|(from, to)| from <= to);
    stretches
}

#[cfg(test)]
mod tests;
