//! Factory Droid sessions: `sessions/<folder>/<id>.jsonl`, with `<id>.settings.json` beside it.
//!
//! A message has blocks as in Anthropic's API, and names the entry before it. Token counts are
//! totals of the session, in the settings, and go to the last answer; if there is none, to an empty
//! one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use antiphon_model::{
    Body, ContextAction, ContextEdited, Event, EventKind, Message, Role, Usage, is_blank,
    plain_text,
};

use crate::chain::Chain;
use crate::claude_code::block::add_content;
use crate::line::{Object, Record, records};
use crate::script::{Script, blank, created, started};
use crate::{Format, Kept, Layout, Lines, Sink, Stream, anthropic, spread};

pub(crate) const FORMAT: Format = Format {
    name: "droid",
    product: "Droid",
    what: "Factory Droid sessions",
    versions: "session file version 2",
    detect,
    lines: Some(lines),
    read,
    layout: Layout {
        beside: &["{}.settings.json"],
        belongs: |stem, name, _| name.strip_suffix(".settings.json") == Some(stem),
        kept: Some(Kept {
            variable: "",
            folders: &[".factory"],
            below: &["sessions"],
            session: |path| crate::layout::named(path, "", ".jsonl"),
            fallback: None,
            deletes_after_days: None,
        }),
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

pub(crate) const PROGRAM: &str = "droid";
const REMINDER: &str = "<system-reminder>";
const MAIN: Cow<'static, str> = Cow::Borrowed("main");

fn detect(head: &[&str]) -> bool {
    let first = head.iter().find_map(|line| Object::parse(line)).unwrap_or_default();
    first.id("type") == Some("session_start") && first.raw("id").is_some() && first.has("cwd")
}

/// Only the settings are a document that has to become lines.
fn lines(text: &str) -> Lines {
    let first = text.trim_start_matches('\u{feff}').trim_start().lines().next();
    if first.is_some_and(|first| first.trim() == "{") {
        return spread::spread(text, "");
    }
    Lines { text: text.to_owned(), problems: Vec::new() }
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    let mut settings = Object::default();
    let mut run = Run {
        script: Script::new(streams.first().map_or("", |stream| stream.name)),
        has_begun: false,
        chain: Chain::default(),
        answer: None,
        seen: BTreeMap::new(),
    };
    let mut last = None;
    for (number, stream) in (0..).zip(streams) {
        for record in records(stream, number) {
            match record {
                Ok(record) if number == 0 => {
                    run.line(&record, sink);
                    last = Some(record);
                }
                Ok(record) => settings = record.object,
                Err(problem) => sink.problem(problem),
            }
        }
    }
    run.settle(&settings, last.as_ref());
    run.script.finish(sink);
}

/// The state of reading a file.
struct Run<'a> {
    script: Script<'a>,
    has_begun: bool,
    chain: Chain<'a>,
    answer: Option<usize>,
    /// For each entry's id: its first event, and its line.
    seen: BTreeMap<&'a str, (usize, &'a str)>,
}

impl<'a> Run<'a> {
    fn line(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        let object = &record.object;
        let known = object.id("id").and_then(|id| self.seen.get(id));
        if let Some((at, _)) = known.filter(|(_, text)| *text == record.line.text) {
            return self.script.duplicate(record, *at, "duplicate of an earlier entry", sink);
        }
        let is_first = !self.has_begun;
        if is_first {
            self.begin(record);
        }
        let before = self.script.events.len();
        match object.id("type").unwrap_or("line") {
            "session_start" if is_first => {}
            "message" => self.message(record),
            "compaction_state" => self.compacted(record),
            other => self.keep(record, other),
        }
        let last = self.script.events.len() - 1;
        // A summary is not part of the chain: what follows it names the entry before it.
        let is_entry = object.id("type") == Some("message");
        let is_new = is_entry && last >= before && self.script.message_at(last).is_some();
        let id = object.id("id").filter(|_| !is_first);
        self.chain.add(id, object.id("parentId"), is_new.then_some(last));
        if let Some(id) = id.filter(|_| last >= before) {
            self.seen.insert(id, (before, record.line.text));
        }
    }

    /// Begins the session at the first line, whatever that is.
    fn begin(&mut self, record: &Record<'a>) {
        self.has_begun = true;
        let object = &record.object;
        let mut session = started(PROGRAM);
        if object.id("type") == Some("session_start") {
            session.session_id = object.text("id");
            let mut titles = ["title", "sessionTitle"].iter().filter_map(|name| object.text(name));
            session.title = titles.find(|title| !title.is_empty());
            session.cwd = object.text("cwd");
        }
        let mut agent = created(MAIN);
        agent.name = Some(Cow::Borrowed("Droid"));
        agent.adapter_id = Some(Cow::Borrowed(PROGRAM));
        self.script.begin(record, session, agent);
    }

    fn message(&mut self, record: &Record<'a>) {
        let said = record.object.object("message").unwrap_or_default();
        // The agent does not receive what only the screen shows.
        let is_shown_only = said.id("visibility") == Some("user_only");
        let messages = anthropic::messages(record, &said, MAIN).filter(|_| !is_shown_only);
        let Some(messages) = messages else { return self.keep(record, "message") };
        let mut is_first = true;
        for message in messages {
            let (system, message) = apart(message);
            for mut message in system.into_iter().chain(message) {
                let previous = self.chain.left_behind(record.object.id("parentId"));
                let previous = previous.and_then(|at| self.script.id_at(at)).map(str::to_owned);
                message.previous_id = previous.map(Cow::Owned);
                let is_human = message.source.as_deref() == Some("external");
                prompted(&mut self.script, message.content.filter(|_| is_human));
                let is_answer = message.role == Role::Assistant && std::mem::take(&mut is_first);
                let own = record.object.id("id");
                let at = self.script.push(record, own, EventKind::Message(message));
                self.answer = if is_answer { Some(at) } else { self.answer };
            }
        }
    }

    fn compacted(&mut self, record: &Record<'a>) {
        let edit = ContextEdited::new(MAIN, ContextAction::Compact);
        let own = record.object.id("id");
        self.script.push(record, own, EventKind::ContextEdited(edit));
        let names = ["summaryText", "summary"];
        let summary = names.iter().find_map(|name| record.object.raw(name));
        if let Some(summary) = summary.filter(|raw| raw.starts_with('"') && !is_blank(raw)) {
            let mut message = blank(MAIN, Role::User);
            message.source = Some(Cow::Borrowed("system"));
            message.content = Some(record.body(summary));
            self.script.push(record, None, EventKind::Message(message));
        }
    }

    fn keep(&mut self, record: &Record<'a>, kind: &'a str) {
        self.script.unknown(record, record.object.id("id"), (Some(MAIN), kind));
    }

    fn settle(&mut self, settings: &Object<'a>, last: Option<&Record<'a>>) {
        let model = settings.text("model");
        let usage = settings.object("tokenUsage").map(|tokens| usage(&tokens));
        let usage = usage.filter(|usage| !usage.is_zero());
        if let Some(last) = last.filter(|_| self.answer.is_none() && usage.is_some()) {
            let message = EventKind::Message(blank(MAIN, Role::Assistant));
            self.answer = Some(self.script.push(last, None, message));
        }
        let answer = self.answer.and_then(|at| self.script.message_at(at));
        if let Some(message) = answer {
            message.usage = usage;
            message.model = model.clone();
        }
        if let Some(Event { kind: EventKind::AgentCreated(agent), .. }) =
            self.script.events.get_mut(1)
        {
            agent.language_model = model;
        }
    }
}

/// Separates what the program put before a person's words from those words.
fn apart<'a>(mut message: Message<'a>) -> (Option<Message<'a>>, Option<Message<'a>>) {
    if message.role != Role::User {
        return (None, Some(message));
    }
    let mut system = blank(MAIN, Role::User);
    system.source = Some(Cow::Borrowed("system"));
    let said = message.content.take().into_iter().chain(std::mem::take(&mut message.more_content));
    for body in said {
        add_content(if is_reminder(&body) { &mut system } else { &mut message }, body);
    }
    let is_mute = message.content.is_none() && system.content.is_some();
    (system.content.is_some().then_some(system), (!is_mute).then_some(message))
}

/// Whether a text consists of reminders only.
fn is_reminder(body: &Body<'_>) -> bool {
    let text = plain_text(body.json);
    text.contains(REMINDER) && without_reminders(&text).is_empty()
}

/// Sets the session's prompt to the first words of a person, without the program's additions.
pub(crate) fn prompted<'a>(script: &mut Script<'a>, said: Option<Body<'a>>) {
    script.prompted(said);
    if let Some(Event { kind: EventKind::SessionStarted(session), .. }) = script.events.first_mut()
        && let Some(prompt) = session.prompt.as_mut()
        && prompt.contains(REMINDER)
    {
        *prompt = Cow::Owned(without_reminders(prompt));
    }
}

fn without_reminders(text: &str) -> String {
    let (mut words, mut rest) = (String::new(), text);
    while let Some((before, reminder)) = rest.split_once(REMINDER) {
        let Some((_, after)) = reminder.split_once("</system-reminder>") else { break };
        words.push_str(before);
        rest = after;
    }
    words.push_str(rest);
    words.trim().to_owned()
}

fn usage(tokens: &Object<'_>) -> Usage {
    let count = |name| tokens.number(name).unwrap_or_default();
    Usage {
        input: count("inputTokens"),
        output: count("outputTokens"),
        reasoning: count("thinkingTokens").min(count("outputTokens")),
        cache_read: count("cacheReadTokens"),
        cache_write: count("cacheCreationTokens"),
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
