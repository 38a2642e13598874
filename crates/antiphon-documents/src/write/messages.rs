//! Messages between agents: those that were recorded, or else those that the sending of agents and
//! their coming back amount to (section 5.3 of STD-008).

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{AgentIx, BodyError, EventIx, MessageRef, Role, Source, Timestamp};
use serde_json::{Map, Value, json};

use super::agents::{identifier, sub_identifier};
use super::cast::{Cast, Sub, spelled};
use super::object::{Object, Origin};
use super::sub_session::Went;
use crate::AgentMessage;
use crate::multi::is_review;

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
    let mut sent = Vec::new();
    for (sub, value) in cast.subs.iter().zip(subs) {
        of_sub_session(cast, sub, value, &mut sent)?;
    }
    of_peers(cast, created_at, &mut sent)?;
    // Stable, so that what is sent at the same time stays in the order of the sub-sessions.
    sent.sort_by_key(|message| Timestamp::parse(&message.timestamp));
    let numbered = sent.into_iter().enumerate();
    let written = numbered.map(|(at, message)| {
        origin.derived(&format!("/messages/{at}"));
        json!({
            "message_id": format!("msg-{:03}", at + 1),
            "timestamp": message.timestamp,
            "sequence_number": at + 1,
            "from_agent": message.from,
            "to_agent": message.to,
            "message_type": message.kind,
            "payload": message.payload,
        })
    });
    Ok(Value::Array(written.collect()))
}

/// A message that nobody recorded as one.
struct Sent {
    timestamp: String,
    kind: &'static str,
    from: Value,
    to: Value,
    payload: Value,
}

/// The sending of an agent, and its coming back: a task, or a review where a reviewer was sent. An
/// agent that was stopped aborts.
fn of_sub_session(
    cast: &Cast<'_>,
    sub: &Sub,
    value: &Value,
    sent: &mut Vec<Sent>,
) -> Result<(), BodyError> {
    let session = cast.reading.session;
    let quiet = Origin::default();
    let sender = session.call(sub.call).agent;
    let from = identifier(cast, Some(sender), String::new(), &quiet)?;
    let to = sub_identifier(cast, sub, String::new(), &quiet)?;
    let (task, output) = (&value["task"], &value["output"]);
    let is_review = is_review(value);
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    // The task that is under review is known only where the review names it.
    let review = |more: Value| {
        let mut payload = json!({ "review_id": task["task_id"] });
        let reviewed = output.get("review_id").and(output.get("task_id"));
        payload["task_id"] = reviewed.cloned().unwrap_or_default();
        let more = more.as_object().cloned().unwrap_or_default();
        if let Some(members) = payload.as_object_mut() {
            members.extend(more);
            members.retain(|_, value| !value.is_null());
        }
        payload
    };
    if let Some(timestamp) = text("started_at") {
        let (kind, payload) = match is_review {
            true => ("review_request", review(json!({ "description": task["description"] }))),
            false => {
                let task_of = json!({
                    "task_id": task["task_id"],
                    "task_description": task["description"],
                });
                ("task_assignment", json!({ "task": task_of, "priority": task["priority"] }))
            }
        };
        sent.push(Sent { timestamp, kind, from: from.clone(), to: to.clone(), payload });
    }
    let Some(timestamp) = text("completed_at") else { return Ok(()) };
    let word = sub.agent.and_then(|agent| session.agent(agent).status());
    let word = word.filter(|word| Went::is_abort(word));
    let (kind, payload) = match (word, is_review) {
        (Some(word), _) => {
            let payload = json!({ "scope": "task", "target_id": task["task_id"], "reason": word });
            ("abort", payload)
        }
        (None, true) => ("review_result", review(json!({ "verdict": output["verdict"] }))),
        (None, false) => {
            let status = if value["status"] == "success" { "completed" } else { "failed" };
            ("task_completion", json!({ "task_id": task["task_id"], "status": status }))
        }
    };
    sent.push(Sent { timestamp, kind, from: to, to: from, payload });
    Ok(())
}

/// What agents said to one another that nobody sent. The standard has no sub-session for them, and
/// no better word than feedback for what is neither a task nor a review.
fn of_peers(cast: &Cast<'_>, created_at: &str, sent: &mut Vec<Sent>) -> Result<(), BodyError> {
    let session = cast.reading.session;
    let peers: BTreeSet<AgentIx> = cast.others().collect();
    if peers.is_empty() {
        return Ok(());
    }
    let quiet = Origin::default();
    for entry in session.entries().filter(|entry| entry.role() == Some(Role::User)) {
        let (Source::Agent(from), Some(to)) = (entry.source(), entry.agent()) else { continue };
        if from == to || !(peers.contains(&from) || peers.contains(&to)) {
            continue;
        }
        let end = |agent| identifier(cast, Some(agent), String::new(), &quiet);
        sent.push(Sent {
            timestamp: entry.at().map_or_else(|| created_at.to_owned(), Timestamp::to_short),
            kind: "feedback",
            from: end(from)?,
            to: end(to)?,
            payload: json!({ "content": cast.reading.text(entry)? }),
        });
    }
    Ok(())
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
