//! Aider's chat history: `.aider.chat.history.md` in a project, to which every run appends.
//!
//! `# aider chat started at …` begins a run, `#### ` marks what a person typed, `> ` what the
//! program itself printed, and the rest is the model's answer. Each run becomes an agent of its
//! own, because it knows nothing of the run before. Token counts are rounded, as the program shows
//! them. The time at which a run starts has no time zone; it is taken as UTC.

mod lines;

use std::borrow::Cow;

use antiphon_model::{EventKind, Role, Usage, is_blank};

use crate::line::{Object, Record, each_record};
use crate::script::{Script, blank, created, started};
use crate::{Format, Kept, Layout, Sink, Stream};

pub(crate) const FORMAT: Format = Format {
    name: "aider",
    product: "Aider",
    what: "Aider chat histories",
    versions: "0.86, from the program's source code",
    detect,
    lines: Some(lines::lines),
    read,
    layout: Layout {
        kept: Some(Kept {
            variable: "",
            folders: &[],
            below: &[],
            session: |_| None,
            fallback: None,
            deletes_after_days: None,
        }),
        in_projects: &[".aider.chat.history.md"],
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

const PROGRAM: &str = "aider";

fn detect(head: &[&str]) -> bool {
    let first = head.iter().find(|line| !line.trim_start_matches('\u{feff}').trim().is_empty());
    let first = first.map(|line| line.trim_start_matches('\u{feff}'));
    first.is_some_and(|line| line.starts_with(lines::START))
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        let mut history = History {
            script: Script::new(stream.name),
            agent: Cow::Borrowed("main"),
            runs: 0,
            created: 0,
            model: None,
            answer: None,
        };
        each_record(stream, number, sink, |record, sink| history.line(&record, sink));
        history.script.finish(sink);
    }
}

/// The state of reading a history.
struct History<'a> {
    script: Script<'a>,
    agent: Cow<'a, str>,
    runs: usize,
    /// Index of the event that created the agent of the current run.
    created: usize,
    model: Option<Cow<'a, str>>,
    /// Index of the last answer, as long as no token counts have followed it.
    answer: Option<usize>,
}

impl<'a> History<'a> {
    fn line(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        let object = &record.object;
        let kind = object.id("kind").unwrap_or("line");
        if kind == "start" || self.runs == 0 {
            self.begin(record);
        }
        match kind {
            "start" => {}
            "user" | "assistant" => {
                let is_answer = kind == "assistant";
                let role = if is_answer { Role::Assistant } else { Role::User };
                let mut message = blank(self.agent.clone(), role);
                message.content = object.raw("text").map(|text| record.body(text));
                message.source = (!is_answer).then_some(Cow::Borrowed("external"));
                message.model = self.model.clone().filter(|_| is_answer);
                let typed = message.content.filter(|text| !is_answer && !is_blank(text.json));
                self.script.prompted(typed);
                let at = self.script.push(record, None, EventKind::Message(message));
                self.answer = is_answer.then_some(at);
            }
            "tokens" => self.spent(record, sink),
            _ => {
                self.model = object.text("model").or(self.model.take());
                self.learn(object);
                self.script.unknown(record, None, (Some(self.agent.clone()), kind));
            }
        }
    }

    /// Begins a run. The first run also begins the session.
    fn begin(&mut self, record: &Record<'a>) {
        self.runs += 1;
        self.model = None;
        self.answer = None;
        if self.runs == 1 {
            let session = EventKind::SessionStarted(started(PROGRAM));
            self.script.push_as(record, Cow::Borrowed("session"), session);
        } else {
            self.agent = Cow::Owned(format!("run-{}", self.runs));
        }
        let mut agent = created(self.agent.clone());
        agent.name = Some(Cow::Borrowed("Aider"));
        agent.adapter_id = Some(Cow::Borrowed(PROGRAM));
        let id = Cow::Owned(format!("created:{}", self.agent));
        self.created = self.script.push_as(record, id, EventKind::AgentCreated(agent));
    }

    /// Reads the model and the version that a run prints before the first prompt.
    fn learn(&mut self, facts: &Object<'a>) {
        let (model, version) = (facts.text("model"), facts.text("version"));
        if let Some(EventKind::AgentCreated(run)) = self.kind_at(self.created)
            && model.is_some()
        {
            run.language_model = model;
        }
        if let Some(EventKind::SessionStarted(session)) = self.kind_at(0)
            && version.is_some()
        {
            session.version = version;
        }
    }

    fn kind_at(&mut self, at: usize) -> Option<&mut EventKind<'a>> {
        self.script.events.get_mut(at).map(|event| &mut event.kind)
    }

    fn spent(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        let at = self.answer.take();
        let mut message = blank(self.agent.clone(), Role::Assistant);
        message.model = self.model.clone();
        let known = at.and_then(|at| self.script.message_at(at));
        let message_of = known.unwrap_or(&mut message);
        message_of.usage = Some(usage(&record.object));
        message_of.cost_usd = record.object.cost("cost");
        match at {
            Some(at) => self.script.duplicate(record, at, "token counts of the answer above", sink),
            None => {
                self.script.push(record, None, EventKind::Message(message));
            }
        }
    }
}

/// The tokens of a request. Aider's count of tokens sent includes those of the cache.
fn usage(tokens: &Object<'_>) -> Usage {
    let count = |name| tokens.number(name).unwrap_or_default();
    let (read, write) = (count("cache_hit"), count("cache_write"));
    let sent = count("sent");
    Usage {
        input: sent.checked_sub(read.saturating_add(write)).unwrap_or(sent),
        output: count("received"),
        cache_read: read,
        cache_write: write,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
