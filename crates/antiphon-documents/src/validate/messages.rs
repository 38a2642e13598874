//! The messages between agents: sender and receiver, what they reply to, their order and their
//! tasks.

use std::collections::BTreeSet;

use antiphon_model::Severity;

use super::at::{At, counted, quoted};
use super::document::Document;
use super::schema::Schema;
use super::{Code, Findings};

pub(super) fn check(document: &Document<'_>, findings: &mut Findings) {
    let messages = document.root.list("messages");
    let ids: BTreeSet<_> = messages.iter().filter_map(|at| at.text("message_id")).collect();
    let agents = document.agents();
    let known = known_tasks(document, &messages);
    for message in &messages {
        for end in ["from_agent", "to_agent"] {
            if let (Some(agents), Some(agent)) = (&agents, message.member(end)) {
                check_end(agents, &agent, findings);
            }
        }
        if let Some(reply_to) = message.text("reply_to")
            && !ids.contains(reply_to)
        {
            let what = format!("there is no message {} to reply to", quoted(reply_to));
            findings.error(Code::UnknownReply, message.path_of("reply_to"), what);
        }
        if let Some(payload) = message.member("payload") {
            let kind = message.text("message_type").unwrap_or_default();
            shape(document, kind, &payload, findings);
            task(&known, kind, &payload, findings);
        }
    }
    order(&messages, findings);
}

fn check_end(agents: &BTreeSet<&str>, agent: &At<'_>, findings: &mut Findings) {
    if let Some(id) = agent.text("agent_id")
        && !agents.contains(id)
    {
        let message = format!("{} is neither the orchestrator nor a participant", quoted(id));
        findings.error(Code::UnknownAgent, agent.path_of("agent_id"), message);
    }
}

/// The standard leaves payloads open, so a deviation in their structure is only a warning, and a
/// missing member is not reported.
fn shape(document: &Document<'_>, kind: &str, payload: &At<'_>, findings: &mut Findings) {
    let name = match kind {
        "task_assignment" => "TaskAssignment",
        "task_progress" => "TaskProgress",
        "task_completion" => "DeveloperOutput",
        "review_request" => "ReviewRequest",
        "review_result" => "ReviewerOutput",
        "feedback" => "Feedback",
        "abort" => "Abort",
        "acknowledgment" => "Acknowledgment",
        _ => return,
    };
    let schema = Schema::of(document.standard);
    let Some(definition) = schema.definition(name) else {
        return;
    };
    let mut found = Findings::default();
    schema.walk(definition, payload, &mut found);
    for mut finding in found.kept {
        if finding.code != Code::MissingField {
            finding.severity = Severity::Warning;
            findings.push(finding);
        }
    }
}

/// The ids of tasks and reviews: those of sub-sessions, and those that were assigned or requested.
fn known_tasks<'d>(document: &Document<'d>, messages: &[At<'d>]) -> BTreeSet<&'d str> {
    let tasks =
        document.sub_sessions().filter_map(|(_, sub)| sub.at.member("task")?.text("task_id"));
    let assigned = messages.iter().flat_map(|message| {
        let payload = message.member("payload");
        let task = payload.as_ref().and_then(|payload| payload.member("task"));
        let by = |at: &Option<At<'d>>, key| at.as_ref().and_then(|at| at.text(key));
        match message.text("message_type") {
            Some("task_assignment") => [by(&task, "task_id"), by(&payload, "task_id")],
            Some("review_request") => [by(&payload, "review_id"), by(&payload, "task_id")],
            _ => [None, None],
        }
    });
    tasks.chain(assigned.flatten()).collect()
}

/// A completion or a review must refer to a task that was assigned.
fn task(known: &BTreeSet<&str>, kind: &str, payload: &At<'_>, findings: &mut Findings) {
    let keys: &[(&str, &str)] = match kind {
        "task_completion" | "task_progress" => &[("task_id", "task")],
        "review_result" => &[("task_id", "task"), ("review_id", "review")],
        _ => return,
    };
    for &(key, what) in keys {
        if let Some(id) = payload.text(key)
            && !known.contains(id)
        {
            let message = format!(
                "there is no {what} {}: no sub-session has it, and no message assigned it",
                quoted(id)
            );
            findings.warning(Code::UnknownTask, payload.path_of(key), message);
        }
    }
}

/// Times must not decrease with the sequence number. One finding at most: where one message is out
/// of order, many are.
fn order(messages: &[At<'_>], findings: &mut Findings) {
    let mut numbered: Vec<_> = messages
        .iter()
        .filter_map(|message| Some((message.count("sequence_number")?, message)))
        .collect();
    numbered.sort_by_key(|(number, _)| *number);
    let mut latest = None;
    let mut early = Vec::new();
    let mut last_number = None;
    for (number, message) in numbered {
        if last_number.replace(number) == Some(number) {
            let what = format!("another message also has the number {number}");
            findings.warning(Code::MessagesOutOfOrder, message.path_of("sequence_number"), what);
        }
        let Some(time) = message.time("timestamp") else {
            continue;
        };
        if latest.is_some_and(|latest| time < latest) {
            early.push(message);
        }
        latest = latest.max(Some(time));
    }
    if let Some(first) = early.first() {
        let id = quoted(first.text("message_id").unwrap_or("?"));
        let message = match early.len() {
            1 => format!("{id} is earlier than a message with a lower number"),
            many => format!(
                "{} are earlier than one with a lower number; the first is {id}",
                counted(many, "message")
            ),
        };
        findings.warning(Code::MessagesOutOfOrder, first.path_of("timestamp"), message);
    }
}
