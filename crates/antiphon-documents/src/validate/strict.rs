//! The exact interfaces of the standards, and the checks of section 6.2 of STD-008.
//!
//! In strict mode each deviation is an error, and it replaces a warning of another rule about the
//! same thing. Otherwise only members that are missing, or `null`, are reported, as warnings: words
//! that are not listed have a rule of their own, and later versions of the standard are accepted.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::Severity;

use super::at::{At, quoted};
use super::document::Document;
use super::structure::is_explained;
use super::{Code, FINDINGS_MAX, Findings, Rules};
use crate::interfaces::{self, Member, Shape};

/// Must run after all other rules. `explained` contains pointers to what a finding about an old
/// format already covers.
pub(super) fn check(
    document: &Document<'_>,
    rules: Rules,
    explained: &BTreeSet<String>,
    findings: &mut Findings,
) {
    let mut found = Found { rules, kept: Vec::new(), omitted: 0 };
    walk(&document.root, interfaces::of(document.standard), &mut found);
    if rules == Rules::Strict {
        consistency(document, &mut found);
    }
    let mut known: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, finding) in findings.kept.iter().enumerate() {
        known.entry(finding.path.clone()).or_default().push(at);
    }
    findings.omitted += found.omitted;
    for deviation in found.kept {
        let places = known.get(&deviation.path).map(Vec::as_slice).unwrap_or_default();
        match rules {
            Rules::Strict => demand(deviation, places, findings),
            Rules::Usual => {
                // A session of one agent in the format for several lacks what several agents add to
                // the summary.
                let is_added =
                    !document.is_multi_agent() && deviation.path.starts_with("/summary/");
                if places.is_empty() && !is_added && !is_explained(explained, &deviation.path) {
                    findings.warning(deviation.code, deviation.path, deviation.message);
                }
            }
        }
    }
}

/// One deviation from an interface.
#[derive(Debug)]
struct Deviation {
    code: Code,
    path: String,
    message: String,
}

/// The deviations that the rules report, up to the number that is listed.
#[derive(Debug)]
struct Found {
    rules: Rules,
    kept: Vec<Deviation>,
    omitted: usize,
}

impl Found {
    /// Adds a deviation that is reported only in strict mode.
    fn strictly(&mut self, code: Code, path: String, message: String) {
        if self.rules == Rules::Strict {
            self.push(code, path, message);
        }
    }

    fn push(&mut self, code: Code, path: String, message: String) {
        if self.kept.len() < FINDINGS_MAX {
            self.kept.push(Deviation { code, path, message });
        } else {
            self.omitted += 1;
        }
    }
}

fn walk(at: &At<'_>, shape: &'static Shape, found: &mut Found) {
    let expected = match shape {
        Shape::Any => return,
        Shape::Text => "a string",
        Shape::Number => "a number",
        Shape::Flag => "true or false",
        Shape::Words(_) => "a string",
        Shape::List(_) => "a list",
        Shape::Map(_) | Shape::Object(_) | Shape::Either(_) | Shape::All(_) => "an object",
    };
    let is_right = match shape {
        Shape::Any => true,
        Shape::Text | Shape::Words(_) => at.value.is_string(),
        Shape::Number => at.value.is_number(),
        Shape::Flag => at.value.is_boolean(),
        Shape::List(_) => at.value.is_array(),
        Shape::Map(_) | Shape::Object(_) | Shape::Either(_) | Shape::All(_) => at.value.is_object(),
    };
    if !is_right {
        let path = at.path.clone();
        if at.value.is_null() {
            let message =
                format!("`null` where the standard requires {expected}; omit the member instead");
            found.push(Code::WrongType, path, message);
        } else {
            let message = format!("the standard requires {expected} here");
            found.strictly(Code::WrongType, path, message);
        }
        return;
    }
    match shape {
        Shape::Any | Shape::Text | Shape::Number | Shape::Flag => {}
        Shape::Words(words) => {
            let word = at.value.as_str().unwrap_or_default();
            if !words.listed.contains(&word) {
                let listed = words.listed.join(", ");
                let message =
                    format!("{} is not one of the standard's values: {listed}", quoted(word));
                found.strictly(Code::UnknownWord, at.path.clone(), message);
            }
        }
        Shape::List(inner) => at.items().for_each(|item| walk(&item, inner, found)),
        Shape::Map(inner) => {
            for (name, value) in at.value.as_object().into_iter().flatten() {
                walk(&At { value, path: at.path_of(name) }, inner, found);
            }
        }
        Shape::Object(members) => members.iter().for_each(|member| walk_member(at, member, found)),
        Shape::Either(shapes) => {
            if shapes.iter().any(|shape| interfaces::fits(at.value, shape)) {
                return;
            }
            // The `generic` output belongs to a later version of the standard.
            if found.rules == Rules::Usual && at.member("output_type").is_some() {
                return;
            }
            // The intended shape is the one of which most members are present.
            let there = |shape: &Shape| {
                let members = if let Shape::Object(members) = shape { *members } else { &[] };
                let required = members.iter().filter(|member| member.is_required);
                required.filter(|member| at.member(member.name).is_some()).count()
            };
            if let Some(shape) = shapes.iter().max_by_key(|shape| there(shape)) {
                walk(at, shape, found);
            }
        }
        Shape::All(shapes) => shapes.iter().for_each(|shape| walk(at, shape, found)),
    }
}

fn walk_member(at: &At<'_>, member: &'static Member, found: &mut Found) {
    let path = at.path_of(member.name);
    if let Some(value) = at.value.get(member.name) {
        return walk(&At { value, path }, &member.shape, found);
    }
    if member.is_required {
        let message = format!("`{}` is missing; the standard requires it", member.name);
        let is_later = member.later.is_some_and(|later| at.member(later).is_some());
        // The standard requires an end even of a running session, but no reader needs it.
        let goes_on = member.name == "completed_at" && at.text("status") == Some("in_progress");
        match is_later || goes_on {
            true => found.strictly(Code::MissingField, path, message),
            false => found.push(Code::MissingField, path, message),
        }
    }
}

/// The checks of section 6.2 of STD-008, exactly as published.
fn consistency(document: &Document<'_>, found: &mut Found) {
    let Some(main) = document.sessions.first() else { return };
    let mut tools: BTreeMap<&str, &str> = BTreeMap::new();
    for call in &main.calls {
        if let Some(id) = call.text("call_id") {
            tools.entry(id).or_insert(call.text("tool_name").unwrap_or_default());
        }
    }
    for (_, sub) in document.sub_sessions() {
        let Some(id) = sub.at.text("triggered_by_call_id") else { continue };
        let (code, message) = match tools.get(id) {
            Some(&"Task") => continue,
            Some(_) => (Code::TriggerNotDelegation, format!("{} is not a `Task` call", quoted(id))),
            None => {
                let what = format!("the session itself has no call {}", quoted(id));
                (Code::UnknownTrigger, what)
            }
        };
        found.push(code, sub.at.path_of("triggered_by_call_id"), message);
    }
}

/// Adds an error in strict mode, replacing a warning about the same thing. `places` are the
/// findings at the same pointer.
fn demand(deviation: Deviation, places: &[usize], findings: &mut Findings) {
    let Deviation { code, path, message } = deviation;
    let is_same = |other: Code| {
        let is_old =
            matches!(other, Code::OldName | Code::OldSummary | Code::OldRange | Code::OldResult);
        let is_missed = matches!(other, Code::MissingCategory | Code::MissingEnd);
        other == code || is_old || (is_missed && code == Code::MissingField)
    };
    for &at in places {
        if let Some(finding) = findings.kept.get_mut(at)
            && is_same(finding.code)
        {
            finding.severity = Severity::Error;
            findings.has_error = true;
            return;
        }
    }
    findings.error(code, path, message);
}
