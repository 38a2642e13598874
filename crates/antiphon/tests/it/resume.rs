//! `antiphon resume`: going on with a session in its agent.

use std::fs;

use serde_json::{Value, json};

use crate::claude::Claude;
use crate::home::Home;

const TOKENS: [u64; 4] = [10, 50, 1000, 100];

/// A session that is kept, and the path of the agent's own file.
fn kept(home: &Home) -> (Claude, String) {
    let folder = home.path("my shop");
    fs::create_dir_all(&folder).unwrap();
    let folder = folder.canonicalize().unwrap();
    let mut session = Claude::new(1, folder.to_str().unwrap(), "2026-05-01T10:00:00Z");
    session.prompt("Begin");
    session.say("Begun.", TOKENS);
    session.save(home);
    home.run("sync");
    let project = home.list(".claude/projects").remove(0);
    let path = format!(".claude/projects/{project}/{}.jsonl", session.id());
    (session, path)
}

fn native(home: &Home, arguments: &str) -> Value {
    let done = home.run(&format!("resume {arguments} --json"));
    let document: Value = serde_json::from_str(&done.out).unwrap();
    document["native"].clone()
}

#[test]
fn the_command_is_told_and_plain_resume_writes_nothing() {
    let home = Home::new();
    let (session, path) = kept(&home);
    let shown = home.run(&format!("resume {}", session.id()));
    let folder = home.path("my shop").canonicalize().unwrap();
    let command = format!("cd '{}' && claude --resume {}", folder.display(), session.id());
    assert!(shown.out.contains(&command), "{shown}");
    assert!(!shown.out.contains("gone"), "{shown}");
    fs::remove_file(home.path(&path)).unwrap();
    let shown = home.run(&format!("resume {}", session.id()));
    assert!(shown.out.contains("The agent's own file is gone"), "{shown}");
    assert_eq!(native(&home, session.id())["restored"], false);
    assert!(!home.path(&path).exists());
}

#[test]
fn a_deleted_file_is_put_back_and_a_longer_one_is_left() {
    let home = Home::new();
    let (mut session, path) = kept(&home);
    let restore = format!("{} --restore", session.id());
    let whole = home.text(&path);
    let there = native(&home, &restore);
    assert_eq!(there, json!({ "path": home.path(&path).to_str().unwrap(), "restored": false }));
    for beginning in [None, Some(10)] {
        match beginning {
            None => fs::remove_file(home.path(&path)).unwrap(),
            // Whoever truncated it, the rest comes back.
            Some(len) => fs::write(home.path(&path), &whole[..len]).unwrap(),
        }
        assert_eq!(native(&home, &format!("{restore} --no-sync"))["restored"], true);
        assert_eq!(home.text(&path), whole);
    }
    session.prompt("More");
    session.save(&home);
    let longer = home.text(&path);
    assert_eq!(native(&home, &format!("{restore} --no-sync"))["restored"], false);
    assert_eq!(home.text(&path), longer);
    fs::write(home.path(&path), "other").unwrap();
    let refused = home.run(&format!("resume {restore} --no-sync"));
    assert_eq!((refused.exit, home.text(&path).as_str()), (4, "other"), "{refused}");
}

#[cfg(unix)]
#[test]
fn run_starts_the_agent_in_the_sessions_folder_and_ends_as_it_does() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let (session, path) = kept(&home);
    home.write("bin/claude", "#!/bin/sh\npwd; printf '%s\\n' \"$@\"; exit 7\n");
    fs::set_permissions(home.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(home.path(&path)).unwrap();
    let bin = format!("{}:/usr/bin:/bin", home.path("bin").display());
    let run = |path: &str| {
        let mut command = home.command(&["resume", session.id(), "--run"]);
        command.env("PATH", path).output().unwrap()
    };
    let done = run(&bin);
    let folder = home.path("my shop").canonicalize().unwrap();
    let wanted = format!("{}\n--resume\n{}\n", folder.display(), session.id());
    assert_eq!(String::from_utf8(done.stdout).unwrap(), wanted);
    assert_eq!(done.status.code(), Some(7));
    assert!(home.path(&path).exists(), "the file was put back first");
    let none = run("/nowhere");
    assert_eq!(none.status.code(), Some(127), "an agent that is not installed");
    fs::remove_dir_all(home.path("my shop")).unwrap();
    assert_eq!(run(&bin).status.code(), Some(4), "a folder that is gone");
}

#[test]
fn a_session_that_no_agent_can_continue_has_no_command() {
    let home = Home::new();
    home.write("log.jsonl", "{\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"1\"}\n");
    let done = home.run("resume log.jsonl --json");
    let document: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((&document["command"], &document["native"]), (&Value::Null, &Value::Null));
    assert_eq!(home.run("resume log.jsonl --run").exit, 4);
    assert_eq!(home.run("resume log.jsonl --restore").exit, 4);
}
