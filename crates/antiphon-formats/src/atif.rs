//! ATIF trajectories, Harbor's interchange format: one document.
//!
//! A step is what a person, the system or the agent said, with the agent's calls and their
//! observations. Steps that were copied from a continued trajectory used no tokens here.
//! Sub-agents' trajectories are embedded in the document; the result of the call that created one
//! refers to it.

mod write;

use std::borrow::Cow;
use std::collections::BTreeMap;

use antiphon_model::{EventKind, Role, ToolCall, Usage, is_blank};

use crate::line::{Object, Record, elements, records};
use crate::merge::{EventStream, merge};
use crate::script::{Script, blank, created, started};
use crate::{Format, Lines, Sink, Stream, spread};

pub(crate) const FORMAT: Format = Format {
    name: "atif",
    what: "ATIF trajectories",
    versions: "1.0 to 1.8",
    detect,
    lines: Some(lines),
    read,
    write: Some(write::write),
    ..crate::ONE_FILE
};

fn detect(head: &[&str]) -> bool {
    is_ours(head)
}

/// Whether the outermost object names the ATIF schema.
pub(crate) fn is_ours(head: &[&str]) -> bool {
    let is_version =
        |(key, value): &(String, String)| key == "schema_version" && value.starts_with("\"ATIF-v");
    spread::members(head).iter().any(is_version)
}

fn lines(text: &str) -> Lines {
    spread::spread(text, "steps")
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    let mut event_streams = Vec::new();
    for (number, stream) in (0..).zip(streams) {
        let mut main = Trajectory::new(stream.name, Cow::Borrowed("main"));
        let mut embedded = Vec::new();
        for record in records(stream, number) {
            match record {
                Ok(record) if record.object.raw("step_id").is_some() => {
                    main.step(&record, &record.object);
                }
                Ok(record) if !main.has_begun => {
                    main.begin(&record);
                    embedded.push(record);
                }
                Ok(record) => main.keep(&record),
                Err(problem) => sink.problem(problem),
            }
        }
        main.settle(embedded.first().map(|record| &record.object));
        let mut made: Made<'a> = BTreeMap::new();
        made.extend(main.made.into_iter().map(|(id, call)| (id, (Cow::Borrowed("main"), call))));
        let mut place_of = BTreeMap::from([(Cow::Borrowed("main"), event_streams.len())]);
        event_streams.push(EventStream { events: main.script.events, ..EventStream::default() });
        for record in &embedded {
            let list = record.object.raw("subagent_trajectories").unwrap_or_default();
            let list = (1..).zip(elements(list));
            let list: Vec<(usize, Object<'a>)> =
                list.filter_map(|(at, raw)| Some((at, Object::parse(raw)?))).collect();
            // An embedded trajectory may have created another one.
            let read: Vec<_> = list
                .iter()
                .map(|(at, trajectory)| {
                    let (id, reader) = embedded_trajectory(stream.name, record, (*at, trajectory));
                    for (child, call) in &reader.made {
                        made.entry(child.clone()).or_insert((id.clone(), call.clone()));
                    }
                    (*at, trajectory, id, reader)
                })
                .collect();
            for (place, (_, _, id, _)) in (event_streams.len()..).zip(&read) {
                place_of.entry(id.clone()).or_insert(place);
            }
            for (at, trajectory, id, reader) in read {
                let maker = made.get(&id).and_then(|(maker, _)| place_of.get(maker));
                let mut event_stream = sub_agent(record, (at, trajectory), (id, reader), &made);
                event_stream.started_in = maker.copied();
                event_streams.push(event_stream);
            }
        }
    }
    merge(event_streams, sink);
}

/// For each trajectory's id: the agent that created it, and the call.
type Made<'a> = BTreeMap<Cow<'a, str>, (Cow<'a, str>, Cow<'a, str>)>;

/// Reads an embedded trajectory: its agent's id and its events.
fn embedded_trajectory<'a>(
    name: &'a str,
    record: &Record<'a>,
    (at, trajectory): (usize, &Object<'a>),
) -> (Cow<'a, str>, Trajectory<'a>) {
    let own = trajectory.text("trajectory_id").or_else(|| trajectory.text("session_id"));
    let id = own.unwrap_or_else(|| Cow::Owned(format!("trajectory-{at}")));
    let facts = trajectory.object("agent").unwrap_or_default();
    let mut reader = Trajectory::new(name, id.clone());
    reader.has_begun = true;
    reader.model = facts.text("model_name");
    for step in elements(trajectory.raw("steps").unwrap_or_default()) {
        reader.step(record, &Object::parse(step).unwrap_or_default());
    }
    reader.settle(None);
    // An embedded trajectory is read from the document's line, so its events have that line.
    for event in &mut reader.script.events {
        if let Some(own) = event.message_id.take() {
            event.message_id = Some(Cow::Owned(format!("{at}:{own}")));
        }
    }
    (id, reader)
}

fn sub_agent<'a>(
    record: &Record<'a>,
    (at, trajectory): (usize, &Object<'a>),
    (id, reader): (Cow<'a, str>, Trajectory<'a>),
    made: &Made<'a>,
) -> EventStream<'a> {
    let facts = trajectory.object("agent").unwrap_or_default();
    let (maker, call) = made.get(&id).cloned().unzip();
    let mut agent = created(id.clone());
    agent.parent_id = Some(maker.filter(|maker| *maker != id).unwrap_or(Cow::Borrowed("main")));
    agent.tool_call_id = call.clone();
    agent.name = facts.text("name");
    agent.language_model = facts.text("model_name");
    let creation = Cow::Owned(format!("{at}:created:{at}:{id}"));
    let mut script = Script::new("");
    script.push_as(record, creation, EventKind::AgentCreated(agent));
    script.events.extend(reader.script.events);
    let started_by = call.map(Cow::into_owned);
    EventStream { events: script.events, started_by, ..EventStream::default() }
}

struct Trajectory<'a> {
    script: Script<'a>,
    agent: Cow<'a, str>,
    has_begun: bool,
    model: Option<Cow<'a, str>>,
    answer: Option<usize>,
    has_tokens: bool,
    /// For each trajectory's id: the call that created it.
    made: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
}

impl<'a> Trajectory<'a> {
    fn new(name: &'a str, agent: Cow<'a, str>) -> Self {
        Self {
            script: Script::new(name),
            agent,
            has_begun: false,
            model: None,
            answer: None,
            has_tokens: false,
            made: BTreeMap::new(),
        }
    }

    fn begin(&mut self, record: &Record<'a>) {
        self.has_begun = true;
        let facts = record.object.object("agent").unwrap_or_default();
        self.model = facts.text("model_name");
        let mut session = started("atif");
        session.session_id = record.object.text("session_id");
        session.program = facts.text("name").or(session.program);
        session.version = facts.text("version");
        let extra = record.object.object("extra").unwrap_or_default();
        session.title = extra.text("title");
        session.cwd = extra.text("cwd");
        session.branch = extra.text("branch");
        let mut agent = created(self.agent.clone());
        agent.name = facts.text("name");
        agent.language_model = self.model.clone();
        self.script.begin(record, session, agent);
    }

    fn step(&mut self, record: &Record<'a>, step: &Object<'a>) {
        let (role, source) = match step.id("source").unwrap_or_default() {
            "user" => (Role::User, Some("external")),
            "agent" => (Role::Assistant, None),
            "system" => (Role::System, Some("system")),
            _ => return self.keep(record),
        };
        let mut message = blank(self.agent.clone(), role);
        message.source = source.map(Cow::Borrowed);
        let said = step.raw("message").filter(|raw| !is_blank(raw));
        message.content = said.map(|said| record.body(said));
        if role == Role::User && self.agent == "main" {
            self.script.prompted(message.content);
        }
        if role == Role::Assistant {
            message.model = step.text("model_name").or_else(|| self.model.clone());
            let thought = step.raw("reasoning_content").filter(|raw| !is_blank(raw));
            message.reasoning = thought.map(|thought| record.body(thought));
            for call in elements(step.raw("tool_calls").unwrap_or_default()) {
                message.tool_calls.extend(Object::parse(call).and_then(|it| called(record, &it)));
            }
            let metrics = step.object("metrics").filter(|_| !step.flag("is_copied_context"));
            if let Some(metrics) = metrics {
                message.usage =
                    Some(usage(&metrics, ["prompt_tokens", "completion_tokens", "cached_tokens"]));
                self.has_tokens = true;
                message.cost_usd = metrics.cost("cost_usd");
            }
        }
        let at = self.script.push(record, None, EventKind::Message(message));
        if let Some(event) = self.script.events.get_mut(at) {
            event.at = step.time("timestamp").or(event.at);
        }
        if role == Role::Assistant {
            self.answer = Some(at);
        }
        let observed = step.object("observation").unwrap_or_default();
        for result in elements(observed.raw("results").unwrap_or_default()) {
            self.observed(record, step, &Object::parse(result).unwrap_or_default());
        }
    }

    fn observed(&mut self, record: &Record<'a>, step: &Object<'a>, result: &Object<'a>) {
        let call = result.text("source_call_id");
        let role = if call.is_some() { Role::Tool } else { Role::User };
        let mut message = blank(self.agent.clone(), role);
        // An observation without a call is something that the environment shows.
        message.source = call.is_none().then_some(Cow::Borrowed("system"));
        let content = result.raw("content").filter(|raw| !is_blank(raw));
        message.content = content.map(|content| record.body(content));
        for reference in elements(result.raw("subagent_trajectory_ref").unwrap_or_default()) {
            let reference = Object::parse(reference).unwrap_or_default();
            let id = reference.text("trajectory_id").or_else(|| reference.text("session_id"));
            self.made.extend(id.zip(call.clone()));
        }
        message.tool_call_id = call;
        let extra = result.object("extra").unwrap_or_default();
        message.is_error = extra.flag("is_error").then_some(true);
        let at = self.script.push(record, None, EventKind::Message(message));
        if let Some(event) = self.script.events.get_mut(at) {
            event.at = extra.time("timestamp").or_else(|| step.time("timestamp")).or(event.at);
        }
    }

    fn keep(&mut self, record: &Record<'a>) {
        self.script.unknown(record, None, (Some(self.agent.clone()), "step"));
    }

    /// Gives the document's totals to the last answer, if no step has token counts.
    fn settle(&mut self, document: Option<&Object<'a>>) {
        let Some(totals) = document.and_then(|it| it.object("final_metrics")) else { return };
        let names = ["total_prompt_tokens", "total_completion_tokens", "total_cached_tokens"];
        let total = usage(&totals, names);
        if self.has_tokens || total.is_zero() {
            return;
        }
        if let Some(message) = self.answer.and_then(|at| self.script.message_at(at)) {
            message.usage = Some(total);
        }
    }
}

fn called<'a>(record: &Record<'a>, call: &Object<'a>) -> Option<ToolCall<'a>> {
    let arguments = call.object("arguments");
    Some(ToolCall {
        id: call.text("tool_call_id")?,
        name: call.text("function_name").unwrap_or_default(),
        arguments: call.raw("arguments").map(|arguments| record.body(arguments)),
        description: arguments.and_then(|arguments| arguments.text("description")),
        ..ToolCall::default()
    })
}

/// Converts token counts. The prompt includes what was read from and written to a cache.
fn usage(metrics: &Object<'_>, [prompt, completion, cached]: [&str; 3]) -> Usage {
    let count = |name: &str| metrics.number(name).unwrap_or_default();
    let extra = metrics.object("extra").unwrap_or_default();
    let extra = |name: &str| extra.number(name).unwrap_or_default();
    let (read, write) = (count(cached), extra("cache_creation_input_tokens"));
    Usage {
        input: count(prompt).saturating_sub(read.saturating_add(write)),
        output: count(completion),
        reasoning: extra("reasoning_tokens"),
        cache_read: read,
        cache_write: write,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
