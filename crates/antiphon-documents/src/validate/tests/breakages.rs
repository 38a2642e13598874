//! One document for each code: an example with one thing changed.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;

type Change = fn(&mut Value);
/// The example, what is changed in it, and the finding that comes of it.
type Breakage = (&'static str, Change, Severity, Code, &'static str);

use Severity::{Error, Warning};

fn remove(value: &mut Value, pointer: &str) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = value.pointer_mut(parent).unwrap();
    match parent {
        Value::Object(members) => drop(members.remove(name).unwrap()),
        Value::Array(items) => drop(items.remove(name.parse().unwrap())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => panic!("{pointer}"),
    }
}

fn call(value: &mut Value, ix: usize) -> &mut Value {
    &mut value["tool_calls"][ix]
}

fn sub(value: &mut Value, ix: usize) -> &mut Value {
    &mut value["sub_sessions"][ix]
}

fn message(value: &mut Value, ix: usize) -> &mut Value {
    &mut value["messages"][ix]
}

const OLD: &[Breakage] = &[
    (GATE, |d| *d = json!({"session_id": GATE, "steps": [{}]}), Error, Code::OldSteps, "/steps"),
    (GATE, |d| d["phases"] = json!([{}]), Warning, Code::OldPhases, "/phases"),
    (
        BEES,
        |d| {
            d["phases"] = json!([{ "tool_calls": [] }]);
            remove(d, "/tool_calls");
        },
        Warning,
        Code::OldPhases,
        "/phases",
    ),
    (BEES, |d| d["summary"] = json!("All went well"), Error, Code::OldSummary, "/summary"),
    (
        GATE,
        |d| d["phase_annotations"][0]["tool_call_range"] = json!(["tool-001", "tool-002"]),
        Error,
        Code::OldRange,
        "/phase_annotations/0/tool_call_range",
    ),
    (
        GATE,
        |d| d["phase_annotations"][1]["tool_call_range"] = json!({"start": "a", "end": "b"}),
        Error,
        Code::OldRange,
        "/phase_annotations/1/tool_call_range",
    ),
    (
        BEES,
        |d| call(d, 0)["output"]["result"] = json!("12"),
        Error,
        Code::OldResult,
        "/tool_calls/0/output/result",
    ),
    (
        BEES,
        |d| {
            d["title"] = d["task_title"].take();
            remove(d, "/task_title");
        },
        Error,
        Code::OldName,
        "/title",
    ),
];

const STRUCTURE: &[Breakage] = &[
    (
        BEES,
        |d| remove(d, "/tool_calls/0/call_id"),
        Error,
        Code::MissingField,
        "/tool_calls/0/call_id",
    ),
    (SUNDIAL, |d| remove(d, "/messages"), Error, Code::MissingField, "/messages"),
    (
        SUNDIAL,
        |d| remove(d, "/collaboration/participants"),
        Error,
        Code::MissingField,
        "/collaboration/participants",
    ),
    (
        SUNDIAL,
        |d| remove(d, "/sub_sessions/0/output/changes"),
        Error,
        Code::MissingField,
        "/sub_sessions/0/output/changes",
    ),
    (
        SUNDIAL,
        |d| remove(d, "/sub_sessions/1/output/findings/0/file"),
        Error,
        Code::MissingField,
        "/sub_sessions/1/output/findings/0/file",
    ),
    (
        SUNDIAL,
        |d| remove(d, "/summary/review_iterations"),
        Error,
        Code::MissingField,
        "/summary/review_iterations",
    ),
    (
        POEM,
        |d| remove(d, "/summary/agents/0/status"),
        Error,
        Code::MissingField,
        "/summary/agents/0/status",
    ),
    (BEES, |d| d["session_id"] = json!(3), Error, Code::WrongType, "/session_id"),
    (BEES, |d| d["status"] = Value::Null, Error, Code::WrongType, "/status"),
    (
        BEES,
        |d| d["summary"]["tool_calls_count"] = json!(1.5),
        Error,
        Code::WrongType,
        "/summary/tool_calls_count",
    ),
    (BEES, |d| d["tool_calls"][0] = json!("Read"), Error, Code::WrongType, "/tool_calls/0"),
    (
        SUNDIAL,
        |d| message(d, 2)["payload"]["progress_percent"] = json!("half"),
        Warning,
        Code::WrongType,
        "/messages/2/payload/progress_percent",
    ),
    (
        BEES,
        |d| call(d, 0)["duration_ms"] = json!(-5),
        Error,
        Code::OutOfRange,
        "/tool_calls/0/duration_ms",
    ),
    (
        SUNDIAL,
        |d| message(d, 0)["payload"]["max_iterations"] = json!(-1),
        Warning,
        Code::OutOfRange,
        "/messages/0/payload/max_iterations",
    ),
    (BEES, |d| d["status"] = json!("completed"), Warning, Code::UnknownWord, "/status"),
    (
        SUNDIAL,
        |d| message(d, 7)["message_type"] = json!("gossip"),
        Warning,
        Code::UnknownWord,
        "/messages/7/message_type",
    ),
    (
        BEES,
        |d| remove(d, "/tool_calls/0/tool_category"),
        Warning,
        Code::MissingCategory,
        "/tool_calls/0/tool_category",
    ),
];

/// What the standard requires, and earlier versions of this program did not miss.
const LETTER: &[Breakage] = &[
    (
        BEES,
        |d| remove(d, "/tool_calls/0/started_at"),
        Warning,
        Code::MissingField,
        "/tool_calls/0/started_at",
    ),
    (
        BEES,
        |d| remove(d, "/tool_calls/0/duration_ms"),
        Warning,
        Code::MissingField,
        "/tool_calls/0/duration_ms",
    ),
    (
        SUNDIAL,
        |d| remove(d, "/sub_sessions/0/started_at"),
        Warning,
        Code::MissingField,
        "/sub_sessions/0/started_at",
    ),
    (
        SUNDIAL,
        |d| sub(d, 0)["output"]["self_review"] = json!({ "tests_run": true }),
        Warning,
        Code::MissingField,
        "/sub_sessions/0/output/self_review/tests_passed",
    ),
    (
        SUNDIAL,
        |d| remove(d, "/sub_sessions/1/output/verification/type_check_passed"),
        Warning,
        Code::MissingField,
        "/sub_sessions/1/output/verification/type_check_passed",
    ),
    (
        SUNDIAL,
        |d| remove(d, "/summary/agents/architect/duration_ms"),
        Warning,
        Code::MissingField,
        "/summary/agents/architect/duration_ms",
    ),
    (
        GATE,
        |d| remove(d, "/phase_annotations/0/annotated_at"),
        Warning,
        Code::MissingField,
        "/phase_annotations/0/annotated_at",
    ),
    (BEES, |d| d["task_description"] = Value::Null, Warning, Code::WrongType, "/task_description"),
];

const LINKS: &[Breakage] = &[
    (
        GATE,
        |d| call(d, 1)["call_id"] = json!("tool-001"),
        Error,
        Code::DuplicateId,
        "/tool_calls/1/call_id",
    ),
    (
        SUNDIAL,
        |d| message(d, 1)["message_id"] = json!("msg-001"),
        Error,
        Code::DuplicateId,
        "/messages/1/message_id",
    ),
    (
        SUNDIAL,
        |d| sub(d, 1)["sub_session_id"] = json!("sub-001"),
        Error,
        Code::DuplicateId,
        "/sub_sessions/1/sub_session_id",
    ),
    (
        GATE,
        |d| d["phase_annotations"][1]["annotation_id"] = json!("ann-001"),
        Error,
        Code::DuplicateId,
        "/phase_annotations/1/annotation_id",
    ),
    (
        SUNDIAL,
        |d| sub(d, 0)["parent_session_id"] = json!("another"),
        Error,
        Code::UnknownParent,
        "/sub_sessions/0/parent_session_id",
    ),
    (
        POEM,
        |d| sub(d, 1)["parent_session_id"] = json!("sub-b"),
        Error,
        Code::ParentCircle,
        "/sub_sessions/1/parent_session_id",
    ),
    (
        SUNDIAL,
        |d| sub(d, 1)["triggered_by_call_id"] = json!("nope"),
        Error,
        Code::UnknownTrigger,
        "/sub_sessions/1/triggered_by_call_id",
    ),
    (
        SUNDIAL,
        |d| sub(d, 0)["triggered_by_call_id"] = json!("tool-001"),
        Error,
        Code::TriggerNotDelegation,
        "/sub_sessions/0/triggered_by_call_id",
    ),
    (
        // Though it names the sub-session.
        SUNDIAL,
        |d| call(d, 1)["tool_name"] = json!("spawn_agent"),
        Error,
        Code::TriggerNotDelegation,
        "/sub_sessions/0/triggered_by_call_id",
    ),
    (
        SUNDIAL,
        |d| call(d, 1)["subagent_info"]["sub_session_id"] = json!("sub-009"),
        Error,
        Code::UnknownSubSession,
        "/tool_calls/1/subagent_info/sub_session_id",
    ),
    (
        GATE,
        |d| call(d, 0)["subagent_info"]["sub_session_id"] = json!("sub-009"),
        Warning,
        Code::UnknownSubSession,
        "/tool_calls/0/subagent_info/sub_session_id",
    ),
    (
        SUNDIAL,
        |d| remove(d, "/tool_calls/1/subagent_info/sub_session_id"),
        Error,
        Code::LinkNotReturned,
        "/sub_sessions/0/triggered_by_call_id",
    ),
    (
        SUNDIAL,
        |d| sub(d, 0)["triggered_by_call_id"] = json!("tool-003"),
        Error,
        Code::LinkNotReturned,
        "/tool_calls/1/subagent_info/sub_session_id",
    ),
    (
        // The id of the call is right, but it is a call of another session.
        POEM,
        |d| {
            sub(d, 0)["parent_session_id"] = json!(POEM);
            sub(d, 1)["triggered_by_call_id"] = json!("another");
        },
        Error,
        Code::LinkNotReturned,
        "/sub_sessions/1/tool_calls/0/subagent_info/sub_session_id",
    ),
    (SUNDIAL, |d| remove(d, "/sub_sessions"), Warning, Code::NoSubSession, "/sub_sessions"),
    (
        SUNDIAL,
        |d| {
            remove(d, "/sub_sessions/1");
            remove(d, "/tool_calls/2/subagent_info");
        },
        Warning,
        Code::NoSubSession,
        "/tool_calls/2",
    ),
    (
        SUNDIAL,
        |d| message(d, 1)["from_agent"]["agent_id"] = json!("stranger"),
        Error,
        Code::UnknownAgent,
        "/messages/1/from_agent/agent_id",
    ),
    (
        SUNDIAL,
        |d| message(d, 2)["to_agent"]["agent_id"] = json!("stranger"),
        Error,
        Code::UnknownAgent,
        "/messages/2/to_agent/agent_id",
    ),
    (
        SUNDIAL,
        |d| sub(d, 1)["agent"]["agent_id"] = json!("stranger"),
        Warning,
        Code::UnknownAgent,
        "/sub_sessions/1/agent/agent_id",
    ),
    (
        SUNDIAL,
        |d| message(d, 1)["reply_to"] = json!("msg-100"),
        Error,
        Code::UnknownReply,
        "/messages/1/reply_to",
    ),
    (
        SUNDIAL,
        |d| message(d, 5)["payload"]["review_id"] = json!("review-009"),
        Warning,
        Code::UnknownTask,
        "/messages/5/payload/review_id",
    ),
    (
        GATE,
        |d| d["phase_annotations"][0]["tool_call_range"]["end_call_id"] = json!("tool-999"),
        Error,
        Code::UnknownCall,
        "/phase_annotations/0/tool_call_range/end_call_id",
    ),
    (
        GATE,
        |d| d["phase_annotations"][1]["tool_call_range"]["end_call_id"] = json!("tool-001"),
        Error,
        Code::ReversedRange,
        "/phase_annotations/1/tool_call_range",
    ),
    // The call is there, but not in the sub-session that the annotation names.
    (
        SUNDIAL,
        |d| d["phase_annotations"][0]["sub_session_id"] = json!("sub-001"),
        Error,
        Code::UnknownCall,
        "/phase_annotations/0/tool_call_range/end_call_id",
    ),
];

const TIME: &[Breakage] = &[
    (BEES, |d| d["created_at"] = json!("yesterday"), Error, Code::BadTime, "/created_at"),
    (
        BEES,
        |d| call(d, 0)["started_at"] = json!("2026-03-02T09:00:01"),
        Warning,
        Code::VagueTime,
        "/tool_calls/0/started_at",
    ),
    (BEES, |d| remove(d, "/completed_at"), Error, Code::MissingEnd, "/completed_at"),
    (
        SUNDIAL,
        |d| remove(d, "/sub_sessions/0/completed_at"),
        Warning,
        Code::MissingEnd,
        "/sub_sessions/0/completed_at",
    ),
    (
        GATE,
        |d| d["completed_at"] = json!("2026-03-02T09:00:00Z"),
        Warning,
        Code::EndsBeforeStart,
        "/completed_at",
    ),
    (
        BEES,
        |d| call(d, 0)["ended_at"] = json!("2026-03-02T09:00:00Z"),
        Warning,
        Code::EndsBeforeStart,
        "/tool_calls/0/ended_at",
    ),
    (
        BEES,
        |d| call(d, 0)["duration_ms"] = json!(9000),
        Warning,
        Code::DurationDiffers,
        "/tool_calls/0/duration_ms",
    ),
    (
        BEES,
        |d| d["summary"]["total_duration_ms"] = json!(9000.5),
        Warning,
        Code::DurationDiffers,
        "/summary/total_duration_ms",
    ),
    (
        GATE,
        |d| d["tool_calls"].as_array_mut().unwrap().swap(2, 3),
        Warning,
        Code::CallsOutOfOrder,
        "/tool_calls/3/started_at",
    ),
    (
        SUNDIAL,
        |d| message(d, 3)["timestamp"] = json!("2026-03-03T10:00:00Z"),
        Warning,
        Code::MessagesOutOfOrder,
        "/messages/3/timestamp",
    ),
    (
        SUNDIAL,
        |d| message(d, 3)["sequence_number"] = json!(3),
        Warning,
        Code::MessagesOutOfOrder,
        "/messages/3/sequence_number",
    ),
];

const DECLARED: &[Breakage] = &[
    (
        BEES,
        |d| d["summary"]["tool_calls_count"] = json!(11),
        Warning,
        Code::CountDiffers,
        "/summary/tool_calls_count",
    ),
    (
        SUNDIAL,
        |d| call(d, 1)["subagent_info"]["tool_uses"] = json!(8),
        Warning,
        Code::CountDiffers,
        "/tool_calls/1/subagent_info/tool_uses",
    ),
    (
        GATE,
        |d| call(d, 0)["subagent_info"]["tool_uses"] = json!(6),
        Warning,
        Code::CountDiffers,
        "/tool_calls/0/subagent_info/tool_uses",
    ),
    (
        SUNDIAL,
        |d| d["summary"]["agents"]["developers"][0]["tool_calls_count"] = json!(8),
        Warning,
        Code::CountDiffers,
        "/summary/agents/developers/0/tool_calls_count",
    ),
    (
        SUNDIAL,
        |d| d["summary"]["tasks"]["total"] = json!(2),
        Warning,
        Code::CountDiffers,
        "/summary/tasks/total",
    ),
    (
        SUNDIAL,
        |d| d["summary"]["review_iterations"] = json!(2),
        Warning,
        Code::CountDiffers,
        "/summary/review_iterations",
    ),
    (
        GATE,
        |d| d["summary"]["files_created"] = json!(["gate.md", "e.md"]),
        Warning,
        Code::FilesDiffer,
        "/summary/files_created",
    ),
    (GATE, |d| d["summary"]["files_created"] = json!([]), Warning, Code::FilesDiffer, "/summary"),
    (
        SUNDIAL,
        |d| d["summary"]["final_verdict"] = json!("rejected"),
        Warning,
        Code::VerdictDiffers,
        "/summary/final_verdict",
    ),
    (GATE, |d| d["session_id"] = json!("other"), Warning, Code::FileName, "/session_id"),
    (GATE, |d| d["session_id"] = json!("2026-03-02-002"), Warning, Code::ShortId, "/session_id"),
];

#[test]
fn each_breakage_is_found_where_it_is() {
    for (name, change, severity, code, path) in
        [OLD, STRUCTURE, LETTER, LINKS, TIME, DECLARED].concat()
    {
        let mut value = example(name);
        change(&mut value);
        let report = report(&value, name);
        let wanted = (severity, code, path);
        let found: Vec<_> =
            report.findings.iter().map(|f| (f.severity, f.code, f.path.as_str())).collect();
        assert!(found.contains(&wanted), "{wanted:?} is not among {found:#?}");
        assert_eq!(report.valid, found.iter().all(|(severity, ..)| *severity == Warning));
    }
}

#[test]
fn every_code_is_shown_by_a_breakage() {
    let tables = [OLD, STRUCTURE, LETTER, LINKS, TIME, DECLARED].concat();
    let mut shown: BTreeSet<Code> = tables.iter().map(|(_, _, _, code, _)| *code).collect();
    // These are about text, and have tests of their own.
    shown.extend([Code::NotUtf8, Code::NotJson, Code::NotADocument, Code::DuplicateKey]);
    shown.extend([Code::TooLarge, Code::TooMany]);
    assert_eq!(shown.into_iter().collect::<Vec<_>>(), Code::ALL);
}

#[test]
fn a_key_that_stands_twice_is_told_and_the_last_counts() {
    let text = example(BEES).to_string().replacen('{', "{\"status\":3,", 1);
    let report = validate(&text, None, Rules::Usual);
    let [finding] = report.findings.as_slice() else { panic!("{report:?}") };
    assert_eq!((finding.code, finding.path.as_str()), (Code::DuplicateKey, "/status"));
}

/// An old shape is told once, and not again by all that is missing because of it.
#[test]
fn an_old_shape_explains_what_is_missing() {
    let check = |change: Change, code: Code| {
        let mut value = example(BEES);
        change(&mut value);
        let report = report(&value, BEES);
        let errors: Vec<_> = report.findings.iter().filter(|f| f.severity == Error).collect();
        let [finding] = errors.as_slice() else { panic!("{errors:#?}") };
        assert_eq!(finding.code, code);
        assert!(finding.message.contains("`antiphon migrate`"), "{}", finding.message);
    };
    for (name, change, severity, code, _) in OLD {
        if (*name, *severity) == (BEES, Error) {
            check(*change, *code);
        }
    }
}
