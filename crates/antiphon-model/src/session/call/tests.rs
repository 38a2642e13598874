use super::super::Session;
use crate::{Line, Place, decode};

fn fold(log: &str) -> Session {
    let mut session = Session::default();
    for (number, text) in (1..).zip(log.lines()) {
        session.apply(&decode(&Line::new(text, number, Place::NONE)).unwrap());
    }
    session
}

/// Every call with its tool, when it was made, and its results.
fn calls(log: &str) -> Vec<String> {
    let session = fold(log);
    let line = |ix| {
        let results: Vec<&str> = session.results(ix).map(|it| session.entry(it).id()).collect();
        let made = session.call_started_at(ix).map(|at| at.to_string()).unwrap_or_default();
        format!("{} {made} {}", session.tool_name(ix), results.join(","))
    };
    session.calls().map(|(ix, _)| line(ix)).collect()
}

#[test]
fn calls_of_one_message_under_one_id_get_their_results_in_order() {
    let log = r#"{"message_id":"1","agent_id":"a","role":"assistant","tool_calls":[{"id":"c","name":"x"},{"id":"c","name":"y"},{"id":"d","name":"z"}]}
{"message_id":"2","agent_id":"a","role":"tool","tool_call_id":"c","content":"of x"}
{"message_id":"3","agent_id":"a","role":"tool","tool_call_id":"d","content":"of z"}
{"message_id":"4","agent_id":"a","role":"tool","tool_call_id":"c","content":"of y"}
{"message_id":"5","agent_id":"a","role":"tool","tool_call_id":"c","content":"more of y"}"#;
    assert_eq!(calls(log), ["x  2", "y  4,5", "z  3"]);
}

#[test]
fn calls_of_one_turn_under_one_id_get_their_results_in_order() {
    let log = r#"{"message_id":"1","agent_id":"a","role":"assistant","tool_calls":[{"id":"c","name":"x"}]}
{"message_id":"2","agent_id":"a","role":"assistant","tool_calls":[{"id":"c","name":"y"}]}
{"message_id":"3","agent_id":"a","role":"assistant","tool_calls":[{"id":"c","name":"z"}]}
{"message_id":"4","agent_id":"a","role":"tool","tool_call_id":"c","content":"of x"}
{"message_id":"5","agent_id":"a","role":"tool","tool_call_id":"c","content":"of y"}
{"message_id":"6","agent_id":"a","role":"tool","tool_call_id":"c","content":"of z"}"#;
    assert_eq!(calls(log), ["x  4", "y  5", "z  6"]);
}

#[test]
fn an_id_that_a_later_turn_uses_again_is_the_later_one() {
    let log = r#"{"message_id":"1","agent_id":"a","role":"assistant","tool_calls":[{"id":"c","name":"never answered"}]}
{"message_id":"2","agent_id":"a","role":"user","content":"go on"}
{"message_id":"3","agent_id":"a","role":"assistant","tool_calls":[{"id":"c","name":"x"}]}
{"message_id":"4","agent_id":"a","role":"tool","tool_call_id":"c","content":"of x"}"#;
    assert_eq!(calls(log), ["never answered  ", "x  4"]);
}

#[test]
fn a_call_may_be_made_after_its_message_began() {
    let log = r#"{"message_id":"1","agent_id":"a","role":"assistant","timestamp":"2026-01-01T00:00:01Z","tool_calls":[{"id":"c","name":"x"},{"id":"d","name":"y","started_at":"2026-01-01T00:00:09Z"}]}"#;
    let wanted = ["x 2026-01-01T00:00:01.000Z ", "y 2026-01-01T00:00:09.000Z "];
    assert_eq!(calls(log), wanted);
    let line = Line::new(log, 1, Place::NONE);
    let written = decode(&line).unwrap().to_json();
    assert_eq!(calls(&written), wanted, "a call's own time is written as it was read");
}

#[test]
fn a_call_begins_when_its_result_says() {
    let log = r#"{"message_id":"1","agent_id":"a","role":"assistant","timestamp":"2026-01-01T00:00:01Z","tool_calls":[{"id":"c","name":"x"}]}
{"message_id":"2","agent_id":"a","role":"tool","tool_call_id":"c","content":"of x","started_at":"2026-01-01T00:00:03Z"}"#;
    assert_eq!(calls(log), ["x 2026-01-01T00:00:03.000Z 2"]);
}
