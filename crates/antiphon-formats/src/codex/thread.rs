//! What a rollout says about itself: its thread, its parent, its turns, and the threads it created.

use std::borrow::Cow;
use std::collections::BTreeSet;

use antiphon_model::{Body, Timestamp, json};

use super::entry::{Entry, entries};
use crate::Stream;
use crate::line::Object;

/// The outline of a rollout.
#[derive(Debug, Default)]
pub(super) struct Thread<'a> {
    /// The first `session_meta`, which is the thread's own. In forks, copies of others follow.
    pub(super) meta: Option<Meta<'a>>,
    /// Later `session_meta` lines, each with its line number and id.
    pub(super) other_metas: Vec<(u64, Option<&'a str>)>,
    pub(super) turns: Vec<Turn<'a>>,
    pub(super) launches: Vec<Launch<'a>>,
    /// The last name that it was given.
    pub(super) title: Option<Cow<'a, str>>,
}

#[derive(Debug)]
pub(super) struct Meta<'a> {
    pub(super) line: u64,
    pub(super) id: Option<&'a str>,
    pub(super) parent: Option<&'a str>,
    pub(super) forked_from: Option<&'a str>,
    /// Whether another agent works in it, not a person.
    pub(super) is_subagent: bool,
    pub(super) nickname: Option<Cow<'a, str>>,
    pub(super) role: Option<Cow<'a, str>>,
    pub(super) path: Option<Cow<'a, str>>,
    pub(super) cwd: Option<Cow<'a, str>>,
    pub(super) branch: Option<Cow<'a, str>>,
    pub(super) version: Option<Cow<'a, str>>,
    pub(super) made_at: Option<Timestamp>,
    /// The ordinal of its own first line, in newer versions.
    pub(super) own_from_ordinal: Option<u64>,
}

impl Meta<'_> {
    /// Whether it may begin with lines of another thread.
    pub(super) fn is_derived(&self) -> bool {
        self.parent.is_some() || self.forked_from.is_some() || self.is_subagent
    }
}

/// The beginning of a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn<'a> {
    pub(super) line: u64,
    pub(super) id: Option<&'a str>,
    /// In seconds since 1970. A copy keeps it, whereas the line's own time is that of the copying.
    pub(super) started_at: Option<i64>,
    pub(super) at: Option<Timestamp>,
}

/// A thread that this one created.
#[derive(Debug, Clone)]
pub(super) struct Launch<'a> {
    pub(super) line: u64,
    pub(super) ordinal: Option<u64>,
    pub(super) call: Option<Cow<'a, str>>,
    pub(super) thread: Cow<'a, str>,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) path: Option<Cow<'a, str>>,
    pub(super) role: Option<Cow<'a, str>>,
    pub(super) model: Option<Cow<'a, str>>,
    pub(super) task: Option<Body<'a>>,
}

impl<'a> Thread<'a> {
    pub(super) fn scan(stream: &Stream<'a>, number: u32) -> Self {
        let mut thread = Self::default();
        let mut spawns: BTreeSet<&'a str> = BTreeSet::new();
        for entry in entries(stream, number).flatten() {
            match (entry.kind, entry.what) {
                ("session_meta", _) => thread.add_meta(&entry),
                ("turn_context", _) | ("event_msg", "task_started" | "turn_started") => {
                    thread.add_turn(&entry);
                }
                ("event_msg", "thread_name_updated") => {
                    let names = ["thread_name", "name"];
                    thread.title = names.iter().find_map(|name| entry.payload.text(name));
                }
                ("response_item", "function_call")
                    if entry.payload.id("name") == Some("spawn_agent") =>
                {
                    spawns.extend(entry.call_id());
                }
                ("response_item", "function_call_output")
                    if entry.call_id().is_some_and(|call| spawns.contains(call)) =>
                {
                    thread.launches.extend(launch_in_output(&entry));
                }
                ("event_msg", _) => thread.launches.extend(launch(&entry)),
                _ => {}
            }
        }
        thread
    }

    fn add_meta(&mut self, entry: &Entry<'a>) {
        let payload = &entry.payload;
        let id = payload.id("id").or_else(|| payload.id("session_id"));
        if self.meta.is_some() {
            self.other_metas.push((entry.line(), id));
            return;
        }
        let source = payload.object("source");
        let subagent = source.as_ref().and_then(|source| source.raw("subagent"));
        let spawn = source.and_then(|source| source.object("subagent")?.object("thread_spawn"));
        let of = |name: &str| payload.text(name).or_else(|| spawn.as_ref()?.text(name));
        let git = payload.object("git").unwrap_or_default();
        let base = payload.object("history_base");
        let from = payload.number("subagent_history_start_ordinal");
        self.meta = Some(Meta {
            line: entry.line(),
            id,
            parent: parent_of(payload),
            forked_from: payload.id("forked_from_id"),
            is_subagent: subagent.is_some() || payload.id("thread_source") == Some("subagent"),
            nickname: of("agent_nickname"),
            role: of("agent_role").or_else(|| of("agent_type")),
            path: of("agent_path"),
            cwd: payload.text("cwd"),
            branch: git.text("branch"),
            version: payload.text("cli_version"),
            made_at: payload.time("timestamp").or_else(|| entry.record.object.time("timestamp")),
            own_from_ordinal: from.or_else(|| base?.number("end_ordinal_exclusive")),
        });
    }

    fn add_turn(&mut self, entry: &Entry<'a>) {
        let id = entry.payload.id("turn_id");
        // A turn begins with `task_started`, and is described by one or more `turn_context`.
        let is_known = self.turns.last().is_some_and(|turn| turn.id == id && id.is_some());
        if is_known || (entry.kind == "turn_context" && id.is_none() && !self.turns.is_empty()) {
            return;
        }
        self.turns.push(Turn {
            line: entry.line(),
            id,
            started_at: entry.payload.raw("started_at").and_then(|raw| raw.parse().ok()),
            at: entry.record.object.time("timestamp"),
        });
    }
}

/// The thread that created this one, according to its `session_meta`.
pub(super) fn parent_of<'a>(meta: &Object<'a>) -> Option<&'a str> {
    let source = meta.object("source");
    let spawn = || source?.object("subagent")?.object("thread_spawn")?.id("parent_thread_id");
    meta.id("parent_thread_id").or_else(spawn)
}

/// The thread that an event message says was created.
fn launch<'a>(entry: &Entry<'a>) -> Option<Launch<'a>> {
    let payload = &entry.payload;
    let blank = |thread: Cow<'a, str>| Launch {
        line: entry.line(),
        ordinal: entry.record.object.number("ordinal"),
        call: None,
        thread,
        name: None,
        path: None,
        role: None,
        model: None,
        task: None,
    };
    match entry.what {
        "collab_agent_spawn_end" => Some(Launch {
            call: payload.text("call_id"),
            name: payload.text("new_agent_nickname"),
            role: payload.text("new_agent_role"),
            model: payload.text("model"),
            task: payload.raw("prompt").map(|prompt| entry.body(prompt)),
            ..blank(payload.text("new_thread_id")?)
        }),
        "sub_agent_activity" if payload.id("kind") == Some("started") => Some(Launch {
            call: payload.text("event_id"),
            name: payload.text("agent_path"),
            path: payload.text("agent_path"),
            ..blank(payload.text("agent_thread_id")?)
        }),
        _ => None,
    }
}

/// The thread that the result of `spawn_agent` names.
fn launch_in_output<'a>(entry: &Entry<'a>) -> Option<Launch<'a>> {
    let output = json::text(entry.payload.raw("output")?)?;
    let thread = json::member(&output, "agent_id").and_then(json::text)?.into_owned();
    let name = json::member(&output, "nickname").and_then(json::text);
    Some(Launch {
        line: entry.line(),
        ordinal: entry.record.object.number("ordinal"),
        call: entry.payload.text("call_id"),
        thread: Cow::Owned(thread),
        name: name.map(|name| Cow::Owned(name.into_owned())),
        path: None,
        role: None,
        model: None,
        task: None,
    })
}
