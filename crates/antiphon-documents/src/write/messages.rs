//! Messages between agents: those that were recorded, or else those that the sending of agents and
//! their coming back amount to (section 5.3 of STD-008).

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{BodyError, EventIx, MessageRef};
use serde_json::{Map, Value, json};

use super::agents::identifier;
use super::cast::{Cast, spelled};
use super::object::{Object, Origin};
use crate::AgentMessage;

pub(super) fn write(
    cast: &Cast<'_>,
    subs: &[Value],
    created_at: &str,
    origin: &Origin,
) -> Result<Value, BodyError> {
    if cast.is_document || !cast.messages.is_empty() {
        let ids = ids(cast)?;
        let numbered = cast.messages.iter().enumerate();
        let written =
            numbered.map(|(at, &event)| recorded(cast, &ids, at, event, created_at, origin));
        return written.collect::<Result<Vec<_>, _>>().map(Value::Array);
    }
    let mut messages = Vec::new();
    for (sub, value) in cast.subs.iter().zip(subs) {
        let sender = cast.reading.session.call(sub.call).agent;
        let quiet = Origin::default();
        let from = identifier(cast, Some(sender), String::new(), &quiet)?;
        let to = identifier(cast, Some(sub.agent), String::new(), &quiet)?;
        let task = &value["task"];
        let payload = json!({
            "task": { "task_id": task["task_id"], "task_description": task["description"] },
            "priority": task["priority"],
        });
        let at = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        if let Some(started) = at("started_at") {
            messages.push((started, "task_assignment", from.clone(), to.clone(), payload));
        }
        if let Some(completed) = at("completed_at") {
            let is_done = value["status"] == "success";
            let status = if is_done { "completed" } else { "failed" };
            let payload = json!({ "task_id": task["task_id"], "status": status });
            messages.push((completed, "task_completion", to, from, payload));
        }
    }
    // Stable, so that what is sent at the same time stays in the order of the sub-sessions.
    messages.sort_by(|a, b| a.0.cmp(&b.0));
    let numbered = messages.into_iter().enumerate();
    let written = numbered.map(|(at, (timestamp, kind, from, to, payload))| {
        origin.derived(&format!("/messages/{at}"));
        json!({
            "message_id": format!("msg-{:03}", at + 1),
            "timestamp": timestamp,
            "sequence_number": at + 1,
            "from_agent": from,
            "to_agent": to,
            "message_type": kind,
            "payload": payload,
        })
    });
    Ok(Value::Array(written.collect()))
}

/// By message, the id that it has in the document: its own, which the log could not give to two.
fn ids(cast: &Cast<'_>) -> Result<BTreeMap<EventIx, String>, BodyError> {
    let mut ids = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for &event in &cast.messages {
        let entry = cast.reading.session.entry(event);
        let own = cast.extra(entry)?.remove("message_id");
        let own = own.and_then(|it| it.as_str().map(str::to_owned));
        let wanted = own.unwrap_or_else(|| entry.id().to_owned());
        let numbered = (2_u64..).map(|n| format!("{wanted}#{n}"));
        let mut free = std::iter::once(wanted.clone()).chain(numbered);
        ids.insert(event, free.find(|id| taken.insert(id.clone())).unwrap_or_default());
    }
    Ok(ids)
}

fn recorded(
    cast: &Cast<'_>,
    ids: &BTreeMap<EventIx, String>,
    at: usize,
    event: EventIx,
    created_at: &str,
    origin: &Origin,
) -> Result<Value, BodyError> {
    let session = cast.reading.session;
    let entry = session.entry(event);
    let mut extra: Map<String, Value> = cast.extra(entry)?;
    let mut object = Object::new(format!("/messages/{at}"), origin);
    extra.remove("message_id");
    object.set_some("message_id", ids.get(&event).cloned());
    if !spelled(&mut object, "timestamp", entry.at(), &mut extra) {
        object.derive("timestamp", created_at);
    }
    let sequence = extra.get("sequence_number").and_then(Value::as_u64);
    object.set("sequence_number", sequence.unwrap_or(at as u64 + 1));
    for (name, agent) in [("from_agent", cast.sender(entry)), ("to_agent", entry.agent())] {
        let own = identifier(cast, agent, object.below(name), origin)?;
        // An identifier may say more in one message than in another.
        let spelling = extra.remove(name).filter(|it| it["agent_id"] == own["agent_id"]);
        let is_whole = |it: &Value| super::object::fits::<crate::AgentIdentifier>(it);
        object.set(name, spelling.filter(is_whole).unwrap_or(own));
    }
    object.set("message_type", entry.message_type().unwrap_or_default());
    let payload = cast.detail(entry, antiphon_model::Detail::Payload)?;
    match payload {
        Some(payload) => object.set("payload", payload),
        // What was said without a payload of its own.
        None if entry.content().is_some() => {
            object.set("payload", json!({ "content": cast.reading.text(entry)? }));
        }
        None => object.set("payload", json!({})),
    }
    object.set_some("correlation_id", entry.correlation_id());
    match entry.reply_to() {
        Some(MessageRef::Event(event)) if ids.contains_key(&event) => {
            object.set_some("reply_to", ids.get(&event).cloned());
        }
        // It answers what is no message between agents, or is not there.
        Some(MessageRef::Event(event)) => {
            origin.keep(&object.below("reply_to"), session.entry(event).id().into());
        }
        Some(MessageRef::Dangling(id)) => origin.keep(&object.below("reply_to"), id.into()),
        None => {}
    }
    object.rest_of::<AgentMessage>(extra);
    Ok(object.value())
}
