//! The conversation, and what the screen adds to it.

use std::borrow::Cow;
use std::collections::VecDeque;

use antiphon_model::{
    Body, ContextAction, ContextEdited, Event, EventKind, Message, Role, Timestamp, ToolCall, Usage,
};

use super::requests::{Request, Requests};
use super::{PROGRAM, text};
use crate::claude_code::block::add_content;
use crate::line::{Object, Record, elements};
use crate::script::{Script, blank, created, started};
use crate::{Duplicate, Sink, Stream, anthropic};

/// How many open calls are searched for the one that a result belongs to.
const OPEN_MOST: usize = 64;

pub(super) const MAIN: Cow<'static, str> = Cow::Borrowed("main");

/// Messages of the screen that repeat the conversation.
const REPEATED: [&str; 18] = [
    "act_mode_respond",
    "browser_action",
    "browser_action_launch",
    "browser_action_result",
    "command",
    "command_output",
    "completion_result",
    "followup",
    "mcp_server_request_started",
    "mcp_server_response",
    "plan_mode_respond",
    "reasoning",
    "task",
    "text",
    "tool",
    "use_mcp_server",
    "user_feedback",
    "user_feedback_diff",
];

pub(super) struct Conversation<'a> {
    pub(super) script: Script<'a>,
    /// For each message's index in the conversation: its first event.
    events: Vec<usize>,
    /// The calls of the latest answer that have no result yet, by id and tool.
    open: VecDeque<(Cow<'a, str>, Cow<'a, str>)>,
    /// Since when each model was in use, in order.
    models: Vec<(Option<Timestamp>, Cow<'a, str>)>,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(name: &'a str, facts: &[Record<'a>]) -> Self {
        let used = facts.iter().filter_map(|record| record.object.raw("model_usage"));
        let used = used.flat_map(elements).filter_map(Object::parse);
        let used = used.filter_map(|it| Some((it.time("ts"), it.text("model_id")?)));
        let mut models: Vec<(Option<Timestamp>, Cow<'a, str>)> = used.collect();
        models.sort_by_key(|(since, _)| *since);
        Self { script: Script::new(name), events: Vec::new(), open: VecDeque::new(), models }
    }

    /// Adds a message, with the request that it answers and the one that it was sent with.
    pub(super) fn message(
        &mut self,
        record: &Record<'a>,
        answers: Option<&Request>,
        sent_with: Option<&Request>,
    ) {
        if self.script.events.is_empty() {
            self.begin(record);
        }
        let first = self.script.events.len();
        self.events.push(first);
        if record.object.flag("isSummary") {
            self.compacted(record);
        }
        match anthropic::messages(record, &record.object, MAIN) {
            Some(messages) if record.object.id("role") == Some("assistant") => {
                self.answer(record, messages, answers);
            }
            Some(messages) => self.received(record, messages),
            None => {
                let kind = record.object.id("type").unwrap_or("message");
                self.script.unknown(record, None, (Some(MAIN), kind));
            }
        }
        let own = record.object.time("ts");
        let time = own.or_else(|| answers.or(sent_with).and_then(|request| request.at));
        (first..self.script.events.len()).for_each(|at| self.script.set_time(at, time));
    }

    pub(super) fn begin(&mut self, record: &Record<'a>) {
        let session = started(PROGRAM);
        let mut agent = created(MAIN);
        agent.name = Some(Cow::Borrowed("Cline"));
        agent.adapter_id = Some(Cow::Borrowed(PROGRAM));
        self.script.begin(record, session, agent);
    }

    fn compacted(&mut self, record: &Record<'a>) {
        let edit = ContextEdited::new(MAIN, ContextAction::Compact);
        self.script.push(record, None, EventKind::ContextEdited(edit));
    }

    fn answer(
        &mut self,
        record: &Record<'a>,
        messages: Vec<Message<'a>>,
        request: Option<&Request>,
    ) {
        let info = record.object.object("modelInfo").unwrap_or_default();
        let mut is_first = true;
        for mut message in messages {
            if message.role == Role::Assistant && std::mem::take(&mut is_first) {
                let model = request.and_then(|request| request.model.clone()).map(Cow::Owned);
                let known = info.text("modelId").or(model);
                message.model = known.or_else(|| self.model_at(record, request));
                let metrics = record.object.object("metrics").unwrap_or_default();
                let own = metrics.object("tokens").map(|tokens| usage(&tokens));
                message.usage = request.map(|request| request.usage).or(own);
                let cost = request.and_then(|request| request.cost);
                message.cost_usd = cost.or_else(|| metrics.cost("cost"));
                self.call_in_text(record, &mut message);
            }
            self.script.push(record, None, EventKind::Message(message));
        }
    }

    /// The model that was in use when the request began.
    fn model_at(&self, record: &Record<'a>, request: Option<&Request>) -> Option<Cow<'a, str>> {
        let time = record.object.time("ts").or_else(|| request?.at);
        let after = self.models.partition_point(|(since, _)| time.is_none() || *since <= time);
        self.models.get(after.saturating_sub(1)).map(|(_, model)| model.clone())
    }

    fn call_in_text(&mut self, record: &Record<'a>, message: &mut Message<'a>) {
        let made = message.tool_calls.iter();
        self.open = made.map(|call| (call.id.clone(), call.name.clone())).collect();
        if !message.tool_calls.is_empty() {
            return;
        }
        let said: Vec<Body<'a>> =
            message.content.iter().chain(&message.more_content).copied().collect();
        let call = said.iter().find_map(|body| Some((*body, text::called(body.json)?)));
        let Some((body, name)) = call else { return };
        let id: Cow<'a, str> = Cow::Owned(format!("call-{}", record.line.number));
        self.open.push_back((id.clone(), Cow::Borrowed(name)));
        message.tool_calls.push(ToolCall {
            id,
            name: Cow::Borrowed(name),
            arguments: Some(body),
            ..ToolCall::default()
        });
    }

    /// Adds a person's words, which are between results and the program's own words.
    fn received(&mut self, record: &Record<'a>, messages: Vec<Message<'a>>) {
        for message in messages {
            if message.role != Role::User {
                self.open.retain(|(id, _)| Some(id) != message.tool_call_id.as_ref());
                self.script.push(record, None, EventKind::Message(message));
                continue;
            }
            let mut human = blank(MAIN, Role::User);
            human.source = Some(Cow::Borrowed("external"));
            let mut system = blank(MAIN, Role::User);
            system.source = Some(Cow::Borrowed("system"));
            let mut results: Vec<Message<'a>> = Vec::new();
            for body in message.content.into_iter().chain(message.more_content) {
                let said = text::of(body.json);
                if text::is_human(&said) {
                    add_content(&mut human, body);
                } else if said.starts_with("<environment_details>") {
                    add_content(&mut system, body);
                } else if let Some((id, name)) = text::result_of(&said).and_then(|it| self.take(it))
                {
                    let mut result = blank(MAIN, Role::Tool);
                    result.content = Some(body);
                    result.tool_call_id = Some(id);
                    result.name = Some(name);
                    results.push(result);
                } else if let Some(result) = results.last_mut() {
                    add_content(result, body);
                } else {
                    add_content(&mut system, body);
                }
            }
            self.prompted(&human);
            let is_blank = results.is_empty() && human.content.is_none();
            results.extend(Some(human).filter(|it| it.content.is_some()));
            results.extend(Some(system).filter(|it| it.content.is_some() || is_blank));
            for message in results {
                self.script.push(record, None, EventKind::Message(message));
            }
        }
    }

    /// Takes the open call of a tool, or else the first one: a result may name the tool otherwise.
    fn take(&mut self, tool: &str) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
        let mut open = self.open.iter().take(OPEN_MOST);
        self.open.remove(open.position(|(_, name)| name == tool).unwrap_or_default())
    }

    fn prompted(&mut self, message: &Message<'a>) {
        if let (Some(content), Some(Event { kind: EventKind::SessionStarted(session), .. })) =
            (message.content, self.script.events.first_mut())
            && session.prompt.is_none()
        {
            session.prompt = Some(Cow::Owned(text::words(&text::of(content.json)).to_owned()));
        }
    }

    /// Adds what only the screen shows. The rest repeats the conversation.
    pub(super) fn screen(
        &self,
        streams: &[Stream<'a>],
        shown: &[Record<'a>],
        requests: &Requests,
        sink: &mut dyn Sink<'a>,
    ) -> Vec<Event<'a>> {
        let stream = shown.first().and_then(|it| streams.get(it.line.place.stream as usize));
        let mut script = Script::new(stream.map_or("", |stream| stream.name));
        let mut last = self.events.first().copied().unwrap_or_default();
        let mut duplicate = |record: &Record<'a>, event: usize, reason| {
            sink.duplicate(Duplicate {
                message_id: self.script.id_at(event).unwrap_or("session").to_owned(),
                line: record.line.number,
                place: record.line.place,
                reason,
            });
        };
        for (place, record) in shown.iter().enumerate() {
            let kind = record.object.id("say").or_else(|| record.object.id("ask"));
            let kind = kind.unwrap_or("line");
            match requests.shown(place) {
                Some((_, Some(answer))) => {
                    last = self.events.get(answer).copied().unwrap_or(last);
                    duplicate(record, last, "usage already counted with the answer");
                }
                Some((request, None)) if request.has_spent() => {
                    script.push(record, None, EventKind::Message(request.message()));
                }
                _ if REPEATED.contains(&kind) => {
                    duplicate(record, last, "screen copy of the conversation");
                }
                _ => {
                    script.unknown(record, None, (Some(MAIN), kind));
                }
            }
        }
        script.events
    }

    /// The events, with what other files say about the task.
    pub(super) fn finish(
        mut self,
        facts: &[Record<'a>],
        begun: Option<Timestamp>,
    ) -> Vec<Event<'a>> {
        let begun = begun.or_else(|| self.script.events.iter().find_map(|event| event.at));
        [0, 1].into_iter().for_each(|at| self.script.set_time(at, begun));
        let model = self.models.first().map(|(_, model)| model.clone());
        for event in self.script.events.iter_mut().take(2) {
            if let EventKind::AgentCreated(agent) = &mut event.kind {
                agent.language_model = model.clone();
            } else if let EventKind::SessionStarted(session) = &mut event.kind {
                let text = |name| facts.iter().find_map(|record| record.object.text(name));
                session.session_id = text("id");
                session.cwd = text("workspace");
                session.prompt = session.prompt.take().or_else(|| text("task"));
            }
        }
        self.script.events
    }
}

/// Converts token counts. The prompt includes cached input.
fn usage(tokens: &Object<'_>) -> Usage {
    let count = |name| tokens.number(name).unwrap_or_default();
    let cached = count("cached");
    Usage {
        input: count("prompt").saturating_sub(cached),
        output: count("completion"),
        cache_read: cached,
        ..Usage::default()
    }
}
