//! Whatever happens, the person is told what it was and which command goes on, and that command
//! does; and what came to nothing leaves nothing behind.

use std::process::{Command, Stdio};

use serde_json::json;

use super::signals::send;
use super::{cast, done, events};
use crate::home::Home;
use crate::run::Done;

/// The command that an output names between backquotes, without its first word.
fn named(output: &str) -> String {
    let named = output.split('`').find_map(|words| words.strip_prefix("antiphon chat --resume"));
    assert!(named.is_some(), "no command: {output}");
    format!("chat --resume{}", named.unwrap_or_default())
}

/// Runs a command with files of at most 4 KiB.
fn on_a_small_disk(home: &Home, arguments: &str) -> Done {
    let antiphon = env!("CARGO_BIN_EXE_antiphon");
    // The signal that would end the process is ignored, so that writing fails as on a full disk.
    let shell = format!("trap '' XFSZ; ulimit -f 8; exec {antiphon} {arguments}");
    let mut command = Command::new("sh");
    command.args(["-c", &shell]).current_dir(home.path(""));
    command.env("ANTIPHON_HOME", home.path("store"));
    done(command)
}

#[test]
fn a_disk_that_is_full_is_said_and_the_session_can_be_resumed() {
    let home = Home::new();
    let turns = ["x".repeat(3_000), "y".repeat(3_000), "Done.".to_owned()];
    let turns = turns.map(|words| json!({"agent": "Host", "content": words}));
    cast(&home, &turns, "");
    let done =
        on_a_small_disk(&home, "chat --cast cast.toml --log log.jsonl --prompt 1 --prompt 2");
    assert_eq!(done.exit, 4, "{done}");
    assert!(done.err.contains("too large") || done.err.contains("File"), "{done}");
    assert_eq!(named(&done.err), "chat --resume log.jsonl --cast cast.toml", "{done}");
    let again = home.run(&named(&done.err));
    assert_eq!(again.exit, 0, "{again}");
    let answers = events(&home, "log.jsonl");
    let answers: Vec<_> = answers.iter().filter(|event| event["role"] == "assistant").collect();
    assert_eq!(answers.len(), 1, "{again}");
    assert_eq!(answers[0]["content"], "x".repeat(3_000), "the prompt is answered");
}

#[test]
fn a_fork_that_the_disk_does_not_hold_leaves_nothing() {
    let home = Home::new();
    let turns = ["x".repeat(3_000), "y".repeat(3_000)];
    let turns = turns.map(|words| json!({"agent": "Host", "content": words}));
    cast(&home, &turns, "");
    let done = home.run("chat --cast cast.toml --log log.jsonl --prompt 1 --prompt 2");
    assert_eq!(done.exit, 0, "{done}");
    let last = events(&home, "log.jsonl").pop().unwrap();
    let last = last["message_id"].as_str().unwrap();
    let fork = format!("chat --fork log.jsonl@{last} --cast cast.toml --log fork.jsonl");
    let done = on_a_small_disk(&home, &fork);
    assert_eq!(done.exit, 4, "{done}");
    assert!(!home.path("fork.jsonl").exists());
    let done = home.run(&fork);
    assert_eq!(done.exit, 0, "{done}");
}

#[test]
fn a_model_that_fails_in_a_discussion_is_asked_again_by_the_command_that_is_named() {
    let home = Home::new();
    let discuss = json!({"name": "discuss", "arguments": {"prompt": "Hm?", "speakers": ["Ann"]}});
    let mut turns = vec![json!({"agent": "Host", "tool_calls": [discuss]})];
    let ann = "[[agent]]\nname = \"Ann\"\n";
    cast(&home, &turns, ann);
    let done = home.run("chat --cast cast.toml --log log.jsonl --prompt Begin.");
    assert_eq!(done.exit, 4, "{done}");
    assert!(done.err.contains("there is no turn 1 of Ann"), "{done}");
    turns.push(json!({"agent": "Ann", "content": "Yes."}));
    turns.push(json!({"agent": "Host", "content": "She says yes."}));
    cast(&home, &turns, ann);
    let again = home.run(&named(&done.err));
    assert_eq!((again.exit, &*again.out), (0, "She says yes.\n"), "{again}");
}

#[test]
fn what_could_not_begin_leaves_nothing_in_the_store() {
    let home = Home::new();
    for wrong in ["--cast nowhere.toml", "--model nobody", "--mcp nowhere --model openai/m", ""] {
        let arguments = format!("chat {wrong}");
        let done = done(home.command(&arguments.split_whitespace().collect::<Vec<_>>()));
        assert_ne!(done.exit, 0, "{done}");
    }
    let sessions = std::fs::read_dir(home.path("store/sessions"));
    let left = sessions
        .map_or(0, |sessions| sessions.flatten().filter(|entry| entry.path().is_dir()).count());
    assert_eq!(left, 0);
}

#[cfg(unix)]
#[test]
fn a_person_who_does_not_wait_for_a_server_is_told_that_nothing_was_written() {
    let home = Home::new();
    let server = "sh -c 'touch started; exec sleep 60'";
    let arguments = ["chat", "--model", "openai/m", "--mcp", server, "--log", "log.jsonl"];
    let mut command = home.command(&arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let process = command.spawn().unwrap();
    while !home.path("started").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    send(&process, "INT");
    let output = process.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("nothing was written"), "{err}");
    assert!(!home.path("log.jsonl").exists());
}
