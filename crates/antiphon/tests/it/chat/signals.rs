//! Signals, where nobody sits at a terminal: the person is told what goes on with the session.

use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::service::{Reply, Service};
use super::{cast, events};
use crate::home::Home;

/// Sends a signal to a process of a test.
pub(super) fn send(process: &Child, signal: &str) {
    let sent = Command::new("kill").args(["-s", signal, &process.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn an_answer_that_never_comes_is_interrupted_and_the_command_that_goes_on_is_named() {
    for (signal, exit) in [("INT", 130), ("TERM", 143)] {
        let home = Home::new();
        let service = Service::new(vec![Reply::Begins("Once upon a")]);
        let arguments = "chat --model openai/m --log log.jsonl --prompt Hi";
        let mut command = home.command(&arguments.split(' ').collect::<Vec<_>>());
        command.env("OPENAI_BASE_URL", service.url()).env("NO_PROXY", "127.0.0.1");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let process = command.spawn().unwrap();
        service.waits_for_a_request();
        send(&process, signal);
        let output = process.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(exit), "{signal}: {err}");
        let goes_on = "`antiphon chat --resume log.jsonl --model openai/m` goes on";
        assert!(err.contains("interrupted") && err.contains(goes_on), "{signal}: {err}");
        assert_eq!(events(&home, "log.jsonl").pop().unwrap()["event_type"], "session_ended");
    }
}

#[test]
fn a_discussion_of_scripts_is_interrupted_too() {
    let home = Home::new();
    let discuss = json!({"speakers": ["Ann"], "rounds": 200_000});
    let mut turns =
        vec![json!({"agent": "Host", "tool_calls": [{"name": "discuss", "arguments": discuss}]})];
    turns.extend(std::iter::repeat_n(json!({"agent": "Ann", "content": "Yes."}), 200_000));
    cast(&home, &turns, "[[agent]]\nname = \"Ann\"\n[limits]\nturns = 1000000\n");
    let arguments = "chat --cast cast.toml --log log.jsonl --prompt Begin";
    let mut command = home.command(&arguments.split(' ').collect::<Vec<_>>());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let process = command.spawn().unwrap();
    let log = home.path("log.jsonl");
    while !std::fs::read_to_string(&log).is_ok_and(|text| text.contains("Yes.")) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    send(&process, "INT");
    let output = process.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{err}");
    let events = events(&home, "log.jsonl");
    assert!(events.len() < 100_000, "it stopped early: {}", events.len());
    let result = events.iter().find(|event| event["role"] == "tool").unwrap();
    assert_eq!(result["content"], "Interrupted");
}

#[test]
fn a_session_that_somebody_else_writes_can_be_watched_and_resumed_later() {
    let home = Home::new();
    cast(&home, &[json!({"agent": "Host", "content": "One."})], "");
    let arguments = "chat --cast cast.toml --log log.jsonl --prompt 1";
    let mut command = home.command(&arguments.split(' ').collect::<Vec<_>>());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut first = command.spawn().unwrap();
    while !std::fs::read_to_string(home.path("log.jsonl")).is_ok_and(|text| text.contains("One.")) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let done = home.run("chat --resume log.jsonl --cast cast.toml --prompt 2");
    assert_eq!(done.exit, 4, "{done}");
    assert!(done.err.contains(&first.id().to_string()), "{done}");
    assert!(done.err.contains("`antiphon tail log.jsonl`"), "{done}");
    assert!(done.err.contains("`antiphon chat --resume log.jsonl --cast cast.toml`"), "{done}");
    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
}
