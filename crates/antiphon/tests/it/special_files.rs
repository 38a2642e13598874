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
    home.write(
        "logs/a.jsonl",
        "{\"message_id\":\"m1\",\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"x\"}\n",
    );
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
