//! The skeleton of a session: its events, calls, usage and deliveries as columns of numbers.
//!
//! It is what a page draws before it has read a single text: a few bytes for each event, which are
//! used as they are. `docs/json.md` describes the format. Numbers of events count from 1, as in the
//! timeline; the highest number of a column stands for none.

mod columns;

use std::collections::BTreeMap;

use antiphon_model::{AgentIx, BodyError, CallIx, EventIx, Session};
use serde::Serialize;

use self::columns::{Column, Columns};
use crate::calls::{call_duration, call_status};
use crate::context_link::context_calls;
use crate::delivery::{Said, arrivals};
use crate::request::{Pricing, requests};
use crate::{CallStatus, Category, Delegations, Prices, Reading, TimelineKind, category};

/// What a skeleton is about.
#[derive(Debug, Clone, Copy)]
pub struct SkeletonOptions<'a> {
    pub session_id: &'a str,
    /// As long as this is the same, an event keeps its number.
    pub epoch: u64,
    /// Only what came after that many events.
    pub from: usize,
    pub prices: &'a Prices,
}

#[derive(Serialize)]
struct Header<'a> {
    session_id: &'a str,
    epoch: u64,
    from: usize,
    /// All events of the session.
    events: usize,
    /// The time of the first event, in milliseconds since 1970.
    start: Option<i64>,
    columns: &'a [Column],
    agents: &'a [Agent<'a>],
    tools: &'a [&'a str],
    kinds: [&'static str; TimelineKind::ALL.len()],
    categories: [&'static str; CATEGORIES.len()],
    statuses: [&'static str; STATUSES.len()],
    message_types: &'a [&'a str],
}

#[derive(Serialize)]
struct Agent<'a> {
    id: &'a str,
    name: &'a str,
    parent: Option<&'a str>,
    model: Option<&'a str>,
}

const CATEGORIES: [Category; 5] = [
    Category::Perception,
    Category::Action,
    Category::Interaction,
    Category::Planning,
    Category::TaskManagement,
];
const STATUSES: [CallStatus; 3] = [CallStatus::Success, CallStatus::Failed, CallStatus::Open];

/// The skeleton, as it is served and printed.
pub fn skeleton(
    reading: &Reading<'_>,
    options: &SkeletonOptions<'_>,
) -> Result<Vec<u8>, BodyError> {
    let session = reading.session;
    let mut columns = Columns::default();
    let start = session.time_span().map(|(first, _)| first.as_millis());
    add_events(session, options.from, start.unwrap_or_default(), &mut columns);
    let tools = add_calls(reading, options.from, &mut columns)?;
    add_usage(session, options, &mut columns);
    let message_types = add_deliveries(reading, options.from, &mut columns)?;
    add_context(reading, options.from, &mut columns)?;
    let agents: Vec<Agent<'_>> = session.agents().map(|(ix, _)| agent(session, ix)).collect();
    Ok(columns.finish(|columns| {
        let header = Header {
            session_id: options.session_id,
            epoch: options.epoch,
            from: options.from,
            events: session.len(),
            start,
            columns,
            agents: &agents,
            tools: &tools.words,
            kinds: TimelineKind::ALL.map(TimelineKind::as_str),
            categories: CATEGORIES.map(Category::as_str),
            statuses: STATUSES.map(CallStatus::as_str),
            message_types: &message_types.words,
        };
        // Strings and numbers have no way to fail.
        serde_json::to_string(&header).unwrap_or_default()
    }))
}

fn agent(session: &Session, ix: AgentIx) -> Agent<'_> {
    let agent = session.agent(ix);
    Agent {
        id: session.agent_id(ix),
        name: session.agent_name(ix),
        parent: agent.parent.agent().map(|parent| session.agent_id(parent)),
        model: agent.language_model(),
    }
}

/// The number of an event, from 1.
fn number(event: EventIx) -> u32 {
    u32::try_from(event.index()).map_or(u32::MAX, |index| index.saturating_add(1))
}

fn add_events(session: &Session, from: usize, start: i64, columns: &mut Columns) {
    let entries = || session.entries_from(from.min(session.len()));
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of any session fit")]
    let time = |at: i64| at.saturating_sub(start) as f64;
    let times: Vec<f64> =
        entries().map(|it| it.at().map_or(f64::NAN, |at| time(at.as_millis()))).collect();
    columns.f64("time", &times);
    let agents = entries().map(|it| it.agent().map(AgentIx::index));
    if session.agents().len() < usize::from(u16::MAX) {
        let short = |it: Option<usize>| it.and_then(|it| u16::try_from(it).ok());
        columns.u16("agent", &agents.map(|it| short(it).unwrap_or(u16::MAX)).collect::<Vec<_>>());
    } else {
        let long = |it: Option<usize>| it.and_then(|it| u32::try_from(it).ok());
        columns.u32("agent", &agents.map(|it| long(it).unwrap_or(u32::MAX)).collect::<Vec<_>>());
    }
    let kind = |kind: TimelineKind| position(&TimelineKind::ALL, |it| it == kind);
    columns.u8("kind", &entries().map(|it| kind(TimelineKind::of(it))).collect::<Vec<_>>());
}

/// The position in a list of names; the highest number, if it is not there.
fn position<T: Copy>(all: &[T], is_it: impl Fn(T) -> bool) -> u8 {
    let at = all.iter().position(|&it| is_it(it));
    at.and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX)
}

/// Words by number, in the order of their first use. Those beyond `most` have none.
struct Words<'s> {
    words: Vec<&'s str>,
    numbers: BTreeMap<&'s str, usize>,
    most: usize,
}

impl<'s> Words<'s> {
    fn new(most: usize) -> Self {
        Self { words: Vec::new(), numbers: BTreeMap::new(), most }
    }

    fn number(&mut self, word: &'s str) -> Option<usize> {
        if let Some(&known) = self.numbers.get(word) {
            return Some(known);
        }
        (self.words.len() < self.most).then(|| {
            self.numbers.insert(word, self.words.len());
            self.words.push(word);
            self.words.len() - 1
        })
    }
}

fn add_calls<'s>(
    reading: &Reading<'s>,
    from: usize,
    columns: &mut Columns,
) -> Result<Words<'s>, BodyError> {
    let session = reading.session;
    let delegations = Delegations::of(session);
    let mut tools = Words::new(usize::from(u16::MAX));
    let [mut numbers, mut events, mut results] = [const { Vec::new() }; 3];
    let [mut categories, mut statuses] = [const { Vec::new() }; 2];
    let (mut tool_numbers, mut durations) = (Vec::new(), Vec::new());
    for (ix, call) in session.calls() {
        // All tools have a number, so that it is the same whatever is left out.
        let tool = tools.number(session.tool_name(ix));
        if !is_new_call(session, ix, from) {
            continue;
        }
        numbers.push(u32::try_from(ix.index()).unwrap_or(u32::MAX));
        events.push(number(call.event));
        results.push(call.first_result().map_or(0, number));
        tool_numbers.push(tool.and_then(|it| u16::try_from(it).ok()).unwrap_or(u16::MAX));
        let category = category(reading, ix)?;
        categories.push(position(&CATEGORIES, |it| Some(it) == category));
        statuses.push(position(&STATUSES, |it| it == call_status(reading, ix)));
        #[expect(clippy::cast_precision_loss, reason = "the column has single precision")]
        let duration = call_duration(reading, &delegations, ix).map(|(millis, _)| millis as f32);
        durations.push(duration.unwrap_or(f32::NAN));
    }
    columns.u32("call.number", &numbers);
    columns.u32("call.event", &events);
    columns.u32("call.result", &results);
    columns.u16("call.tool", &tool_numbers);
    columns.u8("call.category", &categories);
    columns.u8("call.status", &statuses);
    columns.f32("call.duration", &durations);
    Ok(tools)
}

/// Whether a call or one of its results came after that many events.
fn is_new_call(session: &Session, ix: CallIx, from: usize) -> bool {
    let call = session.call(ix);
    call.event.index() >= from || call.last_result().is_some_and(|last| last.index() >= from)
}

fn add_usage(session: &Session, options: &SkeletonOptions<'_>, columns: &mut Columns) {
    let mut pricing = Pricing::new(options.prices);
    let [mut events, mut inputs, mut outputs, mut caches, mut contexts] = [const { Vec::new() }; 5];
    let mut costs = Vec::new();
    let short = |tokens: u64| u32::try_from(tokens).unwrap_or(u32::MAX);
    for request in requests(session) {
        let cost = pricing.of(&request).amount();
        if request.entry.ix().index() < options.from {
            continue;
        }
        let usage = request.usage;
        let cache = usage.cache_read.saturating_add(usage.cache_write);
        events.push(number(request.entry.ix()));
        inputs.push(short(usage.input));
        outputs.push(short(usage.output));
        caches.push(short(cache));
        contexts.push(short(usage.input.saturating_add(cache)));
        #[expect(clippy::cast_possible_truncation, reason = "the column has single precision")]
        costs.push(cost.map_or(f32::NAN, |cost| cost.as_f64() as f32));
    }
    columns.u32("usage.event", &events);
    columns.u32("usage.input", &inputs);
    columns.u32("usage.output", &outputs);
    columns.u32("usage.cache", &caches);
    columns.u32("usage.context", &contexts);
    columns.f32("usage.cost", &costs);
}

fn add_deliveries<'s>(
    reading: &Reading<'s>,
    from: usize,
    columns: &mut Columns,
) -> Result<Words<'s>, BodyError> {
    let session = reading.session;
    let mut words = Words::new(usize::from(u8::MAX));
    let [mut senders, mut recipients] = [const { Vec::new() }; 2];
    let mut types = Vec::new();
    let links = session.links(reading.bodies)?;
    for (said, links) in arrivals(reading, &links) {
        let Said::Event(said) = said else { continue };
        for link in links {
            let of_message = |event| session.entry(event).message_type();
            let word = of_message(link.to).or_else(|| of_message(said));
            let word = word.and_then(|word| words.number(word));
            if said.index().max(link.to.index()) < from {
                continue;
            }
            senders.push(number(said));
            recipients.push(number(link.to));
            types.push(word.and_then(|it| u8::try_from(it).ok()).unwrap_or(u8::MAX));
        }
    }
    columns.u32("delivery.from", &senders);
    columns.u32("delivery.to", &recipients);
    columns.u8("delivery.type", &types);
    Ok(words)
}

/// Which call used what another had read or found; by the numbers of the calls.
fn add_context(reading: &Reading<'_>, from: usize, columns: &mut Columns) -> Result<(), BodyError> {
    let session = reading.session;
    let call = |ix: CallIx| u32::try_from(ix.index()).unwrap_or(u32::MAX);
    let mut pairs = context_calls(reading)?;
    pairs.retain(|(a, b)| is_new_call(session, *a, from) || is_new_call(session, *b, from));
    columns.u32("context.from", &pairs.iter().map(|(from, _)| call(*from)).collect::<Vec<_>>());
    columns.u32("context.to", &pairs.iter().map(|(_, to)| call(*to)).collect::<Vec<_>>());
    Ok(())
}

#[cfg(test)]
mod tests;
