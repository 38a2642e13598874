//! Three numbers that are easily confused: what is *declared* (by the summary), what is *recorded*
//! (the calls in the document), and what was *reported* (by a call, about the agent that it
//! started). They differ in nearly every published document, so a difference is a warning.

use std::collections::BTreeMap;

use super::at::{At, counted, quoted};
use super::document::Document;
use super::{Code, Findings};
use crate::TaskCounts;

pub(super) fn check(document: &Document<'_>, findings: &mut Findings) {
    reported(document, findings);
    let Some(summary) = document.root.member("summary") else {
        return;
    };
    calls(document, &summary, findings);
    if summary.value.is_object() && document.is_multi_agent() {
        for key in ["agents", "tasks", "review_iterations"] {
            if summary.member(key).is_none() {
                let message =
                    format!("`{key}` is missing; a session of several agents requires it");
                findings.error(Code::MissingField, summary.path_of(key), message);
            }
        }
    }
    if let Some(agents) = summary.member("agents") {
        of_agents(document, &agents, findings);
    }
    if document.sub_sessions().next().is_some() {
        tasks(document, &summary, findings);
    }
    reviews(document, &summary, findings);
}

fn differs(at: &At<'_>, key: &str, recorded: usize, recorded_text: &str, findings: &mut Findings) {
    let Some(declared) = at.count(key) else {
        return;
    };
    if usize::try_from(declared) != Ok(recorded) {
        let message = format!("{declared} declared, {recorded_text}");
        findings.warning(Code::CountDiffers, at.path_of(key), message);
    }
}

fn calls(document: &Document<'_>, summary: &At<'_>, findings: &mut Findings) {
    let recorded = document.sessions.first().map_or(0, |main| main.calls.len());
    let all = document.calls().count();
    let mut recorded_text = format!("{} recorded", counted(recorded, "call"));
    if all != recorded {
        recorded_text =
            format!("{recorded_text} in the main session, {all} with those of sub-sessions");
    }
    differs(summary, "tool_calls_count", recorded, &recorded_text, findings);
}

/// Compares what a call reports about its agent with the sub-session that records that agent.
fn reported(document: &Document<'_>, findings: &mut Findings) {
    for (_, call) in document.calls() {
        let Some(info) = call.member("subagent_info") else {
            continue;
        };
        let Some(reported) = info.count("tool_uses") else {
            continue;
        };
        let path = info.path_of("tool_uses");
        let sub = info.text("sub_session_id").and_then(|id| document.sub_session(id));
        if let Some(sub) = sub.and_then(|sub| document.sessions.get(sub)) {
            let recorded = sub.calls.len();
            if usize::try_from(reported) != Ok(recorded) {
                let id = quoted(sub.id.unwrap_or_default());
                let message = format!("{reported} calls reported, {recorded} recorded in {id}");
                findings.warning(Code::CountDiffers, &path, message);
            }
        }
        let breakdown = info.list("tools_breakdown");
        let counts = breakdown.iter().filter_map(|tool| tool.count("count"));
        let sum = counts.fold(0_u64, u64::saturating_add);
        if !breakdown.is_empty() && sum != reported {
            let message = format!("{reported} calls reported, but {sum} in `tools_breakdown`");
            findings.warning(Code::CountDiffers, path, message);
        }
    }
}

/// Checks the summary's rows, one for each agent: an object with roles, or a list.
fn of_agents(document: &Document<'_>, agents: &At<'_>, findings: &mut Findings) {
    let known = document.agents();
    let recorded = calls_by_agent(document);
    let roles = ["architect", "reviewer"].into_iter().filter_map(|role| agents.member(role));
    let rows = agents.items().chain(agents.list("developers")).chain(roles);
    for row in rows {
        let Some(id) = row.text("agent_id") else {
            continue;
        };
        if known.as_ref().is_some_and(|known| !known.contains(id)) {
            let message = format!("{} is neither the orchestrator nor a participant", quoted(id));
            findings.warning(Code::UnknownAgent, row.path_of("agent_id"), message);
            continue;
        }
        // Without sub-sessions, the main session contains the calls of all agents.
        if document.sub_sessions().next().is_none() {
            continue;
        }
        let recorded = recorded.get(id).copied().unwrap_or_default();
        let recorded_text = format!("{} recorded for {}", counted(recorded, "call"), quoted(id));
        differs(&row, "tool_calls_count", recorded, &recorded_text, findings);
    }
}

/// The number of calls of each agent. The main session is the orchestrator's, except for calls that
/// name another agent: an agent that no call created has no sub-session.
fn calls_by_agent<'d>(document: &Document<'d>) -> BTreeMap<&'d str, usize> {
    let mut counts = BTreeMap::new();
    let collaboration = document.root.member("collaboration");
    let orchestrator = collaboration.and_then(|at| at.member("orchestrator"));
    let subs = document.sub_sessions().map(|(_, sub)| (sub.at.member("agent"), sub));
    let main = document.sessions.first().map(|main| (orchestrator, main));
    for (agent, session) in main.into_iter().chain(subs) {
        let owner = agent.and_then(|agent| agent.text("agent_id"));
        for call in &session.calls {
            if let Some(id) = call.text("agent_id").or(owner) {
                *counts.entry(id).or_default() += 1;
            }
        }
    }
    counts
}

fn tasks(document: &Document<'_>, summary: &At<'_>, findings: &mut Findings) {
    let Some(declared) = summary.member("tasks") else {
        return;
    };
    let recorded = TaskCounts::of(document.sub_sessions().map(|(_, sub)| sub.at.value));
    let numbers = [
        ("total", recorded.total, "in total"),
        ("completed", recorded.completed, "as successful"),
        ("failed", recorded.failed, "as failed"),
    ];
    for (key, recorded, how) in numbers {
        let recorded = usize::try_from(recorded).unwrap_or(usize::MAX);
        let recorded_text = format!(
            "{} recorded {how}, in sub-sessions that are not reviews",
            counted(recorded, "task")
        );
        differs(&declared, key, recorded, &recorded_text, findings);
    }
}

fn reviews(document: &Document<'_>, summary: &At<'_>, findings: &mut Findings) {
    let messages = document.root.list("messages");
    let is_result = |message: &&At<'_>| message.text("message_type") == Some("review_result");
    let results: Vec<_> = messages.iter().filter(is_result).collect();
    let Some(last) = results.last() else {
        return;
    };
    let recorded_text = format!("{} recorded", counted(results.len(), "review result"));
    differs(summary, "review_iterations", results.len(), &recorded_text, findings);
    let verdict = last.member("payload").and_then(|payload| payload.text("verdict"));
    if let (Some(declared), Some(verdict)) = (summary.text("final_verdict"), verdict)
        && declared != verdict
    {
        let (declared, verdict) = (quoted(declared), quoted(verdict));
        let message = format!("{declared} declared, but the last review result says {verdict}");
        findings.warning(Code::VerdictDiffers, summary.path_of("final_verdict"), message);
    }
}
