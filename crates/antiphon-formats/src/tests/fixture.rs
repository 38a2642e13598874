//! Shared by the tests of all formats: fixtures, and events as lines of text.
//!
//! A fixture is a folder `fixtures/<format>/<case>/` with the main file `input.jsonl` (or
//! `input.json`), further files of the session if there are any, and a README. The events read from
//! it are in `events.snap`, or the lines that a document becomes in `lines.snap`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use antiphon_model::{Body, Event, EventKind, Message, Place, Problem, Usage, plain_text};

use crate::tests::cases::cases;
use crate::{Duplicate, FORMATS, Format, Head, Sink, Stream};

/// Checks the events read from a fixture, and returns its tokens: input, output, reasoning, cache
/// reads and cache writes.
pub(crate) fn check(format: &str, case: &str) -> [u64; 5] {
    let fixture = Fixture::load(&root().join(format).join(case));
    let streams = fixture.streams();
    let found = read(fixture.format, &streams);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&fixture.folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("events", found.text(&streams)));
    let mut total = Usage::default();
    for event in &found.events {
        if let EventKind::Message(message) = &event.kind {
            total += message.usage.unwrap_or_default();
        }
    }
    [total.input, total.output, total.reasoning, total.cache_read, total.cache_write]
}

/// Checks the lines that a document becomes, and its deviations.
pub(crate) fn check_lines(format: &str, case: &str) {
    let fixture = Fixture::load(&root().join(format).join(case));
    let mut text = fixture.files[0].1.clone();
    for problem in &fixture.problems {
        writeln!(text, "{}: {}", problem.code, problem.message).unwrap();
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&fixture.folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("lines", text));
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

pub(crate) fn all() -> Vec<Fixture> {
    cases().iter().map(|(folder, _)| Fixture::load(folder)).collect()
}

fn list(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Stream,
    Document,
    Text,
}

/// A session's files.
#[derive(Clone)]
pub(crate) struct Fixture {
    pub(crate) folder: PathBuf,
    pub(crate) format: &'static Format,
    /// The main file as it is on disk.
    pub(crate) main: String,
    /// The main file first; documents as the lines that they become.
    pub(crate) files: Vec<(String, String)>,
    /// Problems of a document before it became lines.
    pub(crate) problems: Vec<Problem>,
}

impl Fixture {
    pub(crate) fn load(folder: &Path) -> Self {
        let mut paths = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(below) = folders.pop() {
            let (deeper, files): (Vec<_>, Vec<_>) =
                list(&below).into_iter().partition(|path| path.is_dir());
            folders.extend(deeper);
            paths.extend(files);
        }
        let name = |path: &PathBuf| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
        let mut names: Vec<String> = paths.iter().map(name).collect();
        let endings = [".jsonl", ".json", ".log", ".md", ".txt"];
        names.retain(|name| {
            name != "README.md" && endings.iter().any(|ending| name.ends_with(ending))
        });
        names.sort_by_key(|name| (!name.starts_with("input."), name.clone()));
        let read = |name: String| (fs::read_to_string(folder.join(&name)).unwrap(), name);
        let mut files: Vec<(String, String)> =
            names.into_iter().map(read).map(|(text, name)| (name, text)).collect();
        let format = format_of(folder, &files[0].1);
        let main = files[0].1.clone();
        let mut problems = Vec::new();
        if let Some(lines) = format.lines {
            for (_, text) in &mut files {
                let lines = lines(text);
                *text = lines.text;
                problems.extend(lines.problems);
            }
        }
        Self { folder: folder.to_owned(), format, main, files, problems }
    }

    /// The kind of its main file.
    pub(crate) fn kind(&self) -> Kind {
        let name = &self.files[0].0;
        match self.format.lines {
            None => Kind::Stream,
            Some(_) if name.ends_with(".jsonl") => Kind::Stream,
            Some(_) if name.ends_with(".json") => Kind::Document,
            Some(_) => Kind::Text,
        }
    }

    /// The same fixture with a truncated main file.
    pub(crate) fn cut(&self, at: usize) -> Self {
        let mut cut = self.clone();
        cut.main.truncate(at);
        cut.files[0].1 = cut.main.clone();
        cut.problems.clear();
        if let Some(lines) = self.format.lines {
            let lines = lines(&cut.main);
            cut.files[0].1 = lines.text;
            cut.problems = lines.problems;
        }
        cut
    }

    pub(crate) fn streams(&self) -> Vec<Stream<'_>> {
        self.files.iter().map(|(name, text)| Stream { name, text }).collect()
    }
}

/// The format that the folder is named after; the main file must be recognised as it.
fn format_of(folder: &Path, main: &str) -> &'static Format {
    let name = folder.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let head = Head::new(main);
    let head = head.first_lines();
    let found: Vec<&str> =
        FORMATS.iter().filter(|format| (format.detect)(&head)).map(|f| f.name).collect();
    assert_eq!(found, [name], "{}", folder.display());
    FORMATS.iter().find(|format| format.name == name).unwrap()
}

#[derive(Default)]
pub(crate) struct Found<'a> {
    pub(crate) events: Vec<Event<'a>>,
    pub(crate) duplicates: Vec<Duplicate>,
    pub(crate) problems: Vec<Problem>,
    only_usage: bool,
}

impl<'a> Sink<'a> for Found<'a> {
    fn event(&mut self, event: Event<'a>) {
        self.events.push(event);
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn duplicate(&mut self, duplicate: Duplicate) {
        self.duplicates.push(duplicate);
    }

    fn wants_only_usage(&self) -> bool {
        self.only_usage
    }
}

pub(crate) fn read<'a>(format: &Format, streams: &[Stream<'a>]) -> Found<'a> {
    let mut found = Found::default();
    (format.read)(streams, &mut found);
    found
}

/// Reads only the usage.
pub(crate) fn read_usage<'a>(format: &Format, streams: &[Stream<'a>]) -> Found<'a> {
    let mut found = Found { only_usage: true, ..Found::default() };
    (format.read)(streams, &mut found);
    found
}

impl Found<'_> {
    /// Every request: its message, its agent, and its tokens.
    pub(crate) fn requests(&self) -> Vec<String> {
        let request = |event: &Event<'_>| {
            let EventKind::Message(message) = &event.kind else { return None };
            let (id, at) = (&event.message_id, event.at);
            Some(format!("{id:?} {at:?} {} {:?}", message.agent, message.usage?))
        };
        let mut requests: Vec<String> = self.events.iter().filter_map(request).collect();
        requests.sort();
        requests
    }

    /// The lines (stream and number) that events, duplicates or problems come from.
    pub(crate) fn accounted(&self, streams: &[Stream<'_>]) -> BTreeSet<(u32, u64)> {
        let mut lines = BTreeSet::new();
        let number = |place: Place| {
            let text = streams[place.stream as usize].text;
            let before = &text.as_bytes()[..usize::try_from(place.offset).unwrap()];
            (place.stream, before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1)
        };
        lines.extend(self.problems.iter().map(|problem| (problem.place.stream, problem.line)));
        lines.extend(
            self.duplicates.iter().map(|duplicate| (duplicate.place.stream, duplicate.line)),
        );
        for event in &self.events {
            assert_eq!(number(event.place), (event.place.stream, event.line));
            lines.insert((event.place.stream, event.line));
            for body in bodies(event) {
                let text = streams[body.place.stream as usize].text;
                let start = usize::try_from(body.place.offset).unwrap();
                assert_eq!(text.get(start..start + body.place.len as usize), Some(body.json));
                lines.insert(number(body.place));
            }
        }
        lines
    }

    /// The events and the duplicates, a line each.
    pub(crate) fn events_text(&self, streams: &[Stream<'_>]) -> String {
        let mut out = String::new();
        let stream = |number: u32| match number {
            0 => String::new(),
            _ => format!("{}:", streams[number as usize].name),
        };
        for event in &self.events {
            let place = format!("{}{}", stream(event.place.stream), event.line);
            writeln!(out, "{place} {}", line(event, streams[0].name)).unwrap();
        }
        for duplicate in &self.duplicates {
            let id = short(&duplicate.message_id, streams[0].name);
            let place = format!("{}{}", stream(duplicate.place.stream), duplicate.line);
            writeln!(out, "{place} = {id} ({})", duplicate.reason).unwrap();
        }
        out
    }

    /// Who said what, in order.
    pub(crate) fn said(&self) -> Vec<String> {
        let message = |event: &Event<'_>| {
            let EventKind::Message(message) = &event.kind else { return None };
            let content = message.content.map(|content| plain_text(content.json).into_owned());
            Some(format!("{:?} {:?} {content:?}", event.message_id, message.role))
        };
        self.events.iter().filter_map(message).collect()
    }

    fn text(&self, streams: &[Stream<'_>]) -> String {
        let mut out = self.events_text(streams);
        for problem in &self.problems {
            writeln!(out, "{} ! {}", problem.line, problem.message).unwrap();
        }
        out
    }
}

fn bodies<'a>(event: &Event<'a>) -> Vec<Body<'a>> {
    let EventKind::Message(message) = &event.kind else { return Vec::new() };
    let calls = message.tool_calls.iter().filter_map(|call| call.arguments);
    [message.content, message.reasoning, message.result]
        .into_iter()
        .flatten()
        .chain(message.more_content.iter().copied())
        .chain(calls)
        .collect()
}

/// An id without the name of the main file.
fn short<'t>(id: &'t str, main: &str) -> &'t str {
    id.strip_prefix(main).and_then(|rest| rest.strip_prefix(':')).unwrap_or(id)
}

fn line(event: &Event<'_>, main: &str) -> String {
    let id = event.message_id.as_deref().map_or("-", |id| short(id, main));
    let mut out = format!("[{id}] ");
    let mut field = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            write!(out, " {name}={value}").unwrap();
        }
    };
    match &event.kind {
        EventKind::Message(message) => return out + &said(message, main),
        EventKind::AgentCreated(agent) => {
            field("created", Some(&agent.agent));
            field("name", agent.name.as_deref());
            field("type", agent.agent_type.as_deref());
            field("model", agent.language_model.as_deref());
            field("parent", agent.parent_id.as_deref());
            field("call", agent.tool_call_id.as_deref());
            field("rule", agent.rule.map(antiphon_model::Rule::as_str));
            field("task", agent.task.map(|task| plain_text(task.json)).as_deref());
        }
        EventKind::SessionStarted(started) => {
            field("session", started.session_id.as_deref());
            field("program", started.program.as_deref());
            field("version", started.version.as_deref());
            field("cwd", started.cwd.as_deref());
            field("branch", started.branch.as_deref());
            field("title", started.title.as_deref());
            field("prompt", started.prompt.as_deref().map(|p| format!("{p:?}")).as_deref());
        }
        EventKind::SessionEnded(ended) => {
            field("ended", ended.outcome.as_deref().or(Some("-")));
            field("reason", ended.reason.as_deref());
            field("error", ended.error.as_deref());
        }
        EventKind::ContextEdited(edit) => {
            field("edit", Some(edit.action.as_str()));
            field("agent", Some(&edit.agent));
            field("kept", edit.kept.map(|kept| kept.json));
            field("kept_first", edit.kept_first.map(|count| count.to_string()).as_deref());
        }
        EventKind::Unknown(unknown) => {
            field("unknown", Some(&unknown.event_type));
            field("agent", unknown.agent.as_deref().filter(|agent| *agent != "main"));
        }
        EventKind::AgentEnded(_)
        | EventKind::RunStatus(_)
        | EventKind::Fragment(_)
        | EventKind::Annotation(_)
        | EventKind::Gap(_)
        | EventKind::Recovered(_) => panic!("no reader makes this: {event:?}"),
    }
    out
}

fn said(message: &Message<'_>, main: &str) -> String {
    let mut out = format!("{} {}", message.agent, message.role.as_str());
    if let Some(source) = &message.source {
        write!(out, " from {source}").unwrap();
    }
    if let Some(call) = &message.tool_call_id {
        write!(out, " for {call}").unwrap();
    }
    if let Some(previous) = &message.previous_id {
        write!(out, " after [{}]", short(previous, main)).unwrap();
    }
    if let Some(thought) = message.reasoning {
        write!(out, " thinking {:?}", plain_text(thought.json)).unwrap();
    }
    for text in message.content.iter().chain(&message.more_content) {
        write!(out, " {:?}", plain_text(text.json)).unwrap();
    }
    for call in &message.tool_calls {
        let arguments = call.arguments.map_or("", |arguments| arguments.json);
        write!(out, " call {} {}({arguments})", call.id, call.name).unwrap();
        if let Some(at) = call.started_at {
            write!(out, " at {at}").unwrap();
        }
    }
    if message.is_error == Some(true) {
        out.push_str(" error");
    }
    if let Some(took) = message.duration_ms {
        write!(out, " {took}ms").unwrap();
    }
    if message.result.is_some() {
        out.push_str(" +result");
    }
    if let Some(usage) = message.usage {
        let Usage { input, output, reasoning, cache_read, cache_write, cache_write_1h } = usage;
        let model = message.model.as_deref().unwrap_or("-");
        write!(out, " | {model} {input}+{cache_read}r+{cache_write}w({cache_write_1h}h)").unwrap();
        write!(out, " -> {output}({reasoning}t)").unwrap();
    }
    out
}
