//! `antiphon chat` from outside: at a terminal, in a pipe, with services that fail.

mod faults;
mod goes_on;
mod guide;
mod keys;
mod litellm;
mod llama;
mod seen;
mod service;
mod signals;
mod started;
mod terminal;

use std::fs;

use self::service::{Reply, Service};
use crate::home::Home;
use crate::run::Done;

/// What a command printed, and how it ended.
fn done(mut command: std::process::Command) -> Done {
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let exit = output.status.code().unwrap_or(-1);
    Done { out: text(output.stdout), err: text(output.stderr), exit }
}

/// A cast whose root answers as the script says.
fn cast(home: &Home, turns: &[serde_json::Value], more: &str) {
    let lines: Vec<String> = turns.iter().map(|turn| format!("{turn}\n")).collect();
    home.write("turns.jsonl", &lines.concat());
    let head = "model = \"script:turns.jsonl\"\n[root]\nname = \"Host\"\nsystem = \"You host.\"\n";
    home.write("cast.toml", &format!("{head}{more}"));
}

/// The events of a log.
fn events(home: &Home, name: &str) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(home.path(name)).unwrap();
    // A line that was torn stays.
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// A chat with a service.
fn with_service(home: &Home, service: &Service, arguments: &str) -> Done {
    let words: Vec<&str> = arguments.split(' ').collect();
    let mut command = home.command(&words);
    command.env("OPENAI_BASE_URL", service.url()).env("NO_PROXY", "127.0.0.1");
    done(command)
}

#[test]
fn the_log_has_the_cast_with_paths_that_are_right_in_every_folder() {
    let home = Home::new();
    cast(&home, &[serde_json::json!({"agent": "Host", "content": "One."})], "");
    let done = home.run("chat --cast cast.toml --log log.jsonl --prompt 1");
    assert_eq!(done.exit, 0, "{done}");
    let script = fs::canonicalize(home.path("turns.jsonl")).unwrap();
    let model = format!("script:{}", script.display());
    assert_eq!(events(&home, "log.jsonl")[0]["cast"]["model"], model.as_str());
}

#[test]
fn a_file_of_another_program_is_not_written_to_and_can_be_forked() {
    let home = Home::new();
    let row = |kind: &str, id: &str, message: serde_json::Value| {
        let at = "2026-11-01T10:00:01.000Z";
        let session = "11111111-2222-4333-8444-555555555555";
        let row = serde_json::json!({
            "type": kind, "uuid": id, "parentUuid": null, "isSidechain": false, "timestamp": at,
            "sessionId": session, "cwd": "/demo", "version": "2.1.210", "message": message,
        });
        format!("{row}\n")
    };
    let said = serde_json::json!({"role": "user", "content": "Hello?"});
    let answer = serde_json::json!({
        "id": "m1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "Here."}],
    });
    let text = row("user", "u1", said) + &row("assistant", "u2", answer);
    home.write("session.jsonl", &text);
    cast(&home, &[serde_json::json!({"agent": "Claude Code", "content": "Still here."})], "");
    let done = home.run("chat --resume session.jsonl --cast cast.toml --prompt 1");
    assert_eq!(done.exit, 2, "{done}");
    assert!(done.err.contains("antiphon chat --fork session.jsonl@"), "{done}");
    assert_eq!(home.text("session.jsonl"), text);
    let fork = done.err.split('`').find(|words| words.contains("--fork")).unwrap();
    let fork = fork.strip_prefix("antiphon ").unwrap();
    let done = home.run(&format!("{fork} --cast cast.toml --prompt 1 --log fork.jsonl"));
    assert_eq!((done.exit, &*done.out), (0, "Still here.\n"), "{done}");
    assert!(home.text("fork.jsonl").contains("Hello?"));
}

#[test]
fn a_service_that_is_busy_is_asked_again_and_the_person_is_told() {
    let home = Home::new();
    let replies = vec![Reply::Refuses(429, "Retry-After: 0\r\n"), Reply::Says("Now.")];
    let service = Service::new(replies);
    let done = with_service(&home, &service, "chat --model openai/m --log log.jsonl --prompt Hi");
    assert_eq!(done.out, "Now.\n", "{done}");
    assert!(done.err.contains("429") && done.err.contains("trying again"), "{done}");
    let requests = service.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0], requests[1]);
}

#[test]
fn a_fork_ends_at_its_message_whether_or_not_events_have_ids() {
    let home = Home::new();
    let message = |role: &str, words: &str| {
        let source = if role == "user" { ",\"source\":\"external\"" } else { "" };
        format!("{{\"agent_id\":\"a\",\"role\":\"{role}\",\"content\":\"{words}\"{source}}}\n")
    };
    let made = "{\"event_type\":\"agent_created\",\"agent_id\":\"a\",\"name\":\"Host\"}\n";
    let talk = [("user", "1?"), ("assistant", "One."), ("user", "2?"), ("assistant", "Two.")];
    let talk: String = talk.iter().map(|(role, words)| message(role, words)).collect();
    home.write("old.jsonl", &format!("{made}{talk}"));
    cast(&home, &[serde_json::json!({"agent": "Host", "content": "Otherwise."})], "");
    let fork = "chat --fork old.jsonl@line:3 --cast cast.toml --prompt 2! --log fork.jsonl";
    let done = home.run(fork);
    assert_eq!((done.exit, &*done.out), (0, "Otherwise.\n"), "{done}");
    let events = events(&home, "fork.jsonl");
    let words = events.iter().filter_map(|event| event["content"].as_str());
    assert_eq!(words.collect::<Vec<_>>(), ["1?", "One.", "2!", "Otherwise."]);
}

#[test]
fn an_address_that_is_none_is_not_asked_again() {
    let home = Home::new();
    let mut command = home.command(&["chat", "--model", "openai/m", "--temp", "--prompt", "Hi"]);
    command.env("OPENAI_BASE_URL", "no address").env("OPENAI_API_KEY", "key");
    let done = done(command);
    assert_eq!(done.exit, 4, "{done}");
    assert!(!done.err.contains("trying again"), "{done}");
}

#[cfg(unix)]
#[test]
fn what_is_not_to_be_kept_is_private_and_gone_afterwards() {
    use std::os::unix::fs::PermissionsExt;

    let home = Home::new();
    let folder = home.path("temporary");
    fs::create_dir(&folder).unwrap();
    let service = Service::new(vec![Reply::Begins("Wait")]);
    let mut command = home.command(&["chat", "--model", "openai/m", "--temp", "--prompt", "Hi"]);
    command.env("TMPDIR", &folder).env("OPENAI_BASE_URL", service.url());
    command.env("NO_PROXY", "127.0.0.1").stdin(std::process::Stdio::null());
    let mut process = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    service.waits_for_a_request();
    let entry = fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    signals::send(&process, "INT");
    assert_eq!(process.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}
