//! Pi sessions: `sessions/--<path>--/<time>_<id>.jsonl`.
//!
//! The entries are a tree: each names the one before it, and an entry that follows an older one
//! abandons a branch. A compaction names the first entry that stays. Versions before 2 have no ids,
//! and are a list. A fork is a file of its own that repeats the entries it began with, and names
//! the file that it comes from.

use std::borrow::Cow;

use antiphon_model::{
    Body, ContextAction, ContextEdited, Event, EventKind, Message, Role, ToolCall, Usage, is_blank,
};

use crate::chain::Chain;
use crate::claude_code::block::add_content;
use crate::line::{Object, Record, each_record, elements};
use crate::script::{Script, blank, created, started};
use crate::{Format, Layout, Sink, Stream};

pub(crate) const FORMAT: Format = Format {
    name: "pi",
    product: "Pi",
    what: "Pi sessions",
    versions: "session file versions 1 to 3",
    detect,
    read,
    layout: Layout {
        kept: Some(crate::Kept {
            variable: "",
            folders: &[".pi/agent"],
            below: &["sessions"],
            session: |path| crate::layout::named(path, "", ".jsonl"),
            fallback: None,
            deletes_after_days: None,
        }),
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

const MAIN: Cow<'static, str> = Cow::Borrowed("main");

/// Recognises the session's first line. Other programs write the same entries after another first
/// line.
fn detect(head: &[&str]) -> bool {
    head.iter().filter_map(|line| Object::parse(line)).any(|object| {
        object.id("type") == Some("session") && object.raw("id").is_some() && object.has("cwd")
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
    chain: Chain<'a>,
}

impl<'a> Run<'a> {
    fn new(name: &'a str) -> Self {
        let script = Script::new(name);
        Self { script, has_begun: false, chain: Chain::default() }
    }

    fn line(&mut self, record: &Record<'a>) {
        let object = &record.object;
        let is_first = !self.has_begun;
        if is_first {
            self.begin(record);
        }
        let before = self.script.events.len();
        match object.id("type").unwrap_or("line") {
            "session" if is_first => {}
            "message" => self.message(record),
            "custom_message" => {
                let content = object.raw("content");
                self.received(record, (Role::User, "system"), content);
            }
            "compaction" => self.compacted(record),
            "branch_summary" => {
                self.received(record, (Role::User, "system"), object.raw("summary"));
            }
            "session_info" => {
                self.name(object);
                self.keep(record, "session_info");
            }
            other => self.keep(record, other),
        }
        let said = self.script.events.len() - 1;
        let is_new = said >= before && self.script.message_at(said).is_some();
        let id = object.id("id").filter(|_| !is_first);
        self.chain.add(id, object.id("parentId"), is_new.then_some(said));
    }

    /// Begins the session at the first line, whatever that is.
    fn begin(&mut self, record: &Record<'a>) {
        self.has_begun = true;
        let object = &record.object;
        let mut session = started("pi");
        if object.id("type") == Some("session") {
            session.session_id = object.text("id");
            session.cwd = object.text("cwd");
        }
        let mut agent = created(MAIN);
        agent.name = Some(Cow::Borrowed("Pi"));
        agent.adapter_id = Some(Cow::Borrowed("pi"));
        agent.language_model = object.text("modelId");
        self.script.begin(record, session, agent);
    }

    fn name(&mut self, object: &Object<'a>) {
        if let Some(Event { kind: EventKind::SessionStarted(session), .. }) =
            self.script.events.first_mut()
        {
            session.title = object.text("name").or(session.title.take());
        }
    }

    fn message(&mut self, record: &Record<'a>) {
        let Some(said) = record.object.object("message") else {
            return self.keep(record, "message");
        };
        match said.id("role").unwrap_or_default() {
            "user" => {
                self.received(record, (Role::User, "external"), said.raw("content"));
                let last = self.script.events.len() - 1;
                let content = self.script.message_at(last).and_then(|message| message.content);
                self.script.prompted(content);
            }
            "assistant" => self.answer(record, &said),
            "toolResult" => self.returned(record, &said),
            "bashExecution" => self.executed(record, &said),
            "custom" => self.received(record, (Role::User, "system"), said.raw("content")),
            "branchSummary" | "compactionSummary" => {
                self.received(record, (Role::User, "system"), said.raw("summary"));
            }
            _ => self.keep(record, "message"),
        }
    }

    fn received(
        &mut self,
        record: &Record<'a>,
        (role, source): (Role, &'static str),
        content: Option<&'a str>,
    ) {
        let mut message = blank(MAIN, role);
        message.source = Some(Cow::Borrowed(source));
        say(record, &mut message, content);
        self.push(record, message);
    }

    fn answer(&mut self, record: &Record<'a>, said: &Object<'a>) {
        let mut message = blank(MAIN, Role::Assistant);
        message.model = said.text("model");
        // Short ids are not unique: a local server may number its answers from one.
        message.request_id = said.text("responseId").filter(|id| id.len() >= 24);
        message.is_error = (said.id("stopReason") == Some("error")).then_some(true);
        say(record, &mut message, said.raw("content"));
        if message.content.is_none() {
            let error = said.raw("errorMessage").filter(|raw| !is_blank(raw));
            message.content = error.map(|error| record.body(error));
        }
        if let Some(tokens) = said.object("usage") {
            message.usage = Some(usage(&tokens));
            message.cost_usd = tokens.object("cost").and_then(|cost| cost.cost("total"));
        }
        self.push(record, message);
    }

    fn returned(&mut self, record: &Record<'a>, said: &Object<'a>) {
        let mut message = blank(MAIN, Role::Tool);
        message.tool_call_id = said.text("toolCallId");
        message.name = said.text("toolName");
        message.is_error = said.flag("isError").then_some(true);
        message.content = said.raw("content").map(|content| record.body(content));
        let details = said.raw("details").filter(|raw| !is_blank(raw));
        message.result = details.map(|details| record.body(details));
        self.push(record, message);
    }

    /// A command that the person ran. The agent sees it, unless it is excluded from the context.
    fn executed(&mut self, record: &Record<'a>, said: &Object<'a>) {
        if said.flag("excludeFromContext") {
            return self.keep(record, "bashExecution");
        }
        let mut message = blank(MAIN, Role::User);
        message.source = Some(Cow::Borrowed("external"));
        for part in [said.raw("command"), said.raw("output")].into_iter().flatten() {
            add_content(&mut message, record.body(part));
        }
        self.push(record, message);
    }

    /// Older entries were replaced by a summary; the first entry that stays is named.
    fn compacted(&mut self, record: &Record<'a>) {
        let object = &record.object;
        let edit = ContextEdited {
            kept: self.kept(record),
            ..ContextEdited::new(MAIN, ContextAction::Compact)
        };
        self.script.push(record, object.id("id"), EventKind::ContextEdited(edit));
        if object.raw("summary").is_some() {
            self.received(record, (Role::User, "system"), object.raw("summary"));
        }
    }

    /// The first entry that stays after a compaction.
    fn kept(&self, record: &Record<'a>) -> Option<Body<'a>> {
        let known = record.object.id("firstKeptEntryId");
        known.filter(|id| self.chain.has(id))?;
        record.object.raw("firstKeptEntryId").map(|id| record.body(id))
    }

    fn push(&mut self, record: &Record<'a>, mut message: Message<'a>) {
        let previous = self.chain.left_behind(record.object.id("parentId"));
        let previous = previous.and_then(|at| self.script.id_at(at)).map(str::to_owned);
        message.previous_id = previous.map(Cow::Owned);
        self.script.push(record, record.object.id("id"), EventKind::Message(message));
    }

    fn keep(&mut self, record: &Record<'a>, kind: &'a str) {
        self.script.unknown(record, record.object.id("id"), (Some(MAIN), kind));
    }
}

/// Adds text or blocks: texts, thoughts, calls, images.
fn say<'a>(record: &Record<'a>, message: &mut Message<'a>, content: Option<&'a str>) {
    let Some(content) = content.filter(|raw| !is_blank(raw)) else { return };
    if !content.starts_with('[') {
        return add_content(message, record.body(content));
    }
    for raw in elements(content) {
        let block = Object::parse(raw).unwrap_or_default();
        match block.id("type").unwrap_or_default() {
            "text" => {
                let text = block.raw("text").filter(|raw| !is_blank(raw));
                text.into_iter().for_each(|text| add_content(message, record.body(text)));
            }
            "thinking" => {
                let thought = block.raw("thinking").filter(|raw| !is_blank(raw));
                if message.reasoning.is_none() {
                    message.reasoning = thought.map(|thought| record.body(thought));
                } else {
                    thought.into_iter().for_each(|it| add_content(message, record.body(it)));
                }
            }
            "toolCall" => message.tool_calls.extend(call(record, &block)),
            _ => add_content(message, record.body(raw)),
        }
    }
}

fn call<'a>(record: &Record<'a>, block: &Object<'a>) -> Option<ToolCall<'a>> {
    let arguments = block.object("arguments");
    Some(ToolCall {
        id: block.text("id")?,
        name: block.text("name").unwrap_or_default(),
        arguments: block.raw("arguments").map(|arguments| record.body(arguments)),
        description: arguments.and_then(|arguments| arguments.text("description")),
        ..ToolCall::default()
    })
}

/// Converts token counts. Input excludes cached input; output includes reasoning.
fn usage(tokens: &Object<'_>) -> Usage {
    let count = |name| tokens.number(name).unwrap_or_default();
    Usage {
        input: count("input"),
        output: count("output"),
        cache_read: count("cacheRead"),
        cache_write: count("cacheWrite"),
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
