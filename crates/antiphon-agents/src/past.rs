//! What a session was, read from its log: agents and transcripts, in any dialect and format.

use std::sync::Arc;

use antiphon_model::{
    AgentIx, BodyError, Detail, Entry as Event, EntryKind, EventIx, Json, MessageRef, Place,
    Reading, Role, Source, json,
};
use antiphon_views::context_entries;

use crate::model::AnswerCounts;
use crate::transcript::{Answer, Call, Content, Entry, ToolResult, Transcript};

/// The key in an event's `extra` under which an answer's blocks of thinking are kept.
pub(crate) const THINKING: &str = "thinking";
/// The key in a fragment's `extra` that says that a person stopped the answer.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// The transcript of an agent as it stood at an event: with every edit of its context applied.
pub fn transcript_of(
    reading: &Reading<'_>,
    agent: AgentIx,
    at: Option<EventIx>,
) -> Result<Transcript, BodyError> {
    let events = context_entries(reading.session, agent, at);
    events.into_iter().map(|event| entry_of(reading, reading.session.entry(event))).collect()
}

/// A message of a log as an entry of a transcript.
pub(crate) fn entry_of(reading: &Reading<'_>, event: Event<'_>) -> Result<Entry, BodyError> {
    let content = content_of(reading, event)?;
    Ok(match event.role() {
        Some(Role::System) => Entry::System(content),
        Some(Role::Assistant) => Entry::Assistant(Arc::new(answer_of(reading, event, content)?)),
        Some(Role::Tool) => Entry::Result(Arc::new(result_of(reading, event, content))),
        Some(Role::User | Role::Other) | None => Entry::User(content),
    })
}

fn content_of(reading: &Reading<'_>, event: Event<'_>) -> Result<Content, BodyError> {
    let places: Vec<Place> = event.contents().collect();
    match places.as_slice() {
        [] => Ok(reading.text(event)?.into()),
        [one] => Ok(Content::of_json(&reading.bodies.read(*one)?)),
        // A message in several pieces: its words are joined.
        _ => Ok(reading.text(event)?.into()),
    }
}

fn answer_of(
    reading: &Reading<'_>,
    event: Event<'_>,
    content: Content,
) -> Result<Answer, BodyError> {
    let session = reading.session;
    let mut calls = Vec::new();
    for (ix, call) in event.calls() {
        let arguments = match call.arguments.is_none() {
            true => String::new(),
            false => text_or_json(&reading.bodies.read(call.arguments)?),
        };
        let (id, name) = (session.call_id(ix).to_owned(), session.tool_name(ix).to_owned());
        calls.push(Call { id, name, arguments });
    }
    let reasoning = match event.detail(Detail::Reasoning) {
        Some(place) => Some(reading.place_text(place)?),
        None => None,
    };
    let thinking = extra_of(reading, event)?.and_then(|extra| {
        json::member(&extra, THINKING).and_then(|blocks| Json::parse(blocks).ok())
    });
    Ok(Answer { content, calls, reasoning, thinking })
}

fn result_of(reading: &Reading<'_>, event: Event<'_>, content: Content) -> ToolResult {
    let session = reading.session;
    let call_id = event.call().map(|call| session.call_id(call).to_owned());
    let tool = event.call().map(|call| session.tool_name(call).to_owned());
    let call_id = call_id.unwrap_or_default();
    ToolResult { call_id, tool, content, is_error: event.is_error() }
}

fn extra_of(reading: &Reading<'_>, event: Event<'_>) -> Result<Option<String>, BodyError> {
    event.detail(Detail::Extra).map(|place| reading.bodies.read(place)).transpose()
}

/// Arguments stand in a log as text that is JSON, or as JSON.
fn text_or_json(raw: &str) -> String {
    json::text(raw).map_or_else(|| raw.to_owned(), std::borrow::Cow::into_owned)
}

/// An event that re-running a turn meets again.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) id: String,
    /// The id of the agent whose transcript it stands in, or that was made, or that wrote it.
    pub(crate) agent: String,
    pub(crate) what: What,
}

/// What was recorded.
#[derive(Debug)]
pub(crate) enum What {
    Created { name: Option<String> },
    Fragment,
    Message { entry: Entry, source: Option<String>, model: Option<String> },
}

/// The last message that came from outside, and all that the log has behind it.
#[derive(Debug)]
pub(crate) struct Unfinished {
    pub(crate) prompt: EventIx,
    pub(crate) agent: AgentIx,
    pub(crate) events: Vec<Recorded>,
}

/// The last turn of a session: what began it, and what followed. `None` where nothing came from
/// outside yet, or where the turn is one that cannot be run again: a person stopped it, or a
/// context was edited in it.
pub(crate) fn last_turn(reading: &Reading<'_>) -> Result<Option<Unfinished>, BodyError> {
    let session = reading.session;
    let is_prompt =
        |event: &Event<'_>| event.role() == Some(Role::User) && event.source() == Source::External;
    let Some(prompt) = session.entries().rev().find(is_prompt) else { return Ok(None) };
    let Some(agent) = prompt.agent() else { return Ok(None) };
    let mut events = Vec::new();
    for event in session.entries_from(prompt.ix().index() + 1) {
        let what = match event.kind() {
            EntryKind::Message(_) => message_of(reading, event)?,
            EntryKind::AgentCreated => {
                let name = event.agent_info().and_then(|agent| agent.own_name());
                What::Created { name: name.map(str::to_owned) }
            }
            EntryKind::Fragment => match fragment_of(reading, event)? {
                FragmentKind::Sent => What::Fragment,
                FragmentKind::Broken => continue,
                FragmentKind::Stopped => return Ok(None),
            },
            EntryKind::ContextEdited => return Ok(None),
            EntryKind::AgentEnded
            | EntryKind::SessionStarted
            | EntryKind::SessionEnded
            | EntryKind::RunStatus
            | EntryKind::Annotation
            | EntryKind::Gap
            | EntryKind::Recovered
            | EntryKind::Unknown => continue,
        };
        let (id, agent) = (event.id().to_owned(), event.agent_id().unwrap_or_default().to_owned());
        events.push(Recorded { id, agent, what });
    }
    Ok(Some(Unfinished { prompt: prompt.ix(), agent, events }))
}

fn message_of(reading: &Reading<'_>, event: Event<'_>) -> Result<What, BodyError> {
    let source = match event.source() {
        Source::Own => None,
        Source::Agent(agent) => Some(reading.session.agent_id(agent).to_owned()),
        Source::External => Some("external".to_owned()),
        Source::System => Some("system".to_owned()),
    };
    let model = model_of(reading, event)?;
    Ok(What::Message { entry: entry_of(reading, event)?, source, model })
}

/// The model that an answer names. The fold keeps it only where tokens were counted.
pub(crate) fn model_of(
    reading: &Reading<'_>,
    event: Event<'_>,
) -> Result<Option<String>, BodyError> {
    if event.role() != Some(Role::Assistant) {
        return Ok(None);
    }
    if let Some(model) = event.model() {
        return Ok(Some(model.to_owned()));
    }
    let line = reading.line(event)?;
    Ok(json::member(&line, "model").and_then(json::text).map(std::borrow::Cow::into_owned))
}

enum FragmentKind {
    /// What an agent sent to others.
    Sent,
    /// The beginning of an answer that did not arrive whole.
    Broken,
    /// The same, because a person stopped it.
    Stopped,
}

fn fragment_of(reading: &Reading<'_>, event: Event<'_>) -> Result<FragmentKind, BodyError> {
    let caused = event.causes().any(|cause| matches!(cause, MessageRef::Event(_)));
    let extra = extra_of(reading, event)?.unwrap_or_default();
    Ok(match (caused, json::member(&extra, INTERRUPTED)) {
        (true, _) => FragmentKind::Sent,
        (false, Some("true")) => FragmentKind::Stopped,
        (false, _) => FragmentKind::Broken,
    })
}

/// How often each agent, by name, has been answered by each model.
pub(crate) fn answers_by_model(
    reading: &Reading<'_>,
    up_to: Option<EventIx>,
) -> Result<AnswerCounts, BodyError> {
    let mut counts = AnswerCounts::default();
    for event in reading.session.entries() {
        if up_to.is_some_and(|end| event.ix() > end) {
            break;
        }
        if let (Some(model), Some(agent)) = (model_of(reading, event)?, event.agent()) {
            counts.add(reading.session.agent_name(agent), &model);
        }
    }
    Ok(counts)
}
