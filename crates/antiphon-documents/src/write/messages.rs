//! Messages between agents: those that were recorded, or else those that the sending of agents and
//! their coming back amount to (section 5.3 of STD-008).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{AgentIx, BodyError, Entry, EventIx, MessageRef, Role, Source, Timestamp};
use serde_json::{Map, Value, json};

use super::agents::{identifier, sub_identifier};
use super::cast::{Cast, spelled};
use super::free_ids::FreeIds;
use super::object::Object;
use super::origin::Origin;
use super::sub_session::{SubFacts, SubSessions, Went};
use crate::AgentMessage;
use crate::multi::is_review;

/// Composes the messages of a document, one at a time.
pub(super) struct Messages<'m, 'a> {
    subs: &'m SubSessions<'m, 'a>,
    created_at: &'m str,
    list: List,
}

enum List {
    /// By message, the id that it has in the document, where that is not its own.
    Recorded(BTreeMap<EventIx, String>),
    Worked(Vec<Worked>),
}

/// A message that nobody recorded as one.
#[derive(Debug, Clone, Copy)]
enum Worked {
    /// The sending of an agent with a sub-session.
    Sending(usize),
    /// Its coming back.
    Return(usize),
    /// What agents said to one another that nobody sent.
    Said(EventIx),
}

impl<'m, 'a> Messages<'m, 'a> {
    pub(super) fn of(
        subs: &'m SubSessions<'m, 'a>,
        facts: &[SubFacts],
        created_at: &'m str,
    ) -> Result<Self, BodyError> {
        let cast = subs.calls.cast;
        let list = match cast.is_document || !cast.messages.is_empty() {
            true => List::Recorded(ids(cast)?),
            false => List::Worked(worked(cast, facts, created_at)),
        };
        Ok(Self { subs, created_at, list })
    }

    pub(super) fn len(&self) -> usize {
        match &self.list {
            List::Recorded(_) => self.subs.calls.cast.messages.len(),
            List::Worked(worked) => worked.len(),
        }
    }

    /// A message, and where its members come from.
    pub(super) fn compose(&self, at: usize) -> Result<(Value, Origin), BodyError> {
        let origin = Origin::default();
        let value = match &self.list {
            List::Recorded(ids) => self.recorded(ids, at, &origin)?,
            List::Worked(worked) => {
                origin.derived("");
                worked.get(at).map_or(Ok(Value::Null), |&worked| self.worked(at, worked))?
            }
        };
        Ok((value, origin))
    }

    fn worked(&self, at: usize, worked: Worked) -> Result<Value, BodyError> {
        let message = match worked {
            Worked::Sending(sub) | Worked::Return(sub) => self.of_sub_session(sub, worked)?,
            Worked::Said(event) => self.said(event)?,
        };
        Ok(json!({
            "message_id": format!("msg-{:03}", at + 1),
            "timestamp": message.timestamp,
            "sequence_number": at + 1,
            "from_agent": message.from,
            "to_agent": message.to,
            "message_type": message.kind,
            "payload": message.payload,
        }))
    }

    /// The sending of an agent, or its coming back: a task, or a review where a reviewer was sent.
    /// An agent that was stopped aborts.
    fn of_sub_session(&self, at: usize, worked: Worked) -> Result<Sent, BodyError> {
        let cast = self.subs.calls.cast;
        let session = cast.reading.session;
        let quiet = Origin::default();
        let (value, _) = self.subs.compose(at)?;
        let Some(sub) = cast.subs.get(at) else { return Ok(Sent::default()) };
        let sender = session.call(sub.call).agent;
        let sender = identifier(cast, Some(sender), String::new(), &quiet)?;
        let agent = sub_identifier(cast, sub, String::new(), &quiet)?;
        let (task, output) = (&value["task"], &value["output"]);
        let is_review = is_review(&value);
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
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
        if let Worked::Sending(_) = worked {
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
            let timestamp = text("started_at");
            return Ok(Sent { timestamp, kind, from: sender, to: agent, payload });
        }
        let word = sub.agent.and_then(|agent| session.agent(agent).status());
        let word = word.filter(|word| Went::is_abort(word));
        let (kind, payload) = match (word, is_review) {
            (Some(word), _) => {
                let id = &task["task_id"];
                ("abort", json!({ "scope": "task", "target_id": id, "reason": word }))
            }
            (None, true) => ("review_result", review(json!({ "verdict": output["verdict"] }))),
            (None, false) => {
                let status = if value["status"] == "success" { "completed" } else { "failed" };
                ("task_completion", json!({ "task_id": task["task_id"], "status": status }))
            }
        };
        let timestamp = text("completed_at");
        Ok(Sent { timestamp, kind, from: agent, to: sender, payload })
    }

    /// The standard has no sub-session for whom nobody sent, and no better word than feedback for
    /// what is neither a task nor a review.
    fn said(&self, event: EventIx) -> Result<Sent, BodyError> {
        let cast = self.subs.calls.cast;
        let entry = cast.reading.session.entry(event);
        let quiet = Origin::default();
        let end = |agent| identifier(cast, agent, String::new(), &quiet);
        Ok(Sent {
            timestamp: said_at(entry, self.created_at),
            kind: "feedback",
            from: end(cast.sender(entry))?,
            to: end(entry.agent())?,
            payload: json!({ "content": cast.reading.text(entry)? }),
        })
    }

    fn recorded(
        &self,
        ids: &BTreeMap<EventIx, String>,
        at: usize,
        origin: &Origin,
    ) -> Result<Value, BodyError> {
        let cast = self.subs.calls.cast;
        let session = cast.reading.session;
        let Some(&event) = cast.messages.get(at) else { return Ok(Value::Null) };
        let id_of = |event: EventIx| match ids.get(&event) {
            Some(id) => id.as_str(),
            None => session.entry(event).id(),
        };
        let entry = session.entry(event);
        let mut extra: Map<String, Value> = cast.extra(entry)?;
        let mut object = Object::new(String::new(), origin);
        extra.remove("message_id");
        object.set("message_id", id_of(event));
        if !spelled(&mut object, "timestamp", entry.at(), &mut extra) {
            object.derive("timestamp", self.created_at);
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
            Some(MessageRef::Event(event)) if session.entry(event).message_type().is_some() => {
                object.set("reply_to", id_of(event));
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
}

/// A message that nobody recorded as one, composed.
#[derive(Default)]
struct Sent {
    timestamp: String,
    kind: &'static str,
    from: Value,
    to: Value,
    payload: Value,
}

/// The sending of agents and their coming back, and what others said to one another; by time.
fn worked(cast: &Cast<'_>, facts: &[SubFacts], created_at: &str) -> Vec<Worked> {
    let mut sent: Vec<(Option<Timestamp>, Worked)> = Vec::new();
    for (at, facts) in facts.iter().enumerate() {
        let ends =
            [(&facts.started_at, Worked::Sending(at)), (&facts.completed_at, Worked::Return(at))];
        for (time, worked) in ends {
            sent.extend(time.as_deref().map(|time| (Timestamp::parse(time), worked)));
        }
    }
    let peers: BTreeSet<AgentIx> = cast.others().collect();
    let is_heard = |entry: &Entry<'_>| entry.role() == Some(Role::User) && !peers.is_empty();
    for entry in cast.reading.session.entries().filter(is_heard) {
        let (Source::Agent(from), Some(to)) = (entry.source(), entry.agent()) else { continue };
        if from != to && (peers.contains(&from) || peers.contains(&to)) {
            let time = Timestamp::parse(&said_at(entry, created_at));
            sent.push((time, Worked::Said(entry.ix())));
        }
    }
    // Stable, so that what is sent at the same time stays in the order of the sub-sessions.
    sent.sort_by_key(|(time, _)| *time);
    sent.into_iter().map(|(_, worked)| worked).collect()
}

fn said_at(entry: Entry<'_>, created_at: &str) -> String {
    entry.at().map_or_else(|| created_at.to_owned(), Timestamp::to_short)
}

/// By message, the id that it has in the document, where that is not its own: a document may have
/// had another, which the log could not give to two.
fn ids(cast: &Cast<'_>) -> Result<BTreeMap<EventIx, String>, BodyError> {
    let session = cast.reading.session;
    let mut ids = BTreeMap::new();
    let mut free = FreeIds::default();
    for &event in &cast.messages {
        let entry = session.entry(event);
        let own = cast.extra(entry)?.remove("message_id");
        let own = own.and_then(|it| it.as_str().map(str::to_owned));
        let wanted = own.map_or(Cow::Borrowed(entry.id()), Cow::Owned);
        let other = free.take(None, wanted.clone());
        let other = other.or_else(|| (wanted != entry.id()).then(|| wanted.into_owned()));
        ids.extend(other.map(|id| (event, id)));
    }
    Ok(ids)
}
