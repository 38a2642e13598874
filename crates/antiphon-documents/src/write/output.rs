//! The output of a sub-agent: its changes, its verdict, or anything else that it returned.
//!
//! The standard has two forms, a developer's and a reviewer's. A verdict is a judgement and is
//! never derived. So anything else is the `data` of a developer's output, together with the changes
//! found in the calls.

use antiphon_model::BodyError;
use antiphon_views::FileChange;
use serde_json::{Map, Value, json};

use super::display::clip;
use super::object::Object;
use super::roles::{Roles, Sub};
use super::sub_session::Outcome;
use crate::interfaces;

pub(super) fn write(
    roles: &Roles<'_>,
    sub: &Sub,
    outcome: Outcome,
    recorded: Option<Value>,
    object: &mut Object<'_>,
) -> Result<(), BodyError> {
    let task_id = object.get("task")["task_id"].clone();
    let Some(recorded) = recorded else {
        if !roles.is_document
            && let Some(output) = changes(roles, sub, outcome, &task_id)?
        {
            object.derive("output", output);
        }
        return Ok(());
    };
    if interfaces::can_fit(&recorded, interfaces::output()) {
        object.set("output", recorded);
        return Ok(());
    }
    let earlier = as_reviewed(&recorded);
    if interfaces::can_fit(&earlier, interfaces::output()) {
        object.origin().keep(&object.below("output"), recorded);
        object.derive("output", earlier);
        return Ok(());
    }
    let mut output = developer(roles, sub, outcome, &task_id)?;
    let data = match recorded.get("output_type") {
        // An output that was written by this module before, or that follows a later version of the
        // standard.
        Some(_) => recorded.get("data").cloned().unwrap_or_default(),
        None => recorded,
    };
    output["output_type"] = "generic".into();
    output["data"] = data;
    object.set("output", output);
    object.origin().derived(&object.below("output"));
    Ok(())
}

/// A review in the later version, converted to that of the standard: a finding has a file, a check
/// is a boolean.
fn as_reviewed(recorded: &Value) -> Value {
    let mut review = recorded.clone();
    let findings = review.get_mut("findings").and_then(Value::as_array_mut);
    for finding in findings.into_iter().flatten().filter_map(Value::as_object_mut) {
        let Some(place) = finding.get("location").cloned() else { continue };
        for (name, later) in [("file", "file"), ("line", "line_start")] {
            if let Some(value) = place.get(later) {
                finding.entry(name).or_insert_with(|| value.clone());
            }
        }
    }
    let passed = |check: &Value| check.as_bool().or(check["passed"].as_bool());
    if let Some(checks) = review.get_mut("verification").and_then(Value::as_object_mut) {
        for (name, later) in [("tests_passed", "tests"), ("type_check_passed", "type_check")] {
            let passed_check = checks.get(name).or(checks.get(later)).and_then(passed);
            passed_check.into_iter().for_each(|it| drop(checks.insert(name.to_owned(), it.into())));
        }
    }
    review
}

/// The changes and the last message of an agent. One that changed nothing has no output, because
/// its value cannot be judged here.
fn changes(
    roles: &Roles<'_>,
    sub: &Sub,
    outcome: Outcome,
    task_id: &Value,
) -> Result<Option<Value>, BodyError> {
    let changes = sub.agent.and_then(|agent| roles.files.by_agent.get(&agent));
    let is_idle = changes
        .is_none_or(|it| it.created.is_empty() && it.modified.is_empty() && it.deleted.is_empty());
    match is_idle || outcome == Outcome::InProgress {
        true => Ok(None),
        false => developer(roles, sub, outcome, task_id).map(Some),
    }
}

fn developer(
    roles: &Roles<'_>,
    sub: &Sub,
    outcome: Outcome,
    task_id: &Value,
) -> Result<Value, BodyError> {
    let (reading, session) = (roles.reading, roles.reading.session);
    let changes = sub.agent.and_then(|agent| roles.files.by_agent.get(&agent));
    let changes = changes.cloned().unwrap_or_default();
    let said = sub.agent.map(|agent| session.agent(agent).transcript().rev());
    let said = said.into_iter().flatten().map(|event| session.entry(event));
    let last = said.into_iter().find(|entry| entry.is_utterance());
    let summary = last.map(|entry| reading.text(entry)).transpose()?.unwrap_or_default();
    let files = |changes: &[FileChange]| -> Vec<Value> { changes.iter().map(file).collect() };
    let deleted: Vec<&str> = changes.deleted.iter().map(|change| &*change.path).collect();
    let status = match outcome {
        Outcome::Success => "completed",
        Outcome::Failed => "failed",
        Outcome::InProgress => "partial",
    };
    Ok(json!({
        "task_id": task_id,
        "status": status,
        "changes": {
            "files_created": files(&changes.created),
            "files_modified": files(&changes.modified),
            "files_deleted": deleted,
        },
        "summary": clip(&summary),
    }))
}

fn file(change: &FileChange) -> Value {
    let mut file = Map::new();
    file.insert("path".to_owned(), change.path.as_str().into());
    let lines = [("lines_added", change.lines_added), ("lines_removed", change.lines_removed)];
    for (name, lines) in lines {
        if let Some(lines) = lines {
            file.insert(name.to_owned(), lines.into());
        }
    }
    Value::Object(file)
}
