//! What a session comes to: as its author declared it, or else counted.

use antiphon_model::{AgentIx, BodyError, CallIx, Timestamp};
use antiphon_views::file_changes;
use serde_json::{Map, Value, json};

use super::agents::identifier;
use super::call::interval;
use super::cast::Cast;
use super::object::{Object, Origin, fits, is_duration, missing};
use super::sub_session::{Went, millis, went};
use crate::{AgentSummaries, MultiAgentSessionSummary, SessionSummary, Standard, TaskCounts};

pub(super) struct Whole<'w> {
    pub(super) standard: Standard,
    pub(super) time: Option<(Timestamp, Timestamp)>,
    pub(super) went: Went,
    pub(super) messages: &'w [Value],
    pub(super) subs: &'w [Value],
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
    let changes = file_changes(reading, None)?;
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
        let calls = session.calls().filter(|(_, call)| {
            call.last_result().is_some_and(|result| session.entry(result).is_error())
        });
        let failed = calls.count();
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
    missing(object, declared, "agents", fits::<AgentSummaries>, agents(cast, whole)?);
    let is_review = |sub: &&Value| {
        let task = sub["task"]["task_id"].as_str().unwrap_or_default();
        sub["output"]["review_id"].is_string() || task.starts_with("review")
    };
    let reviews: Vec<&Value> = whole.subs.iter().filter(is_review).collect();
    let tasks = || whole.subs.iter().filter(|sub| !is_review(sub));
    let count = |status: &str| tasks().filter(|sub| sub["status"] == status).count();
    let counts = json!({
        "total": tasks().count(),
        "completed": count("success"),
        "failed": count("failed"),
    });
    missing(object, declared, "tasks", fits::<TaskCounts>, counts);
    let results: Vec<&Value> =
        whole.messages.iter().filter(|it| it["message_type"] == "review_result").collect();
    let rounds = results.len().max(reviews.len());
    missing(object, declared, "review_iterations", Value::is_u64, rounds);
    // A verdict is somebody's; none is worked out.
    let told = results.iter().rev().map(|it| &it["payload"]["verdict"]);
    let given = reviews.iter().rev().map(|it| &it["output"]["verdict"]);
    if let Some(verdict) = told.chain(given).find_map(Value::as_str) {
        missing(object, declared, "final_verdict", Value::is_string, verdict);
    }
    Ok(())
}

/// By role where the roles are those of the standard, else in a row.
fn agents(cast: &Cast<'_>, whole: &Whole<'_>) -> Result<Value, BodyError> {
    let mut rows = Vec::new();
    if let Some(main) = cast.main {
        rows.push(row(cast, main, &cast.calls, whole.went)?);
    }
    for sub in &cast.subs {
        rows.push(row(cast, sub.agent, &sub.calls, went(cast, sub).0)?);
    }
    let of = |role: &str| -> Vec<&Value> {
        rows.iter().filter(|row| row["agent_type"] == role).collect()
    };
    let (architects, developers, reviewers) = (of("architect"), of("developer"), of("reviewer"));
    let fit = architects.len() + developers.len() + reviewers.len() == rows.len();
    if let ([architect], [] | [_]) = (&*architects, &*reviewers)
        && fit
    {
        let mut by_role = Map::new();
        by_role.insert("architect".to_owned(), (*architect).clone());
        by_role.insert("developers".to_owned(), developers.into_iter().cloned().collect());
        if let Some(reviewer) = reviewers.first() {
            by_role.insert("reviewer".to_owned(), (*reviewer).clone());
        }
        return Ok(Value::Object(by_role));
    }
    Ok(Value::Array(rows))
}

fn row(cast: &Cast<'_>, agent: AgentIx, calls: &[CallIx], went: Went) -> Result<Value, BodyError> {
    let identifier = identifier(cast, Some(agent), String::new(), &Origin::default())?;
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
    Ok(json!({
        "agent_id": identifier["agent_id"],
        "agent_type": identifier["agent_type"],
        "tool_calls_count": calls.len(),
        "duration_ms": total,
        "status": went.summary_status(),
    }))
}
