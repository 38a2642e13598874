//! The formats of earlier versions, and of documents that deviate from the standard in known ways.
//! Each is reported once, by name, instead of everything that the structure rule would report about
//! it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::at::{At, counted, quoted};
use super::{Code, Findings};

const HELP: &str = "`antiphon migrate` converts it";

/// Members of the document that have had another name: that name, and the standard's.
const NAMES: &[(&str, &str)] = &[("title", "task_title"), ("started_at", "created_at")];

/// Whether this is a document of the seven-step model, in which nothing else can be checked.
pub(super) fn is_version_0(root: &At<'_>, findings: &mut Findings) -> bool {
    let Some(steps) = root.member("steps") else {
        return false;
    };
    let is_old = root.member("tool_calls").is_none() && steps.value.is_array();
    if is_old {
        let steps_count = counted(steps.items().count(), "step");
        let message =
            format!("the seven-step model of version 1, with {steps_count} and no calls; {HELP}");
        findings.error(Code::OldSteps, steps.path, message);
    }
    is_old
}

/// Finds old formats; returns pointers to what these findings explain.
pub(super) fn check(root: &At<'_>, findings: &mut Findings) -> BTreeSet<String> {
    let mut explained = BTreeSet::new();
    phases(root, findings, &mut explained);
    summary(root, findings, &mut explained);
    for &(old, new) in NAMES {
        if let Some(at) = root.member(old)
            && root.member(new).is_none()
        {
            let message = format!("`{old}` is called `{new}` in the standard; {HELP}");
            findings.error(Code::OldName, at.path, message);
            explained.insert(root.path_of(new));
        }
    }
    for annotation in root.list("phase_annotations") {
        range(&annotation, findings, &mut explained);
    }
    let subs = root.list("sub_sessions");
    for session in std::iter::once(root).chain(&subs) {
        for call in session.list("tool_calls") {
            result(&call, findings, &mut explained);
        }
    }
    explained
}

/// Version 2 had phases instead of annotations, and calls either beside them or inside.
fn phases(root: &At<'_>, findings: &mut Findings, explained: &mut BTreeSet<String>) {
    let Some(phases) = root.member("phases") else {
        return;
    };
    let count = phases.items().count();
    if count == 0 {
        return;
    }
    let phase_count = counted(count, "phase");
    if root.member("tool_calls").is_some() {
        let message =
            format!("{phase_count} of version 2; `antiphon migrate` converts them to annotations");
        findings.warning(Code::OldPhases, phases.path, message);
        return;
    }
    // The standard says that documents of version 2 remain valid.
    let message = format!("{phase_count} of version 2, but no `tool_calls`; {HELP}");
    findings.warning(Code::OldPhases, phases.path, message);
    explained.insert(root.path_of("tool_calls"));
}

fn summary(root: &At<'_>, findings: &mut Findings, explained: &mut BTreeSet<String>) {
    if let Some(summary) = root.member("summary")
        && summary.value.is_string()
    {
        let message =
            format!("the summary is a string; the standard requires counts and files; {HELP}");
        findings.error(Code::OldSummary, &summary.path, message);
        explained.insert(summary.path);
    }
}

/// Annotations may have a list of ids, or `start` and `end`, instead of a range.
fn range(annotation: &At<'_>, findings: &mut Findings, explained: &mut BTreeSet<String>) {
    let Some(range) = annotation.member("tool_call_range") else {
        return;
    };
    let form = match range.value {
        Value::Array(_) => "a list of ids".to_owned(),
        Value::Object(members) if members.contains_key("start") && members.contains_key("end") => {
            "`start` and `end`".to_owned()
        }
        Value::String(id) => format!("the string {}", quoted(id)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return,
    };
    let message =
        format!("the range is {form} instead of `start_call_id` and `end_call_id`; {HELP}");
    findings.error(Code::OldRange, &range.path, message);
    explained.insert(range.path);
}

fn result(call: &At<'_>, findings: &mut Findings, explained: &mut BTreeSet<String>) {
    if let Some(result) = call.member("output").and_then(|output| output.member("result"))
        && result.value.is_string()
    {
        let message = format!(
            "the result is a string; the standard requires an object with a `display`; {HELP}"
        );
        findings.error(Code::OldResult, &result.path, message);
        explained.insert(result.path);
    }
}
