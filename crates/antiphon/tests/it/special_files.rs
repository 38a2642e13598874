//! Pipes and devices among files: nothing waits for them, and nothing reads them to their end.

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::home::Home;

/// Runs the binary, which must end by itself; its exit code and what it printed.
fn ends(home: &Home, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = home.command(arguments);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        let is_late = begun.elapsed() > Duration::from_secs(20);
        if is_late {
            child.kill().unwrap();
        }
        assert!(!is_late, "{arguments:?} does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    let done = child.wait_with_output().unwrap();
    let text = [done.stdout, done.stderr].concat();
    (done.status.code(), String::from_utf8_lossy(&text).into_owned())
}

fn pipe(home: &Home, name: &str) {
    let path = home.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_pipe_or_a_device_in_a_folder_hangs_nobody() {
    let home = Home::new();
    home.write("logs/a.jsonl", LINE);
    pipe(&home, "logs/pipe.jsonl");
    pipe(&home, "logs/notes.md");
    symlink("/dev/zero", home.path("logs/zero.jsonl")).unwrap();
    symlink(home.path("logs/pipe.jsonl"), home.path("logs/link.jsonl")).unwrap();
    assert_eq!(ends(&home, &["stats", "logs"]).0, Some(0));
    assert_eq!(ends(&home, &["scan", "logs"]).0, Some(0));
    for file in ["logs/pipe.jsonl", "logs/zero.jsonl", "logs/link.jsonl"] {
        for command in ["stats", "scan", "show", "verify", "export --as native", "tail --once"] {
            let mut words: Vec<&str> = command.split(' ').collect();
            words.push(file);
            let (exit, text) = ends(&home, &words);
            assert!(matches!(exit, Some(3 | 4)), "{words:?}: {exit:?} {text}");
            assert!(text.contains("not a regular file"), "{words:?}: {text}");
        }
    }
}

#[test]
fn settings_that_are_a_pipe_are_left_alone() {
    let home = Home::new();
    pipe(&home, ".claude/settings.json");
    let (exit, text) = ends(&home, &["install", "claude-code", "--yes"]);
    assert_eq!(exit, Some(4), "{text}");
    assert!(text.contains("not a regular file"), "{text}");
}

/// Every command that takes a file, and every place for one.
#[test]
fn a_pipe_or_a_device_in_the_place_of_a_file_is_refused() {
    let home = Home::new();
    pipe(&home, "pipe.jsonl");
    pipe(&home, "pipe.json");
    symlink("/dev/zero", home.path("zero.json")).unwrap();
    home.write("log.jsonl", LINE);
    let commands = [
        "validate FILE",
        "migrate FILE",
        "append FILE",
        "annotate FILE --note x",
        "resume FILE",
        "salvage FILE -o out.jsonl",
        "redact FILE -o out.jsonl",
        "view dialog FILE",
        "view cost log.jsonl --prices FILE",
        "stats log.jsonl --prices FILE",
        "export FILE --as std",
        "demo -o FILE",
        "record --config FILE -- true",
    ];
    for command in commands {
        for file in ["pipe.jsonl", "pipe.json", "zero.json"] {
            let command = command.replace("FILE", file);
            let (exit, text) = ends(&home, &command.split(' ').collect::<Vec<_>>());
            assert!(matches!(exit, Some(1..=4)), "{command}: {exit:?} {text}");
            assert!(text.contains("not a regular file"), "{command}: {text}");
        }
    }
}

const LINE: &str =
    "{\"message_id\":\"m1\",\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"x\"}\n";

#[test]
fn a_pipe_among_the_segments_of_a_log_or_beside_it_hangs_nobody() {
    let home = Home::new();
    home.write("folder/000001.jsonl", LINE);
    pipe(&home, "folder/000002.jsonl");
    home.write("one.jsonl", LINE);
    pipe(&home, "one.jsonl.lock");
    pipe(&home, "one.jsonl.checkpoint");
    for command in ["show folder", "verify folder", "append folder", "tail --once folder"] {
        let (exit, text) = ends(&home, &command.split(' ').collect::<Vec<_>>());
        assert!(matches!(exit, Some(3 | 4)), "{command}: {exit:?} {text}");
        assert!(text.contains("not a regular file"), "{command}: {text}");
    }
    assert_eq!(ends(&home, &["show", "one.jsonl"]).0, Some(0));
    let (exit, text) = ends(&home, &["append", "one.jsonl"]);
    assert_eq!(exit, Some(4), "{text}");
    assert!(text.contains("not a regular file"), "{text}");
}

#[test]
fn a_pipe_in_the_store_hangs_nobody() {
    let home = Home::new();
    let session = "{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"aaaaaaaa-1\",\"timestamp\":\"2026-01-01T10:00:00Z\",\"message\":{\"role\":\"user\",\"content\":\"Do it\"}}\n";
    home.write(".claude/projects/-p/aaaaaaaa-1.jsonl", session);
    assert_eq!(ends(&home, &["sync"]).0, Some(0));
    let every = ["ls", "sync", "search x", "stats", "show aaaa", "reindex", "doctor", "ls"];
    for place in ["catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"] {
        for file in ["catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"] {
            let _ = std::fs::remove_file(home.path(&format!("store/{file}")));
        }
        pipe(&home, &format!("store/{place}"));
        for command in every {
            let (exit, text) = ends(&home, &command.split(' ').collect::<Vec<_>>());
            assert!(matches!(exit, Some(0 | 1)), "{place}, {command}: {exit:?} {text}");
        }
        let (_, listed) = ends(&home, &["ls", "--json"]);
        assert!(listed.contains("aaaaaaaa-1"), "{place}: {listed}");
    }
    // One that is kept with others has no folder, and one that is long has.
    home.write(
        ".claude/projects/-p/bbbbbbbb-1.jsonl",
        &session.replace("aaaaaaaa", "bbbbbbbb").repeat(1000),
    );
    assert_eq!(ends(&home, &["sync"]).0, Some(0));
    let (_, listed) = ends(&home, &["ls", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    for session in listed.as_array().unwrap() {
        let folder = format!("store/archive/claude-code/{}", session["key"].as_str().unwrap());
        for place in ["stamp", "unread", "wanted", "session.json", "annotations.jsonl"] {
            let _ = std::fs::remove_file(home.path(&format!("{folder}/{place}")));
            pipe(&home, &format!("{folder}/{place}"));
            for command in every {
                ends(&home, &command.split(' ').collect::<Vec<_>>());
            }
        }
    }
    let key = listed[0]["key"].as_str().unwrap();
    pipe(&home, "store/packs/000009.zst");
    pipe(&home, &format!("store/damaged/{key}"));
    pipe(&home, &format!("store/forgotten/{key}.pending"));
    for command in every {
        ends(&home, &command.split(' ').collect::<Vec<_>>());
    }
}

/// Events go to whoever reads the pipe; where nobody does, nothing waits, and that is told.
#[test]
fn a_pipe_for_events_is_written_to_a_reader_and_waits_for_none() {
    let home = Home::new();
    pipe(&home, "events");
    let record = ["record", "--wait", "--role", "planner", "--events", "events", "--", "true"];
    let begun = Instant::now();
    let (exit, text) = ends(&home, &record);
    assert!(begun.elapsed() < Duration::from_secs(10), "a writer waited");
    assert_eq!(exit, Some(0), "{text}");
    assert!(text.contains("it is a pipe that nobody reads"), "{text}");

    let path = home.path("events");
    let reader = std::thread::spawn(move || std::fs::read_to_string(path).unwrap());
    // It may not have come before the command ends; then it comes before the next.
    let mut text = String::new();
    for _ in 0..100 {
        text = ends(&home, &record).1;
        if text.is_empty() {
            break;
        }
    }
    let read = reader.join().unwrap();
    assert_eq!(text, "");
    let kinds = ["PlannerRequested", "PlannerCompleted"];
    assert_eq!(read.lines().count(), kinds.len(), "{read}");
    assert!(kinds.iter().zip(read.lines()).all(|(kind, line)| line.contains(kind)), "{read}");
}
