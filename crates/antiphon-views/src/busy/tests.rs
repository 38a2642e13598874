use super::*;
use crate::fixture::read;

fn at(id: &str, second: u32, members: &str) -> String {
    let time = format!("2026-01-01T10:{:02}:{:02}Z", second / 60, second % 60);
    format!(r#"{{"message_id":"{id}","agent_id":"a","timestamp":"{time}",{members}}}"#)
}

fn times(log: &[String]) -> Option<String> {
    let busy = read(log, busy)?;
    let second = |time: Timestamp| (time.as_millis() / 1000).rem_euclid(3600);
    let idle = busy.idle.iter().map(|it| format!(" {}..{}", second(it.from), second(it.to)));
    let idle: String = idle.collect();
    Some(format!("{} of {} s, idle{idle}", busy.busy_ms / 1000, busy.wall_ms / 1000))
}

#[test]
fn the_time_in_which_a_person_thinks_is_idle() {
    let log = [
        at("1", 0, r#""role":"user","content":"Hi""#),
        at("2", 5, r#""role":"assistant","content":"Hello""#),
        at("3", 65, r#""role":"user","content":"Go on""#),
        at("4", 70, r#""role":"assistant","content":"Done""#),
    ];
    assert_eq!(times(&log).unwrap(), "10 of 70 s, idle 5..65");
}

#[test]
fn calls_that_overlap_count_once() {
    let call =
        |id: &str| format!(r#"{{"id":"{id}","function":{{"name":"Bash","arguments":"{{}}"}}}}"#);
    let made = format!(r#""role":"assistant","tool_calls":[{},{}]"#, call("x"), call("y"));
    let log = [
        at("1", 0, r#""role":"user","content":"Hi""#),
        at("2", 10, &made),
        at("3", 20, r#""role":"tool","tool_call_id":"x","content":"ok""#),
        at("4", 40, r#""role":"tool","tool_call_id":"y","content":"ok""#),
        at("5", 45, r#""role":"user","content":"Wait""#),
        at("6", 50, r#""role":"user","content":"Go on""#),
    ];
    assert_eq!(times(&log).unwrap(), "40 of 50 s, idle 40..50");
}

#[test]
fn a_log_without_times_says_nothing() {
    let log = [r#"{"message_id":"1","agent_id":"a","role":"user","content":"Hi"}"#.to_owned()];
    assert_eq!(times(&log), None);
}

#[test]
fn a_clock_that_goes_back_makes_no_time() {
    let log = [
        at("1", 30, r#""role":"user","content":"Hi""#),
        at("2", 10, r#""role":"assistant","content":"Hello""#),
        at("3", 40, r#""role":"user","content":"Go on""#),
    ];
    assert_eq!(times(&log).unwrap(), "0 of 30 s, idle 10..40");
}
