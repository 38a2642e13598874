//! The output of `droid exec --output-format stream-json`.
//!
//! A line is a message, a call, a result, or the end with the tokens of the run. The end repeats
//! the last message. A stream may contain several runs of one session.

use std::borrow::Cow;
use std::collections::BTreeMap;

use antiphon_model::{EventKind, Message, Role, SessionEnded, ToolCall, is_blank};

use crate::line::{Object, Record, each_record};
use crate::script::{Script, blank, created, started};
use crate::{Format, Sink, Stream};

pub(crate) const FORMAT: Format = Format {
    name: "droid-stream",
    product: "Droid",
    what: "output of `droid exec --output-format stream-json`",
    versions: "0.81, from public samples",
    detect,
    read,
    ..crate::ONE_FILE
};

const MAIN: Cow<'static, str> = Cow::Borrowed("main");

fn detect(head: &[&str]) -> bool {
    head.iter().filter_map(|line| Object::parse(line)).any(|object| {
        let has_session = session(&object).is_some();
        let is_ours = match object.id("type").unwrap_or_default() {
            "tool_call" => object.has("toolName") && object.has("parameters"),
            "completion" => object.has("finalText"),
            "message" => object.has("role") && object.raw("text").is_some() && object.has("id"),
            _ => false,
        };
        has_session && is_ours
    })
}

fn session<'a>(object: &Object<'a>) -> Option<Cow<'a, str>> {
    object.text("session_id").or_else(|| object.text("sessionId"))
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        let script = Script::new(stream.name);
        let (model, calls, answer) = (None, BTreeMap::new(), None);
        let mut run = Run { script, model, calls, answer };
        each_record(stream, number, sink, |record, sink| run.line(&record, sink));
        run.script.finish(sink);
    }
}

/// The state of reading a stream.
struct Run<'a> {
    script: Script<'a>,
    model: Option<Cow<'a, str>>,
    /// For each call's id: the tool's name.
    calls: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    /// The last answer, and what it says.
    answer: Option<(usize, Option<&'a str>)>,
}

impl<'a> Run<'a> {
    fn line(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        let object = &record.object;
        let is_first = self.script.events.is_empty();
        if is_first {
            self.begin(record);
        }
        let kind = object.id("type").unwrap_or("line");
        match (kind, object.id("role")) {
            ("system", _) if is_first => {}
            ("system", _) => {
                self.model = object.text("model").or(self.model.take());
                self.script.unknown(record, None, (Some(MAIN), kind));
            }
            ("message", Some("user")) => {
                let mut message = blank(MAIN, Role::User);
                message.source = Some(Cow::Borrowed("external"));
                message.content = object.raw("text").map(|text| record.body(text));
                crate::droid::prompted(&mut self.script, message.content);
                self.push(record, message);
            }
            ("message", Some("assistant")) => self.answered(record, "text"),
            ("reasoning", _) => {
                let mut message = blank(MAIN, Role::Assistant);
                message.reasoning = object.raw("text").map(|text| record.body(text));
                self.push(record, message);
            }
            ("tool_call", _) => self.called(record),
            ("tool_result", _) => self.returned(record),
            ("completion", _) => self.completed(record, sink),
            ("error", _) => {
                let error = object.text("message");
                let (outcome, reason, declared) = (Some(Cow::Borrowed("failed")), None, None);
                let ended = SessionEnded { outcome, reason, error, declared };
                self.script.push(record, None, EventKind::SessionEnded(ended));
            }
            (other, _) => {
                self.script.unknown(record, None, (Some(MAIN), other));
            }
        }
    }

    fn begin(&mut self, record: &Record<'a>) {
        let object = &record.object;
        self.model = object.text("model");
        let mut facts = started(crate::droid::PROGRAM);
        facts.session_id = session(object);
        facts.cwd = object.text("cwd");
        let mut agent = created(MAIN);
        agent.name = Some(Cow::Borrowed("Droid"));
        agent.adapter_id = Some(Cow::Borrowed(crate::droid::PROGRAM));
        agent.language_model = self.model.clone();
        self.script.begin(record, facts, agent);
    }

    fn answered(&mut self, record: &Record<'a>, name: &str) {
        let mut message = blank(MAIN, Role::Assistant);
        let text = record.object.raw(name);
        message.content = text.map(|text| record.body(text));
        message.model = self.model.clone();
        let at = self.push(record, message);
        self.answer = Some((at, text));
    }

    fn called(&mut self, record: &Record<'a>) {
        let object = &record.object;
        let Some(id) = object.text("toolCallId").or_else(|| object.text("id")) else {
            self.script.unknown(record, None, (Some(MAIN), "tool_call"));
            return;
        };
        let name = object.text("toolName").unwrap_or_default();
        self.calls.insert(id.clone(), name.clone());
        let arguments = object.raw("parameters").map(|it| record.body(it));
        let mut message = blank(MAIN, Role::Assistant);
        message.model = self.model.clone();
        let call = ToolCall { id, name, arguments, ..ToolCall::default() };
        message.tool_calls.push(call);
        self.push(record, message);
    }

    fn returned(&mut self, record: &Record<'a>) {
        let object = &record.object;
        let mut message = blank(MAIN, Role::Tool);
        message.tool_call_id = object.text("toolCallId").or_else(|| object.text("id"));
        message.name = message.tool_call_id.as_ref().and_then(|id| self.calls.get(id)).cloned();
        let value = object.object("value").unwrap_or_default();
        let heard = ["stdout", "stderr"].iter().filter_map(|name| value.raw(name));
        let said = heard.clone().find(|raw| !is_blank(raw)).or_else(|| heard.clone().next());
        let error = object.object("error").and_then(|error| error.raw("message"));
        let said = said.or_else(|| object.raw("value")).or(error).or_else(|| object.raw("error"));
        message.content = said.map(|said| record.body(said));
        let structured = object.raw("value").filter(|raw| raw.starts_with('{'));
        message.result = structured.map(|structured| record.body(structured));
        let failed = object.flag("isError") || value.raw("exitCode").is_some_and(|it| it != "0");
        message.is_error = failed.then_some(true);
        self.push(record, message);
    }

    /// Reads the end of a run, whose tokens go to the last answer.
    fn completed(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        let object = &record.object;
        let text = object.raw("finalText");
        let known = self.answer.filter(|(_, said)| *said == text);
        // A run that was stopped ends without a message.
        let is_mute = text.is_none_or(is_blank) && self.answer.is_some();
        if known.is_none() && !is_mute {
            self.answered(record, "finalText");
        }
        let usage = object.object("usage").map(|tokens| crate::claude_code::usage(&tokens));
        // What follows belongs to another run.
        let answer = self.answer.take().and_then(|(at, _)| self.script.message_at(at));
        if let Some(message) = answer {
            message.usage = usage.filter(|usage| !usage.is_zero());
        }
        if let Some((at, _)) = known {
            self.script.duplicate(record, at, "repeats the last answer", sink);
        }
        let (outcome, reason) = (Some(Cow::Borrowed("completed")), None);
        let ended = SessionEnded { outcome, reason, error: None, declared: None };
        self.script.push(record, None, EventKind::SessionEnded(ended));
    }

    fn push(&mut self, record: &Record<'a>, message: Message<'a>) -> usize {
        // The lines of a call and of its result have the call's id, so only a message has its own.
        let own = record.object.id("id").filter(|_| record.object.id("type") == Some("message"));
        self.script.push(record, own, EventKind::Message(message))
    }
}

#[cfg(test)]
mod tests;
