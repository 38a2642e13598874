//! The task of a sub-agent.

use antiphon_model::{BodyError, Detail, EntryKind, Role};
use serde_json::{Map, Value};

use super::object::{Object, fits, missing};
use super::roles::{Roles, Sub};
use crate::Task;

/// The argument names under which tools receive a task, the most detailed first.
const ASKED: [&str; 7] =
    ["prompt", "message", "task", "instructions", "input", "description", "system_prompt"];

pub(super) fn write(roles: &Roles<'_>, sub: &Sub, of: &Object<'_>) -> Result<Value, BodyError> {
    let session = roles.reading.session;
    let created = sub.agent.and_then(|agent| session.agent(agent).created);
    let created = created.map(|event| session.entry(event));
    let recorded = created.map(|entry| roles.detail(entry, Detail::Task)).transpose()?.flatten();
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
    let said = said.map_or_else(|| words(roles, sub), Ok)?;
    let kind = if sub.is_review { "review" } else { "task" };
    let id = format!("{kind}-{:03}", sub.number);
    missing(&mut object, &mut members, "task_id", Value::is_string, id);
    missing(&mut object, &mut members, "description", Value::is_string, said);
    missing(&mut object, &mut members, "priority", Value::is_string, "medium");
    object.rest_of::<Task>(members);
    Ok(object.value())
}

/// The task as it was given: in the arguments of the call, or else in the first message that the
/// agent received.
fn words(roles: &Roles<'_>, sub: &Sub) -> Result<String, BodyError> {
    let (reading, session) = (roles.reading, roles.reading.session);
    let given = roles.arguments(sub.call)?;
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
