//! `antiphon tail`: live, and each event once.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write as _};
use std::process::Stdio;

use serde_json::Value;

use crate::run::{antiphon, append, command, folder, workspace};

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

#[test]
fn an_agents_files_are_followed_with_those_of_sub_agents_that_come() {
    let folder = folder();
    let fixture = workspace().join("crates/antiphon-formats/fixtures/claude-code/subagents-folder");
    let main = folder.path().join("input.jsonl");
    let text = fs::read_to_string(fixture.join("input.jsonl")).unwrap();
    let mut lines = text.lines();
    let mut out = File::create(&main).unwrap();
    writeln!(out, "{}", lines.next().unwrap()).unwrap();
    let mut tail = command()
        .args(["tail", main.to_str().unwrap(), "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let whole = antiphon(&format!("tail {} --once --json", fixture.join("input.jsonl").display()));
    let id = |line: &str| -> String {
        let event: Value = serde_json::from_str(line).unwrap();
        event["message_id"].as_str().unwrap().to_owned()
    };
    let expected: BTreeSet<String> = whole.out.lines().map(id).collect();
    let mut shown = BufReader::new(tail.stdout.take().unwrap()).lines();
    let mut ids = vec![id(&shown.next().unwrap().unwrap())];
    for line in lines.by_ref().take(2) {
        writeln!(out, "{line}").unwrap();
    }
    let below = "input/subagents";
    fs::create_dir_all(folder.path().join(below)).unwrap();
    for file in fs::read_dir(fixture.join(below)).unwrap().map(|it| it.unwrap().file_name()) {
        let to = folder.path().join(below).join(&file);
        fs::copy(fixture.join(below).join(&file), to).unwrap();
    }
    for line in lines {
        writeln!(out, "{line}").unwrap();
    }
    while ids.len() < expected.len() {
        ids.push(id(&shown.next().unwrap().unwrap()));
    }
    tail.kill().unwrap();
    tail.wait().unwrap();
    let once: BTreeSet<String> = ids.iter().cloned().collect();
    assert_eq!(once.len(), ids.len(), "each once");
    assert_eq!(once, expected);
}

#[test]
fn a_last_line_that_nothing_ends_is_shown() {
    let folder = folder();
    let main = folder.path().join("s.jsonl");
    let line = |id: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    fs::write(&main, format!("{}\n{}", line("a", "first"), line("b", "the last words"))).unwrap();
    let once = antiphon(&format!("tail {} --once", main.display()));
    assert!(once.out.contains("the last words"), "{once}");
    let mut tail = command()
        .args(["tail", main.to_str().unwrap(), "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut shown = BufReader::new(tail.stdout.take().unwrap()).lines();
    assert!(shown.any(|line| line.unwrap().contains("the last words")));
    tail.kill().unwrap();
    tail.wait().unwrap();
}

#[test]
fn a_line_that_cannot_be_read_is_complained_about() {
    let folder = folder();
    let main = folder.path().join("s.jsonl");
    let line = r#"{"type":"user","uuid":"a","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"x"}}"#;
    fs::write(&main, format!("{line}\n{{\"type\":\"user\",\n")).unwrap();
    let once = antiphon(&format!("tail {} --once", main.display()));
    assert!(once.err.contains("s.jsonl:2:"), "{once}");
    assert_eq!(once.exit, 3, "{once}");
}
