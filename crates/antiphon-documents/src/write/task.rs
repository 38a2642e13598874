//! What a sub-agent was asked to do.

use antiphon_model::{BodyError, Detail, EntryKind, Role};
use serde_json::{Map, Value};

use super::cast::{Cast, Sub};
use super::object::{Object, fits, missing};
use crate::Task;

/// Under which names tools take a task, the fullest first.
const ASKED: [&str; 7] =
    ["prompt", "message", "task", "instructions", "input", "description", "system_prompt"];

pub(super) fn write(cast: &Cast<'_>, sub: &Sub, of: &Object<'_>) -> Result<Value, BodyError> {
    let session = cast.reading.session;
    let created = sub.agent.and_then(|agent| session.agent(agent).created);
    let created = created.map(|event| session.entry(event));
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
    let said = said.map_or_else(|| words(cast, sub), Ok)?;
    let kind = if sub.is_review { "review" } else { "task" };
    let id = format!("{kind}-{:03}", sub.number);
    missing(&mut object, &mut members, "task_id", Value::is_string, id);
    missing(&mut object, &mut members, "description", Value::is_string, said);
    missing(&mut object, &mut members, "priority", Value::is_string, "medium");
    object.rest_of::<Task>(members);
    Ok(object.value())
}

/// The task in the words in which it was given: those of the call, or else the first that the agent
/// heard.
fn words(cast: &Cast<'_>, sub: &Sub) -> Result<String, BodyError> {
    let (reading, session) = (cast.reading, cast.reading.session);
    let given = cast.arguments(sub.call)?;
    let text = |name: &str| given.get(name)?.as_str().filter(|text| !text.trim().is_empty());
    let asked = ASKED.iter().find_map(|name| text(name)).or(given.as_str());
    if let Some(asked) = asked {
        return Ok(asked.to_owned());
    }
    let transcripts = sub.agent.map(|agent| session.agent(agent).transcript());
    let mut heard = transcripts.into_iter().flatten().map(|event| session.entry(event));
    match heard.find(|entry| entry.kind() == EntryKind::Message(Role::User)) {
        Some(entry) => reading.text(entry),
        None => reading.call_text(session.tool_name(sub.call), session.call(sub.call)),
    }
}
