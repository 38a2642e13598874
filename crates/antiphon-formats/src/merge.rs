//! Merges the events of several streams into one order.
//!
//! A call precedes what the agent that it created did, and that precedes the call's result unless
//! the agent was launched in the background. Otherwise the time decides, taken as the latest so far
//! in its stream, and then the order of the streams. A constraint that cannot be met (a circle) is
//! dropped and reported.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{AgentCreated, Event, EventKind, ProblemKind, Timestamp};

use crate::{Sink, order};

/// The events of one stream, in its order.
#[derive(Debug, Default)]
pub(crate) struct EventStream<'a> {
    pub(crate) events: Vec<Event<'a>>,
    /// The id of the call that started this stream; the call is in another stream.
    pub(crate) started_by: Option<String>,
    /// The index of the stream with that call; if it is not known, the first with such a call is
    /// taken.
    pub(crate) started_in: Option<usize>,
    /// Whether the call returned at once while the agent went on.
    pub(crate) in_background: bool,
}

impl<'a> EventStream<'a> {
    /// The events of an agent, preceded by its creation. The call that created it is in the stream
    /// `started_in`.
    pub(crate) fn of(
        agent: AgentCreated<'a>,
        mut events: Vec<Event<'a>>,
        started_in: Option<usize>,
    ) -> Option<Self> {
        let first = events.first()?;
        let is_session = matches!(first.kind, EventKind::SessionStarted(_));
        let started_by = agent.tool_call_id.as_ref().map(|call| call.to_string());
        let created = Event {
            message_id: Some(Cow::Owned(format!("created:{}", agent.agent))),
            at: events.iter().find_map(|event| event.at),
            line: first.line,
            place: first.place,
            kind: EventKind::AgentCreated(agent),
            extra: None,
            problems: Vec::new(),
        };
        events.insert(usize::from(is_session), created);
        Some(Self { events, started_by, started_in, in_background: false })
    }
}

/// Passes on the events of all streams, in one order.
pub(crate) fn merge<'a>(event_streams: Vec<EventStream<'a>>, sink: &mut dyn Sink<'a>) {
    let mut event_streams = event_streams;
    event_streams
        .iter_mut()
        .for_each(|event_stream| order::put_results_after_calls(&mut event_stream.events));
    if event_streams.len() == 1 {
        return event_streams
            .into_iter()
            .flat_map(|event_stream| event_stream.events)
            .for_each(|event| sink.event(event));
    }
    let mut lanes: Vec<Lane<'a>> = event_streams.into_iter().map(Lane::new).collect();
    find_starts(&mut lanes);
    let mut made: BTreeSet<CallKey> = BTreeSet::new();
    // For each call: how many agents that it created still work, so that its result has to wait.
    let mut working: BTreeMap<CallKey, usize> = BTreeMap::new();
    // For each call: the lanes that it starts.
    let mut starts: BTreeMap<CallKey, Vec<usize>> = BTreeMap::new();
    for (at, lane) in lanes.iter().enumerate().filter(|(_, lane)| lane.head.is_some()) {
        if let Some(call) = lane.awaited_by() {
            *working.entry(call.clone()).or_default() += 1;
        }
        if let Some(call) = &lane.start {
            starts.entry(call.clone()).or_default().push(at);
        }
    }
    let mut turns = Turns::new(&lanes);
    loop {
        let is_free = |at: usize| {
            let Some(lane) = lanes.get(at) else { return false };
            let begun =
                lane.has_begun || lane.start.as_ref().is_none_or(|call| made.contains(call));
            let answers = lane.head.as_ref().and_then(result_of);
            let awaited = answers.and_then(|call| working.get(&(at, call.to_owned())));
            begun && awaited.is_none_or(|count| *count == 0)
        };
        let Some((next, is_forced)) = turns.next(is_free) else { return };
        let Some(lane) = lanes.get_mut(next) else { return };
        let Some(event) = lane.take() else { return };
        let mut waited_for = Vec::new();
        if lane.head.is_some() {
            turns.waiting.insert((lane.now, next));
        } else if let Some(call) = lane.awaited_by()
            && let Some(count) = working.get_mut(call)
        {
            *count -= 1;
            waited_for.push(call.0);
        }
        if is_forced {
            sink.problem(ProblemKind::Circle.at(event.line, event.place));
        }
        for call in calls_of(&event) {
            let call = (next, call.to_owned());
            waited_for.extend(starts.get(&call).into_iter().flatten());
            made.insert(call);
        }
        for at in waited_for {
            turns.wake(at, lanes.get(at).and_then(|lane| lane.now));
        }
        sink.event(event);
    }
}

/// The lanes that wait for their turn, by time and then by their order.
#[derive(Debug, Default)]
struct Turns {
    waiting: BTreeSet<Turn>,
    /// Those that were not free when their turn came.
    blocked: BTreeSet<Turn>,
}

type Turn = (Option<Timestamp>, usize);

impl Turns {
    fn new(lanes: &[Lane<'_>]) -> Self {
        let waiting = lanes.iter().enumerate().filter(|(_, lane)| lane.head.is_some());
        let waiting = waiting.map(|(at, lane)| (lane.now, at)).collect();
        Self { waiting, ..Self::default() }
    }

    /// The first lane that is free; if none is, the first lane, and `true` because it is forced.
    fn next(&mut self, is_free: impl Fn(usize) -> bool) -> Option<(usize, bool)> {
        while let Some(turn) = self.waiting.pop_first() {
            if is_free(turn.1) {
                return Some((turn.1, false));
            }
            self.blocked.insert(turn);
        }
        self.blocked.pop_first().map(|(_, at)| (at, true))
    }

    /// Lets a lane try again, because what it waits for may have come.
    fn wake(&mut self, at: usize, now: Option<Timestamp>) {
        if self.blocked.remove(&(now, at)) {
            self.waiting.insert((now, at));
        }
    }
}

/// A call with the lane that makes it, because several agents may use the same ids.
type CallKey = (usize, String);

/// Finds the calls that started lanes. A lane whose call does not exist does not wait.
fn find_starts(lanes: &mut [Lane<'_>]) {
    let mut by_call: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, lane) in lanes.iter().enumerate() {
        for call in &lane.calls {
            by_call.entry(call.clone()).or_default().push(at);
        }
    }
    for (at, lane) in lanes.iter_mut().enumerate() {
        let Some(call) = lane.started_by.take() else { continue };
        let makers = by_call.get(&call).map(Vec::as_slice).unwrap_or_default();
        let named = lane.started_in.filter(|maker| makers.contains(maker));
        let maker = named.or_else(|| makers.iter().copied().find(|maker| *maker != at));
        lane.start = maker.map(|maker| (maker, call));
    }
}

struct Lane<'a> {
    head: Option<Event<'a>>,
    rest: std::vec::IntoIter<Event<'a>>,
    /// The latest time so far.
    now: Option<Timestamp>,
    calls: Vec<String>,
    started_by: Option<String>,
    started_in: Option<usize>,
    /// The call that started it.
    start: Option<CallKey>,
    in_background: bool,
    has_begun: bool,
}

impl<'a> Lane<'a> {
    fn new(event_stream: EventStream<'a>) -> Self {
        let calls = event_stream.events.iter().flat_map(calls_of).map(Into::into).collect();
        let mut lane = Self {
            head: None,
            rest: event_stream.events.into_iter(),
            now: None,
            calls,
            started_by: event_stream.started_by,
            started_in: event_stream.started_in,
            start: None,
            in_background: event_stream.in_background,
            has_begun: false,
        };
        lane.advance();
        lane
    }

    /// The call whose result waits for this lane.
    fn awaited_by(&self) -> Option<&CallKey> {
        self.start.as_ref().filter(|_| !self.in_background)
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
    order::message(event).into_iter().flat_map(|message| &message.tool_calls).map(|call| &*call.id)
}

fn result_of<'e>(event: &'e Event<'_>) -> Option<&'e str> {
    order::message(event)?.tool_call_id.as_deref()
}
