//! Several agents: who is messages of, and in which words of the standard.

use super::*;

/// An agent that a call made.
fn made(id: &str, parent: &str, call: &str, role: &str) -> Value {
    json!({
        "event_type": "agent_created", "agent_id": id, "parent_id": parent, "tool_call_id": call,
        "agent_type": role, "timestamp": "2026-03-01T10:00:00.000Z",
    })
}

fn ended(id: &str, status: &str) -> Value {
    json!({
        "event_type": "agent_ended", "agent": id, "status": status,
        "timestamp": "2026-03-01T10:00:02.000Z",
    })
}

fn said(agent: &str, text: &str) -> Value {
    json!({
        "agent_id": agent, "role": "assistant", "content": text,
        "timestamp": "2026-03-01T10:00:03.000Z",
    })
}

fn heard(agent: &str, from: &str, text: &str) -> Value {
    json!({
        "agent_id": agent, "role": "user", "content": text, "source": from,
        "timestamp": "2026-03-01T10:00:03.000Z",
    })
}

fn strictly(events: &[Value]) -> Value {
    let written = written(events, WriteOptions::default());
    assert_eq!(written.standard, Standard::Std008);
    let mut report = validate(&written.text, None, Rules::Strict);
    // Agents that nobody sent have none.
    report.findings.retain(|finding| finding.code != Code::NoSubSession);
    assert_eq!(report.findings, [], "{}", written.text);
    value(&written)
}

fn kinds(document: &Value) -> Vec<(String, String)> {
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let messages = document["messages"].as_array().unwrap().iter();
    messages.map(|it| (text(&it["message_type"]), text(&it["from_agent"]["agent_id"]))).collect()
}

#[test]
fn a_review_is_no_task_and_a_cancelled_agent_aborts() {
    let task = |words: &str| json!({ "description": "short", "prompt": words });
    let document = strictly(&[
        heard("a", "external", "Add a login"),
        call("a", "c1", "Task", &task("Build the form, with all its fields")),
        made("dev", "a", "c1", "developer"),
        ended("dev", "completed"),
        result("a", "c1", "built"),
        call("a", "c2", "Task", &task("Build the page")),
        made("slow", "a", "c2", "developer"),
        ended("slow", "cancelled"),
        result("a", "c2", "stopped"),
        call("a", "c3", "Task", &task("Look at it")),
        made("rev", "a", "c3", "code-reviewer"),
        ended("rev", "completed"),
        result("a", "c3", "fine"),
        said("a", "Done."),
    ]);
    let tasks = json!({ "total": 2, "completed": 1, "failed": 1 });
    assert_eq!(document["summary"]["tasks"], tasks);
    assert_eq!(document["summary"]["review_iterations"], 1);
    let subs = &document["sub_sessions"];
    assert_eq!(subs[0]["task"]["description"], "Build the form, with all its fields");
    assert_eq!(subs[2]["task"]["task_id"], "review-001");
    let messages: Vec<(String, String)> = kinds(&document);
    let wanted = [
        ("task_assignment", "a"),
        ("task_assignment", "a"),
        ("review_request", "a"),
        ("task_completion", "dev"),
        ("abort", "slow"),
        ("review_result", "rev"),
    ];
    assert_eq!(messages, wanted.map(|(kind, from)| (kind.to_owned(), from.to_owned())));
    assert_eq!(subs[2]["agent"]["agent_type"], "reviewer");
    assert_eq!(document["summary"]["agents"]["reviewer"]["agent_type"], "code-reviewer");
    let original = &document["x_antiphon"]["original"];
    assert_eq!(original["/sub_sessions/2/agent/agent_type"], "code-reviewer");
}

/// An iteration is a review that came back (section 5.3): not one that was stopped, nor one that
/// still goes on.
#[test]
fn a_review_that_did_not_come_back_is_no_iteration() {
    let asked = json!({ "prompt": "Look at it" });
    let document = strictly(&[
        call("a", "c1", "Task", &asked),
        made("first", "a", "c1", "reviewer"),
        ended("first", "cancelled"),
        result("a", "c1", "stopped"),
        call("a", "c2", "Task", &asked),
        made("second", "a", "c2", "reviewer"),
        ended("second", "failed"),
        result("a", "c2", "it does not build"),
        call("a", "c3", "Task", &asked),
        made("third", "a", "c3", "reviewer"),
    ]);
    assert_eq!(document["sub_sessions"][2]["status"], "in_progress");
    assert_eq!(document["summary"]["review_iterations"], 1);
    let results = kinds(&document).into_iter().filter(|(kind, _)| kind == "review_result");
    assert_eq!(results.count(), 1);
}

/// Section 5.2: a sub-session is there when its call begins, also where nothing is known yet of the
/// agent.
#[test]
fn a_call_that_has_made_no_agent_yet_has_a_sub_session() {
    let asked = json!({ "prompt": "Look at it", "subagent_type": "code-reviewer" });
    let mut events = vec![
        call("a", "c1", "Task", &json!({ "prompt": "Build it" })),
        made("b", "a", "c1", "developer"),
        call("a", "c2", "Agent", &asked),
    ];
    let document = strictly(&events);
    let sub = &document["sub_sessions"][1];
    assert_eq!((&sub["status"], &sub["tool_calls"]), (&json!("in_progress"), &json!([])));
    assert_eq!(
        (&sub["triggered_by_call_id"], &sub["agent"]["agent_type"]),
        (&json!("c2"), &json!("reviewer"))
    );
    assert_eq!(sub["task"]["description"], "Look at it");
    assert_eq!(document["tool_calls"][1]["subagent_info"]["subagent_type"], "code-reviewer");
    assert_eq!(document["summary"]["agents"]["reviewer"]["status"], "in_progress");
    let asked = ("review_request".to_owned(), "a".to_owned());
    assert_eq!(kinds(&document).last(), Some(&asked));
    // It is the same one when its agent is known.
    events.push(made("rev", "a", "c2", "code-reviewer"));
    let later = strictly(&events);
    assert_eq!(later["sub_sessions"].as_array().unwrap().len(), 2);
    assert_eq!(later["sub_sessions"][1]["sub_session_id"], sub["sub_session_id"]);
    assert_eq!(later["sub_sessions"][1]["agent"]["agent_id"], "rev");
}

#[test]
fn an_agent_that_nobody_sent_takes_part() {
    let document = strictly(&[
        heard("teacher", "external", "Teach"),
        said("teacher", "Which is larger?"),
        heard("pupil", "teacher", "Which is larger?"),
        call("pupil", "c1", "Read", &json!({ "file_path": "book.md" })),
        result("pupil", "c1", "one"),
        said("pupil", "The first."),
        heard("teacher", "pupil", "The first."),
        call("teacher", "c1", "Read", &json!({ "file_path": "answers.md" })),
        result("teacher", "c1", "two"),
        said("teacher", "Well."),
    ]);
    let collaboration = &document["collaboration"];
    assert_eq!(collaboration["pattern"], "peer_to_peer");
    let main = collaboration["orchestrator"]["agent_id"].as_str().unwrap();
    let other = if main == "teacher" { "pupil" } else { "teacher" };
    assert_eq!(collaboration["participants"][0]["agent_id"], other);
    let row = &document["summary"]["agents"]["developers"][0];
    assert_eq!((&row["agent_id"], &row["tool_calls_count"]), (&json!(other), &json!(1)));
    let feedback = |from: &str| ("feedback".to_owned(), from.to_owned());
    assert_eq!(kinds(&document), [feedback("teacher"), feedback("pupil")]);
    assert_eq!(document["messages"][1]["payload"]["content"], "The first.");
}

/// Whatever a program calls it, what starts an agent is a `Task` call of the session itself.
#[test]
fn a_sub_agents_sub_agent_goes_back_to_a_call_of_the_session() {
    let asked = json!({ "message": "Go" });
    let document = strictly(&[
        call("a", "c1", "spawn_agent", &asked),
        made("b", "a", "c1", "worker"),
        call("b", "c1", "task", &asked),
        made("c", "b", "c1", "worker"),
        call("c", "c1", "Agent", &asked),
        made("d", "c", "c1", "worker"),
        ended("d", "completed"),
        result("c", "c1", "ok"),
        ended("c", "completed"),
        result("b", "c1", "ok"),
        ended("b", "completed"),
        result("a", "c1", "ok"),
        said("a", "Done."),
    ]);
    assert_eq!(document["tool_calls"][0]["tool_name"], "Task");
    let original = &document["x_antiphon"]["original"];
    assert_eq!(original["/tool_calls/0/tool_name"], "spawn_agent");
    for (at, parent) in [(1, "sub-001"), (2, "sub-002")] {
        let sub = &document["sub_sessions"][at];
        assert_eq!(sub["triggered_by_call_id"], "c1");
        assert_eq!(sub["parent_session_id"], document["session_id"]);
        assert_eq!(original[format!("/sub_sessions/{at}/parent_session_id")], parent);
    }
}

/// The result that a call got back may be written before the agent it sent has ended.
#[test]
fn a_call_that_sent_an_agent_lasts_as_long_as_that_agent() {
    let at = |mut event: Value, second: u32| {
        event["timestamp"] = json!(format!("2026-03-01T10:00:{second:02}.000Z"));
        event
    };
    let sent = |id: &str| call("a", id, "Task", &json!({ "prompt": "Go" }));
    let mut events = vec![
        at(sent("c1"), 0),
        at(made("b", "a", "c1", "developer"), 0),
        at(result("a", "c1", "launched"), 2),
        at(sent("c2"), 3),
        at(made("c", "a", "c2", "developer"), 3),
        at(said("c", "Here."), 5),
        at(result("a", "c2", "Here."), 6),
        at(said("b", "There."), 12),
    ];
    let times = |events: &[Value]| {
        let document = strictly(events);
        let call = |at: usize| {
            let call = &document["tool_calls"][at];
            (call["ended_at"].clone(), call["duration_ms"].clone())
        };
        (call(0), call(1))
    };
    let until =
        |second: u32, millis: u32| (json!(format!("2026-03-01T10:00:{second:02}Z")), json!(millis));
    assert_eq!(times(&events), (until(12, 12_000), until(6, 3000)));
    // A document has messages when it ended, and that stays so.
    let started = json!({ "event_type": "session_started", "extra": { "standard": "std-008" } });
    events.insert(0, started);
    assert_eq!(times(&events).0, until(2, 2000));
}

#[test]
fn a_tool_that_nobody_knows_has_one_of_the_five_categories() {
    let mut odd = call("a", "c3", "wait", &json!({}));
    odd["tool_calls"][0]["category"] = json!("collaboration");
    let events = [
        call("a", "c1", "mcp__shop__list_items", &json!({})),
        result("a", "c1", "none"),
        call("a", "c2", "mcp__shop__buy", &json!({})),
        odd,
        json!({"agent_id": "a", "role": "assistant", "content": "Bought."}),
    ];
    let written = written(&events, WriteOptions::default());
    let report = validate(&written.text, None, Rules::Strict);
    assert!(report.valid, "{:#?}", report.findings);
    let document = value(&written);
    let category = |at: usize| document["tool_calls"][at]["tool_category"].clone();
    assert_eq!((category(0), category(1)), (json!("perception"), json!("action")));
    let original = &document["x_antiphon"]["original"];
    assert_eq!(original["/tool_calls/2/tool_category"], "collaboration");
    // Nobody answered.
    let call = &document["tool_calls"][1];
    assert_eq!((&call["ended_at"], &call["duration_ms"]), (&call["started_at"], &json!(0)));
}

/// What was read in one phase and changed in a later one says so there, as `view phases` does.
#[test]
fn derived_phases_know_what_was_read_before() {
    let read = |id: &str| call("a", id, "Read", &json!({ "file_path": "x.rs" }));
    let edit = |id: &str| {
        let arguments = json!({ "file_path": "x.rs", "old_string": "a", "new_string": "b" });
        call("a", id, "Edit", &arguments)
    };
    let mut events = Vec::new();
    for (id, made) in
        [("c1", read("c1")), ("c2", read("c2")), ("c3", read("c3")), ("c4", edit("c4"))]
    {
        events.extend([made, result("a", id, "ok")]);
    }
    let options = WriteOptions { phases: PhaseDetail::Always, ..WriteOptions::default() };
    let document = value(&written(&events, options));
    let execute = &document["phase_annotations"][1];
    assert_eq!(execute["phase_type"], "execute");
    assert_eq!(execute["context_used"][0]["usage_mode"], "read_then_modified");
    assert_eq!(execute["annotated_at"], document["completed_at"]);
}
