//! `antiphon tail`: live, and each event once.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::run::{antiphon, append, command, folder};

#[test]
fn a_session_as_it_happens() {
    insta::assert_snapshot!(antiphon("tail samples/watcher.jsonl --once"));
}

#[test]
fn what_came_after_a_message() {
    let done = antiphon("tail samples/watcher.jsonl --once --json --since msg_026");
    let ids: Vec<_> = done.out.lines().map(|line| &line[15..22]).collect();
    assert_eq!((ids, done.exit), (vec!["msg_027", "msg_028"], 0));
    let none = antiphon("tail samples/watcher.jsonl --once --since msg_999");
    assert_eq!((none.out.as_str(), none.exit), ("", 1), "{none}");
}

#[test]
fn a_file_that_is_not_there_is_waited_for_unless_once() {
    let missing = antiphon("tail nowhere.jsonl --once");
    assert_eq!(missing.exit, 4, "{missing}");
    assert!(missing.err.contains("there is no file `nowhere.jsonl`"), "{missing}");
}

#[test]
fn events_arrive_while_they_are_written() {
    let folder = folder();
    let log = folder.path().join("live.jsonl");
    let log = log.to_str().unwrap();
    let mut tail = command()
        .args(["tail", log, "--json", "--until-end"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    append(log, "{\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"1\"}\n");
    assert!(lines.next().unwrap().unwrap().contains("session_started"));
    assert!(lines.next().unwrap().unwrap().contains("\"content\":\"1\""));
    append(log, "{\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"2\"}\n");
    assert!(lines.next().unwrap().unwrap().contains("\"content\":\"2\""));
    append(log, "{\"event_type\":\"session_ended\",\"outcome\":\"completed\"}\n");
    assert!(lines.next().unwrap().unwrap().contains("session_ended"));
    assert!(lines.next().is_none());
    assert!(tail.wait().unwrap().success());
}
