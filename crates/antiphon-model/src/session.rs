//! The fold: the result of all events so far.
//!
//! A session consists of columns and places. An event leaves a row of 56 bytes, its id, and a
//! number in its agent's transcript; its content stays in the source and is read through
//! [`Bodies`](crate::Bodies). Every lookup uses a table that is built as events arrive, so folding
//! never looks back over the log.

mod agent;
mod call;
mod column;
mod detail;
mod edit;
mod entry;
mod info;
mod numbered;
mod parent;
mod row;
mod strings;
mod usages;

use crate::event::Text;
use crate::{
    AgentIx, Event, EventIx, EventKind, Message, Place, Problem, ProblemKind, Role, Timestamp,
    Usage, is_blank,
};
pub use agent::{Agent, Parent};
pub use call::Call;
use column::{Sparse, push_tight};
pub use detail::Detail;
pub use edit::{ContextEdit, Selection};
pub use entry::{Entry, EntryKind};
pub use info::Info;
use row::{Draft, Row};
use strings::{StrIx, Strings};
use usages::Usages;

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
    /// For the number of each message id: the latest event that has it.
    latest: Vec<u32>,
    agent_ids: Strings,
    call_ids: Strings,
    /// For the number of each call id: the latest call that has it.
    latest_call: Vec<u32>,
    /// Names of tools and models, and ids that are mentioned and never defined.
    words: Strings,
    makers: parent::Makers,

    /// Contents that do not stand in the lines of their events.
    far_content: Sparse<Place>,
    more_content: Sparse<Place>,
    utterance_refs: Sparse<RawRef>,
    request_ids: Sparse<StrIx>,
    edits: Sparse<edit::ContextEdit>,
    /// The types of unknown events.
    event_types: Sparse<StrIx>,
    causes: Sparse<RawRef>,
    replies: Sparse<RawRef>,
    previous: Sparse<RawRef>,
    durations: Sparse<u64>,
    usages: Usages,
    /// The costs that requests declare, in dollars.
    declared_costs: Sparse<f64>,
    /// Requests of which only a part of the tokens is reported.
    partial_usages: Sparse<()>,
    details: Sparse<(Detail, Place)>,
    event_words: Sparse<(detail::Word, StrIx)>,
    /// For each call: its words.
    call_words: Sparse<(detail::Word, StrIx)>,
    /// When calls began, for each result.
    started: Sparse<i64>,
    /// When calls were made, for each call, if that is not when their message began.
    made_at: Sparse<i64>,
    annotations: Vec<u32>,
    /// Results of calls that already have one.
    more_results: Vec<call::MoreResult>,
}

/// Where a message came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Not recorded: the agent itself.
    Own,
    Agent(AgentIx),
    External,
    System,
}

/// A reference to a message, whether or not the log contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRef<'s> {
    Event(EventIx),
    /// No earlier line has that id.
    Dangling(&'s str),
}

/// A reference in four bytes: an event, or (top bit) a word that names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RawRef(u32);

impl RawRef {
    const DANGLING: u32 = 1 << 31;
}

/// Times that differ by less than this do not determine an order.
const CLOCK_MS: i64 = 1000;
const NOBODY: u32 = u32::MAX;

impl Session {
    /// Adds one more event. Never fails: what does not fit becomes a problem.
    pub fn apply(&mut self, event: &Event<'_>) {
        self.problems.extend(event.problems.iter().cloned());
        match self.try_apply(event) {
            Some(()) => event.at.into_iter().for_each(|at| self.note_time(at)),
            None => self.problems.push(ProblemKind::Full.at(event.line, event.place)),
        }
    }

    /// Changes the texts that the fold keeps itself (title, prompt, names of agents) instead of
    /// reading them through [`Bodies`](crate::Bodies), so that no unchanged text can be shown or
    /// clipped. `change` returns `None` if a text stays as it is.
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

    /// Every message with tokens or a cost, in the order of the log, with the model that was used.
    pub fn requests(&self) -> impl Iterator<Item = (Entry<'_>, Usage, Option<&str>)> {
        self.usages.iter().map(|(event, usage, model)| {
            let model = model.map(|model| self.words.get(model));
            (self.entry(EventIx(event)), usage, model)
        })
    }

    /// The latest event with that id that was already folded.
    fn find_earlier(&self, message_id: &str) -> Option<Entry<'_>> {
        let known = self.message_ids.known(message_id)?;
        let latest = *self.latest.get(known.0 as usize)?;
        ((latest as usize) < self.rows.len()).then(|| self.entry(EventIx(latest)))
    }

    /// All tokens, each counted at the message that used it.
    pub fn usage(&self) -> Usage {
        let mut total = Usage::default();
        for (_, usage, _) in self.usages.iter() {
            total += usage;
        }
        total
    }

    /// The earliest and the latest time in the log. Events may have times of their own, so the
    /// first line is not always the earliest.
    pub fn time_span(&self) -> Option<(Timestamp, Timestamp)> {
        self.times
    }

    /// How much memory the fold uses, without bodies, which it does not keep.
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
            + self.far_content.heap_bytes()
            + self.more_content.heap_bytes()
            + self.utterance_refs.heap_bytes()
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
        if event.kind.goes_on() {
            self.info.go_on();
        }
        let mut row = Draft::new(id, event.place, event.line, event.at);
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
        if let Some(reference) = row.utterance_ref {
            self.utterance_refs.push(ix.0, reference);
        }
        let (row, elsewhere) = row.pack();
        if let Some(content) = elsewhere {
            self.far_content.push(ix.0, content);
        }
        push_tight(&mut self.rows, row);
        Some(())
    }

    fn note_time(&mut self, at: Timestamp) {
        let (first, last) = self.times.unwrap_or((at, at));
        // The beginning may be recorded a little later than the first message, or by a clock
        // without fractions.
        let is_earlier = first.since(at) >= CLOCK_MS;
        self.times = Some((if is_earlier { at } else { first }, last.max(at)));
    }

    fn fold_message(&mut self, ix: EventIx, row: &mut Draft, message: &Message<'_>) -> Option<()> {
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
            row.utterance_ref = Some(self.refer(id)?);
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
            // A declared cost means a request, even without token counts.
            self.usages.push(ix.0, message.usage.unwrap_or_default(), model);
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
            // The event that is being folded has already defined its own id.
            .filter(|&event| (event as usize) < self.rows.len());
        match earlier {
            Some(event) => Some(RawRef(event)),
            None => {
                let word = self.words.intern(id)?;
                (word.0 < RawRef::DANGLING - 1).then_some(RawRef(word.0 | RawRef::DANGLING))
            }
        }
    }

    fn reference(&self, raw: RawRef) -> MessageRef<'_> {
        match raw.0 & RawRef::DANGLING {
            0 => MessageRef::Event(EventIx(raw.0)),
            _ => MessageRef::Dangling(self.words.get(StrIx(raw.0 & !RawRef::DANGLING))),
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
