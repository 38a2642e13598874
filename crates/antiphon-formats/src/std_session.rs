//! Session documents: STD-001 (one agent) and STD-008 (several), in every generation published.
//!
//! A document is one JSON value. It is first converted to lines in the log's own vocabulary, one
//! for each fact ([`document`]): a call and its result, an agent, a message, an annotation. What
//! the standards define has a place in the log; the rest of each object is kept as `extra`. Older
//! and deviating shapes are read all the same, and each leniency is a problem that names its place
//! by a JSON Pointer.
//!
//! What a document lists in `x_antiphon.derived` was not recorded but inferred by its writer. The
//! list is kept, so that it is not taken for recorded later.

mod agents;
mod call;
mod document;
mod fields;
mod message;
mod original;
mod phase;
mod status;
mod step;
pub(crate) mod top_level;

use std::collections::BTreeMap;

use antiphon_model::{Event, EventKind, decode};

use crate::line::records;
use crate::merge::{EventStream, merge};
use crate::{Format, Sink, Stream};

pub(crate) const FORMAT: Format = Format {
    name: "std-session",
    what: "session documents (STD-001, STD-008)",
    versions: "STD-001 0, 2.x and 3.0; STD-008 1.0",
    detect,
    lines: Some(document::lines),
    read,
    ..crate::ONE_FILE
};

/// Recognises the keys of the outermost object, even if the document is broken further down.
fn detect(head: &[&str]) -> bool {
    let keys = top_level::keys(head);
    let has = |key: &str| keys.iter().any(|it| it == key);
    let is_line_of_another = has("event_type") || has("type") || has("uuid") || has("message_id");
    let content = ["tool_calls", "phases", "steps", "user_prompt", "task_title"];
    has("session_id")
        && content.into_iter().any(has)
        && !is_line_of_another
        && !crate::atif::is_ours(head)
}

/// Reads the lines that a document became, and merges its agents into one order.
fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    let Some(stream) = streams.first() else { return };
    let mut event_streams: Vec<EventStream<'a>> = vec![EventStream::default()];
    // The stream of an agent: the first, unless a call created the agent.
    let mut by_agent: BTreeMap<String, usize> = BTreeMap::new();
    let mut ends = Vec::new();
    for record in records(stream, 0) {
        let event = record.and_then(|record| decode(&record.line));
        let event = match event {
            Ok(event) => event,
            Err(problem) => {
                sink.problem(problem);
                continue;
            }
        };
        match &event.kind {
            EventKind::SessionStarted(_) => sink.event(event),
            EventKind::SessionEnded(_) | EventKind::Annotation(_) => ends.push(event),
            EventKind::AgentCreated(agent) => {
                if agent.parent_id.is_some() {
                    by_agent.insert(agent.agent.to_string(), event_streams.len());
                    let started_by = agent.tool_call_id.as_deref().map(str::to_owned);
                    let parent = agent.parent_id.as_deref().and_then(|it| by_agent.get(it));
                    let started_in = Some(parent.copied().unwrap_or_default());
                    event_streams.push(EventStream {
                        started_by,
                        started_in,
                        ..EventStream::default()
                    });
                }
                let at = by_agent.get(&*agent.agent).copied().unwrap_or_default();
                add(&mut event_streams, at, event);
            }
            EventKind::Message(message) => {
                // Messages between agents have an order of their own.
                let at = match &message.message_type {
                    Some(_) => *by_agent.entry("\u{0}messages".to_owned()).or_insert_with(|| {
                        event_streams.push(EventStream::default());
                        event_streams.len() - 1
                    }),
                    None => by_agent.get(&*message.agent).copied().unwrap_or_default(),
                };
                add(&mut event_streams, at, event);
            }
            EventKind::AgentEnded(ended) => {
                let at = by_agent.get(&*ended.agent).copied().unwrap_or_default();
                add(&mut event_streams, at, event);
            }
            EventKind::RunStatus(_)
            | EventKind::ContextEdited(_)
            | EventKind::Fragment(_)
            | EventKind::Gap(_)
            | EventKind::Recovered(_)
            | EventKind::Unknown(_) => add(&mut event_streams, 0, event),
        }
    }
    merge(event_streams, sink);
    for event in ends {
        sink.event(event);
    }
}

fn add<'a>(event_streams: &mut [EventStream<'a>], at: usize, event: Event<'a>) {
    if let Some(event_stream) = event_streams.get_mut(at) {
        event_stream.events.push(event);
    }
}

#[cfg(test)]
mod tests;
