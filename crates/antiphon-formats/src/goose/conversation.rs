//! Converts a session's messages to events.

use std::borrow::Cow;

use antiphon_model::{
    ContextAction, ContextEdited, EventKind, Message, Role, Timestamp, ToolCall, Usage, is_blank,
};

use crate::claude_code::block::add_content;
use crate::line::{Object, Record, elements};
use crate::script::{Script, blank, created, started};

const PROGRAM: &str = "goose";
const MAIN: Cow<'static, str> = Cow::Borrowed("main");

pub(super) struct Conversation<'a> {
    script: Script<'a>,
    /// What the first line says about the session as a whole.
    facts: Object<'a>,
    model: Option<Cow<'a, str>>,
    /// The last answer.
    answer: Option<usize>,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(name: &'a str) -> Self {
        let script = Script::new(name);
        Self { script, facts: Object::default(), model: None, answer: None }
    }

    pub(super) fn line(&mut self, record: &Record<'a>) {
        let is_first = self.script.events.is_empty();
        if is_first {
            self.begin(record);
        }
        let object = &record.object;
        let content = object.raw("content_json").or_else(|| object.raw("content"));
        let role = match object.id("role") {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            // The first line describes the session.
            None if is_first => return,
            _ => {
                self.script.unknown(record, None, (Some(MAIN), "message"));
                return;
            }
        };
        let first = self.script.events.len();
        self.message(record, role, content.unwrap_or_default());
        let time = ["created_timestamp", "created", "timestamp"];
        let time = time.iter().find_map(|name| time_of(object, name));
        (first..self.script.events.len()).for_each(|at| self.script.set_time(at, time));
    }

    /// The events, with the totals at the last answer.
    pub(super) fn finish(mut self) -> Script<'a> {
        let usage = totals(&self.facts);
        let cost = self.facts.cost("accumulated_cost");
        if let Some(message) = self.answer.and_then(|at| self.script.message_at(at)) {
            message.usage = (!usage.is_zero()).then_some(usage);
            message.cost_usd = cost;
        }
        self.script
    }

    fn begin(&mut self, record: &Record<'a>) {
        let object = &record.object;
        let row = object.object("session");
        self.facts = row.unwrap_or_else(|| object.clone());
        let facts = &self.facts;
        let mut session = started(PROGRAM);
        session.session_id = facts.text("id").filter(|_| !object.has("role"));
        let title = ["name", "description"].iter().find_map(|name| facts.text(name));
        session.title = title.filter(|title| !title.is_empty());
        session.cwd = facts.text("working_dir");
        let model = facts.text("model_config_json").or_else(|| facts.text("model_config"));
        let model = model.and_then(|text| Some(Object::parse(&text)?.text("model_name")?.into()));
        let parsed = facts.object("model_config_json").or_else(|| facts.object("model_config"));
        self.model = parsed.and_then(|it| it.text("model_name")).or(model.map(Cow::Owned));
        let time = time_of(facts, "created_at");
        let mut agent = created(MAIN);
        agent.name = Some(Cow::Borrowed("Goose"));
        agent.adapter_id = Some(Cow::Borrowed(PROGRAM));
        agent.language_model = self.model.clone();
        self.script.begin(record, session, agent);
        [0, 1].into_iter().for_each(|at| self.script.set_time(at, time));
    }

    fn message(&mut self, record: &Record<'a>, role: Role, content: &'a str) {
        let is_hidden = is_hidden(&record.object);
        let mut message = blank(MAIN, role);
        message.source = match role {
            Role::User if !is_hidden => Some(Cow::Borrowed("external")),
            Role::User | Role::System => Some(Cow::Borrowed("system")),
            Role::Assistant | Role::Tool | Role::Other => None,
        };
        message.model = self.model.clone().filter(|_| role == Role::Assistant);
        let mut results = Vec::new();
        if !content.starts_with('[') && !is_blank(content) {
            add_content(&mut message, record.body(content));
        }
        for raw in elements(content) {
            let block = Object::parse(raw).unwrap_or_default();
            let kind = block.id("type").unwrap_or_default();
            let text = |name| block.raw(name).filter(|raw| !is_blank(raw));
            match kind {
                "text" => text("text").into_iter().for_each(|it| {
                    add_content(&mut message, record.body(it));
                }),
                "thinking" if message.reasoning.is_none() => {
                    message.reasoning = text("thinking").map(|it| record.body(it));
                }
                "redactedThinking" => {}
                "toolRequest" | "frontendToolRequest" => match call(record, &block) {
                    Some(call) => message.tool_calls.push(call),
                    None => add_content(&mut message, record.body(raw)),
                },
                "toolResponse" => results.push(response(record, &block)),
                "conversationCompacted" | "summarizationRequested" => {
                    self.compacted(record);
                    text("msg").into_iter().for_each(|it| {
                        add_content(&mut message, record.body(it));
                    });
                }
                _ => add_content(&mut message, record.body(raw)),
            }
        }
        let own = ["message_id", "id"].iter().find_map(|name| record.object.id(name));
        let is_mute = message.content.is_none() && message.reasoning.is_none();
        let is_said = !is_mute || !message.tool_calls.is_empty() || results.is_empty();
        if role == Role::Assistant {
            let at = self.script.push(record, own, EventKind::Message(message));
            self.answer = Some(at);
            results.into_iter().for_each(|it| self.push(record, None, it));
            return;
        }
        let said = is_said.then_some(message);
        for message in results.into_iter().chain(said) {
            let is_human = message.source.as_deref() == Some("external");
            self.script.prompted(message.content.filter(|_| is_human));
            self.push(record, own, message);
        }
    }

    fn push(&mut self, record: &Record<'a>, own: Option<&'a str>, message: Message<'a>) {
        self.script.push(record, own, EventKind::Message(message));
    }

    fn compacted(&mut self, record: &Record<'a>) {
        let edit = ContextEdited::new(MAIN, ContextAction::Compact);
        self.script.push(record, None, EventKind::ContextEdited(edit));
    }
}

/// Whether the message is hidden from the person. A database has the flag in a string of JSON.
fn is_hidden(object: &Object<'_>) -> bool {
    let says_so = |seen: Object<'_>| seen.raw("userVisible") == Some("false");
    let text = object.text("metadata_json").unwrap_or_default();
    let seen = object.object("metadata").or_else(|| object.object("metadata_json"));
    seen.is_some_and(says_so) || Object::parse(&text).is_some_and(says_so)
}

fn call<'a>(record: &Record<'a>, block: &Object<'a>) -> Option<ToolCall<'a>> {
    let made = block.object("toolCall").unwrap_or_default();
    let value = made.object("value").unwrap_or_default();
    Some(ToolCall {
        id: block.text("id")?,
        name: value.text("name")?,
        arguments: value.raw("arguments").map(|arguments| record.body(arguments)),
        ..ToolCall::default()
    })
}

/// Reads a tool's response. Its value is a list of parts, or has one; an error is text.
fn response<'a>(record: &Record<'a>, block: &Object<'a>) -> Message<'a> {
    let mut message = blank(MAIN, Role::Tool);
    message.tool_call_id = block.text("id");
    let result = block.object("toolResult").unwrap_or_default();
    let value = result.object("value").unwrap_or_default();
    let said = value.raw("content").or_else(|| result.raw("value")).or_else(|| result.raw("error"));
    message.content = said.map(|said| record.body(said));
    let failed = result.id("status") == Some("error") || value.flag("isError");
    message.is_error = failed.then_some(true);
    message
}

/// The sums over the session; the counts without `accumulated` are those of the last request.
fn totals(facts: &Object<'_>) -> Usage {
    let count = |name| facts.number(name).unwrap_or_default();
    let read = count("accumulated_cache_read_tokens");
    let write = count("accumulated_cache_write_tokens");
    let input = count("accumulated_input_tokens");
    Usage {
        input: input.checked_sub(read.saturating_add(write)).unwrap_or(input),
        output: count("accumulated_output_tokens"),
        cache_read: read,
        cache_write: write,
        ..Usage::default()
    }
}

/// A time; a database writes it as `2026-01-02 03:04:05`, in UTC.
fn time_of(object: &Object<'_>, name: &str) -> Option<Timestamp> {
    let text = object.text(name)?;
    object.time(name).or_else(|| Timestamp::parse(&format!("{}Z", text.replacen(' ', "T", 1))))
}
