//! What a session comes to: as its author declared it, or else counted.

use std::collections::BTreeMap;

use antiphon_model::{AgentIx, BodyError, CallIx, Timestamp};
use serde_json::{Map, Value, json};

use super::agents::{identifier, sub_identifier};
use super::call::interval;
use super::cast::Cast;
use super::object::{Object, fits, is_duration, missing};
use super::origin::Origin;
use super::sub_session::{SubFacts, Went, millis, went};
use crate::letter;
use crate::{MultiAgentSessionSummary, SessionSummary, Standard, TaskCounts};

pub(super) struct Whole<'w> {
    pub(super) standard: Standard,
    pub(super) time: Option<(Timestamp, Timestamp)>,
    pub(super) went: Went,
    pub(super) results: &'w ReviewResults,
    pub(super) subs: &'w [SubFacts],
}

/// What the messages of a document tell of reviews.
#[derive(Debug, Default)]
pub(super) struct ReviewResults {
    count: usize,
    /// The last one that was told.
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
    cast: &Cast<'_>,
    declared: Option<Value>,
    whole: &Whole<'_>,
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
    let reading = cast.reading;
    let changes = &cast.files.all;
    let paths = |changes: &[antiphon_views::FileChange]| -> Value {
        changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>().into()
    };
    let total = whole.time.map_or(0, |(first, last)| millis(first, last));
    missing(&mut object, &mut members, "total_duration_ms", is_duration, total);
    missing(&mut object, &mut members, "tool_calls_count", Value::is_u64, cast.calls.len());
    missing(&mut object, &mut members, "files_created", is_texts, paths(&changes.created));
    missing(&mut object, &mut members, "files_modified", is_texts, paths(&changes.modified));
    let session = reading.session;
    if !is_declared {
        let results = session.calls().filter_map(|(_, call)| call.last_result());
        let mut failed = 0_u64;
        for result in results.map(|result| session.entry(result)).filter(|it| it.is_error()) {
            // What was passed over met with no error.
            let is_skipped = cast.extra(result)?.get("output").is_some_and(|output| {
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
            team(cast, &mut object, &mut members, whole)?;
            object.rest_of::<MultiAgentSessionSummary>(members);
        }
    }
    if !is_declared {
        // All of it was counted here.
        origin.derived("/summary");
    }
    Ok(object.value())
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(Value::is_string))
}

/// What several agents add to a summary.
fn team(
    cast: &Cast<'_>,
    object: &mut Object<'_>,
    declared: &mut Map<String, Value>,
    whole: &Whole<'_>,
) -> Result<(), BodyError> {
    let is_by_role = |it: &Value| letter::can_fit(it, letter::agents());
    missing(object, declared, "agents", is_by_role, agents(cast, whole)?);
    let tasks = whole.subs.iter().filter(|sub| !sub.is_review);
    let tasks = tasks.filter_map(|sub| Some((sub.task_id.as_deref()?, sub.status.as_str())));
    let counts = serde_json::to_value(TaskCounts::count(tasks)).unwrap_or_default();
    missing(object, declared, "tasks", fits::<TaskCounts>, counts);
    // A review that was stopped, or still goes on, came to nothing yet: section 5.3 has a result
    // for one that came back, and an abort for one that did not.
    let came_back = cast.subs.iter().zip(whole.subs).filter(|(sub, facts)| {
        let word = sub.agent.and_then(|agent| cast.reading.session.agent(agent).status());
        facts.is_review && went(cast, sub).0 != Went::On && !word.is_some_and(Went::is_abort)
    });
    let rounds = whole.results.count.max(came_back.count());
    missing(object, declared, "review_iterations", Value::is_u64, rounds);
    // A verdict is somebody's; none is worked out.
    let mut reviews = whole.subs.iter().rev().filter(|sub| sub.is_review);
    let told = whole.results.verdict.as_deref();
    let verdict = told.or_else(|| reviews.find_map(|review| review.verdict.as_deref()));
    let is_final = |word: &str| matches!(word, "approved" | "rejected");
    match verdict.filter(|word| is_final(word)) {
        Some(verdict) => {
            let is_right = |it: &Value| it.as_str().is_some_and(is_final);
            missing(object, declared, "final_verdict", is_right, verdict);
        }
        // Changes that are still requested are not the final word.
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

/// By role. There is room for one reviewer; others stand among the developers, as do agents of
/// other roles, each with its own.
fn agents(cast: &Cast<'_>, whole: &Whole<'_>) -> Result<Value, BodyError> {
    let mut by_owner: BTreeMap<AgentIx, Vec<CallIx>> = BTreeMap::new();
    for &call in &cast.calls {
        let owner = cast.reading.session.call(call).agent;
        by_owner.entry(owner).or_default().push(call);
    }
    let mut calls_of = |agent: AgentIx| by_owner.remove(&agent).unwrap_or_default();
    let architect = match cast.main {
        Some(main) => row_of(cast, main, &calls_of(main), whole.went)?,
        None => json!({
            "agent_id": "external",
            "agent_type": "architect",
            "tool_calls_count": 0,
            "duration_ms": 0,
            "status": whole.went.summary_status(),
        }),
    };
    let mut developers = Vec::new();
    let mut reviewer = None;
    for sub in &cast.subs {
        let identifier = sub_identifier(cast, sub, String::new(), &Origin::default())?;
        let own = sub.agent.and_then(|agent| cast.reading.session.agent(agent).agent_type());
        let row =
            row(cast, &identifier, own.or(sub.wanted.as_deref()), &sub.calls, went(cast, sub).0);
        match sub.is_review && reviewer.is_none() {
            true => reviewer = Some(row),
            false => developers.push(row),
        }
    }
    for agent in cast.others() {
        developers.push(row_of(cast, agent, &calls_of(agent), whole.went)?);
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
    cast: &Cast<'_>,
    agent: AgentIx,
    calls: &[CallIx],
    went: Went,
) -> Result<Value, BodyError> {
    let identifier = identifier(cast, Some(agent), String::new(), &Origin::default())?;
    let own = cast.reading.session.agent(agent).agent_type();
    Ok(row(cast, &identifier, own, calls, went))
}

/// The row of an agent, with its own role: unlike an identifier, a row may name any.
fn row(
    cast: &Cast<'_>,
    identifier: &Value,
    own: Option<&str>,
    calls: &[CallIx],
    went: Went,
) -> Value {
    let mut busy: Vec<_> = calls.iter().filter_map(|&ix| interval(cast, ix)).collect();
    busy.sort();
    // Calls run side by side: what they share counts once.
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
        "status": went.summary_status(),
    })
}
