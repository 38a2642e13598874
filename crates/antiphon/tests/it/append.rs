//! `antiphon append`: what a program in any language relies on.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::run::{append, command, file, folder, run_with};

fn message(content: &str) -> String {
    format!("{{\"agent_id\":\"a\",\"role\":\"user\",\"content\":{content}}}\n")
}

#[test]
fn an_id_comes_back_as_soon_as_its_event_is_safe() {
    let folder = folder();
    let log = folder.path().join("live.jsonl");
    let mut child = command()
        .args(["append", log.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut ids = BufReader::new(child.stdout.take().unwrap()).lines();
    for number in 1..4 {
        // The pipe stays open: an answer that waited for its end would never come.
        input.write_all(message(&number.to_string()).as_bytes()).unwrap();
        assert_eq!(ids.next().unwrap().unwrap(), format!("msg_{number:03}"));
        let text = std::fs::read_to_string(&log).unwrap();
        assert!(text.contains(&format!("msg_{number:03}")), "acknowledged means written");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_line_that_cannot_be_taken_costs_only_itself() {
    let folder = folder();
    let log = folder.path().join("log.jsonl");
    let input = [
        message("\"one\""),
        "not json\n".to_owned(),
        "{\"role\":\"user\"}\n".to_owned(),
        "\n".to_owned(),
        message("\"two\""),
    ];
    let done = run_with(&["append", log.to_str().unwrap()], input.concat().as_bytes());
    insta::assert_snapshot!(done, @r"
    msg_001
    !
    !
    msg_002
    --- stderr
    line 2: not a JSON object: expected ident at byte 2
    line 3: a message needs `agent_id` and `role`; any other event needs `event_type`
    --- exit 3
    ");
}

#[test]
fn the_same_event_may_be_sent_again_and_another_with_its_id_may_not() {
    let folder = folder();
    let log = folder.path().join("log.jsonl");
    let log = log.to_str().unwrap();
    let event =
        "{\"message_id\":\"mine\",\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"x\"}\n";
    assert_eq!(append(log, event), ["mine"]);
    let before = std::fs::read(log).unwrap();
    assert_eq!(append(log, event), ["mine"]);
    assert_eq!(std::fs::read(log).unwrap(), before, "nothing was written");
    let other = event.replace("\"x\"", "\"y\"");
    let done = run_with(&["append", log], other.as_bytes());
    assert_eq!((done.out.as_str(), done.exit), ("!\n", 3), "{done}");
    assert!(done.err.contains("`mine` is already in the log, with different content"), "{done}");
}

#[test]
fn what_the_writer_owns_is_dropped_and_the_rest_survives() {
    let folder = folder();
    let log = folder.path().join("log.jsonl");
    let log = log.to_str().unwrap();
    let event = "{\"n\":99,\"prev\":\"x\",\"hash\":\"y\",\"timestamp\":\"2001-02-03T04:05:06Z\",\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"\\ud800\",\"x\":{\"big\":12345678901234567890,\"keep\":[1.50]}}\n";
    append(log, event);
    let text = std::fs::read_to_string(log).unwrap();
    let line = text.lines().nth(1).unwrap();
    let expected = "{\"message_id\":\"msg_001\",\"timestamp\":\"2001-02-03T04:05:06Z\",\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"\\ud800\",\"x\":{\"big\":12345678901234567890,\"keep\":[1.50]},\"n\":2,";
    assert!(line.starts_with(expected), "{line}");
}

#[test]
fn a_log_of_another_writer_is_continued() {
    let folder = folder();
    let theirs = "{\"message_id\": \"msg_001\", \"agent_id\": \"a\", \"role\": \"user\", \"content\": \"theirs\"}\n";
    let log = file(&folder, "theirs.jsonl", theirs);
    assert_eq!(append(&log, &message("\"ours\"")), ["msg_002"]);
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.starts_with(theirs));
    let done = run_with(&["view", "transcript", &log, "--agent", "a", "--json"], b"");
    assert_eq!(done.exit, 0, "{done}");
    assert!(done.out.contains("theirs") && done.out.contains("ours"));
}

#[test]
fn a_second_writer_waits_and_then_names_the_first() {
    let folder = folder();
    let log = folder.path().join("log.jsonl");
    let log = log.to_str().unwrap();
    let mut first = command()
        .args(["append", log])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = first.stdin.take().unwrap();
    input.write_all(message("1").as_bytes()).unwrap();
    let mut ids = BufReader::new(first.stdout.take().unwrap()).lines();
    ids.next().unwrap().unwrap();
    let second = run_with(&["append", log, "--wait", "0"], message("2").as_bytes());
    assert_eq!((second.out.as_str(), second.exit), ("", 4), "{second}");
    let holder = format!("is being written by process {} (antiphon append)", first.id());
    assert!(second.err.contains(&holder), "{second}");
    drop(input);
    assert!(first.wait().unwrap().success());
    assert_eq!(append(log, &message("2")), ["msg_002"]);
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 1, "no lock file is left behind");
}

#[test]
fn every_level_acknowledges() {
    let folder = folder();
    for level in ["os", "interval", "disk"] {
        let log = folder.path().join(level);
        let many: String = (0..500).map(|n| message(&n.to_string())).collect();
        let done = run_with(&["append", log.to_str().unwrap(), "--level", level], many.as_bytes());
        assert_eq!((done.out.lines().count(), done.exit), (500, 0), "{level}");
        assert_eq!(run_with(&["verify", log.to_str().unwrap()], b"").exit, 0);
    }
}
