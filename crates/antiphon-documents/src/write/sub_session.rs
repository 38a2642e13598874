//! What an agent did that a call sent: its task, its calls, its output.

use antiphon_model::{AgentIx, BodyError, Detail, Timestamp};
use antiphon_views::file_changes;
use serde_json::{Map, Value, json};

use super::agents::identifier;
use super::call::Calls;
use super::cast::{Cast, Sub, spelled};
use super::display::clip;
use super::object::{Object, Origin, fits, missing};
use crate::{AgentOutput, Task};

/// How an agent's work went, in the standards' words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Went {
    Well,
    Badly,
    On,
}

impl Went {
    pub(super) fn status(self) -> &'static str {
        match self {
            Self::Well => "success",
            Self::Badly => "failed",
            Self::On => "in_progress",
        }
    }

    /// In a summary the word is another one.
    pub(super) fn summary_status(self) -> &'static str {
        match self {
            Self::Well => "completed",
            Self::Badly | Self::On => self.status(),
        }
    }

    /// The log's word for an end. A person who stops an agent has not seen it succeed.
    pub(super) fn of_word(word: &str) -> Self {
        match word {
            "completed" | "success" => Self::Well,
            _ => Self::Badly,
        }
    }
}

/// How a sub-agent's work went, and whether that was recorded with it.
pub(super) fn went(cast: &Cast<'_>, sub: &Sub) -> (Went, bool) {
    let session = cast.reading.session;
    let agent = session.agent(sub.agent);
    if let Some(word) = agent.status() {
        return (Went::of_word(word), true);
    }
    if agent.ended.is_some() || cast.is_document {
        return (Went::On, true);
    }
    match session.call(sub.call).last_result().map(|event| session.entry(event)) {
        Some(result) if result.is_error() => (Went::Badly, false),
        Some(_) => (Went::Well, false),
        None => (Went::On, false),
    }
}

pub(super) fn write(
    cast: &Cast<'_>,
    calls: &Calls<'_, '_>,
    at: usize,
    session_id: &str,
    origin: &Origin,
) -> Result<Value, BodyError> {
    let Some(sub) = cast.subs.get(at) else { return Ok(Value::Null) };
    let session = cast.reading.session;
    let facts = session.agent(sub.agent);
    let created = session.entry(facts.created.unwrap_or(facts.first));
    let ended = facts.ended.map(|event| session.entry(event));
    let mut extra = cast.extra(created)?;
    let mut of_end = ended.map(|entry| cast.extra(entry)).transpose()?.unwrap_or_default();
    for name in ["sub_session_id", "position", "identifier"] {
        extra.remove(name);
    }
    let mut object = Object::new(format!("/sub_sessions/{at}"), origin);
    match sub.is_id_recorded {
        true => object.set("sub_session_id", sub.id.as_str()),
        false => object.derive("sub_session_id", sub.id.as_str()),
    }
    let parent = sub.parent.and_then(|at| cast.subs.get(at));
    object.set("parent_session_id", parent.map_or(session_id, |parent| &parent.id));
    let agent = identifier(cast, Some(sub.agent), object.below("agent"), origin)?;
    object.set("agent", agent);
    object.set("triggered_by_call_id", cast.call_id(sub.call));
    let task = task(cast, sub, at, &object)?;
    object.set("task", task);

    let times = cast.time_of(sub.agent);
    let begun = created.at().filter(|_| facts.created.is_some());
    if !spelled(&mut object, "started_at", begun, &mut extra)
        && let Some((first, _)) = times
    {
        object.derive("started_at", first.to_short());
    }
    let (went, is_recorded) = went(cast, sub);
    for extra in [&mut extra, &mut of_end] {
        if let Some(word) = extra.remove("status") {
            origin.keep(&object.below("status"), word);
        }
    }
    let completed = ended.and_then(|entry| entry.at());
    if !spelled(&mut object, "completed_at", completed, &mut extra)
        && went != Went::On
        && !cast.is_document
        && let Some((_, last)) = times
    {
        object.derive("completed_at", last.to_short());
    }
    match is_recorded {
        true => object.set("status", went.status()),
        false => object.derive("status", went.status()),
    }
    let written = calls.write(&sub.calls, &object.below("tool_calls"))?;
    object.set("tool_calls", written);
    let recorded = ended.map(|entry| cast.detail(entry, Detail::Output)).transpose()?.flatten();
    match recorded {
        Some(output) if is_output(&output) => object.set("output", output),
        // Whatever else an agent gave back, later documents have a form for.
        Some(other) => object.set("output", json!({ "output_type": "generic", "data": other })),
        None if cast.is_document => {}
        None => {
            let task_id = object.get("task")["task_id"].clone();
            if let Some(output) = output(cast, sub.agent, went, &task_id)? {
                object.derive("output", output);
            }
        }
    }
    for mut extra in [extra, of_end] {
        for name in ["output", "tool_calls", "agent", "task"] {
            if let Some(other) = extra.remove(name) {
                origin.keep(&object.below(name), other);
            }
        }
        object.rest(extra);
    }
    Ok(object.value())
}

fn task(cast: &Cast<'_>, sub: &Sub, at: usize, of: &Object<'_>) -> Result<Value, BodyError> {
    let session = cast.reading.session;
    let facts = session.agent(sub.agent);
    let created = facts.created.map(|event| session.entry(event));
    let recorded = created.map(|entry| cast.detail(entry, Detail::Task)).transpose()?.flatten();
    let mut object = Object::new(of.below("task"), of.origin());
    let mut members = match recorded {
        Some(task) if fits::<Task>(&task) => return Ok(task),
        Some(Value::Object(members)) => members,
        Some(Value::String(text)) => Map::from_iter([("description".to_owned(), text.into())]),
        Some(other) => {
            of.origin().keep(&object.pointer, other);
            Map::new()
        }
        None => Map::new(),
    };
    let said = members.get("task_description").and_then(Value::as_str).map(str::to_owned);
    let asked = cast.reading.call_text(session.tool_name(sub.call), session.call(sub.call))?;
    let id = format!("task-{:03}", at + 1);
    missing(&mut object, &mut members, "task_id", Value::is_string, id);
    missing(&mut object, &mut members, "description", Value::is_string, said.unwrap_or(asked));
    missing(&mut object, &mut members, "priority", Value::is_string, "medium");
    object.rest_of::<Task>(members);
    Ok(object.value())
}

fn is_output(value: &Value) -> bool {
    match serde_json::from_value(value.clone()) {
        Ok(AgentOutput::Developer(_) | AgentOutput::Reviewer(_) | AgentOutput::Generic(_)) => true,
        Ok(AgentOutput::Other(_)) | Err(_) => false,
    }
}

/// What an agent changed and last said. One that changed nothing has no output: what it is worth is
/// not ours to say.
fn output(
    cast: &Cast<'_>,
    agent: AgentIx,
    went: Went,
    task_id: &Value,
) -> Result<Option<Value>, BodyError> {
    let reading = cast.reading;
    let changes = file_changes(reading, Some(agent))?;
    let is_idle =
        changes.created.is_empty() && changes.modified.is_empty() && changes.deleted.is_empty();
    if is_idle || went == Went::On {
        return Ok(None);
    }
    let session = reading.session;
    let said = session.agent(agent).transcript().rev().map(|event| session.entry(event));
    let last = said.into_iter().find(|entry| entry.is_utterance());
    let summary = last.map(|entry| reading.text(entry)).transpose()?.unwrap_or_default();
    let files = |changes: &[antiphon_views::FileChange]| -> Vec<Value> {
        let written = changes.iter().map(|change| {
            let mut file = Map::new();
            file.insert("path".to_owned(), change.path.as_str().into());
            for (name, lines) in
                [("lines_added", change.lines_added), ("lines_removed", change.lines_removed)]
            {
                lines.into_iter().for_each(|n| {
                    file.insert(name.to_owned(), n.into());
                });
            }
            Value::Object(file)
        });
        written.collect()
    };
    let deleted: Vec<&str> = changes.deleted.iter().map(|change| &*change.path).collect();
    Ok(Some(json!({
        "task_id": task_id,
        "status": went.summary_status(),
        "changes": {
            "files_created": files(&changes.created),
            "files_modified": files(&changes.modified),
            "files_deleted": deleted,
        },
        "summary": clip(&summary),
    })))
}

/// How long something took, in milliseconds.
pub(super) fn millis(first: Timestamp, last: Timestamp) -> u64 {
    u64::try_from(last.since(first)).unwrap_or_default()
}
