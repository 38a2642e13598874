//! A call starts a sub-session, and the sub-session names the call: each must name the other.
//!
//! The call may be in the main session or in another sub-session (`parent_session_id` says which),
//! and ids of calls are unique only within a session, so a link connects positions rather than ids.
//! Section 6.2 knows only calls of the main session: there, a sub-agent of a sub-agent is triggered
//! by the call that started the outermost one, and the call that created it names it all the same.

use std::collections::BTreeSet;

use super::at::{At, quoted};
use super::document::{CallPlace, Document, Part, is_delegation};
use super::{Code, Findings, Standard};

pub(super) fn check(document: &Document<'_>, findings: &mut Findings) {
    if document.is_multi_agent() && document.sessions.len() == 1 {
        let message =
            "a session of several agents without any sub-session: what they did is not recorded";
        findings.warning(Code::NoSubSession, document.root.path_of("sub_sessions"), message);
    }
    let agents = document.agents();
    let within = named_within(document);
    // For each sub-session, by index, the call that it names.
    let mut triggers = vec![None; document.sessions.len()];
    for ((_, sub), trigger) in document.sub_sessions().zip(triggers.iter_mut().skip(1)) {
        *trigger = trigger_of(document, sub, &within, findings);
        let agent = sub.at.member("agent");
        if let (Some(agents), Some(agent)) = (&agents, agent)
            && let Some(id) = agent.text("agent_id")
            && !agents.contains(id)
        {
            let message = format!("{} is not among the participants", quoted(id));
            findings.warning(Code::UnknownAgent, agent.path_of("agent_id"), message);
        }
    }
    circles(document, findings);
    let named: BTreeSet<CallPlace> = triggers.iter().copied().flatten().collect();
    for (place, call) in document.calls() {
        match call.member("subagent_info").filter(|info| info.text("sub_session_id").is_some()) {
            Some(info) => names_back(document, &triggers, place, &info, findings),
            None if named.contains(&place) => {}
            None => recorded(document, call, findings),
        }
    }
}

/// Sub-sessions that a call of another sub-session names, each with the call of the main session
/// that triggered that other one.
fn named_within<'d>(document: &Document<'d>) -> BTreeSet<(&'d str, &'d str)> {
    let calls = document.sub_sessions().flat_map(|(_, sub)| {
        let trigger = sub.at.text("triggered_by_call_id");
        sub.calls.iter().filter_map(move |call| {
            Some((call.member("subagent_info")?.text("sub_session_id")?, trigger?))
        })
    });
    calls.collect()
}

/// If some delegations have sub-sessions, one without was probably forgotten.
fn recorded(document: &Document<'_>, call: &At<'_>, findings: &mut Findings) {
    let status = call.member("output").and_then(|output| output.text("status"));
    let starts_agent = call.text("tool_name").is_some_and(is_delegation);
    if starts_agent && status != Some("failed") && document.sessions.len() > 1 {
        let message = "the call starts an agent but names no sub-session that records it";
        findings.warning(Code::NoSubSession, call.path.clone(), message);
    }
}

/// Whether the sub-session that a call names was triggered by that call.
fn names_back(
    document: &Document<'_>,
    triggers: &[Option<CallPlace>],
    place: CallPlace,
    info: &At<'_>,
    findings: &mut Findings,
) {
    let id = info.text("sub_session_id").unwrap_or_default();
    let path = info.path_of("sub_session_id");
    let named = quoted(id);
    let Some(sub) = document.sub_session(id) else {
        let message = format!("there is no sub-session {named}");
        // A document for one agent cannot contain sub-sessions; they may be in another file.
        match document.standard {
            Standard::Std001 => findings.warning(Code::UnknownSubSession, path, message),
            Standard::Std008 => findings.error(Code::UnknownSubSession, path, message),
        }
        return;
    };
    let trigger = |sub: usize| triggers.get(sub).copied().flatten();
    let is_within = trigger(sub).is_some() && trigger(sub) == trigger(place.session);
    if trigger(sub) != Some(place) && !is_within {
        let by = document.sessions.get(sub).and_then(|sub| sub.at.text("triggered_by_call_id"));
        let by = by.map_or_else(|| "no call".to_owned(), quoted);
        let message = format!("{named} does not refer back to this call: it was triggered by {by}");
        findings.error(Code::LinkNotReturned, path, message);
    }
}

/// The call that a sub-session names, if it exists and can start agents.
fn trigger_of(
    document: &Document<'_>,
    sub: &Part<'_>,
    within: &BTreeSet<(&str, &str)>,
    findings: &mut Findings,
) -> Option<CallPlace> {
    let parent = parent_of(document, sub, findings);
    let id = sub.at.text("triggered_by_call_id")?;
    let path = sub.at.path_of("triggered_by_call_id");
    let named = quoted(id);
    let trigger = match parent {
        Some(parent) => document.call_in(parent, id),
        None => document.call_anywhere(id),
    };
    let Some(trigger) = trigger else {
        let whose = if parent == Some(0) { "the session" } else { "its parent" };
        findings.error(Code::UnknownTrigger, path, format!("{whose} has no call {named}"));
        return None;
    };
    let call = document.call(trigger)?;
    let tool = call.text("tool_name").unwrap_or_default();
    let back = call.member("subagent_info");
    let back = back.as_ref().and_then(|info| info.text("sub_session_id"));
    if !is_delegation(tool) {
        let message =
            format!("{named} is a {} call; only Task and Agent start agents", quoted(tool));
        findings.error(Code::TriggerNotDelegation, path, message);
        return None;
    }
    match back {
        back if back == sub.id => {}
        _ if sub.id.is_some_and(|own| within.contains(&(own, id))) => {}
        Some(other) => {
            let message = format!(
                "{named} does not refer back to this sub-session: it names {}",
                quoted(other)
            );
            findings.error(Code::LinkNotReturned, path, message);
        }
        None => {
            let message = format!(
                "{named} does not refer back to this sub-session: \
                 it has no `subagent_info.sub_session_id`"
            );
            findings.error(Code::LinkNotReturned, path, message);
        }
    }
    Some(trigger)
}

fn parent_of(document: &Document<'_>, sub: &Part<'_>, findings: &mut Findings) -> Option<usize> {
    let id = sub.at.text("parent_session_id")?;
    let parent = document.session(id);
    if parent.is_none() {
        let message = format!("{} is neither the session nor a sub-session", quoted(id));
        findings.error(Code::UnknownParent, sub.at.path_of("parent_session_id"), message);
    }
    parent
}

/// Finds cycles of parents. Each sub-session is visited once: a path upwards ends at the top, or at
/// a sub-session that an earlier path or this path has visited.
fn circles(document: &Document<'_>, findings: &mut Findings) {
    // For each sub-session, by index, where the path that visited it first began.
    let mut passed = vec![None; document.sessions.len()];
    for (start, _) in document.sub_sessions() {
        let mut place = start;
        while let Some(mark @ None) = passed.get_mut(place) {
            *mark = Some(start);
            let Some(sub) = document.sessions.get(place) else {
                break;
            };
            let parent = sub.at.text("parent_session_id").and_then(|id| document.sub_session(id));
            let Some(parent) = parent else {
                break;
            };
            if passed.get(parent) == Some(&Some(start)) {
                let message = "its chain of parents is circular";
                findings.error(Code::ParentCircle, sub.at.path_of("parent_session_id"), message);
            }
            place = parent;
        }
    }
}
