//! The work of an agent that a call started: its task, its calls, its output.

use antiphon_model::{BodyError, Detail, Timestamp};
use serde_json::Value;

use super::agents::sub_identifier;
use super::call::Calls;
use super::object::Object;
use super::origin::Origin;
use super::roles::{Roles, Sub, spelled};
use super::session::NO_TIME;
use super::{output, task};
use crate::multi::is_review;

/// The outcome of an agent's work, as the standards distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Success,
    Failed,
    InProgress,
}

impl Outcome {
    pub(super) fn status(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failed => "failed",
            Self::InProgress => "in_progress",
        }
    }

    /// The word for it in a summary, which differs.
    pub(super) fn summary_status(self) -> &'static str {
        match self {
            Self::Success => "completed",
            Self::Failed | Self::InProgress => self.status(),
        }
    }

    /// Whether a status means that the agent was stopped before it had finished.
    pub(super) fn is_abort(word: &str) -> bool {
        matches!(word, "cancelled" | "canceled" | "aborted" | "interrupted" | "killed")
    }

    /// Converts the status of the log. An agent that a person stopped did not succeed.
    pub(super) fn of_word(word: &str) -> Self {
        match word {
            "completed" | "success" => Self::Success,
            _ => Self::Failed,
        }
    }
}

/// The outcome of a sub-agent's work, and whether it was recorded.
pub(super) fn outcome(roles: &Roles<'_>, sub: &Sub) -> (Outcome, bool) {
    let session = roles.reading.session;
    let Some(agent) = sub.agent.map(|agent| session.agent(agent)) else {
        return (Outcome::InProgress, false);
    };
    if let Some(word) = agent.status() {
        return (Outcome::of_word(word), true);
    }
    if agent.ended.is_some() || roles.is_document {
        return (Outcome::InProgress, true);
    }
    match session.call(sub.call).last_result().map(|event| session.entry(event)) {
        Some(result) if result.is_error() => (Outcome::Failed, false),
        Some(_) => (Outcome::Success, false),
        None => (Outcome::InProgress, false),
    }
}

/// Composes the sub-sessions of a document, one at a time.
pub(super) struct SubSessions<'c, 'a> {
    pub(super) calls: Calls<'c, 'a>,
    pub(super) session_id: String,
}

/// What the summary and the messages of a document need to know about a sub-session.
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
    /// A sub-session without its calls, and the origin of its members.
    pub(super) fn compose(&self, at: usize) -> Result<(Value, Origin), BodyError> {
        let origin = Origin::default();
        let value = compose(self, at, &origin)?;
        Ok((value, origin))
    }
}

fn compose(subs: &SubSessions<'_, '_>, at: usize, origin: &Origin) -> Result<Value, BodyError> {
    let roles = subs.calls.roles;
    let Some(sub) = roles.subs.get(at) else { return Ok(Value::Null) };
    let session = roles.reading.session;
    let facts = sub.agent.map(|agent| session.agent(agent));
    let created = facts.map(|facts| session.entry(facts.created.unwrap_or(facts.first)));
    let ended = facts.and_then(|facts| facts.ended).map(|event| session.entry(event));
    let mut extra = created.map(|entry| roles.extra(entry)).transpose()?.unwrap_or_default();
    let mut of_end = ended.map(|entry| roles.extra(entry)).transpose()?.unwrap_or_default();
    for name in ["sub_session_id", "position", "identifier"] {
        extra.remove(name);
    }
    let mut object = Object::new(String::new(), origin);
    match sub.is_id_recorded {
        true => object.set("sub_session_id", sub.id.as_str()),
        false => object.derive("sub_session_id", sub.id.as_str()),
    }
    // Section 6.2 knows only calls of the main session. A sub-agent of a sub-agent names the call
    // that started the outermost one.
    object.set("parent_session_id", subs.session_id.as_str());
    if let Some(parent) = sub.parent.and_then(|at| roles.subs.get(at)) {
        origin.keep(&object.below("parent_session_id"), parent.id.as_str().into());
        origin.keep(&object.below("triggered_by_call_id"), roles.call_id(sub.call).into());
        for name in ["parent_session_id", "triggered_by_call_id"] {
            origin.derived(&object.below(name));
        }
    }
    let agent = sub_identifier(roles, sub, object.below("agent"), origin)?;
    object.set("agent", agent);
    object.set("triggered_by_call_id", roles.call_id(sub.trigger));
    let task = task::write(roles, sub, &object)?;
    object.set("task", task);

    let times = sub.agent.and_then(|agent| roles.time_of(agent));
    let is_created = facts.is_some_and(|facts| facts.created.is_some());
    let begun = created.and_then(|entry| entry.at()).filter(|_| is_created);
    if !spelled(&mut object, "started_at", begun, &mut extra) {
        let sent = session.call_started_at(sub.call);
        let first = times.map(|(first, _)| first).or(sent).or(roles.time_before(sub.call));
        let first = first.or(subs.calls.begun);
        object.derive("started_at", first.map_or(NO_TIME.to_owned(), Timestamp::to_short));
    }
    let (outcome, is_recorded) = outcome(roles, sub);
    for extra in [&mut extra, &mut of_end] {
        if let Some(word) = extra.remove("status") {
            origin.keep(&object.below("status"), word);
        }
    }
    let completed = ended.and_then(|entry| entry.at());
    if !spelled(&mut object, "completed_at", completed, &mut extra)
        && outcome != Outcome::InProgress
        && !roles.is_document
        && let Some((_, last)) = times
    {
        object.derive("completed_at", last.to_short());
    }
    match is_recorded {
        true => object.set("status", outcome.status()),
        false => object.derive("status", outcome.status()),
    }
    object.set("tool_calls", Vec::<Value>::new());
    let recorded = ended.map(|entry| roles.detail(entry, Detail::Output)).transpose()?.flatten();
    output::write(roles, sub, outcome, recorded, &mut object)?;
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

/// A duration in milliseconds.
pub(super) fn millis(first: Timestamp, last: Timestamp) -> u64 {
    u64::try_from(last.since(first)).unwrap_or_default()
}
