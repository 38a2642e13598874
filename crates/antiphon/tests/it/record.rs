//! `record`: the agent runs as if nobody watched, and everything is there afterwards.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::person::Person;
use crate::run::{command, folder};

/// A script that prints as an agent does, and does what `rest` says in between.
pub(crate) fn agent(folder: &Path, rest: &str) -> PathBuf {
    let path = folder.join("agent.sh");
    let script = format!(
        r#"#!/bin/sh
echo '{{"type":"system","subtype":"init","session_id":"abc-123","model":"claude-opus-4-6","cwd":"/repo","tools":["Read"],"apiKeySource":"none"}}'
echo '{{"type":"assistant","parent_tool_use_id":null,"session_id":"abc-123","message":{{"id":"m1","role":"assistant","model":"claude-opus-4-6","content":[{{"type":"tool_use","id":"t1","name":"Read","input":{{"file_path":"a.md"}}}}],"usage":{{"input_tokens":10,"output_tokens":5}}}}}}'
{rest}
"#
    );
    std::fs::write(&path, script).unwrap();
    path
}

pub(crate) const RESULT: &str = r#"echo '{"type":"result","subtype":"success","is_error":false,"duration_ms":900,"num_turns":1,"total_cost_usd":0.004,"session_id":"abc-123","usage":{"input_tokens":10,"output_tokens":5},"result":"done"}'"#;

/// A recording that ends when everything is written.
pub(crate) fn record(home: &Path, options: &[&str], agent: &Path) -> Command {
    let mut recorded = command();
    recorded.env("ANTIPHON_HOME", home.join("store")).args(["record", "--wait"]).args(options);
    recorded.arg("--").arg("sh").arg(agent);
    recorded
}

/// Asks again until the answer is there: whoever writes may still be at it.
pub(crate) fn eventually<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The one session of the store.
pub(crate) fn session(home: &Path) -> PathBuf {
    let mut sessions = std::fs::read_dir(home.join("store/sessions")).unwrap();
    let path = sessions.next().unwrap().unwrap().path();
    assert!(sessions.next().is_none());
    path
}

pub(crate) fn json(home: &Path, words: &[&str], path: &Path) -> Value {
    let mut asked = command();
    let done = asked.env("ANTIPHON_HOME", home.join("store")).args(words).arg(path).output();
    serde_json::from_slice(&done.unwrap().stdout).unwrap()
}

#[test]
fn an_agent_runs_the_same_a_hundred_times_whatever_becomes_of_the_recording() {
    let folder = folder();
    let noise = "printf 'no newline \\377\\000 \\033[31m'; echo oops >&2; echo '[1, {'; exit 7";
    let agent = agent(folder.path(), noise);
    let bare = Command::new("sh").arg(&agent).stdin(Stdio::null()).output().unwrap();
    let blocked = folder.path().join("blocked");
    std::fs::write(&blocked, "a file where the store should be").unwrap();
    for run in 0..100 {
        let mut recorded = record(folder.path(), &["--role", "planner"], &agent);
        if run % 2 == 1 {
            recorded.env("ANTIPHON_HOME", &blocked);
        }
        let Output { status, stdout, stderr } = recorded.stdin(Stdio::null()).output().unwrap();
        assert_eq!(status.code(), bare.status.code());
        assert_eq!(stdout, bare.stdout, "run {run}");
        // What went wrong with the recording is said after all that the agent said.
        assert!(stderr.starts_with(&bare.stderr), "run {run}");
        let said = String::from_utf8_lossy(&stderr);
        assert_eq!(stderr.len() > bare.stderr.len(), run % 2 == 1, "run {run}: {said}");
    }
}

#[test]
fn what_the_agent_did_is_a_session_like_any_other() {
    let folder = folder();
    let agent = agent(folder.path(), RESULT);
    let options = ["--role", "reviewer", "--issue", "7", "--run-id", "run-1"];
    assert!(record(folder.path(), &options, &agent).status().unwrap().success());
    let session = session(folder.path());
    let shown = json(folder.path(), &["show", "--json"], &session);
    assert_eq!(shown["session_id"], "abc-123");
    assert_eq!(shown["outcome"], "completed");
    assert_eq!(shown["usage"]["output"], 5);
    let calls = json(folder.path(), &["view", "calls", "--json"], &session);
    assert_eq!(calls[0]["tool_name"], "Read");
    // The log itself is whole, and holds what was printed.
    let verified = json(folder.path(), &["verify", "--json"], &session);
    assert_eq!(verified[0]["valid"], true);
}

#[test]
fn an_agent_that_is_ended_by_a_signal_ends_us_by_the_same() {
    let folder = folder();
    for signal in [15, 9, 2] {
        let agent = agent(folder.path(), &format!("kill -{signal} $$"));
        let status = record(folder.path(), &[], &agent).stdout(Stdio::null()).status().unwrap();
        assert_eq!(status.signal(), Some(signal));
    }
}

#[test]
fn a_command_that_is_not_there_ends_as_in_a_shell() {
    let folder = folder();
    let mut asked = command();
    asked.env("ANTIPHON_HOME", folder.path()).args(["record", "--", "no-such-command-anywhere"]);
    assert_eq!(asked.output().unwrap().status.code(), Some(127));
}

#[test]
fn an_agent_that_takes_too_long_is_ended_and_the_reason_is_kept() {
    let folder = folder();
    let agent = agent(folder.path(), "sleep 60 & wait");
    let (logs, events) = (folder.path().join("logs"), folder.path().join("events.jsonl"));
    let options = [
        "--role",
        "implementor",
        "--issue",
        "9",
        "--max-duration",
        "1s",
        "--logs-dir",
        logs.to_str().unwrap(),
        "--events",
        events.to_str().unwrap(),
    ];
    let begun = Instant::now();
    let done = record(folder.path(), &options, &agent).output().unwrap();
    assert!(!done.status.success() && begun.elapsed() < Duration::from_secs(30));
    let events = std::fs::read_to_string(events).unwrap();
    let last: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["reason"]), (&"ImplementorFailed".into(), &"timeout".into()));
    let log = std::fs::read_to_string(last["logFilePath"].as_str().unwrap()).unwrap();
    assert!(log.contains("Outcome:  cancelled\nReason:   timeout\n"), "{log}");
}

#[test]
fn a_recording_that_was_killed_is_readable_and_says_so() {
    let folder = folder();
    let agent = agent(folder.path(), "sleep 60");
    let mut recorded = record(folder.path(), &[], &agent).stdout(Stdio::piped()).spawn().unwrap();
    let mut printed = [0; 64];
    recorded.stdout.as_mut().unwrap().read_exact(&mut printed).unwrap();
    eventually(|| {
        let sessions = folder.path().join("store/sessions");
        let path = std::fs::read_dir(sessions).ok()?.next()?.ok()?.path();
        let calls = std::panic::catch_unwind(|| {
            json(folder.path(), &["view", "calls", "--json"], &path).as_array().map(Vec::len)
        });
        (calls.ok()? == Some(1)).then_some(())
    });
    recorded.kill().unwrap();
    recorded.wait().unwrap();
    let session = session(folder.path());
    // Whoever writes notices it a moment later.
    eventually(|| {
        let shown = json(folder.path(), &["show", "--json"], &session);
        assert_eq!(shown["ended"], false);
        (shown["interrupted"] == true).then_some(())
    });
    let resume = json(folder.path(), &["resume", "--json"], &session);
    assert_eq!(resume["open_calls"][0]["tool_name"], "Read");
}

/// In a terminal the agent has a terminal, of the same size, and what is typed reaches it.
#[test]
fn in_a_terminal_the_agent_has_a_terminal() {
    let folder = folder();
    let script = folder.path().join("agent.sh");
    let asks =
        "test -t 0 && test -t 1 && test -t 2 && stty size; read word; echo \"got $word\"; exit 5";
    std::fs::write(&script, asks).unwrap();
    let (pty, pts) = pty_process::blocking::open().unwrap();
    pty.resize(pty_process::Size::new(31, 97)).unwrap();
    let recorded = pty_process::blocking::Command::new(env!("CARGO_BIN_EXE_antiphon"))
        .env("ANTIPHON_HOME", folder.path().join("store"))
        .args(["record", "--", "sh", script.to_str().unwrap()]);
    let mut recorded = recorded.spawn(pts).unwrap();
    (&pty).write_all(b"hello\n").unwrap();
    let mut printed = String::new();
    let mut chunk = [0; 1024];
    // At its end a terminal gives an error, not an end of file.
    while let Ok(count) = (&pty).read(&mut chunk) {
        if count == 0 {
            break;
        }
        printed.push_str(&String::from_utf8_lossy(&chunk[..count]));
    }
    assert_eq!(recorded.wait().unwrap().code(), Some(5), "{printed}");
    assert!(printed.contains("31 97") && printed.contains("got hello"), "{printed}");
}

#[test]
fn in_a_terminal_the_agent_can_be_stopped_and_continued() {
    let folder = folder();
    let script = folder.path().join("agent.sh");
    std::fs::write(&script, "echo u''p; read word; echo \"got $word\"; exit 5").unwrap();
    let person = Person::at_a_shell(folder.path());
    person.waits_for("> ");
    person.types(&format!("\"$ANTIPHON\" record -- sh {}\n", script.display()));
    person.waits_for("up");
    person.types("\x1a");
    person.waits_for("> ");
    person.types("jobs\n");
    person.waits_for("Stopped");
    person.waits_for("> ");
    person.types("fg\n");
    // Only the agent reads the line; the shell would look for a command of that name.
    person.types("again\n");
    person.waits_for("got again");
    person.waits_for("> ");
    person.types("echo ended $?\n");
    person.waits_for("ended 5");
}

#[test]
fn in_a_terminal_a_command_that_is_not_there_is_said_so() {
    let folder = folder();
    let person = Person::at_a_shell(folder.path());
    person.types("\"$ANTIPHON\" record -- no-such-command; echo ended $?\n");
    person.waits_for("cannot run `no-such-command`: No such file or directory");
    person.waits_for("ended 127");
}

#[test]
fn in_a_terminal_an_agent_is_interrupted_as_it_would_be_without_us() {
    let folder = folder();
    let person = Person::at_a_shell(folder.path());
    person.waits_for("> ");
    // A shell that is just about to start another program may lose a Ctrl-C; one that becomes it
    // does not.
    person.types("\"$ANTIPHON\" record -- sh -c 'echo u\"\"p; exec sleep 60'\n");
    person.waits_for("up");
    person.types("\x03");
    person.waits_for("> ");
    person.types("echo ended $?\n");
    person.waits_for("ended 130");
}

#[test]
fn a_secret_that_the_agent_prints_is_found_nowhere() {
    let folder = folder();
    // Built from parts, so that this file holds none.
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let own = "correct-horse-battery-staple-9";
    let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC";
    let block = format!("-----BEGIN {0}-----\n{key}\n-----END {0}-----", "PRIVATE KEY");
    let prints = format!(
        "echo 'plain {secret} {own}'; echo '{{\"type\":\"note\",\"text\":\"{secret}\"}}'; echo {secret} >&2\n{RESULT}"
    );
    let prints = format!("echo '{block}'\n{prints}");
    let agent = agent(folder.path(), &prints);
    let logs = folder.path().join("logs");
    let options = ["--role", "planner", "--logs-dir", logs.to_str().unwrap()];
    let password = "a8Kd02mZq7Rt5Yw9";
    let mut recording = record(folder.path(), &options, &agent);
    let done = recording.args(["--password", password]).env("MY_API_KEY", own).output().unwrap();
    assert!(
        String::from_utf8_lossy(&done.stdout).contains(&secret),
        "the agent's output is its own"
    );
    let session = session(folder.path());
    let mut found = 0;
    let mut folders = vec![folder.path().join("store"), logs];
    while let Some(below) = folders.pop() {
        for path in std::fs::read_dir(below).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let is_clean = [&*secret, own, key, password].iter().all(|it| !text.contains(it));
            assert!(is_clean, "{}: {text}", path.display());
            found += text.matches("[redacted:").count();
        }
    }
    assert!(found >= 4, "{found}");
    for form in ["antiphon", "std", "transcript"] {
        let done = command().args(["export", "--as", form]).arg(&session).output().unwrap();
        assert!(!String::from_utf8_lossy(&done.stdout).contains(&secret), "{form}");
    }
}

#[test]
fn the_role_of_a_recorded_agent_is_in_its_span() {
    let folder = folder();
    let agent = agent(folder.path(), RESULT);
    assert!(record(folder.path(), &["--role", "planner"], &agent).status().unwrap().success());
    let spans = json(folder.path(), &["view", "spans", "--json"], &session(folder.path()));
    let roles: Vec<_> = spans.as_array().unwrap().iter().map(|span| &span["role"]).collect();
    let kinds: Vec<_> = spans.as_array().unwrap().iter().map(|span| &span["kind"]).collect();
    assert_eq!(roles, [&Value::Null, &"planner".into(), &Value::Null], "{kinds:?}");
}
