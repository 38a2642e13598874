//! iFlow CLI sessions: `projects/<slug>/session-<id>.jsonl`.
//!
//! The envelope is Claude Code's. A message is written whenever a part of it has arrived, each time
//! under another id, and repeats the last call before it. A result is in Gemini's form.

use std::borrow::Cow;
use std::collections::BTreeMap;

use antiphon_model::{EventKind, Role};

use crate::line::{Object, Record, each_record, elements};
use crate::script::{Script, created, started};
use crate::{Format, Kept, Layout, Sink, Stream, anthropic};

pub(crate) const FORMAT: Format = Format {
    name: "iflow",
    product: "iFlow",
    what: "iFlow CLI sessions",
    versions: "January 2026",
    detect: |head| head.iter().any(|line| is_ours(line)),
    read,
    layout: Layout {
        kept: Some(Kept {
            variable: "",
            folders: &[".iflow"],
            below: &["projects"],
            session: |path| crate::layout::named(path, "session-", ".jsonl"),
            fallback: None,
            deletes_after_days: None,
        }),
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

const PROGRAM: &str = "iflow";
const MAIN: Cow<'static, str> = Cow::Borrowed("main");

/// Whether a line is of this format and not Claude Code's, by the form of its session's id.
pub(crate) fn is_ours(line: &str) -> bool {
    line.contains("\"session-")
        && Object::parse(line).is_some_and(|object| {
            let is_envelope = object.has("parentUuid") && object.raw("uuid").is_some();
            let message = object.object("message").unwrap_or_default();
            let is_session = object.id("sessionId").is_some_and(|id| id.starts_with("session-"));
            is_envelope && is_session && message.raw("content").is_some()
        })
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        let (calls, seen) = (BTreeMap::new(), BTreeMap::new());
        let mut run = Run { script: Script::new(stream.name), calls, seen };
        each_record(stream, number, sink, |record, sink| run.line(&record, sink));
        run.script.finish(sink);
    }
}

/// The state of reading a file.
struct Run<'a> {
    script: Script<'a>,
    /// For each call's id: the event that makes the call.
    calls: BTreeMap<Cow<'a, str>, usize>,
    /// For each entry's id: its first event, and its line.
    seen: BTreeMap<&'a str, (usize, &'a str)>,
}

impl<'a> Run<'a> {
    fn line(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        let object = &record.object;
        if self.script.events.is_empty() {
            self.begin(record);
        }
        let own = object.id("uuid");
        let known = own.and_then(|own| self.seen.get(own));
        if let Some((at, _)) = known.filter(|(_, text)| *text == record.line.text) {
            self.script.duplicate(record, *at, "duplicate of an earlier entry", sink);
            return;
        }
        let said = object.object("message").unwrap_or_default();
        let Some(messages) = anthropic::messages(record, &said, MAIN) else {
            let kind = object.id("type").unwrap_or("line");
            self.script.unknown(record, own, (Some(MAIN), kind));
            return;
        };
        let first = self.script.events.len();
        let mut tokens = said.object("usage").map(|tokens| crate::claude_code::usage(&tokens));
        let mut results = results(&said).into_iter();
        for mut message in messages {
            if message.role == Role::Tool {
                let outcome = object.object("toolUseResult").unwrap_or_default();
                message.name = outcome.text("toolName").or(message.name);
                let failed = outcome.id("status").is_some_and(|status| status != "success");
                let (output, error) = results.next().unwrap_or_default();
                let failed = failed || (output.is_none() && error.is_some());
                message.is_error = failed.then_some(true).or(message.is_error);
                let output = output.or(error).map(|output| record.body(output));
                message.content = output.or(message.content);
            }
            let is_human = message.role == Role::User;
            self.script.prompted(message.content.filter(|_| is_human));
            if message.role == Role::Assistant {
                message.model = said.text("model");
                message.usage = tokens.take().filter(|usage| !usage.is_zero());
                let known = message.tool_calls.iter().find_map(|call| self.calls.get(&call.id));
                let known = known.copied();
                message.tool_calls.retain(|call| !self.calls.contains_key(&call.id));
                let is_mute = message.content.is_none()
                    && message.reasoning.is_none()
                    && message.tool_calls.is_empty()
                    && message.usage.is_none();
                if let Some(at) = known.filter(|_| is_mute) {
                    self.script.duplicate(record, at, "duplicate of an earlier call", sink);
                    continue;
                }
                let at = self.script.events.len();
                self.calls.extend(message.tool_calls.iter().map(|call| (call.id.clone(), at)));
            }
            self.script.push(record, own, EventKind::Message(message));
        }
        if let Some(own) = own.filter(|_| first < self.script.events.len()) {
            self.seen.insert(own, (first, record.line.text));
        }
    }

    fn begin(&mut self, record: &Record<'a>) {
        let object = &record.object;
        let mut session = started(PROGRAM);
        session.session_id = object.text("sessionId");
        session.cwd = object.text("cwd");
        session.branch = object.text("gitBranch");
        session.version = object.text("version");
        let mut agent = created(MAIN);
        agent.name = Some(Cow::Borrowed("iFlow"));
        agent.adapter_id = Some(Cow::Borrowed(PROGRAM));
        self.script.begin(record, session, agent);
    }
}

/// Each tool's output, or its error, if the result is in Gemini's form.
fn results<'a>(said: &Object<'a>) -> Vec<(Option<&'a str>, Option<&'a str>)> {
    let blocks = elements(said.raw("content").unwrap_or_default());
    let blocks = blocks.into_iter().filter_map(Object::parse);
    let results = blocks.filter(|block| block.id("type") == Some("tool_result"));
    let output = |block: Object<'a>| {
        let content = block.object("content")?;
        let listed = content.elements("responseParts").into_iter().filter_map(|(_, part)| part);
        let mut parts = content.object("responseParts").into_iter().chain(listed);
        let response =
            parts.find_map(|part| part.object("functionResponse"))?.object("response")?;
        Some((response.raw("output"), response.raw("error")))
    };
    results.map(|block| output(block).unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests;
