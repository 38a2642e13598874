//! Transcripts of Cursor's agent: `agent-transcripts/<id>/<id>.jsonl`, in older versions text.
//!
//! A line has a role and blocks as in Anthropic's API. There are no ids, times or token counts, and
//! mostly no results. Sub-agents are in `subagents/`; the first prompt of one is the prompt of the
//! call that created it.

mod text;

use std::borrow::Cow;
use std::collections::BTreeMap;

use antiphon_model::{Event, EventKind, Message, Role, Rule, json, plain_text};

use crate::line::{Object, Record, each_record};
use crate::merge::{EventStream, merge};
use crate::order::message;
use crate::script::{Script, created, started};
use crate::{Format, Kept, Layout, Servers, Sink, Stream, anthropic};

pub(crate) const FORMAT: Format = Format {
    name: "cursor",
    product: "Cursor",
    what: "Cursor agent transcripts, with sub-agents",
    versions: "early 2026 as JSON Lines; as text, from public readers",
    detect,
    lines: Some(text::lines),
    read,
    layout: Layout {
        belongs,
        servers: Some(Servers { files: &["mcp.json"], ..Servers::USUAL }),
        kept: Some(Kept {
            variable: "",
            folders: &[".cursor"],
            below: &["projects"],
            session,
            fallback: None,
            deletes_after_days: None,
        }),
        ..Layout::ONE_FILE
    },
    ..crate::ONE_FILE
};

const PROGRAM: &str = "cursor";
const MAIN: Cow<'static, str> = Cow::Borrowed("main");

fn detect(head: &[&str]) -> bool {
    text::is_ours(head) || head.iter().filter_map(|line| Object::parse(line)).any(|it| is_ours(&it))
}

/// Whether a line is Cursor's. Other programs also write a type or a time.
fn is_ours(object: &Object<'_>) -> bool {
    let is_somebody = matches!(object.id("role"), Some("user" | "assistant"));
    let is_foreign = ["type", "timestamp", "uuid", "content"].iter().any(|name| object.has(name));
    let message = object.object("message").unwrap_or_default();
    is_somebody && !is_foreign && message.raw("content").is_some()
}

fn belongs(stem: &str, name: &str, _: &str) -> bool {
    let below = name.strip_prefix(stem).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
    let file = below.strip_prefix("subagents/").filter(|file| !file.contains('/'));
    file.is_some_and(|file| file.is_empty() || file.ends_with(".jsonl") || file.ends_with(".txt"))
}

fn session(path: &str) -> Option<&str> {
    let (_, below) = path.split_once("/agent-transcripts/")?;
    let (folder, file) = below.split_once('/').unwrap_or(("", below));
    let id = file.strip_suffix(".jsonl").or_else(|| file.strip_suffix(".txt"))?;
    (folder.is_empty() || folder == id).then_some(id)
}

/// The index of the file with the call that created an agent, and the call.
type Maker<'a> = (usize, Cow<'a, str>);

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    let mut agents: Vec<(Cow<'a, str>, Vec<Event<'a>>)> = Vec::new();
    for (number, stream) in (0..).zip(streams) {
        let agent = if number == 0 { MAIN } else { Cow::Borrowed(agent_of(stream.name)) };
        let mut run = Run { script: Script::new(stream.name), agent };
        each_record(stream, number, sink, |record, _| run.line(&record));
        agents.push((run.agent, run.script.events));
    }
    merge(event_streams(agents), sink);
}

/// The agent's id from a file's name: `aaa` for `subagents/aaa.jsonl`.
fn agent_of(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// Gives each agent the call whose prompt equals the agent's first prompt.
fn event_streams<'a>(agents: Vec<(Cow<'a, str>, Vec<Event<'a>>)>) -> Vec<EventStream<'a>> {
    let mut makers: BTreeMap<String, Maker<'a>> = BTreeMap::new();
    for (at, (_, events)) in agents.iter().enumerate() {
        for call in events.iter().filter_map(message).flat_map(|message| &message.tool_calls) {
            let prompt = call.arguments.and_then(|it| json::text(json::member(it.json, "prompt")?));
            let Some(prompt) = prompt else { continue };
            makers.entry(prompt.trim().to_owned()).or_insert_with(|| (at, call.id.clone()));
        }
    }
    let mut event_streams = Vec::new();
    for (at, (id, events)) in agents.into_iter().enumerate() {
        let mut agent = created(id);
        let mut started_in = None;
        if at == 0 {
            agent.name = Some(Cow::Borrowed("Cursor"));
            agent.adapter_id = Some(Cow::Borrowed(PROGRAM));
        } else {
            let first = events.iter().filter_map(message).find_map(|message| message.content);
            let prompt = first.map(|content| query(&plain_text(content.json)).to_owned());
            let maker = prompt.and_then(|prompt| makers.get(&prompt)).filter(|(by, _)| *by != at);
            // It is in the session's folder; which call created it is inferred.
            agent.parent_id = Some(MAIN);
            agent.tool_call_id = maker.map(|(_, call)| call.clone());
            agent.rule = maker.map(|_| Rule::SamePrompt);
            started_in = maker.map(|(by, _)| *by);
        }
        event_streams.extend(EventStream::of(agent, events, started_in));
    }
    event_streams
}

/// What a person typed, without what the program wrapped around it.
fn query(text: &str) -> &str {
    let inner = text.split_once("<user_query>").and_then(|(_, rest)| rest.split_once("</user_"));
    inner.map_or(text, |(inner, _)| inner).trim()
}

/// The state of reading a file.
struct Run<'a> {
    script: Script<'a>,
    agent: Cow<'a, str>,
}

impl<'a> Run<'a> {
    fn line(&mut self, record: &Record<'a>) {
        if self.script.events.is_empty() && self.agent == MAIN {
            let session = EventKind::SessionStarted(started(PROGRAM));
            self.script.push_as(record, Cow::Borrowed("session"), session);
        }
        let object = &record.object;
        let mut said = object.object("message").unwrap_or_default();
        said.add(object, "role");
        let Some(messages) = anthropic::messages(record, &said, self.agent.clone()) else {
            let kind = object.id("type").unwrap_or("line");
            self.script.unknown(record, None, (Some(self.agent.clone()), kind));
            return;
        };
        for mut message in messages {
            match message.role {
                Role::Assistant => message.model = object.text("model"),
                Role::User if self.agent != MAIN => {
                    message.source = Some(Cow::Borrowed("system"));
                }
                Role::User => self.prompted(&message),
                Role::System | Role::Tool | Role::Other => {}
            }
            self.script.push(record, None, EventKind::Message(message));
        }
    }

    fn prompted(&mut self, message: &Message<'a>) {
        let Some(content) = message.content else { return };
        if let Some(Event { kind: EventKind::SessionStarted(session), .. }) =
            self.script.events.first_mut()
            && session.prompt.is_none()
        {
            session.prompt = Some(match plain_text(content.json) {
                Cow::Borrowed(text) => Cow::Borrowed(query(text)),
                Cow::Owned(text) => Cow::Owned(query(&text).to_owned()),
            });
        }
    }
}

#[cfg(test)]
mod tests;
