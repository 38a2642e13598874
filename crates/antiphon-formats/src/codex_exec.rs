//! The output of `codex exec --json`: one thread's items as they begin and end, without times.
//!
//! An item that is a call begins with `item.started` and ends with `item.completed`; the others
//! arrive complete. The tokens of `turn.completed` are the thread's total so far; they are counted
//! by differences, and given to the last message of the turn. The stream does not contain what
//! sub-agents do, only the calls that create them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use antiphon_model::{Body, EventKind, Message, Role, SessionEnded, ToolCall, Usage, is_blank};

use crate::codex::{Count, Tokens};
use crate::line::{Object, Record, each_record, elements};
use crate::script::{Script, blank, created, started};
use crate::{Format, Sink, Stream};

pub(crate) const FORMAT: Format = Format {
    name: "codex-exec",
    product: "Codex",
    what: "output of `codex exec --json`",
    versions: "0.50 to 0.146, from the program's source code",
    detect,
    read,
    ..crate::ONE_FILE
};

const MAIN: Cow<'static, str> = Cow::Borrowed("main");

fn detect(head: &[&str]) -> bool {
    head.iter().filter_map(|line| Object::parse(line)).any(|object| {
        match object.id("type").unwrap_or_default() {
            "thread.started" => object.raw("thread_id").is_some(),
            "item.started" | "item.updated" | "item.completed" => {
                object.object("item").is_some_and(|item| item.raw("type").is_some())
            }
            _ => false,
        }
    })
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        let mut run = Run::new(stream.name);
        each_record(stream, number, sink, |record, _| run.line(&record));
        run.settle();
        run.script.finish(sink);
    }
}

/// The state of reading a stream.
struct Run<'a> {
    script: Script<'a>,
    has_begun: bool,
    /// Reasoning that belongs to the next message.
    thought: Option<(Record<'a>, Body<'a>)>,
    /// Ids of items whose call has become an event.
    called: BTreeSet<&'a str>,
    made: BTreeSet<Cow<'a, str>>,
    tokens: Tokens,
    /// Index of the last message of the agent.
    answer: Option<usize>,
    /// Tokens of turns without a message.
    pending: Usage,
    /// The line on which the last turn failed.
    failed: Option<Record<'a>>,
}

impl<'a> Run<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            script: Script::new(name),
            has_begun: false,
            thought: None,
            called: BTreeSet::new(),
            made: BTreeSet::new(),
            tokens: Tokens::default(),
            answer: None,
            pending: Usage::default(),
            failed: None,
        }
    }

    fn line(&mut self, record: &Record<'a>) {
        if !self.has_begun {
            self.begin(record);
        }
        let object = &record.object;
        let kind = object.id("type").unwrap_or("line");
        let item = object.object("item").unwrap_or_default();
        match kind {
            "thread.started" if self.script.events.len() == 2 => {}
            "item.started" | "item.updated" | "item.completed" => self.item(record, kind, &item),
            "turn.completed" => {
                self.flush_thought();
                self.keep(record, kind);
                self.count(object);
            }
            "turn.failed" => {
                self.keep(record, kind);
                self.failed = Some(record.clone());
            }
            other => {
                self.failed = self.failed.take().filter(|_| other != "turn.started");
                self.keep(record, other);
            }
        }
    }

    /// Begins the session at the first line, whatever that is.
    fn begin(&mut self, record: &Record<'a>) {
        self.has_begun = true;
        let mut session = started(super::codex::PROGRAM);
        session.session_id = record.object.text("thread_id");
        let mut agent = created(MAIN);
        agent.name = Some(Cow::Borrowed("Codex"));
        agent.adapter_id = Some(Cow::Borrowed(super::codex::PROGRAM));
        self.script.begin(record, session, agent);
    }

    fn item(&mut self, record: &Record<'a>, kind: &'a str, item: &Object<'a>) {
        let what = item.id("type").unwrap_or(kind);
        let is_whole = kind == "item.completed";
        let text = item.raw("text").filter(|text| is_whole && !is_blank(text));
        match (what, text) {
            ("agent_message", Some(text)) => {
                let content = Some(record.body(text));
                let message = Message { content, ..blank(MAIN, Role::Assistant) };
                self.answered(record, message);
            }
            ("reasoning", Some(text)) => {
                self.flush_thought();
                self.thought = Some((record.clone(), record.body(text)));
            }
            _ => match (called(item), item.id("id")) {
                (Some((name, arguments)), Some(id)) if kind != "item.updated" => {
                    self.call(record, item, (id, name, arguments));
                }
                _ => self.keep(record, what),
            },
        }
    }

    fn call(
        &mut self,
        record: &Record<'a>,
        item: &Object<'a>,
        (id, name, arguments): (&'a str, Cow<'a, str>, Option<&'a str>),
    ) {
        let is_new = self.called.insert(id);
        let has_ended = record.object.id("type") == Some("item.completed");
        if is_new {
            let mut message = blank(MAIN, Role::Assistant);
            message.tool_calls.push(ToolCall {
                id: Cow::Borrowed(id),
                name,
                arguments: arguments.map(|arguments| record.body(arguments)),
                ..ToolCall::default()
            });
            self.answered(record, message);
        }
        self.make(record, item, id);
        if has_ended {
            self.flush_thought();
            let mut message = blank(MAIN, Role::Tool);
            let names =
                ["aggregated_output", "result", "agents_states", "action", "error", "status"];
            let output = names.iter().find_map(|name| item.raw(name).filter(|raw| !is_blank(raw)));
            message.content = output.map(|output| record.body(output));
            message.result = record.object.raw("item").map(|item| record.body(item));
            let failed = item.raw("exit_code").is_some_and(|code| code != "0")
                || matches!(item.id("status"), Some("failed" | "declined"))
                || item.raw("error").is_some();
            message.is_error = failed.then_some(true);
            message.tool_call_id = Some(Cow::Borrowed(id));
            self.script.push(record, None, EventKind::Message(message));
        } else if !is_new {
            self.keep(record, "item.started");
        }
    }

    /// Creates the agents that a call reports.
    fn make(&mut self, record: &Record<'a>, item: &Object<'a>, call: &'a str) {
        if item.id("tool") != Some("spawn_agent") {
            return;
        }
        for thread in elements(item.raw("receiver_thread_ids").unwrap_or_default()) {
            let Some(thread) = antiphon_model::json::text(thread) else { continue };
            if self.made.insert(thread.clone()) {
                let mut agent = created(thread);
                agent.parent_id = Some(MAIN);
                agent.tool_call_id = Some(Cow::Borrowed(call));
                agent.task = item.raw("prompt").map(|prompt| record.body(prompt));
                self.script.push(record, None, EventKind::AgentCreated(agent));
            }
        }
    }

    fn answered(&mut self, record: &Record<'a>, mut message: Message<'a>) {
        message.reasoning = self.thought.take().map(|(_, thought)| thought);
        self.answer = Some(self.script.push(record, None, EventKind::Message(message)));
    }

    fn flush_thought(&mut self) {
        let Some((record, thought)) = self.thought.take() else { return };
        let reasoning = Some(thought);
        let message = Message { reasoning, ..blank(MAIN, Role::Assistant) };
        self.answer = Some(self.script.push(&record, None, EventKind::Message(message)));
    }

    fn count(&mut self, object: &Object<'a>) {
        if let Some(usage) = object.object("usage")
            && let Count::Spent(usage) = self.tokens.total(&usage)
        {
            self.pending += usage;
        }
        self.spend();
    }

    fn spend(&mut self) {
        let Some(answer) = self.answer.filter(|_| !self.pending.is_zero()) else { return };
        let pending = std::mem::take(&mut self.pending);
        if let Some(message) = self.script.message_at(answer) {
            *message.usage.get_or_insert_default() += pending;
        }
    }

    fn settle(&mut self) {
        self.flush_thought();
        self.spend();
        let Some(record) = self.failed.take() else { return };
        let error = record.object.object("error").and_then(|error| error.text("message"));
        let outcome = Some(Cow::Borrowed("failed"));
        let ended = SessionEnded { outcome, reason: None, error, declared: None };
        self.script.push(&record, None, EventKind::SessionEnded(ended));
    }

    fn keep(&mut self, record: &Record<'a>, kind: &'a str) {
        self.script.unknown(record, None, (Some(MAIN), kind));
    }
}

/// The name and the arguments of an item that is a call; nothing for other items.
fn called<'a>(item: &Object<'a>) -> Option<(Cow<'a, str>, Option<&'a str>)> {
    let fixed = |name: &'static str| Some(Cow::Borrowed(name));
    let (name, arguments) = match item.id("type")? {
        "command_execution" => (fixed("command_execution"), item.raw("command")),
        "file_change" => (fixed("apply_patch"), item.raw("changes")),
        "web_search" => (fixed("web_search"), item.raw("query")),
        "mcp_tool_call" => (item.text("tool"), item.raw("arguments")),
        "collab_tool_call" => (item.text("tool"), item.raw("prompt")),
        _ => return None,
    };
    Some((name?, arguments))
}

#[cfg(test)]
mod tests;
