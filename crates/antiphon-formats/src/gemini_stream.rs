//! The output of `gemini --output-format stream-json`.
//!
//! An answer comes in pieces (`delta`), which are one message until something else is said or done.
//! Token counts come once, at the end, as totals by model, and go to the last answer.

use std::borrow::Cow;

use antiphon_model::{EventKind, Message, Role, SessionEnded, ToolCall, Usage, is_blank};

use crate::claude_code::block::add_content;
use crate::line::{Object, Record, each_record};
use crate::script::{Script, blank, created, started};
use crate::{Format, Sink, Stream};

pub(crate) const FORMAT: Format = Format {
    name: "gemini-stream",
    product: "Gemini CLI",
    what: "output of `gemini --output-format stream-json`",
    versions: "0.61, from the program's source code",
    detect,
    read,
    ..crate::ONE_FILE
};

const MAIN: Cow<'static, str> = Cow::Borrowed("main");

fn detect(head: &[&str]) -> bool {
    head.iter().filter_map(|line| Object::parse(line)).any(|object| {
        let has = |name| object.raw(name).is_some();
        match object.id("type").unwrap_or_default() {
            "init" => has("session_id") && has("model") && has("timestamp"),
            "tool_use" => has("tool_id") && has("tool_name") && has("timestamp"),
            "tool_result" => has("tool_id") && has("status") && has("timestamp"),
            "result" => object.object("stats").is_some() && has("status") && has("timestamp"),
            _ => false,
        }
    })
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        let mut run = Run::new(stream.name);
        each_record(stream, number, sink, |record, _| run.line(&record));
        run.script.finish(sink);
    }
}

/// The state of reading a stream.
struct Run<'a> {
    script: Script<'a>,
    has_begun: bool,
    model: Option<Cow<'a, str>>,
    /// Index of the answer that further pieces belong to.
    open: Option<usize>,
    /// Index of the last message of the agent.
    answer: Option<usize>,
    /// The part of the totals that was counted already.
    counted: Usage,
}

impl<'a> Run<'a> {
    fn new(name: &'a str) -> Self {
        let script = Script::new(name);
        let counted = Usage::default();
        Self { script, has_begun: false, model: None, open: None, answer: None, counted }
    }

    fn line(&mut self, record: &Record<'a>) {
        let object = &record.object;
        let kind = object.id("type").unwrap_or("line");
        let is_first = !self.has_begun;
        if is_first {
            self.begin(record);
        }
        if let ("message", Some("assistant"), Some(at)) = (kind, object.id("role"), self.open)
            && object.flag("delta")
            && let (Some(message), Some(piece)) =
                (self.script.message_at(at), object.raw("content"))
        {
            return add_content(message, record.body(piece));
        }
        self.open = None;
        match kind {
            "init" if is_first => {}
            "message" => self.message(record),
            "tool_use" => self.call(record),
            "tool_result" => self.returned(record),
            "result" => self.result(record),
            other => {
                self.script.unknown(record, None, (Some(MAIN), other));
            }
        }
    }

    /// Begins the session at the first line, whatever that is.
    fn begin(&mut self, record: &Record<'a>) {
        self.has_begun = true;
        self.model = record.object.text("model");
        let mut session = started("gemini-cli");
        session.session_id = record.object.text("session_id");
        let mut agent = created(MAIN);
        agent.name = Some(Cow::Borrowed("Gemini CLI"));
        agent.adapter_id = Some(Cow::Borrowed("gemini-cli"));
        agent.language_model = self.model.clone();
        self.script.begin(record, session, agent);
    }

    fn message(&mut self, record: &Record<'a>) {
        let object = &record.object;
        let role = Role::from_word(object.id("role").unwrap_or_default());
        let mut message = blank(MAIN, role);
        message.content = object.raw("content").map(|content| record.body(content));
        if role == Role::User {
            message.source = Some(Cow::Borrowed("external"));
            self.script.prompted(message.content);
            self.script.push(record, None, EventKind::Message(message));
            return;
        }
        let at = self.answered(record, message);
        self.open = Some(at).filter(|_| object.flag("delta"));
    }

    fn answered(&mut self, record: &Record<'a>, mut message: Message<'a>) -> usize {
        message.model = self.model.clone();
        let at = self.script.push(record, None, EventKind::Message(message));
        self.answer = Some(at);
        at
    }

    fn call(&mut self, record: &Record<'a>) {
        let object = &record.object;
        let Some(id) = object.text("tool_id") else {
            self.script.unknown(record, None, (Some(MAIN), "tool_use"));
            return;
        };
        let mut message = blank(MAIN, Role::Assistant);
        message.tool_calls.push(ToolCall {
            id,
            name: object.text("tool_name").unwrap_or_default(),
            arguments: object.raw("parameters").map(|arguments| record.body(arguments)),
            ..ToolCall::default()
        });
        self.answered(record, message);
    }

    fn returned(&mut self, record: &Record<'a>) {
        let object = &record.object;
        let mut message = blank(MAIN, Role::Tool);
        message.tool_call_id = object.text("tool_id");
        let output = object.raw("output").filter(|raw| !is_blank(raw));
        let error = object.object("error").and_then(|error| error.raw("message"));
        message.content = output.or(error).map(|output| record.body(output));
        message.result = object.raw("error").map(|error| record.body(error));
        message.is_error = (object.id("status") == Some("error")).then_some(true);
        self.script.push(record, None, EventKind::Message(message));
    }

    fn result(&mut self, record: &Record<'a>) {
        let object = &record.object;
        if let Some(stats) = object.object("stats") {
            let total = totals(&stats);
            let spent = less(total, self.counted);
            self.counted = total;
            let answer = self.answer.and_then(|at| self.script.message_at(at));
            if let Some(message) = answer.filter(|_| !spent.is_zero()) {
                *message.usage.get_or_insert_default() += spent;
            }
        }
        let failed = object.id("status") == Some("error");
        let outcome = Some(Cow::Borrowed(if failed { "failed" } else { "completed" }));
        let error = object.object("error").and_then(|error| error.text("message"));
        let ended = SessionEnded { outcome, reason: None, error, declared: None };
        self.script.push(record, None, EventKind::SessionEnded(ended));
    }
}

/// Converts totals. `input_tokens` includes `cached`; reasoning is only in the total.
fn totals(stats: &Object<'_>) -> Usage {
    let count = |name| stats.number(name).unwrap_or_default();
    let (input, output, cached) = (count("input_tokens"), count("output_tokens"), count("cached"));
    let reasoning = count("total_tokens").saturating_sub(input.saturating_add(output));
    Usage {
        input: input.saturating_sub(cached),
        output: output.saturating_add(reasoning),
        reasoning,
        cache_read: cached,
        ..Usage::default()
    }
}

fn less(total: Usage, counted: Usage) -> Usage {
    Usage {
        input: total.input.saturating_sub(counted.input),
        output: total.output.saturating_sub(counted.output),
        reasoning: total.reasoning.saturating_sub(counted.reasoning),
        cache_read: total.cache_read.saturating_sub(counted.cache_read),
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
