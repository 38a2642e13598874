//! Several streams, one order.
//!
//! A call precedes what the agent did that it made, and that precedes the call's result unless the
//! agent was launched in the background. For the rest time decides, taken as the latest so far in
//! its stream, and then the order of the streams. A wish that cannot be met (a circle) is dropped
//! and reported.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{Event, EventKind, ProblemKind, Timestamp};

use crate::Sink;

/// The events of one stream, in its order.
#[derive(Debug, Default)]
pub(crate) struct Voice<'a> {
    pub(crate) events: Vec<Event<'a>>,
    /// The call that started it, in another stream.
    pub(crate) started_by: Option<String>,
    /// Its call returned at once, and the agent went on.
    pub(crate) in_background: bool,
}

/// Hands the events of all voices on, in one order.
pub(crate) fn merge<'a>(voices: Vec<Voice<'a>>, sink: &mut dyn Sink<'a>) {
    if voices.len() == 1 {
        return voices
            .into_iter()
            .flat_map(|voice| voice.events)
            .for_each(|event| sink.event(event));
    }
    let mut lanes: Vec<Lane<'a>> = voices.into_iter().map(Lane::new).collect();
    let known: BTreeSet<String> =
        lanes.iter().flat_map(|lane| lane.calls.iter().cloned()).collect();
    let mut made: BTreeSet<String> = BTreeSet::new();
    // By call: how many agents it made that still work, and that its result waits for.
    let mut working: BTreeMap<String, usize> = BTreeMap::new();
    for call in lanes.iter().filter(|lane| lane.head.is_some()).filter_map(Lane::awaited_by) {
        *working.entry(call.to_owned()).or_default() += 1;
    }
    loop {
        let is_free = |lane: &Lane<'a>| {
            let begun = match &lane.started_by {
                Some(call) => lane.has_begun || !known.contains(call) || made.contains(call),
                None => true,
            };
            let answers = lane.head.as_ref().and_then(result_of);
            begun && answers.is_none_or(|call| working.get(call).is_none_or(|count| *count == 0))
        };
        let waiting = || lanes.iter().enumerate().filter(|(_, lane)| lane.head.is_some());
        let first = |free: bool| {
            let candidates = waiting().filter(|(_, lane)| !free || is_free(lane));
            candidates.min_by_key(|(at, lane)| (lane.now, *at)).map(|(at, _)| at)
        };
        let (next, is_forced) = match first(true) {
            Some(next) => (next, false),
            None => match first(false) {
                Some(next) => (next, true),
                None => return,
            },
        };
        let Some(lane) = lanes.get_mut(next) else { return };
        let Some(event) = lane.take() else { return };
        if lane.head.is_none()
            && let Some(count) = lane.awaited_by().and_then(|call| working.get_mut(call))
        {
            *count -= 1;
        }
        if is_forced {
            sink.problem(ProblemKind::Circle.at(event.line, event.place));
        }
        made.extend(calls_of(&event).map(Into::into));
        sink.event(event);
    }
}

struct Lane<'a> {
    head: Option<Event<'a>>,
    rest: std::vec::IntoIter<Event<'a>>,
    /// The latest time so far.
    now: Option<Timestamp>,
    calls: Vec<String>,
    started_by: Option<String>,
    in_background: bool,
    has_begun: bool,
}

impl<'a> Lane<'a> {
    fn new(voice: Voice<'a>) -> Self {
        let calls = voice.events.iter().flat_map(calls_of).map(Into::into).collect();
        let mut lane = Self {
            head: None,
            rest: voice.events.into_iter(),
            now: None,
            calls,
            started_by: voice.started_by,
            in_background: voice.in_background,
            has_begun: false,
        };
        lane.advance();
        lane
    }

    /// The call whose result waits for it.
    fn awaited_by(&self) -> Option<&str> {
        self.started_by.as_deref().filter(|_| !self.in_background)
    }

    fn take(&mut self) -> Option<Event<'a>> {
        let event = self.head.take();
        self.has_begun = true;
        self.advance();
        event
    }

    fn advance(&mut self) {
        self.head = self.rest.next();
        self.now = self.now.max(self.head.as_ref().and_then(|event| event.at));
    }
}

fn calls_of<'e>(event: &'e Event<'_>) -> impl Iterator<Item = &'e str> {
    let calls = match &event.kind {
        EventKind::Message(message) => message.tool_calls.as_slice(),
        EventKind::AgentCreated(_)
        | EventKind::AgentEnded(_)
        | EventKind::SessionStarted(_)
        | EventKind::SessionEnded(_)
        | EventKind::RunStatus(_)
        | EventKind::ContextEdited(_)
        | EventKind::Fragment(_)
        | EventKind::Annotation(_)
        | EventKind::Gap(_)
        | EventKind::Recovered(_)
        | EventKind::Unknown(_) => &[],
    };
    calls.iter().map(|call| &*call.id)
}

fn result_of<'e>(event: &'e Event<'_>) -> Option<&'e str> {
    let EventKind::Message(message) = &event.kind else { return None };
    message.tool_call_id.as_deref()
}
