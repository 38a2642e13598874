//! The output of `opencode run --format json`: the parts of messages as they are complete.
//!
//! The parts of one message are one event, at the place of the first; a tool's part has both the
//! call and its result. A step's tokens belong to its message.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{EventKind, Message, Role, is_blank};

use crate::claude_code::block::add_content;
use crate::line::{Object, Record, each_record};
use crate::opencode::PROGRAM;
use crate::opencode::part::{call, child, result, usage};
use crate::script::{Script, blank, created, started};
use crate::{Format, Sink, Stream};

pub(crate) const FORMAT: Format = Format {
    name: "opencode-run",
    product: "OpenCode",
    what: "output of `opencode run --format json`",
    versions: "1.2, from the program's source code",
    detect,
    read,
    ..crate::ONE_FILE
};

const MAIN: Cow<'static, str> = Cow::Borrowed("main");

fn detect(head: &[&str]) -> bool {
    head.iter().filter_map(|line| Object::parse(line)).any(|object| {
        let is_part = object.object("part").is_some_and(|part| part.raw("messageID").is_some());
        let is_kind = matches!(
            object.id("type"),
            Some("step_start" | "text" | "reasoning" | "tool_use" | "step_finish")
        );
        is_kind && is_part && object.raw("sessionID").is_some()
    })
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        let mut run = Run {
            script: Script::new(stream.name),
            has_begun: false,
            messages: BTreeMap::new(),
            counted: BTreeSet::new(),
            made: BTreeSet::new(),
            answer: None,
        };
        each_record(stream, number, sink, |record, _| run.line(&record));
        run.script.finish(sink);
    }
}

/// The state of reading a stream.
struct Run<'a> {
    script: Script<'a>,
    has_begun: bool,
    /// For each `messageID`: the event that its parts make up.
    messages: BTreeMap<&'a str, usize>,
    /// Ids of steps whose tokens were counted.
    counted: BTreeSet<&'a str>,
    /// Ids of child sessions that were created.
    made: BTreeSet<Cow<'a, str>>,
    /// The last answer.
    answer: Option<usize>,
}

impl<'a> Run<'a> {
    fn line(&mut self, record: &Record<'a>) {
        if !self.has_begun {
            self.begin(record);
        }
        let object = &record.object;
        let kind = object.id("type").unwrap_or("line");
        let part = object.object("part").unwrap_or_default();
        let text = part.raw("text").filter(|raw| !is_blank(raw));
        match (kind, text) {
            ("text", Some(text)) => {
                self.add(record, &part, |message| add_content(message, record.body(text)));
            }
            ("reasoning", Some(text)) => {
                self.add(record, &part, |message| match message.reasoning {
                    None => message.reasoning = Some(record.body(text)),
                    Some(_) => add_content(message, record.body(text)),
                });
            }
            ("tool_use", _) => self.tool(record, &part),
            ("step_finish", _) => {
                self.keep(record, kind);
                self.finished(&part);
            }
            _ => self.keep(record, kind),
        }
    }

    /// Begins the session at the first line, whatever that is.
    fn begin(&mut self, record: &Record<'a>) {
        self.has_begun = true;
        let mut session = started(PROGRAM);
        session.session_id = record.object.text("sessionID");
        let mut agent = created(MAIN);
        agent.name = Some(Cow::Borrowed("OpenCode"));
        agent.adapter_id = Some(Cow::Borrowed(PROGRAM));
        self.script.begin(record, session, agent);
    }

    /// Adds a part to its message.
    fn add(&mut self, record: &Record<'a>, part: &Object<'a>, fill: impl FnOnce(&mut Message<'a>)) {
        let id = part.id("messageID");
        let known = id.and_then(|id| self.messages.get(id).copied());
        let at = known.unwrap_or_else(|| {
            let message = EventKind::Message(blank(MAIN, Role::Assistant));
            self.script.push(record, id, message)
        });
        self.messages.extend(id.map(|id| (id, at)));
        self.answer = Some(at);
        if let Some(message) = self.script.message_at(at) {
            fill(message);
        }
    }

    fn tool(&mut self, record: &Record<'a>, part: &Object<'a>) {
        let Some(made) = call(record, part) else { return self.keep(record, "tool_use") };
        self.add(record, part, |message| message.tool_calls.push(made));
        if let Some(agent) = child(record, part)
            && self.made.insert(agent.agent.clone())
        {
            self.script.push(record, None, EventKind::AgentCreated(agent));
        }
        match result(record, part, MAIN) {
            Some((message, ended)) => {
                let at = self.script.push(record, part.id("id"), EventKind::Message(message));
                self.script.set_time(at, ended);
            }
            None => self.keep(record, "tool_use"),
        }
    }

    fn finished(&mut self, part: &Object<'a>) {
        let is_new = part.id("id").is_none_or(|id| self.counted.insert(id));
        let at = part.id("messageID").and_then(|id| self.messages.get(id).copied());
        let at = at.or(self.answer).filter(|_| is_new);
        if let Some(message) = at.and_then(|at| self.script.message_at(at))
            && let Some(tokens) = part.object("tokens")
        {
            *message.usage.get_or_insert_default() += usage(&tokens);
            message.cost_usd = match (message.cost_usd, part.cost("cost")) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            };
        }
    }

    fn keep(&mut self, record: &Record<'a>, kind: &'a str) {
        self.script.unknown(record, None, (Some(MAIN), kind));
    }
}

#[cfg(test)]
mod tests;
