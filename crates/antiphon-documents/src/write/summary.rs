//! The summary of a session: as its author declared it, or counted.

use std::collections::BTreeMap;

use antiphon_model::{AgentIx, BodyError, CallIx, Timestamp};
use serde_json::{Map, Value, json};

use super::agents::{identifier, sub_identifier};
use super::call::interval;
use super::object::{Object, fits, is_duration, missing};
use super::origin::Origin;
use super::roles::Roles;
use super::sub_session::{Outcome, SubFacts, millis, outcome};
use crate::interfaces;
use crate::{MultiAgentSessionSummary, SessionSummary, Standard, TaskCounts};

pub(super) struct SummaryInput<'w> {
    pub(super) standard: Standard,
    pub(super) time: Option<(Timestamp, Timestamp)>,
    pub(super) outcome: Outcome,
    pub(super) results: &'w ReviewResults,
    pub(super) subs: &'w [SubFacts],
}

/// What the messages of a document say about reviews.
#[derive(Debug, Default)]
pub(super) struct ReviewResults {
    count: usize,
    /// The last verdict.
    verdict: Option<String>,
}

impl ReviewResults {
    pub(super) fn add(&mut self, message: &Value) {
        if message["message_type"] != "review_result" {
            return;
        }
        self.count += 1;
        if let Some(verdict) = message["payload"]["verdict"].as_str() {
            self.verdict = Some(verdict.to_owned());
        }
    }
}

pub(super) fn write(
    roles: &Roles<'_>,
    declared: Option<Value>,
    whole: &SummaryInput<'_>,
    origin: &Origin,
) -> Result<Value, BodyError> {
    let mut object = Object::new("/summary", origin);
    let (mut members, is_declared) = match declared {
        Some(Value::Object(members)) => (members, true),
        Some(other) => {
            origin.keep("/summary", other);
            (Map::new(), false)
        }
        None => (Map::new(), false),
    };
    let reading = roles.reading;
    let changes = &roles.files.all;
    let paths = |changes: &[antiphon_views::FileChange]| -> Value {
        changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>().into()
    };
    let total = whole.time.map_or(0, |(first, last)| millis(first, last));
    missing(&mut object, &mut members, "total_duration_ms", is_duration, total);
    missing(&mut object, &mut members, "tool_calls_count", Value::is_u64, roles.calls.len());
    missing(&mut object, &mut members, "files_created", is_texts, paths(&changes.created));
    missing(&mut object, &mut members, "files_modified", is_texts, paths(&changes.modified));
    let session = reading.session;
    if !is_declared {
        let results = session.calls().filter_map(|(_, call)| call.last_result());
        let mut failed = 0_u64;
        for result in results.map(|result| session.entry(result)).filter(|it| it.is_error()) {
            // A call that was skipped did not fail.
            let is_skipped = roles.extra(result)?.get("output").is_some_and(|output| {
                output.get("status").and_then(Value::as_str) == Some("skipped")
            });
            failed += u64::from(!is_skipped);
        }
        if failed > 0 {
            object.derive("errors_encountered", failed);
        }
    }
    match whole.standard {
        Standard::Std001 => object.rest_of::<SessionSummary>(members),
        Standard::Std008 => {
            team(roles, &mut object, &mut members, whole)?;
            object.rest_of::<MultiAgentSessionSummary>(members);
        }
    }
    if !is_declared {
        // The whole summary was counted here.
        origin.derived("/summary");
    }
    Ok(object.value())
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(Value::is_string))
}

/// Writes what several agents add to a summary.
fn team(
    roles: &Roles<'_>,
    object: &mut Object<'_>,
    declared: &mut Map<String, Value>,
    whole: &SummaryInput<'_>,
) -> Result<(), BodyError> {
    let is_by_role = |it: &Value| interfaces::can_fit(it, interfaces::agents());
    missing(object, declared, "agents", is_by_role, agents(roles, whole)?);
    let tasks = whole.subs.iter().filter(|sub| !sub.is_review);
    let tasks = tasks.filter_map(|sub| Some((sub.task_id.as_deref()?, sub.status.as_str())));
    let counts = serde_json::to_value(TaskCounts::count(tasks)).unwrap_or_default();
    missing(object, declared, "tasks", fits::<TaskCounts>, counts);
    // A review that was stopped, or is still running, is not counted: section 5.3 has a result for
    // one that returned, and an abort for one that did not.
    let came_back = roles.subs.iter().zip(whole.subs).filter(|(sub, facts)| {
        let word = sub.agent.and_then(|agent| roles.reading.session.agent(agent).status());
        facts.is_review
            && outcome(roles, sub).0 != Outcome::InProgress
            && !word.is_some_and(Outcome::is_abort)
    });
    let rounds = whole.results.count.max(came_back.count());
    missing(object, declared, "review_iterations", Value::is_u64, rounds);
    // A verdict is a judgement and is never derived.
    let mut reviews = whole.subs.iter().rev().filter(|sub| sub.is_review);
    let reported = whole.results.verdict.as_deref();
    let verdict = reported.or_else(|| reviews.find_map(|review| review.verdict.as_deref()));
    let is_final = |word: &str| matches!(word, "approved" | "rejected");
    match verdict.filter(|word| is_final(word)) {
        Some(verdict) => {
            let is_right = |it: &Value| it.as_str().is_some_and(is_final);
            missing(object, declared, "final_verdict", is_right, verdict);
        }
        // A request for changes is not a final verdict.
        None => {
            if let Some(other) = declared.remove("final_verdict").filter(|it| !it.is_null()) {
                match other.as_str().is_some_and(is_final) {
                    true => object.set("final_verdict", other),
                    false => object.origin().keep(&object.below("final_verdict"), other),
                }
            }
        }
    }
    Ok(())
}

/// The agents by role. The standard allows one reviewer; others are listed among the developers, as
/// are agents of other roles, each with its own role.
fn agents(roles: &Roles<'_>, whole: &SummaryInput<'_>) -> Result<Value, BodyError> {
    let mut by_owner: BTreeMap<AgentIx, Vec<CallIx>> = BTreeMap::new();
    for &call in &roles.calls {
        let owner = roles.reading.session.call(call).agent;
        by_owner.entry(owner).or_default().push(call);
    }
    let mut calls_of = |agent: AgentIx| by_owner.remove(&agent).unwrap_or_default();
    let architect = match roles.main {
        Some(main) => row_of(roles, main, &calls_of(main), whole.outcome)?,
        None => json!({
            "agent_id": "external",
            "agent_type": "architect",
            "tool_calls_count": 0,
            "duration_ms": 0,
            "status": whole.outcome.summary_status(),
        }),
    };
    let mut developers = Vec::new();
    let mut reviewer = None;
    for sub in &roles.subs {
        let identifier = sub_identifier(roles, sub, String::new(), &Origin::default())?;
        let own = sub.agent.and_then(|agent| roles.reading.session.agent(agent).agent_type());
        let row = row(
            roles,
            &identifier,
            own.or(sub.wanted.as_deref()),
            &sub.calls,
            outcome(roles, sub).0,
        );
        match sub.is_review && reviewer.is_none() {
            true => reviewer = Some(row),
            false => developers.push(row),
        }
    }
    for agent in roles.others() {
        developers.push(row_of(roles, agent, &calls_of(agent), whole.outcome)?);
    }
    let mut by_role = Map::new();
    by_role.insert("architect".to_owned(), architect);
    by_role.insert("developers".to_owned(), developers.into());
    if let Some(reviewer) = reviewer {
        by_role.insert("reviewer".to_owned(), reviewer);
    }
    Ok(Value::Object(by_role))
}

fn row_of(
    roles: &Roles<'_>,
    agent: AgentIx,
    calls: &[CallIx],
    outcome: Outcome,
) -> Result<Value, BodyError> {
    let identifier = identifier(roles, Some(agent), String::new(), &Origin::default())?;
    let own = roles.reading.session.agent(agent).agent_type();
    Ok(row(roles, &identifier, own, calls, outcome))
}

/// The row of an agent, with its own role: unlike an identifier, a row may have any role.
fn row(
    roles: &Roles<'_>,
    identifier: &Value,
    own: Option<&str>,
    calls: &[CallIx],
    outcome: Outcome,
) -> Value {
    let mut busy: Vec<_> = calls.iter().filter_map(|&ix| interval(roles, ix)).collect();
    busy.sort();
    // Calls may run in parallel: time that they share counts once.
    let mut total = 0;
    let mut until: Option<Timestamp> = None;
    for (started, ended) in busy {
        let from = until.map_or(started, |until| until.max(started));
        total += millis(from, ended.max(from));
        until = Some(until.map_or(ended, |until| until.max(ended)));
    }
    json!({
        "agent_id": identifier["agent_id"],
        "agent_type": own.map_or_else(|| identifier["agent_type"].clone(), Value::from),
        "tool_calls_count": calls.len(),
        "duration_ms": total,
        "status": outcome.summary_status(),
    })
}
