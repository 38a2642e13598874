use super::*;
use crate::{Line, Place, decode};

fn fold(log: &[&str]) -> Session {
    let mut session = Session::default();
    for (number, text) in (1..).zip(log) {
        session.apply(&decode(&Line::new(text, number, Place::NONE)).unwrap());
    }
    session
}

fn standing(session: &Session) -> String {
    let Standing { status, rule } = session.standing();
    format!("{} by {}", status.as_str(), rule.as_str())
}

const ASKED: &str = r#"{"message_id":"1","agent_id":"a","role":"user","content":"Do it"}"#;
const CALLED: &str = r#"{"message_id":"2","agent_id":"a","role":"assistant","tool_calls":[{"id":"c","function":{"name":"Bash","arguments":"{}"}}]}"#;
const SAID: &str = r#"{"message_id":"3","agent_id":"a","role":"assistant","content":"Done."}"#;

#[test]
fn a_recorded_end_wins() {
    let ended = |more: &str| {
        let end = format!(r#"{{"message_id":"9","event_type":"session_ended"{more}}}"#);
        let mut session = fold(&[ASKED, CALLED, &end]);
        session.set_activity(Activity::Gone);
        standing(&session)
    };
    assert_eq!(ended(""), "completed by recorded-end");
    assert_eq!(ended(r#","outcome":"failed""#), "failed by recorded-end");
    assert_eq!(ended(r#","outcome":"cancelled""#), "cancelled by recorded-end");
    let timeout = r#","outcome":"cancelled","reason":"timeout""#;
    assert_eq!(ended(timeout), "timed-out by recorded-end");
}

#[test]
fn a_session_that_goes_on_after_its_end_has_none() {
    let end = r#"{"message_id":"8","event_type":"session_ended","outcome":"failed"}"#;
    let again = r#"{"message_id":"9","event_type":"session_started"}"#;
    assert_eq!(standing(&fold(&[ASKED, end, again])), "running by unfinished");
}

#[test]
fn an_answer_ends_a_session_that_nobody_writes() {
    let mut session = fold(&[ASKED, CALLED, SAID]);
    assert_eq!(standing(&session), "completed by last-answer");
    session.set_activity(Activity::Quiet);
    assert_eq!(standing(&session), "completed by last-answer");
    session.set_activity(Activity::Writing);
    assert_eq!(standing(&session), "running by being-written");
    session.set_activity(Activity::Gone);
    assert_eq!(standing(&session), "interrupted by writer-gone");
}

#[test]
fn what_is_unfinished_runs_until_it_was_quiet_for_long() {
    let mut session = fold(&[ASKED, SAID, ASKED, CALLED]);
    assert_eq!(standing(&session), "running by unfinished");
    session.set_activity(Activity::Quiet);
    assert_eq!(standing(&session), "interrupted by quiet");
}

#[test]
fn a_sub_agent_that_goes_on_does_not_open_its_session_again() {
    let made = r#"{"message_id":"4","event_type":"agent_created","agent_id":"b","parent_id":"a"}"#;
    let works = r#"{"message_id":"5","agent_id":"b","role":"user","content":"Look"}"#;
    assert_eq!(standing(&fold(&[ASKED, made, SAID, works])), "completed by last-answer");
}
