//! Messages between agents: the recorded ones, or else those derived from starts and ends of
//! sub-sessions (section 5.3 of STD-008).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{AgentIx, BodyError, Entry, EventIx, MessageRef, Role, Source, Timestamp};
use serde_json::{Map, Value, json};

use super::agents::{identifier, sub_identifier};
use super::free_ids::FreeIds;
use super::object::Object;
use super::origin::Origin;
use super::roles::{Roles, spelled};
use super::sub_session::{Outcome, SubFacts, SubSessions};
use crate::AgentMessage;
use crate::multi::is_review;

/// Composes the messages of a document, one at a time.
pub(super) struct Messages<'m, 'a> {
    subs: &'m SubSessions<'m, 'a>,
    created_at: &'m str,
    list: List,
}

enum List {
    /// The ids of messages in the document, where they differ from those in the log.
    Recorded(BTreeMap<EventIx, String>),
    Derived(Vec<DerivedMessage>),
}

/// A message that was not recorded as such.
#[derive(Debug, Clone, Copy)]
enum DerivedMessage {
    /// The start of a sub-session, by index: a task or a review request.
    Start(usize),
    /// The end of a sub-session, by index: its result.
    End(usize),
    /// What agents without a sub-session said to one another.
    Said(EventIx),
}

impl<'m, 'a> Messages<'m, 'a> {
    pub(super) fn of(
        subs: &'m SubSessions<'m, 'a>,
        facts: &[SubFacts],
        created_at: &'m str,
    ) -> Result<Self, BodyError> {
        let roles = subs.calls.roles;
        let list = match roles.is_document || !roles.messages.is_empty() {
            true => List::Recorded(ids(roles)?),
            false => List::Derived(derived(roles, facts, created_at)),
        };
        Ok(Self { subs, created_at, list })
    }

    pub(super) fn len(&self) -> usize {
        match &self.list {
            List::Recorded(_) => self.subs.calls.roles.messages.len(),
            List::Derived(derived) => derived.len(),
        }
    }

    /// A message, and the origin of its members.
    pub(super) fn compose(&self, at: usize) -> Result<(Value, Origin), BodyError> {
        let origin = Origin::default();
        let value = match &self.list {
            List::Recorded(ids) => self.recorded(ids, at, &origin)?,
            List::Derived(derived) => {
                origin.derived("");
                derived.get(at).map_or(Ok(Value::Null), |&derived| self.derived(at, derived))?
            }
        };
        Ok((value, origin))
    }

    fn derived(&self, at: usize, derived: DerivedMessage) -> Result<Value, BodyError> {
        let message = match derived {
            DerivedMessage::Start(sub) | DerivedMessage::End(sub) => {
                self.of_sub_session(sub, derived)?
            }
            DerivedMessage::Said(event) => self.said(event)?,
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

    /// The message for the start or the end of a sub-session: about a task, or about a review if
    /// the agent is a reviewer. The end of an agent that was stopped is an `abort`.
    fn of_sub_session(
        &self,
        at: usize,
        derived: DerivedMessage,
    ) -> Result<ComposedMessage, BodyError> {
        let roles = self.subs.calls.roles;
        let session = roles.reading.session;
        let quiet = Origin::default();
        let (value, _) = self.subs.compose(at)?;
        let Some(sub) = roles.subs.get(at) else { return Ok(ComposedMessage::default()) };
        let sender = session.call(sub.call).agent;
        let sender = identifier(roles, Some(sender), String::new(), &quiet)?;
        let agent = sub_identifier(roles, sub, String::new(), &quiet)?;
        let (task, output) = (&value["task"], &value["output"]);
        let is_review = is_review(&value);
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        // The reviewed task is known only if the review names it.
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
        if let DerivedMessage::Start(_) = derived {
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
            return Ok(ComposedMessage { timestamp, kind, from: sender, to: agent, payload });
        }
        let word = sub.agent.and_then(|agent| session.agent(agent).status());
        let word = word.filter(|word| Outcome::is_abort(word));
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
        Ok(ComposedMessage { timestamp, kind, from: agent, to: sender, payload })
    }

    /// The standard has no sub-session for an agent that was not started by a call, and no better
    /// type than `feedback` for a message that is neither about a task nor about a review.
    fn said(&self, event: EventIx) -> Result<ComposedMessage, BodyError> {
        let roles = self.subs.calls.roles;
        let entry = roles.reading.session.entry(event);
        let quiet = Origin::default();
        let end = |agent| identifier(roles, agent, String::new(), &quiet);
        Ok(ComposedMessage {
            timestamp: said_at(entry, self.created_at),
            kind: "feedback",
            from: end(roles.sender(entry))?,
            to: end(entry.agent())?,
            payload: json!({ "content": roles.reading.text(entry)? }),
        })
    }

    fn recorded(
        &self,
        ids: &BTreeMap<EventIx, String>,
        at: usize,
        origin: &Origin,
    ) -> Result<Value, BodyError> {
        let roles = self.subs.calls.roles;
        let session = roles.reading.session;
        let Some(&event) = roles.messages.get(at) else { return Ok(Value::Null) };
        let id_of = |event: EventIx| match ids.get(&event) {
            Some(id) => id.as_str(),
            None => session.entry(event).id(),
        };
        let entry = session.entry(event);
        let mut extra: Map<String, Value> = roles.extra(entry)?;
        let mut object = Object::new(String::new(), origin);
        extra.remove("message_id");
        object.set("message_id", id_of(event));
        if !spelled(&mut object, "timestamp", entry.at(), &mut extra) {
            object.derive("timestamp", self.created_at);
        }
        let sequence = extra.get("sequence_number").and_then(Value::as_u64);
        object.set("sequence_number", sequence.unwrap_or(at as u64 + 1));
        for (name, agent) in [("from_agent", roles.sender(entry)), ("to_agent", entry.agent())] {
            let own = identifier(roles, agent, object.below(name), origin)?;
            // The same agent may be described in more detail in one message than in another.
            let spelling = extra.remove(name).filter(|it| it["agent_id"] == own["agent_id"]);
            let is_whole = |it: &Value| super::object::fits::<crate::AgentIdentifier>(it);
            object.set(name, spelling.filter(is_whole).unwrap_or(own));
        }
        object.set("message_type", entry.message_type().unwrap_or_default());
        let payload = roles.detail(entry, antiphon_model::Detail::Payload)?;
        match payload {
            Some(payload) => object.set("payload", payload),
            // A message without a payload.
            None if entry.content().is_some() => {
                object.set("payload", json!({ "content": roles.reading.text(entry)? }));
            }
            None => object.set("payload", json!({})),
        }
        object.set_some("correlation_id", entry.correlation_id());
        match entry.reply_to() {
            Some(MessageRef::Event(event)) if session.entry(event).message_type().is_some() => {
                object.set("reply_to", id_of(event));
            }
            // The event that it replies to is not a message between agents.
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

/// The members of a derived message.
#[derive(Default)]
struct ComposedMessage {
    timestamp: String,
    kind: &'static str,
    from: Value,
    to: Value,
    payload: Value,
}

/// The starts and ends of sub-sessions, and what other agents said to one another, by time.
fn derived(roles: &Roles<'_>, facts: &[SubFacts], created_at: &str) -> Vec<DerivedMessage> {
    let mut sent: Vec<(Option<Timestamp>, DerivedMessage)> = Vec::new();
    for (at, facts) in facts.iter().enumerate() {
        let ends = [
            (&facts.started_at, DerivedMessage::Start(at)),
            (&facts.completed_at, DerivedMessage::End(at)),
        ];
        for (time, derived) in ends {
            sent.extend(time.as_deref().map(|time| (Timestamp::parse(time), derived)));
        }
    }
    let peers: BTreeSet<AgentIx> = roles.others().collect();
    let is_heard = |entry: &Entry<'_>| entry.role() == Some(Role::User) && !peers.is_empty();
    for entry in roles.reading.session.entries().filter(is_heard) {
        let (Source::Agent(from), Some(to)) = (entry.source(), entry.agent()) else { continue };
        if from != to && (peers.contains(&from) || peers.contains(&to)) {
            let time = Timestamp::parse(&said_at(entry, created_at));
            sent.push((time, DerivedMessage::Said(entry.ix())));
        }
    }
    // Stable, so that messages of the same time stay in the order of the sub-sessions.
    sent.sort_by_key(|(time, _)| *time);
    sent.into_iter().map(|(_, derived)| derived).collect()
}

fn said_at(entry: Entry<'_>, created_at: &str) -> String {
    entry.at().map_or_else(|| created_at.to_owned(), Timestamp::to_short)
}

/// The ids of messages in the document, where they differ from those in the log: a document may
/// contain the same id twice, and a log may not.
fn ids(roles: &Roles<'_>) -> Result<BTreeMap<EventIx, String>, BodyError> {
    let session = roles.reading.session;
    let mut ids = BTreeMap::new();
    let mut free = FreeIds::default();
    for &event in &roles.messages {
        let entry = session.entry(event);
        let own = roles.extra(entry)?.remove("message_id");
        let own = own.and_then(|it| it.as_str().map(str::to_owned));
        let wanted = own.map_or(Cow::Borrowed(entry.id()), Cow::Owned);
        let other = free.take(None, wanted.clone());
        let other = other.or_else(|| (wanted != entry.id()).then(|| wanted.into_owned()));
        ids.extend(other.map(|id| (event, id)));
    }
    Ok(ids)
}
