use super::*;
use crate::fixture::read;

fn part(id: &str, log: &[&str]) -> RunPart {
    let log: Vec<String> = log.iter().map(|&line| line.to_owned()).collect();
    read(&log, |reading| RunPart::read(reading, id, &Prices::bundled()).unwrap())
}

fn started(id: &str, run: &str, second: u32) -> String {
    format!(
        r#"{{"message_id":"s","event_type":"session_started","session_id":"{id}","title":"Task {id}","run_id":"{run}","timestamp":"2026-01-01T10:00:{second:02}Z"}}"#
    )
}

fn state(status: &str, second: u32, more: &str) -> String {
    format!(
        r#"{{"message_id":"{status}","event_type":"run_status","run_id":"r","status":"{status}","timestamp":"2026-01-01T10:00:{second:02}Z"{more}}}"#
    )
}

const SAID: &str = r#"{"message_id":"m","agent_id":"a","role":"assistant","content":"Done","timestamp":"2026-01-01T10:00:30Z"}"#;
const ASKED: &str = r#"{"message_id":"m","agent_id":"a","role":"user","content":"Do it"}"#;

#[test]
fn a_run_goes_through_its_states() {
    let branches = r#","title":"Ship it","feature_branch":"feat/x","base_branch":"main""#;
    let states = [
        state("Accepted", 0, branches),
        state("decomposing", 1, ""),
        state("executing", 2, ""),
        state("merging", 40, ""),
        state("ReadyForPr", 41, ""),
    ];
    let log: Vec<&str> = states.iter().map(String::as_str).collect();
    let parts = [part("states", &log), part("t1", &[&started("t1", "r", 3), SAID])];
    let Run { run, spans } = run("r", &parts).unwrap();
    assert_eq!((run.status, run.status_rule), (RunStatus::ReadyForPr, RunStatusRule::Recorded));
    assert_eq!(run.title.as_deref(), Some("Ship it"));
    assert_eq!(run.feature_branch.as_deref(), Some("feat/x"));
    assert_eq!(run.base_branch.as_deref(), Some("main"));
    assert_eq!(run.completed_at, None);
    assert_eq!(run.history.len(), 5);
    assert_eq!(run.sessions.len(), 1, "a log of states alone is no session");
    assert_eq!(spans.len(), 2);
}

#[test]
fn what_a_recorder_says_of_its_own_session_is_not_the_runs_state() {
    let ended = r#"{"message_id":"e","event_type":"session_ended","outcome":"completed"}"#;
    let log = [
        started("t", "r", 1),
        state("running", 1, ""),
        state("completed", 9, ""),
        ended.to_owned(),
    ];
    let log: Vec<&str> = log.iter().map(String::as_str).collect();
    let Run { run, .. } = run("r", &[part("t", &log)]).unwrap();
    assert_eq!((run.status, run.status_rule), (RunStatus::Done, RunStatusRule::Sessions));
}

#[test]
fn the_first_final_state_counts() {
    let states = [state("accepted", 0, ""), state("failed", 5, ""), state("done", 9, "")];
    let log: Vec<&str> = states.iter().map(String::as_str).collect();
    let Run { run, .. } = run("r", &[part("states", &log)]).unwrap();
    assert_eq!(run.status, RunStatus::Failed);
    assert_eq!(run.completed_at, run.history[1].at);
}

#[test]
fn a_run_without_states_stands_as_its_sessions_do() {
    let session = |id: &str, last: &str| part(id, &[&started(id, "r", 1), last]);
    let failed = r#"{"message_id":"e","event_type":"session_ended","outcome":"failed"}"#;
    let status = |parts: &[RunPart]| {
        let Run { run, .. } = run("r", parts).unwrap();
        (run.status.as_str(), run.status_rule)
    };
    assert_eq!(
        status(&[session("a", SAID), session("b", SAID)]),
        ("done", RunStatusRule::Sessions)
    );
    assert_eq!(
        status(&[session("a", SAID), session("b", failed)]),
        ("failed", RunStatusRule::Sessions)
    );
    assert_eq!(
        status(&[session("a", ASKED), session("b", failed)]),
        ("executing", RunStatusRule::Sessions)
    );
}

#[test]
fn how_a_recorded_session_went_is_no_state_of_its_run() {
    let ended = r#"{"message_id":"e","event_type":"session_ended","outcome":"failed"}"#;
    let first = part("a", &[&started("a", "r", 1), &state("failed", 2, ""), ended]);
    let Run { run, .. } = run("r", &[first, part("b", &[&started("b", "r", 3), ASKED])]).unwrap();
    assert_eq!((run.status, run.status_rule), (RunStatus::Executing, RunStatusRule::Sessions));
}

#[test]
fn spans_of_several_sessions_have_ids_of_their_own() {
    let parts = ["a", "b"].map(|id| part(id, &[&started(id, "r", 1), SAID]));
    let Run { spans, .. } = run("r", &parts).unwrap();
    let ids: Vec<&str> = spans.iter().map(|span| span.span_id.as_str()).collect();
    assert_eq!(ids, ["session:a", "a/agent:a", "session:b", "b/agent:a"]);
    assert_eq!(spans[3].parent_span_id.as_deref(), Some("session:b"));
}

#[test]
fn of_an_unknown_run_nothing_is_known() {
    assert!(run("other", &[part("a", &[&started("a", "r", 1), SAID])]).is_none());
}
