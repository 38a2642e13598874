//! The fold: what all the events so far amount to.
//!
//! A session is columns and places. An event leaves a row of some eighty bytes, its id, and a
//! number in its agent's transcript; what it said stays where it stands in the source and is read
//! through [`Bodies`](crate::Bodies). Every lookup is by a table built as events arrive, so
//! folding never looks back over the log.

mod agent;
mod call;
mod column;
mod detail;
mod edit;
mod entry;
mod info;
mod numbered;
mod parent;
mod strings;

use crate::event::Text;
use crate::{
    AgentIx, CallIx, Event, EventIx, EventKind, Message, Place, Problem, ProblemKind, Role,
    Timestamp, Usage, is_blank,
};
pub use agent::{Agent, Parent};
pub use call::Call;
use column::{Sparse, push_tight};
pub use detail::Detail;
pub use edit::{ContextEdit, Selection};
pub use entry::{Entry, EntryKind};
pub use info::Info;
use strings::{StrIx, Strings};

/// A folded session.
#[derive(Debug, Default, Clone)]
pub struct Session {
    pub(crate) info: Info,
    pub(crate) activity: crate::Activity,
    rows: Vec<Row>,
    times: Option<(Timestamp, Timestamp)>,
    agents: Vec<Agent>,
    calls: Vec<Call>,
    problems: Vec<Problem>,

    message_ids: Strings,
    /// By the number of a message id: the latest event that has it.
    latest: Vec<u32>,
    agent_ids: Strings,
    call_ids: Strings,
    /// By the number of a call id: the latest call that has it.
    latest_call: Vec<u32>,
    /// Names of tools and models, and ids that are mentioned and never defined.
    words: Strings,
    makers: parent::Makers,

    more_content: Sparse<Place>,
    request_ids: Sparse<StrIx>,
    edits: Sparse<edit::ContextEdit>,
    /// What unknown events call themselves.
    event_types: Sparse<StrIx>,
    causes: Sparse<RawRef>,
    replies: Sparse<RawRef>,
    previous: Sparse<RawRef>,
    durations: Sparse<u64>,
    usages: Sparse<(Usage, Option<StrIx>)>,
    /// What requests cost by their own declaration, in dollars.
    declared_costs: Sparse<f64>,
    /// Requests of which only a part of the tokens is told.
    partial_usages: Sparse<()>,
    details: Sparse<(Detail, Place)>,
    event_words: Sparse<(detail::Word, StrIx)>,
    /// By call.
    call_words: Sparse<(detail::Word, StrIx)>,
    /// When calls began, by result.
    started: Sparse<i64>,
    /// When calls were made, by call, where that is not when their message began.
    made_at: Sparse<i64>,
    annotations: Vec<u32>,
    /// Results of calls that have one already.
    more_results: Vec<call::MoreResult>,
}

/// Where a message came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Not said: the agent itself.
    Own,
    Agent(AgentIx),
    External,
    System,
}

/// A reference to a message, whether or not the log has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRef<'s> {
    Event(EventIx),
    /// No earlier line has that id.
    Dangling(&'s str),
}

/// A reference in four bytes: nothing, an event, or (top bit) a word that names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RawRef(u32);

impl RawRef {
    const NONE: Self = Self(u32::MAX);
    const DANGLING: u32 = 1 << 31;
}

/// What is kept of an event.
#[derive(Debug, Clone)]
struct Row {
    line: Place,
    content: Place,
    at: i64,
    line_number: u32,
    id: StrIx,
    agent: u32,
    source: Source,
    utterance_ref: RawRef,
    call: u32,
    calls_from: u32,
    call_count: u16,
    kind: EntryKind,
    is_error: bool,
}

/// Times that differ by less tell no order.
const CLOCK_MS: i64 = 1000;
const NO_TIME: i64 = i64::MIN;
const NOBODY: u32 = u32::MAX;

impl Row {
    fn at(&self) -> Option<Timestamp> {
        (self.at != NO_TIME).then(|| Timestamp::from_millis(self.at))
    }

    fn agent(&self) -> Option<AgentIx> {
        (self.agent != NOBODY).then_some(AgentIx(self.agent))
    }

    fn call(&self) -> Option<CallIx> {
        (self.call != NOBODY).then_some(CallIx(self.call))
    }
}

impl Session {
    /// Takes in one more event. Never fails: what does not fit becomes a problem.
    pub fn apply(&mut self, event: &Event<'_>) {
        self.problems.extend(event.problems.iter().cloned());
        match self.try_apply(event) {
            Some(()) => event.at.into_iter().for_each(|at| self.note_time(at)),
            None => self.problems.push(ProblemKind::Full.at(event.line, event.place)),
        }
    }

    /// Changes the texts that the fold keeps itself (title, prompt, names of agents) instead of
    /// reading them through [`Bodies`](crate::Bodies): so that nothing can be shown or cut that was
    /// not changed. `change` gives nothing where a text stays as it is.
    pub fn change_texts(&mut self, change: &dyn Fn(&str) -> Option<String>) {
        self.info.change_texts(change);
        self.agents.iter_mut().for_each(|agent| agent.change_texts(change));
    }

    /// Notes what a reader could not decode.
    pub fn add_problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub fn info(&self) -> &Info {
        &self.info
    }

    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The events, in the order of the log.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = Entry<'_>> + ExactSizeIterator {
        self.entries_from(0)
    }

    /// The events from the `from`th on.
    pub fn entries_from(
        &self,
        from: usize,
    ) -> impl DoubleEndedIterator<Item = Entry<'_>> + ExactSizeIterator {
        let rows = self.rows.get(from..).unwrap_or_default();
        rows.iter().enumerate().map(move |(n, row)| {
            let ix = EventIx(u32::try_from(from + n).unwrap_or(u32::MAX));
            Entry { session: self, row, ix }
        })
    }

    #[expect(clippy::indexing_slicing, reason = "an `EventIx` comes from this session alone")]
    pub fn entry(&self, ix: EventIx) -> Entry<'_> {
        Entry { session: self, row: &self.rows[ix.index()], ix }
    }

    /// The latest event with that id.
    pub fn find(&self, message_id: &str) -> Option<Entry<'_>> {
        let known = self.message_ids.known(message_id)?;
        let latest = *self.latest.get(known.0 as usize)?;
        Some(self.entry(EventIx(latest)))
    }

    /// Whether several events have the same id.
    pub fn has_repeated_ids(&self) -> bool {
        self.latest.len() < self.rows.len()
    }

    /// Every message that spent tokens or money, in the order of the log, with the model that was
    /// asked.
    pub fn requests(&self) -> impl Iterator<Item = (Entry<'_>, Usage, Option<&str>)> {
        self.usages.iter().map(|(event, (usage, model))| {
            let model = model.map(|model| self.words.get(model));
            (self.entry(EventIx(event)), *usage, model)
        })
    }

    /// The latest event with that id that is folded already.
    fn find_earlier(&self, message_id: &str) -> Option<Entry<'_>> {
        let known = self.message_ids.known(message_id)?;
        let latest = *self.latest.get(known.0 as usize)?;
        ((latest as usize) < self.rows.len()).then(|| self.entry(EventIx(latest)))
    }

    /// All tokens, each counted at the message that spent it.
    pub fn usage(&self) -> Usage {
        let mut total = Usage::default();
        for (_, (usage, _)) in self.usages.iter() {
            total += *usage;
        }
        total
    }

    /// The earliest and the latest time in the log. Events may bring times of their own, so that
    /// the first line is not always the earliest.
    pub fn time_span(&self) -> Option<(Timestamp, Timestamp)> {
        self.times
    }

    /// What the fold keeps on the heap, bodies excluded because it keeps none.
    pub fn heap_bytes(&self) -> usize {
        let transcripts: usize = self.agents.iter().map(Agent::heap_bytes).sum();
        self.rows.capacity() * size_of::<Row>()
            + self.agents.capacity() * size_of::<Agent>()
            + transcripts
            + self.calls.capacity() * size_of::<Call>()
            + (self.latest.capacity() + self.latest_call.capacity()) * 4
            + self.message_ids.heap_bytes()
            + self.agent_ids.heap_bytes()
            + self.call_ids.heap_bytes()
            + self.words.heap_bytes()
            + self.makers.heap_bytes()
            + self.more_content.heap_bytes()
            + self.request_ids.heap_bytes()
            + self.edits.heap_bytes()
            + self.event_types.heap_bytes()
            + self.causes.heap_bytes()
            + self.replies.heap_bytes()
            + self.previous.heap_bytes()
            + self.durations.heap_bytes()
            + self.usages.heap_bytes()
            + self.declared_costs.heap_bytes()
            + self.partial_usages.heap_bytes()
            + self.details.heap_bytes()
            + self.event_words.heap_bytes()
            + self.call_words.heap_bytes()
            + self.started.heap_bytes()
            + self.made_at.heap_bytes()
            + self.annotations.capacity() * 4
            + self.more_results.capacity() * size_of::<call::MoreResult>()
    }

    fn try_apply(&mut self, event: &Event<'_>) -> Option<()> {
        let ix = EventIx::next(self.rows.len())?;
        let id = self.define_id(ix, event)?;
        let mut row = Row {
            line: event.place,
            content: Place::NONE,
            at: event.at.map_or(NO_TIME, Timestamp::as_millis),
            line_number: u32::try_from(event.line).unwrap_or(u32::MAX),
            id,
            agent: NOBODY,
            source: Source::Own,
            utterance_ref: RawRef::NONE,
            call: NOBODY,
            calls_from: 0,
            call_count: 0,
            kind: EntryKind::Unknown,
            is_error: false,
        };
        if event.kind.goes_on() {
            self.info.go_on();
        }
        match &event.kind {
            EventKind::Message(message) => self.fold_message(ix, &mut row, message)?,
            EventKind::AgentCreated(agent) => self.fold_agent_created(ix, &mut row, agent)?,
            EventKind::AgentEnded(ended) => self.fold_agent_ended(ix, &mut row, ended)?,
            EventKind::SessionStarted(started) => {
                row.kind = EntryKind::SessionStarted;
                self.info.start(started);
                self.info.started_by = Some(ix);
            }
            EventKind::SessionEnded(ended) => {
                row.kind = EntryKind::SessionEnded;
                self.info.end(ended);
                self.info.ended_by = Some(ix);
            }
            EventKind::RunStatus(_) => row.kind = EntryKind::RunStatus,
            EventKind::ContextEdited(edited) => {
                row.kind = EntryKind::ContextEdited;
                row.agent = self.agent_named(&edited.agent, ix)?.0;
                self.enter(AgentIx(row.agent), ix);
                let edit = ContextEdit::of(self, edited);
                self.edits.push(ix.0, edit);
            }
            EventKind::Fragment(fragment) => {
                row.kind = EntryKind::Fragment;
                row.content = fragment.content.map_or(Place::NONE, |body| body.place);
                row.source = self.source(fragment.agent.as_deref(), ix)?;
                if let Source::Agent(agent) = row.source {
                    row.agent = agent.0;
                }
                self.add_causes(ix, &fragment.cause)?;
            }
            EventKind::Annotation(annotation) => {
                row.kind = EntryKind::Annotation;
                row.content = annotation.annotation.place;
                if let Some(agent) = &annotation.agent {
                    row.agent = self.agent_named(agent, ix)?.0;
                }
                self.annotations.push(ix.0);
            }
            EventKind::Gap(_) => row.kind = EntryKind::Gap,
            EventKind::Recovered(_) => row.kind = EntryKind::Recovered,
            EventKind::Unknown(unknown) => {
                let event_type = self.words.intern(&unknown.event_type)?;
                self.event_types.push(ix.0, event_type);
                row.agent = match &unknown.agent {
                    Some(agent) => self.agent_named(agent, ix)?.0,
                    None => NOBODY,
                };
            }
        }
        self.add_details(ix, event)?;
        push_tight(&mut self.rows, row);
        Some(())
    }

    fn note_time(&mut self, at: Timestamp) {
        let (first, last) = self.times.unwrap_or((at, at));
        // Who writes down the beginning may look at the clock a little later than who writes down
        // what was said, or at a clock without fractions.
        let is_earlier = first.since(at) >= CLOCK_MS;
        self.times = Some((if is_earlier { at } else { first }, last.max(at)));
    }

    fn fold_message(&mut self, ix: EventIx, row: &mut Row, message: &Message<'_>) -> Option<()> {
        let agent = self.agent_named(&message.agent, ix)?;
        row.kind = EntryKind::Message(message.role);
        row.agent = agent.0;
        row.source = match &message.source {
            Some(source) => self.source(Some(source), ix)?,
            None => Source::Own,
        };
        row.is_error = message.is_error.unwrap_or_default();
        row.content = message
            .content
            .filter(|body| !is_blank(body.json))
            .map_or(Place::NONE, |body| body.place);
        for body in &message.more_content {
            self.more_content.push(ix.0, body.place);
        }
        if let Some(id) = &message.utterance_ref {
            row.utterance_ref = self.refer(id)?;
        }
        if let Some(id) = &message.request_id {
            let id = self.words.intern(id)?;
            self.request_ids.push(ix.0, id);
        }
        if let Some(call) = &message.tool_call_id
            && message.role == Role::Tool
            && let Some(call) = self.add_result(call, agent, ix)
        {
            row.call = call.0;
        }
        row.calls_from = u32::try_from(self.calls.len()).ok()?;
        for call in &message.tool_calls {
            self.add_call(ix, agent, call)?;
            row.call_count = row.call_count.checked_add(1)?;
        }
        self.enter(agent, ix);
        if message.role != Role::Assistant
            && let Some(agent) = self.agents.get_mut(agent.index())
        {
            agent.turn = agent.turn.wrapping_add(1);
        }
        self.add_causes(ix, &message.cause)?;
        if let Some(id) = &message.reply_to {
            let reference = self.refer(id)?;
            self.replies.push(ix.0, reference);
        }
        if let Some(id) = &message.previous_id {
            let reference = self.refer(id)?;
            self.previous.push(ix.0, reference);
        }
        if let Some(duration) = message.duration_ms {
            self.durations.push(ix.0, duration);
        }
        let cost = message.cost_usd.filter(|cost| cost.is_finite() && *cost >= 0.0);
        if message.usage.is_some() || cost.is_some() {
            let model = match &message.model {
                Some(model) => Some(self.words.intern(model)?),
                None => None,
            };
            // Whoever declares a cost has made a request, even where nobody counted its tokens.
            self.usages.push(ix.0, (message.usage.unwrap_or_default(), model));
            if let Some(cost) = cost {
                self.declared_costs.push(ix.0, cost);
            }
            if message.usage_partial {
                self.partial_usages.push(ix.0, ());
            }
        }
        Some(())
    }

    fn define_id(&mut self, ix: EventIx, event: &Event<'_>) -> Option<StrIx> {
        let by_line;
        let id = match &event.message_id {
            Some(id) => &**id,
            None => {
                by_line = format!("line:{}", event.line);
                &by_line
            }
        };
        let number = self.message_ids.intern(id)?;
        match self.latest.get_mut(number.0 as usize) {
            Some(latest) => {
                *latest = ix.0;
                let problem = ProblemKind::DuplicateId(id.to_owned());
                self.problems.push(problem.at(event.line, event.place));
            }
            None => push_tight(&mut self.latest, ix.0),
        }
        Some(number)
    }

    /// A reference to the nearest earlier event with that id.
    fn refer(&mut self, id: &str) -> Option<RawRef> {
        let earlier = self
            .message_ids
            .known(id)
            .and_then(|known| self.latest.get(known.0 as usize).copied())
            // The event that is being folded has defined its own id already.
            .filter(|&event| (event as usize) < self.rows.len());
        match earlier {
            Some(event) => Some(RawRef(event)),
            None => {
                let word = self.words.intern(id)?;
                (word.0 < RawRef::DANGLING - 1).then_some(RawRef(word.0 | RawRef::DANGLING))
            }
        }
    }

    fn reference(&self, raw: RawRef) -> Option<MessageRef<'_>> {
        if raw == RawRef::NONE {
            None
        } else if raw.0 & RawRef::DANGLING != 0 {
            Some(MessageRef::Dangling(self.words.get(StrIx(raw.0 & !RawRef::DANGLING))))
        } else {
            Some(MessageRef::Event(EventIx(raw.0)))
        }
    }

    fn add_causes(&mut self, ix: EventIx, causes: &[Text<'_>]) -> Option<()> {
        for cause in causes.iter().filter(|cause| !is_outside(cause)) {
            // `<message>.<call>` names one call of the message; the link is to the message.
            let reference = match cause.split_once('.') {
                Some((message, _)) if self.message_ids.known(cause).is_none() => {
                    self.refer(message)?
                }
                _ => self.refer(cause)?,
            };
            self.causes.push(ix.0, reference);
        }
        Some(())
    }

    fn source(&mut self, word: Option<&str>, ix: EventIx) -> Option<Source> {
        Some(match word {
            None => Source::Own,
            Some("system") => Source::System,
            Some(word) if is_outside(word) => Source::External,
            Some(agent) => Source::Agent(self.agent_named(agent, ix)?),
        })
    }
}

/// Words for the world outside the system. The seed project reserves `user` as well.
fn is_outside(word: &str) -> bool {
    matches!(word, "external" | "user")
}

#[cfg(test)]
mod tests;
