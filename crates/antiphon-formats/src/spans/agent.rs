//! The events of each agent, from its spans.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use antiphon_model::{
    Event, EventKind, Message, Role, SessionStarted, ToolCall, Usage, is_blank, plain_text,
};

use crate::merge::EventStream;
use crate::script::{blank, created};
use crate::spans::cast::Cast;
use crate::spans::tree::Tree;
use crate::spans::{Kind, Said, Span, event};
use crate::{Duplicate, Sink, chat};

/// Makes events of all spans, one list for each agent.
pub(super) fn events_by_agent<'a>(
    spans: &[Span<'a>],
    tree: &Tree,
    around: &mut [Event<'a>],
    sink: &mut dyn Sink<'a>,
) -> Vec<EventStream<'a>> {
    let mut cast = Cast::new(spans, tree);
    // Tokens of a request that are missing from the same request inside it.
    let mut lent: BTreeMap<usize, Usage> = BTreeMap::new();
    for &at in &tree.order {
        let (Some(span), node) = (spans.get(at), tree.node(at)) else { continue };
        if let (Some(inner), Some(usage), false) = (node.same_request, span.usage, node.repeats) {
            *lent.entry(inner).or_default() += usage;
        }
    }
    for &at in &tree.order {
        let (Some(span), node) = (spans.get(at), tree.node(at)) else { continue };
        let agent = cast.of_span.get(at).copied().unwrap_or_default();
        let Some(agent) = cast.agents.get_mut(agent) else { continue };
        if let Some(inner) = node.same_request.and_then(|inner| spans.get(inner)) {
            sink.duplicate(Duplicate {
                message_id: inner.id.to_string(),
                line: span.record.line.number,
                place: span.record.line.place,
                reason: "same content as the request inside it",
            });
            continue;
        }
        let own = span.usage.filter(|_| !node.repeats || span.kind == Kind::Chat);
        let usage = own.or_else(|| lent.get(&at).copied());
        match span.kind {
            Kind::Agent => agent.begin(span, usage),
            Kind::Chat => agent.request(span, usage),
            Kind::Tool => agent.tool(span),
            Kind::Other => agent.keep(span),
        }
        if let Some(Event { kind: EventKind::SessionStarted(session), .. }) = around.first_mut() {
            agent.prompted(session);
        }
    }
    cast.agents.into_iter().map(AgentBuilder::finish).collect()
}

/// The events of one agent, and the state of reading its spans.
#[derive(Debug, Default)]
pub(super) struct AgentBuilder<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) parent: Option<usize>,
    pub(super) parent_id: Option<Cow<'a, str>>,
    /// The tool's span that contains it, and the call of that span.
    pub(super) within: Option<usize>,
    pub(super) call: Option<Cow<'a, str>>,
    events: Vec<Event<'a>>,
    is_created: bool,
    /// Whether its requests have messages; if not, those of its own span are used.
    pub(super) has_words: bool,
    /// Calls in the messages of its requests, by id, and those without a result by the tool's name.
    announced: BTreeSet<Cow<'a, str>>,
    open: BTreeMap<Cow<'a, str>, VecDeque<Cow<'a, str>>>,
    /// Calls with a span of their own, whose result is the one that counts.
    pub(super) done: BTreeSet<Cow<'a, str>>,
    /// For each span: its call.
    answers: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    /// How often each message became an event.
    emitted: BTreeMap<Fingerprint, usize>,
    /// The last message of its own.
    last: Option<Fingerprint>,
    /// The request without messages that calls may belong to.
    wordless: Option<usize>,
    /// The messages at the end of its own span, and its token counts.
    ends: Vec<Event<'a>>,
    spent: Option<Usage>,
    prompt: Option<Cow<'a, str>>,
}

/// Identifies a message by its content: a hash and a length.
type Fingerprint = (u64, usize);

impl<'a> AgentBuilder<'a> {
    pub(super) fn new(id: Cow<'a, str>) -> Self {
        Self { id, ..Self::default() }
    }

    pub(super) fn announce(&mut self, said: &Said<'a>) {
        let Some(message) = chat::message(&said.record, &said.object, Cow::default()) else {
            return;
        };
        for call in message.tool_calls {
            if self.announced.insert(call.id.clone()) {
                self.open.entry(call.name).or_default().push_back(call.id);
            }
        }
    }

    /// The call of a tool's span: the one it names, or the first of that tool that has no result
    /// yet, or a new one.
    pub(super) fn call_of(&mut self, span: &Span<'a>) -> Cow<'a, str> {
        let open = span.text("tool").and_then(|name| self.open.get_mut(&name));
        let call = match (span.text("call"), open) {
            (Some(call), open) => {
                if let Some(open) = open {
                    open.retain(|other| *other != call);
                }
                call
            }
            (None, Some(open)) => open.pop_front().unwrap_or_else(|| span.id.clone()),
            (None, None) => span.id.clone(),
        };
        self.answers.insert(span.id.clone(), call.clone());
        call
    }

    /// Its span begins, which creates the agent or begins another turn of it.
    fn begin(&mut self, span: &Span<'a>, usage: Option<Usage>) {
        if !self.is_created {
            self.is_created = true;
            let mut agent = created(self.id.clone());
            agent.name = span.text("agent");
            agent.agent_type = span.text("agent_type");
            agent.language_model = span.text("model");
            agent.parent_id = self.parent_id.clone();
            agent.tool_call_id = self.call.clone();
            let agent = EventKind::AgentCreated(agent);
            self.events.push(event(&span.record, span.id.clone(), span.start, agent));
        } else {
            self.settle();
            if self.has_words || span.input.is_empty() {
                self.keep(span);
            }
        }
        self.spent = usage;
        if self.has_words {
            return;
        }
        let turn = self.events.len();
        self.hear(span);
        self.ends = self.said(span, "out");
        if self.ends.is_empty() && usage.is_some() && self.unpaid(turn).is_none() {
            let message = EventKind::Message(blank(self.id.clone(), Role::Assistant));
            let id = Cow::Owned(format!("{}:out1", span.id));
            self.ends.push(event(&span.record, id, span.end.or(span.start), message));
        }
        for message in self.ends.iter_mut().filter_map(message_of) {
            message.model = span.text("model");
        }
    }

    fn request(&mut self, span: &Span<'a>, usage: Option<Usage>) {
        self.hear(span);
        let mut said = self.said(span, "");
        if said.is_empty() {
            let mut message = blank(self.id.clone(), Role::Assistant);
            let failure = span.record.object.raw("error").filter(|raw| !is_blank(raw));
            message.content = failure.map(|failure| span.record.body(failure));
            message.is_error = failure.map(|_| true);
            let message = EventKind::Message(message);
            said.push(event(&span.record, span.id.clone(), span.end.or(span.start), message));
            self.wordless = failure.is_none().then_some(self.events.len());
        } else {
            self.wordless = None;
        }
        let is_answer = |event: &Event<'a>| {
            matches!(&event.kind,
            EventKind::Message(message) if message.role == Role::Assistant)
        };
        let answer = said.iter().position(is_answer).unwrap_or_default();
        if let Some(first) = said.get_mut(answer).and_then(message_of) {
            // The output of a model is an answer, whatever its role is said to be.
            first.role = Role::Assistant;
            first.model = span.text("model");
            first.request_id = span.text("request");
            first.started_at = span.start;
            first.usage = usage;
            let cost = span.record.object.raw("cost").and_then(|cost| cost.parse().ok());
            first.cost_usd = cost.filter(|cost: &f64| *cost > 0.0);
        }
        self.events.append(&mut said);
    }

    /// Adds the new messages of a request's input.
    fn hear(&mut self, span: &Span<'a>) {
        let messages = span.input.iter().enumerate().filter_map(|(at, said)| {
            let message = chat::message(&said.record, &said.object, self.id.clone())?;
            Some((at, fingerprint(&message), message))
        });
        let heard: Vec<(usize, Fingerprint, Message<'a>)> = messages.collect();
        // Whatever follows its last message is new, even if it equals an earlier message.
        let is_last = |(_, fingerprint, _): &&(usize, Fingerprint, Message<'a>)| {
            Some(*fingerprint) == self.last
        };
        let latest = heard.iter().rev().find(is_last).map(|(at, ..)| *at);
        let mut counts: BTreeMap<Fingerprint, usize> = BTreeMap::new();
        for (at, fingerprint, mut message) in heard {
            let count = counts.entry(fingerprint).or_default();
            *count += 1;
            let emitted = self.emitted.get(&fingerprint).copied().unwrap_or_default();
            let is_new = *count > emitted || latest.is_some_and(|latest| at > latest);
            let result = message.tool_call_id.as_ref().filter(|_| message.role == Role::Tool);
            let is_done = result.is_some_and(|call| self.done.contains(call));
            if !is_new || is_done {
                continue;
            }
            *self.emitted.entry(fingerprint).or_default() += 1;
            if let Some(call) = result {
                self.done.insert(call.clone());
            }
            if message.role == Role::User {
                let words = || message.content.map(|body| plain_text(body.json).into_owned());
                self.prompt = self.prompt.take().or_else(|| words().map(Cow::Owned));
                // A sub-agent's prompts come from its parent.
                if let Some(maker) = &self.parent_id {
                    message.source = Some(maker.clone());
                }
            }
            let id = Cow::Owned(format!("{}:in{}", span.id, at + 1));
            self.events.push(event(&span.record, id, span.start, EventKind::Message(message)));
        }
    }

    /// The messages of a span's output.
    fn said(&mut self, span: &Span<'a>, suffix: &str) -> Vec<Event<'a>> {
        let mut events = Vec::new();
        for said in &span.output {
            let Some(message) = chat::message(&said.record, &said.object, self.id.clone()) else {
                continue;
            };
            let fingerprint = fingerprint(&message);
            *self.emitted.entry(fingerprint).or_default() += 1;
            if message.role == Role::Assistant {
                self.last = Some(fingerprint);
            }
            let id = match (suffix, events.len()) {
                ("", 0) => span.id.clone(),
                ("", more) => Cow::Owned(format!("{}#{}", span.id, more + 1)),
                (suffix, more) => Cow::Owned(format!("{}:{suffix}{}", span.id, more + 1)),
            };
            let at = span.end.or(span.start);
            events.push(event(&span.record, id, at, EventKind::Message(message)));
        }
        events
    }

    fn tool(&mut self, span: &Span<'a>) {
        let call = self.answers.get(&span.id).cloned().unwrap_or_else(|| span.id.clone());
        let name = span.text("tool").unwrap_or_default();
        let object = &span.record.object;
        if !self.announced.contains(&call) {
            self.announced.insert(call.clone());
            let made = ToolCall {
                id: call.clone(),
                name: name.clone(),
                arguments: object.raw("arguments").map(|raw| span.record.body(raw)),
                ..ToolCall::default()
            };
            let request = self.wordless.and_then(|at| self.events.get_mut(at));
            match request.and_then(message_of) {
                Some(request) => request.tool_calls.push(made),
                None => {
                    let mut message = blank(self.id.clone(), Role::Assistant);
                    message.tool_calls.push(made);
                    let id = Cow::Owned(format!("{}:call", span.id));
                    let message = EventKind::Message(message);
                    self.events.push(event(&span.record, id, span.start, message));
                }
            }
        }
        let result = object.raw("result").filter(|raw| !is_blank(raw));
        let failure = object.raw("error").filter(|raw| !is_blank(raw));
        if span.end.is_none() && result.is_none() && failure.is_none() {
            return self.keep(span);
        }
        let mut message = blank(self.id.clone(), Role::Tool);
        message.tool_call_id = Some(call);
        message.name = Some(name).filter(|name| !name.is_empty());
        message.content = result.or(failure).map(|raw| span.record.body(raw));
        message.is_error = (object.flag("failed") || failure.is_some()).then_some(true);
        message.started_at = span.start;
        let took = span.start.zip(span.end).map(|(start, end)| end.since(start));
        message.duration_ms = took.and_then(|took| u64::try_from(took).ok());
        let at = span.end.or(span.start);
        self.events.push(event(&span.record, span.id.clone(), at, EventKind::Message(message)));
    }

    fn keep(&mut self, span: &Span<'a>) {
        let kind = span.text("type").unwrap_or(Cow::Borrowed("span"));
        let unknown = span.record.unknown(kind, Some(self.id.clone()));
        let unknown = EventKind::Unknown(unknown);
        self.events.push(event(&span.record, span.id.clone(), span.start, unknown));
    }

    fn prompted(&mut self, session: &mut SessionStarted<'a>) {
        if session.prompt.is_none() {
            session.prompt = self.prompt.take();
        }
    }

    /// Its span ends. Tokens that only this span has go to the last answer.
    fn settle(&mut self) {
        self.events.append(&mut self.ends);
        let Some(spent) = self.spent.take() else { return };
        if let Some(last) = self.unpaid(0) {
            last.usage = Some(spent);
        }
    }

    /// The last answer without token counts, from that event on.
    fn unpaid(&mut self, from: usize) -> Option<&mut Message<'a>> {
        let mut said = self.events.iter_mut().skip(from).rev().filter_map(message_of);
        said.find(|message| message.role == Role::Assistant && message.usage.is_none())
    }

    fn finish(mut self) -> EventStream<'a> {
        self.settle();
        let started_by = self.call.map(Cow::into_owned);
        EventStream {
            events: self.events,
            started_by,
            started_in: self.parent,
            in_background: false,
        }
    }
}

fn message_of<'e, 'a>(event: &'e mut Event<'a>) -> Option<&'e mut Message<'a>> {
    let EventKind::Message(message) = &mut event.kind else { return None };
    Some(message)
}

fn fingerprint(message: &Message<'_>) -> Fingerprint {
    let mut hasher = DefaultHasher::new();
    message.role.as_str().hash(&mut hasher);
    let words = message.content.map(|body| plain_text(body.json)).unwrap_or_default();
    let words = words.trim();
    words.hash(&mut hasher);
    message.tool_call_id.hash(&mut hasher);
    for call in &message.tool_calls {
        call.id.hash(&mut hasher);
        call.name.hash(&mut hasher);
    }
    (hasher.finish(), words.len())
}
