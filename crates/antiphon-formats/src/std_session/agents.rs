//! The agents of a document: its own, the participants, and those that were delegated to.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::Timestamp;
use antiphon_model::json::{self, Members};

use super::call::Caller;
use super::document::Document;
use super::fields::{Fields, Notes, below};
use super::original::Originals;
use super::status::Status;

/// The agents of a document.
pub(super) struct Cast<'a> {
    /// The agent whose session the document is.
    pub(super) main: String,
    orchestrator: Option<Identifier>,
    participants: Option<Vec<Identifier>>,
    subs: Vec<Sub<'a>>,
    /// Elements of the list of sub-sessions that are not objects.
    others: Vec<(String, &'a str)>,
    /// Other facts about the collaboration.
    rest: Members,
}

/// An `AgentIdentifier`, and the agent's id in the log.
struct Identifier {
    agent: String,
    agent_type: Option<String>,
    name: Option<String>,
    /// The whole identifier, if it contains more than id and type.
    whole: Option<String>,
}

struct Sub<'a> {
    fields: Fields<'a>,
    sub_session_id: Option<String>,
    identifier: Identifier,
}

impl Identifier {
    /// Reads an identifier. Deviating documents name an agent by its type, or its role.
    fn of(mut fields: Fields<'_>, originals: &Originals, notes: &mut Notes) -> Self {
        let whole = fields.rest();
        let agent_type = fields.take_text("agent_type").map(String::from);
        let original = originals.text(&fields.pointer, "agent_type").map(str::to_owned);
        let is_original = original.is_some();
        let agent_type = original.or(agent_type);
        let id = fields.take_text("agent_id").map(String::from);
        let mut is_more = !fields.rest().is_empty();
        let name = fields.take_text("name").map(String::from);
        let agent = id.unwrap_or_else(|| {
            notes.lenient(&fields.pointer, "has no `agent_id`");
            is_more = true;
            let role = || fields.take_text("role").map(String::from);
            agent_type.clone().or_else(role).unwrap_or_else(|| fields.pointer.clone())
        });
        let whole = is_more.then(|| match (is_original, &agent_type) {
            (true, Some(role)) => with_role(&whole, role),
            _ => whole.object(),
        });
        Self { agent, agent_type, name, whole }
    }
}

impl Identifier {
    /// The identifier as an object.
    fn plain_or_whole(&self) -> String {
        self.whole.clone().unwrap_or_else(|| {
            let mut plain = Members::default();
            plain.word("agent_id", &self.agent);
            plain.text("agent_type", self.agent_type.as_deref());
            plain.object()
        })
    }
}

/// An identifier, with the role that was recorded.
fn with_role(whole: &Members, role: &str) -> String {
    let mut members = Members::default();
    let _ = json::raw_members(&whole.object(), |_, name, value| match name {
        "agent_type" => members.word("agent_type", role),
        name => members.raw(name, value),
    });
    members.object()
}

impl<'a> Cast<'a> {
    pub(super) fn new(
        collaboration: Option<Fields<'a>>,
        subs: Vec<(String, &'a str)>,
        originals: &Originals,
        notes: &mut Notes,
    ) -> Self {
        let mut fields = collaboration.unwrap_or_default();
        let orchestrator = fields.take_object("orchestrator", notes);
        let orchestrator = orchestrator.map(|fields| Identifier::of(fields, originals, notes));
        let participants = fields.take_list("participants", notes).map(|list| {
            let fields = list.into_iter().filter_map(|(at, raw)| Fields::of(raw, at, notes));
            let fields: Vec<_> = fields.collect();
            fields.into_iter().map(|fields| Identifier::of(fields, originals, notes)).collect()
        });
        let main = orchestrator.as_ref().map_or("main", |it| &it.agent).to_owned();
        let mut taken = BTreeSet::from([main.clone()]);
        let mut cast = Self {
            main,
            orchestrator,
            participants,
            subs: Vec::new(),
            others: Vec::new(),
            rest: fields.rest(),
        };
        for (pointer, raw) in subs {
            let Some(mut fields) = Fields::of(raw, pointer.clone(), notes) else {
                cast.others.push((pointer, raw));
                continue;
            };
            let sub_session_id = fields.take_text("sub_session_id").map(String::from);
            let agent = fields.take_object("agent", notes).unwrap_or_default();
            let mut identifier = Identifier::of(agent, originals, notes);
            if !taken.insert(identifier.agent.clone()) {
                // The same agent was delegated to again, which makes it another agent in the log.
                let mut whole = Members::default();
                whole.word("agent_id", &identifier.agent);
                whole.text("agent_type", identifier.agent_type.as_deref());
                identifier.whole.get_or_insert_with(|| whole.object());
                let again = sub_session_id.as_deref().unwrap_or(&pointer);
                identifier.agent = format!("{}/{again}", identifier.agent);
                taken.insert(identifier.agent.clone());
            }
            cast.subs.push(Sub { fields, sub_session_id, identifier });
        }
        cast
    }

    /// For each sub-session: its agent.
    pub(super) fn by_session(&self) -> BTreeMap<String, String> {
        let subs = self.subs.iter();
        subs.filter_map(|sub| Some((sub.sub_session_id.clone()?, sub.identifier.agent.clone())))
            .collect()
    }

    pub(super) fn is_team(&self) -> bool {
        self.orchestrator.is_some() || self.participants.is_some() || !self.subs.is_empty()
    }

    /// What the log has no name for: mode, pattern, and the order of participants.
    pub(super) fn collaboration(&self) -> Members {
        let mut all = self.rest.clone();
        let Some(participants) = &self.participants else { return all };
        let items: Vec<String> = participants.iter().map(|it| self.participant(it)).collect();
        all.raw("participants", &format!("[{}]", items.join(",")));
        all
    }

    /// A participant's id; the whole identifier, if its sub-session has another one.
    fn participant(&self, participant: &Identifier) -> String {
        let mut sent = self.subs.iter().map(|sub| &sub.identifier);
        let own = sent.find(|it| it.agent == participant.agent);
        if own.is_some_and(|own| own.plain_or_whole() != participant.plain_or_whole()) {
            return participant.plain_or_whole();
        }
        let mut id = String::new();
        json::push_string(&mut id, &participant.agent);
        id
    }

    /// The id in the log of the agent that an identifier in a message means, and whether the
    /// identifier says nothing more.
    pub(super) fn known(&self, identifier: &Fields<'_>) -> (Option<String>, bool) {
        let rest = identifier.rest();
        let all = rest.object();
        let Some(id) = json::member(&all, "agent_id").and_then(json::text) else {
            return (None, false);
        };
        let agent_type = json::member(&all, "agent_type").and_then(json::text);
        let everyone = self.orchestrator.iter().chain(self.participants.iter().flatten());
        let mut everyone = everyone.chain(self.subs.iter().map(|sub| &sub.identifier));
        let known = everyone.find(|it| it.agent == id);
        let is_plain = known.is_some_and(|it| {
            let same = it.agent_type.as_deref() == agent_type.as_deref();
            same && it.plain_or_whole().len() == all.len()
        });
        (Some(id.into_owned()), is_plain)
    }
}

impl Document {
    pub(super) fn main_agent(
        &mut self,
        cast: &Cast<'_>,
        agent: Option<Fields<'_>>,
        at: Option<Timestamp>,
    ) {
        let mut fields = agent.unwrap_or_default();
        let model = fields.take_text("model_id");
        let mut extra = Members::default();
        extra.members("agent", &fields.rest());
        let mut created = self.created(&cast.main, cast.orchestrator.as_ref(), &mut extra);
        created.text("language_model", model.as_deref());
        created.members("extra", &extra);
        self.line(created, at);
    }

    fn created(
        &mut self,
        agent: &str,
        identifier: Option<&Identifier>,
        extra: &mut Members,
    ) -> Members {
        let mut created = Members::default();
        created.word("message_id", &self.id(&format!("created:{agent}")));
        created.word("event_type", "agent_created");
        created.word("agent_id", agent);
        if let Some(identifier) = identifier {
            created.text("name", identifier.name.as_deref());
            created.text("agent_type", identifier.agent_type.as_deref());
            if let Some(whole) = &identifier.whole {
                extra.raw("identifier", whole);
            }
        }
        created
    }

    /// Adds the agents that took part without a delegating call.
    pub(super) fn participants(&mut self, cast: &Cast<'_>) {
        let mut sent: BTreeSet<String> =
            cast.subs.iter().map(|sub| sub.identifier.agent.clone()).collect();
        sent.insert(cast.main.clone());
        for identifier in cast.participants.iter().flatten() {
            if sent.insert(identifier.agent.clone()) {
                let mut extra = Members::default();
                let mut created = self.created(&identifier.agent, Some(identifier), &mut extra);
                created.members("extra", &extra);
                self.line(created, None);
            }
        }
    }

    /// Adds the agents that were delegated to, with their calls.
    pub(super) fn sub_sessions(&mut self, cast: &mut Cast<'_>, session_id: &str) {
        let by_session = cast.by_session();
        for (pointer, raw) in std::mem::take(&mut cast.others) {
            self.keep(&pointer, raw, "is not an object and cannot be a sub-session");
        }
        for (position, sub) in (1_u64..).zip(&mut cast.subs) {
            let pointer = &sub.fields.pointer;
            let original = self.originals.text(pointer, "parent_session_id").map(str::to_owned);
            let named = sub.fields.take_text("parent_session_id");
            let parent = match original.map(Cow::Owned).or(named) {
                Some(id) if id == session_id => cast.main.clone(),
                Some(id) => match by_session.get(&*id) {
                    Some(agent) if *agent != sub.identifier.agent => agent.clone(),
                    _ => {
                        let at = below(&sub.fields.pointer, "parent_session_id");
                        self.notes.lenient(
                            &at,
                            &format!("names a session that is not in this document: `{id}`"),
                        );
                        cast.main.clone()
                    }
                },
                None => cast.main.clone(),
            };
            self.sub_session(sub, &parent, position);
        }
    }

    fn sub_session(&mut self, sub: &mut Sub<'_>, parent: &str, position: u64) {
        let fields = &mut sub.fields;
        let trigger = fields.take_text("triggered_by_call_id");
        let original = self.originals.text(&fields.pointer, "triggered_by_call_id");
        let trigger = original.map(|it| Cow::Owned(it.to_owned())).or(trigger);
        let task = fields.take("task");
        let started = fields.take_time("started_at", &mut self.notes);
        let completed = fields.take_time("completed_at", &mut self.notes);
        let status = Status::take(fields, &mut self.notes);
        let calls = fields.take_list("tool_calls", &mut self.notes).unwrap_or_default();
        let output = fields.take("output");
        let agent = sub.identifier.agent.clone();
        let has_ended = status.outcome.is_some()
            || (completed.is_some() && !status.goes_on())
            || output.is_some();
        let mut extra = fields.rest();
        extra.text("sub_session_id", sub.sub_session_id.as_deref());
        // Agents work in parallel; the order is only that of the document.
        extra.number("position", Some(position));
        if !has_ended {
            status.leave(&mut extra);
        }
        let mut created = self.created(&agent, Some(&sub.identifier), &mut extra);
        created.word("parent_id", parent);
        created.text("tool_call_id", trigger.as_deref());
        if let Some(task) = task {
            created.raw("task", task);
        }
        created.members("extra", &extra);
        self.line(created, started);
        let prefix = format!("{}/", sub.sub_session_id.as_deref().unwrap_or(&agent));
        let caller = Caller { agent: agent.clone(), prefix };
        for (pointer, raw) in calls {
            self.call(&caller, raw, &pointer);
        }
        if !has_ended {
            return;
        }
        let mut end = Members::default();
        end.word("message_id", &self.id(&format!("ended:{agent}")));
        end.word("event_type", "agent_ended");
        end.word("agent", &agent);
        end.text("status", status.outcome.as_deref());
        if let Some(output) = output {
            end.raw("output", output);
        }
        let mut extra = Members::default();
        status.leave(&mut extra);
        end.members("extra", &extra);
        self.line(end, completed);
    }
}
