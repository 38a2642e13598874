//! Converts one file to events. Items become messages; event messages complete them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{Body, Event, EventKind, Message, Place, Role, Usage};

use super::entry::{Entry, entries};
use super::pairs::Pairs;
use super::replay::Replay;
use super::thread::Thread;
use super::tokens::{Count, Tokens};
use crate::{Duplicate, Sink, Stream};

pub(super) type Text<'a> = Cow<'a, str>;

/// What a file must know about the others.
#[derive(Debug, Default)]
pub(super) struct Cast<'a> {
    /// For each thread whose file is available: its agent.
    pub(super) by_thread: BTreeMap<Text<'a>, Text<'a>>,
    /// For each path that messages between agents use: the agent.
    pub(super) by_path: BTreeMap<Text<'a>, Text<'a>>,
}

/// The state of reading a file.
#[derive(Debug)]
pub(super) struct Rollout<'a, 's> {
    pub(super) name: &'a str,
    pub(super) agent: Text<'a>,
    /// Who speaks in the person's place.
    pub(super) asker: Text<'a>,
    pub(super) cast: &'s Cast<'a>,
    pub(super) thread: &'s Thread<'a>,
    pub(super) pairs: Pairs<'a>,
    /// For each call's id: how many outputs it had. Models repeat ids.
    pub(super) outputs: BTreeMap<Text<'a>, usize>,
    /// Ids of events, over all files.
    pub(super) used: &'s mut BTreeSet<Text<'a>>,
    pub(super) events: Vec<Event<'a>>,
    /// For each line: the event that represents it.
    pub(super) by_line: BTreeMap<u64, usize>,
    /// The line that made the last event, and how many it made.
    made: (u64, usize),
    pub(super) repeats: Vec<Repeat>,
    pub(super) model: Option<Text<'a>>,
    /// Reasoning that belongs to the next message.
    pub(super) thought: Option<Thought<'a>>,
    pub(super) prompt: Option<Text<'a>>,
    pub(super) context: Context,
    tokens: Tokens,
    /// The latest answer of the turn whose tokens are not known yet.
    answer: Option<usize>,
    last_answer: Option<usize>,
    /// Tokens that were reported before any answer.
    pending: Usage,
    last_count: Option<usize>,
    last_event_msg: Option<(&'a str, u64)>,
}

/// The size of the agent's context, as far as a rollback needs it.
#[derive(Debug, Default)]
pub(super) struct Context {
    entries: u64,
    system: u64,
    /// How many entries there were when each of the person's turns began.
    turns: Vec<u64>,
}

#[derive(Debug)]
pub(super) struct Thought<'a> {
    pub(super) entry: Entry<'a>,
    pub(super) body: Body<'a>,
}

/// A line that repeats the event of another line.
#[derive(Debug)]
pub(super) struct Repeat {
    line: u64,
    place: Place,
    of: Option<usize>,
    of_line: u64,
    reason: &'static str,
}

impl<'a, 's> Rollout<'a, 's> {
    pub(super) fn new(
        name: &'a str,
        agents: (Text<'a>, Text<'a>),
        cast: &'s Cast<'a>,
        thread: &'s Thread<'a>,
        used: &'s mut BTreeSet<Text<'a>>,
    ) -> Self {
        let (agent, asker) = agents;
        Self {
            name,
            agent,
            asker,
            cast,
            thread,
            pairs: Pairs::default(),
            outputs: BTreeMap::new(),
            used,
            events: Vec::new(),
            by_line: BTreeMap::new(),
            made: (0, 0),
            repeats: Vec::new(),
            model: None,
            thought: None,
            prompt: None,
            context: Context::default(),
            tokens: Tokens::default(),
            answer: None,
            last_answer: None,
            pending: Usage::default(),
            last_count: None,
            last_event_msg: None,
        }
    }

    pub(super) fn read(
        &mut self,
        stream: &Stream<'a>,
        number: u32,
        replay: &Replay,
        sink: &mut dyn Sink<'a>,
    ) {
        self.pairs = Pairs::scan(stream, number, replay);
        for entry in entries(stream, number) {
            match entry {
                Ok(entry) if replay.has(&entry) => self.replayed(&entry, sink),
                Ok(entry) => self.entry(&entry),
                Err(problem) => sink.problem(problem),
            }
        }
        self.flush_thought();
        self.settle();
        for repeat in std::mem::take(&mut self.repeats) {
            let at = repeat.of.or_else(|| self.by_line.get(&repeat.of_line).copied());
            let of = at.and_then(|at| self.events.get(at)?.message_id.as_deref());
            let (line, place, reason) = (repeat.line, repeat.place, repeat.reason);
            let message_id = of.map_or_else(|| self.creation(), str::to_owned);
            sink.duplicate(Duplicate { message_id, line, place, reason });
        }
        // A thought without a following message keeps its place.
        self.events.sort_by_key(|event| event.line);
    }

    /// Skips a copy of a line of the parent. Its token totals are the starting point of the
    /// thread's own.
    fn replayed(&mut self, entry: &Entry<'a>, sink: &mut dyn Sink<'a>) {
        if entry.is_event("token_count") {
            self.tokens.skip(entry.payload.object("info").as_ref());
        }
        if entry.kind == "turn_context" {
            self.model = entry.payload.text("model").or(self.model.take());
        }
        let own = entry.payload.id("id").filter(|_| entry.kind == "response_item");
        sink.duplicate(Duplicate {
            message_id: own.map_or_else(|| self.creation(), str::to_owned),
            line: entry.line(),
            place: entry.record.line.place,
            reason: "copy of the parent thread's line at the start of a fork",
        });
    }

    fn entry(&mut self, entry: &Entry<'a>) {
        match entry.kind {
            "session_meta" => self.meta(entry),
            "turn_context" => {
                self.model = entry.payload.text("model").or(self.model.take());
                self.unknown(entry);
            }
            "response_item" => self.item(entry),
            "event_msg" => self.event_msg(entry),
            "compacted" => self.compacted(entry),
            _ => self.unknown(entry),
        }
    }

    /// Reads a `session_meta`. The first is the session's beginning, which is written at the end;
    /// it is repeated, mostly verbatim, when a session is resumed.
    fn meta(&mut self, entry: &Entry<'a>) {
        let Some(meta) = &self.thread.meta else { return };
        if meta.line == entry.line() {
            return;
        }
        let is_same = meta.id == entry.payload.id("id").or_else(|| entry.payload.id("session_id"));
        if is_same {
            self.repeat(entry, meta.line, "repeated session metadata");
        } else {
            self.unknown(entry);
        }
    }

    pub(super) fn token_count(&mut self, entry: &Entry<'a>) {
        let goes_on = self.thread.meta.as_ref().is_some_and(|meta| meta.is_derived());
        match self.tokens.count(entry.payload.object("info").as_ref(), goes_on) {
            Count::Nothing => self.unknown(entry),
            Count::Unchanged => {
                let of = self.last_count;
                let reason = "same totals as the previous count";
                let (line, place) = (entry.line(), entry.record.line.place);
                self.repeats.push(Repeat { line, place, of, of_line: 0, reason });
            }
            Count::Spent(usage) => {
                self.flush_thought();
                self.unknown(entry);
                self.last_count = self.events.len().checked_sub(1);
                self.pending += usage;
                if let Some(answer) = self.answer.take() {
                    self.spend(answer);
                }
            }
        }
    }

    /// Gives tokens that came too late for any answer to the last one. In a file without answers,
    /// the answer was not written, and an empty message at the count replaces it.
    fn settle(&mut self) {
        if self.pending.is_zero() {
            return;
        }
        match (self.last_answer, self.last_count) {
            (Some(answer), _) => self.spend(answer),
            (None, Some(count)) => {
                let mut message = self.blank(Role::Assistant);
                message.usage = Some(std::mem::take(&mut self.pending));
                message.model = self.model.clone();
                if let Some(event) = self.events.get_mut(count) {
                    event.kind = EventKind::Message(message);
                }
            }
            (None, None) => {}
        }
    }

    fn spend(&mut self, answer: usize) {
        let pending = std::mem::take(&mut self.pending);
        if let Some(message) = self.message_at(answer) {
            *message.usage.get_or_insert_default() += pending;
        }
    }

    /// Begins a turn, whose tokens do not belong to earlier answers.
    pub(super) fn begin_turn(&mut self) {
        self.flush_thought();
        self.answer = None;
    }

    /// Adds a message of the model.
    pub(super) fn answered(&mut self, entry: &Entry<'a>, mut message: Message<'a>) {
        message.model = self.model.clone();
        let thought = self.thought.take();
        if let Some(thought) = &thought {
            message.reasoning = Some(thought.body);
        }
        self.push(entry, EventKind::Message(message));
        let at = self.events.len().saturating_sub(1);
        if let Some(thought) = thought {
            self.by_line.insert(thought.entry.line(), at);
        }
        (self.answer, self.last_answer) = (Some(at), Some(at));
    }

    /// Adds reasoning that no message followed.
    pub(super) fn flush_thought(&mut self) {
        let Some(Thought { entry, body }) = self.thought.take() else { return };
        let message = Message { reasoning: Some(body), ..self.blank(Role::Assistant) };
        self.answered(&entry, message);
    }

    /// Notes that a line repeats the event of another line.
    pub(super) fn repeat(&mut self, entry: &Entry<'a>, of_line: u64, reason: &'static str) {
        let (line, place) = (entry.line(), entry.record.line.place);
        self.repeats.push(Repeat { line, place, of: None, of_line, reason });
    }

    /// The line of the previous event message, if this one repeats it and no item.
    pub(super) fn repeated_event_msg(&mut self, entry: &Entry<'a>) -> Option<u64> {
        let before = self.last_event_msg.replace((entry.raw, entry.line()));
        let (raw, line) = before?;
        (raw == entry.raw && line + 1 == entry.line()).then_some(line)
    }

    pub(super) fn unknown(&mut self, entry: &Entry<'a>) {
        let event_type = Cow::Borrowed(entry.label());
        let unknown = entry.record.unknown(event_type, Some(self.agent.clone()));
        self.push(entry, EventKind::Unknown(unknown));
    }

    pub(super) fn blank(&self, role: Role) -> Message<'a> {
        Message::new(self.agent.clone(), role)
    }

    /// Adds an event of a line: its id is the item's, or else the line's; then `#2`, `#3`.
    pub(super) fn push(&mut self, entry: &Entry<'a>, kind: EventKind<'a>) {
        if let EventKind::Message(message) = &kind {
            self.context.add(message);
        }
        let line = entry.line();
        let at = self.events.len();
        let own = entry.payload.id("id").filter(|_| entry.kind == "response_item");
        let own = own.map(Cow::Borrowed).filter(|id: &Text<'a>| !self.used.contains(id));
        let first = self.by_line.get(&line).and_then(|&first| self.events.get(first));
        let id = match first.and_then(|first| first.message_id.as_deref()) {
            Some(first) => {
                self.made = (line, if self.made.0 == line { self.made.1 + 1 } else { 2 });
                Cow::Owned(format!("{first}#{}", self.made.1))
            }
            None => own.unwrap_or_else(|| Cow::Owned(format!("{}:{line}", self.name))),
        };
        if self.made.0 != line {
            self.made = (line, 1);
        }
        self.used.insert(id.clone());
        self.by_line.entry(line).or_insert(at);
        self.events.push(Event {
            message_id: Some(id),
            at: entry.record.object.time("timestamp"),
            line,
            place: entry.record.line.place,
            kind,
            extra: None,
            problems: Vec::new(),
        });
    }

    fn creation(&self) -> String {
        format!("created:{}", self.agent)
    }

    fn message_at(&mut self, at: usize) -> Option<&mut Message<'a>> {
        match self.events.get_mut(at) {
            Some(Event { kind: EventKind::Message(message), .. }) => Some(message),
            _ => None,
        }
    }
}

impl Context {
    fn add(&mut self, message: &Message<'_>) {
        let is_prompt = message.role == Role::User && message.source.as_deref() != Some("system");
        if is_prompt {
            self.turns.push(self.entries);
        }
        self.entries += 1;
        self.system += u64::from(message.role == Role::System);
    }

    /// Empties the context after a compaction, except for the system's messages.
    pub(super) fn compact(&mut self) {
        self.entries = self.system;
        self.turns.clear();
    }

    /// How many entries stay when the last `turns` turns are undone.
    pub(super) fn roll_back(&mut self, turns: u64) -> u64 {
        let gone = usize::try_from(turns).unwrap_or(usize::MAX);
        let left = self.turns.len().saturating_sub(gone);
        let stay = self.turns.get(left).copied().unwrap_or(self.entries);
        self.turns.truncate(left);
        self.entries = stay;
        stay
    }
}
