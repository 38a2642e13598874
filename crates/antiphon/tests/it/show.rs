//! `show`: one page about a session, and the names by which a session or a message is found.

use serde_json::{Value, json};

use crate::claude::Claude;
use crate::home::Home;

const TOKENS: [u64; 4] = [10, 50, 1000, 100];

/// A session of one person and one agent, with an edit, a failure and two prompts.
fn session(number: u32, start: &str) -> Claude {
    let mut session = Claude::new(number, "/w/shop", start);
    session.prompt("Fix the login\n\n\tb = 2");
    session.think("Where is it?");
    let edit = json!({ "file_path": "/w/shop/login.py", "old_string": "\tb = 2\n", "new_string": "\tb = 3\n\tc = 4\n" });
    session.call("Edit", &edit, ("The file has been updated.", false), 1, TOKENS);
    session.bash("cargo test --quiet", ("Exit code 101\ntest login ... FAILED", true), 2);
    session.say("Half done.", TOKENS);
    session.prompt("Now the rest");
    session.say("All of it works now.", TOKENS);
    session
}

fn shown(home: &Home, words: &str) -> Value {
    let done = home.run(&format!("show {words} --json"));
    assert_eq!(done.exit, 0, "{done}");
    serde_json::from_str(&done.out).unwrap()
}

#[test]
fn a_page_says_what_was_asked_what_changed_what_failed_and_how_to_continue() {
    let home = Home::new();
    let session = session(1, "2026-11-01T20:14:59Z");
    session.save(&home);
    home.run("sync");
    let page = shown(&home, "latest");
    let texts: Vec<_> = page["prompts"].as_array().unwrap().iter().map(|it| &it["text"]).collect();
    assert_eq!(texts, ["Fix the login\n\n\tb = 2", "Now the rest"]);
    assert_eq!(page["files"][0]["path"], "login.py");
    assert_eq!([&page["files"][0]["added"], &page["files"][0]["removed"]], [2, 1]);
    assert_eq!(page["failures"][0]["text"], "cargo test --quiet");
    assert_eq!(page["failures"][0]["error"], "Exit code 101\ntest login ... FAILED");
    assert_eq!(page["last_answer"]["text"], "All of it works now.");
    assert_eq!([&page["project"], &page["branch"]], ["/w/shop", "main"]);
    let command = format!("cd /w/shop && claude --resume {}", session.id());
    assert_eq!(page["continue"], *command);
    let text = home.run("show latest").out;
    let places: Vec<_> = [
        "Fix the login",
        "completed",
        "/w/shop on main",
        "2026-11-01 20:15",
        "Now the rest",
        "login.py",
        "cargo test --quiet",
        "All of it works now.",
        "Nothing lost",
        &command,
    ]
    .iter()
    .map(|part| text.find(part).unwrap_or_else(|| panic!("no {part:?} in\n{text}")))
    .collect();
    assert!(places.is_sorted(), "{text}");
    assert!(!text.contains("\\t"), "a tab is as wide as a tab:\n{text}");
}

#[test]
fn times_are_local_unless_utc_is_asked_for() {
    let home = Home::new();
    session(1, "2026-11-01T20:14:59Z").save(&home);
    home.run("sync");
    let shown = |words: &[&str]| {
        let done = home.command(words).env("TZ", "IST-5:30").output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    assert!(shown(&["show", "latest"]).contains("2026-11-02 01:45"));
    assert!(shown(&["show", "latest", "--utc"]).contains("2026-11-01 20:15"));
}

#[test]
fn a_session_is_named_by_how_many_came_after_it() {
    let home = Home::new();
    for day in 1..=3 {
        session(day, &format!("2026-11-0{day}T10:00:00Z")).save(&home);
    }
    home.run("sync");
    let id = |name: &str| shown(&home, name)["session_id"].as_str().unwrap()[..8].to_owned();
    assert_eq!(
        ["latest", "latest~0", "latest~", "latest~1", "latest~2"].map(id),
        ["00000003", "00000003", "00000002", "00000002", "00000001"]
    );
    for (name, exit) in [("latest~3", 1), ("latest~99999999999999999999999", 1), ("latest~x", 1)] {
        let done = home.run(&format!("show {name}"));
        assert_eq!(done.exit, exit, "{done}");
        assert!(done.err.contains(name), "{done}");
    }
}

#[test]
fn a_message_is_named_by_the_beginning_of_its_id() {
    let home = Home::new();
    session(1, "2026-11-01T20:14:59Z").save(&home);
    home.run("sync");
    let traced = |id: &str| home.run(&format!("view trace latest {id} --json"));
    let steps: Value = serde_json::from_str(&traced("0003").out).unwrap();
    let last = steps.as_array().unwrap().last().unwrap();
    assert!(last["message_id"].as_str().unwrap().starts_with("0003-"), "{last}");
    let several = traced("000");
    assert_eq!(several.exit, 2, "{several}");
    assert!(several.err.contains("`000` is the beginning of several"), "{several}");
    let none = traced("zzz");
    assert_eq!(none.exit, 1, "{none}");
}

#[test]
fn an_agents_file_is_checked_against_its_copy() {
    let home = Home::new();
    let session = session(1, "2026-11-01T20:14:59Z");
    session.save(&home);
    home.run("sync");
    let file = format!(".claude/projects/-w-shop/{}.jsonl", session.id());
    let verified = || {
        let done = home.run(&format!("verify {file} --json"));
        let rows: Value = serde_json::from_str(&done.out).unwrap();
        (done.exit, rows[0]["valid"].clone(), rows[0]["findings"].clone())
    };
    assert_eq!(verified(), (0, true.into(), json!([])));
    let whole = home.text(&file);
    home.add(&file, &format!("{}\n", whole.lines().last().unwrap()));
    assert_eq!(verified().0, 0, "what is newer is not in the copy yet");
    let lines: Vec<&str> = whole.lines().collect();
    home.write(&file, &(lines[..4].join("\n") + "\n"));
    let (exit, valid, findings) = verified();
    assert_eq!((exit, valid), (1, false.into()));
    let found = &findings[0];
    assert_eq!((&found["code"], &found["line"]), (&"differs-from-copy".into(), &5.into()));
    assert_eq!(found["offset"], lines[..4].iter().map(|line| line.len() + 1).sum::<usize>());
}
