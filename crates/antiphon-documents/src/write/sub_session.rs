//! What an agent did that a call sent: its task, its calls, its output.

use antiphon_model::{BodyError, Detail, Timestamp};
use serde_json::Value;

use super::agents::sub_identifier;
use super::call::Calls;
use super::cast::{Cast, Sub, spelled};
use super::object::Object;
use super::origin::Origin;
use super::session::NO_TIME;
use super::{output, task};
use crate::multi::is_review;

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

    /// Whether an agent was stopped, and did not come to an end of its own.
    pub(super) fn is_abort(word: &str) -> bool {
        matches!(word, "cancelled" | "canceled" | "aborted" | "interrupted" | "killed")
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
    let Some(agent) = sub.agent.map(|agent| session.agent(agent)) else { return (Went::On, false) };
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

/// Composes the sub-sessions of a document, one at a time.
pub(super) struct SubSessions<'c, 'a> {
    pub(super) calls: Calls<'c, 'a>,
    pub(super) session_id: String,
}

/// What the summary and the messages of a document tell of a sub-session.
pub(super) struct SubFacts {
    pub(super) task_id: Option<String>,
    pub(super) status: String,
    pub(super) is_review: bool,
    pub(super) verdict: Option<String>,
    pub(super) started_at: Option<String>,
    pub(super) completed_at: Option<String>,
}

impl SubFacts {
    pub(super) fn of(sub_session: &Value) -> Self {
        let own = |value: &Value| value.as_str().map(str::to_owned);
        Self {
            task_id: own(&sub_session["task"]["task_id"]),
            status: own(&sub_session["status"]).unwrap_or_default(),
            is_review: is_review(sub_session),
            verdict: own(&sub_session["output"]["verdict"]),
            started_at: own(&sub_session["started_at"]),
            completed_at: own(&sub_session["completed_at"]),
        }
    }
}

impl SubSessions<'_, '_> {
    /// A sub-session whose calls are left open, and where its members come from.
    pub(super) fn compose(&self, at: usize) -> Result<(Value, Origin), BodyError> {
        let origin = Origin::default();
        let value = compose(self, at, &origin)?;
        Ok((value, origin))
    }
}

fn compose(subs: &SubSessions<'_, '_>, at: usize, origin: &Origin) -> Result<Value, BodyError> {
    let cast = subs.calls.cast;
    let Some(sub) = cast.subs.get(at) else { return Ok(Value::Null) };
    let session = cast.reading.session;
    let facts = sub.agent.map(|agent| session.agent(agent));
    let created = facts.map(|facts| session.entry(facts.created.unwrap_or(facts.first)));
    let ended = facts.and_then(|facts| facts.ended).map(|event| session.entry(event));
    let mut extra = created.map(|entry| cast.extra(entry)).transpose()?.unwrap_or_default();
    let mut of_end = ended.map(|entry| cast.extra(entry)).transpose()?.unwrap_or_default();
    for name in ["sub_session_id", "position", "identifier"] {
        extra.remove(name);
    }
    let mut object = Object::new(String::new(), origin);
    match sub.is_id_recorded {
        true => object.set("sub_session_id", sub.id.as_str()),
        false => object.derive("sub_session_id", sub.id.as_str()),
    }
    // Section 6.2 knows calls of the session itself alone. An agent that another one sent goes back
    // to the call that sent the first of them.
    object.set("parent_session_id", subs.session_id.as_str());
    if let Some(parent) = sub.parent.and_then(|at| cast.subs.get(at)) {
        origin.keep(&object.below("parent_session_id"), parent.id.as_str().into());
        origin.keep(&object.below("triggered_by_call_id"), cast.call_id(sub.call).into());
        for name in ["parent_session_id", "triggered_by_call_id"] {
            origin.derived(&object.below(name));
        }
    }
    let agent = sub_identifier(cast, sub, object.below("agent"), origin)?;
    object.set("agent", agent);
    object.set("triggered_by_call_id", cast.call_id(sub.trigger));
    let task = task::write(cast, sub, &object)?;
    object.set("task", task);

    let times = sub.agent.and_then(|agent| cast.time_of(agent));
    let is_created = facts.is_some_and(|facts| facts.created.is_some());
    let begun = created.and_then(|entry| entry.at()).filter(|_| is_created);
    if !spelled(&mut object, "started_at", begun, &mut extra) {
        let sent = session.call_started_at(sub.call);
        let first = times.map(|(first, _)| first).or(sent).or(cast.time_before(sub.call));
        let first = first.or(subs.calls.begun);
        object.derive("started_at", first.map_or(NO_TIME.to_owned(), Timestamp::to_short));
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
    object.set("tool_calls", Vec::<Value>::new());
    let recorded = ended.map(|entry| cast.detail(entry, Detail::Output)).transpose()?.flatten();
    output::write(cast, sub, went, recorded, &mut object)?;
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

/// How long something took, in milliseconds.
pub(super) fn millis(first: Timestamp, last: Timestamp) -> u64 {
    u64::try_from(last.since(first)).unwrap_or_default()
}
