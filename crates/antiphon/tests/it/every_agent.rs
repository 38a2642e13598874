//! A home in which every agent has left a session: each is kept, listed and found once.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::run::{command, folder, workspace};

/// The format, a file of its smallest fixture, and where the agent would have put it.
const LEFT: &[(&str, &str, &str)] = &[
    ("aider", "input.md", ".aider.chat.history.md"),
    ("amp", "input.json", ".local/share/amp/threads/T-1.json"),
    ("claude-code", "input.jsonl", ".claude/projects/-srv-shop/0f0e0d0c.jsonl"),
    ("cline", "input.json", "{code}/saoudrizwan.claude-dev/tasks/17/api_conversation_history.json"),
    ("cline", "ui_messages.json", "{code}/saoudrizwan.claude-dev/tasks/17/ui_messages.json"),
    ("codex", "input.jsonl", ".codex/sessions/2026/05/01/rollout-2026-05-01T10-00-00-1.jsonl"),
    ("copilot", "input.jsonl", ".copilot/session-state/c0/events.jsonl"),
    ("cursor", "input.jsonl", ".cursor/projects/shop/agent-transcripts/d0/d0.jsonl"),
    ("droid", "input.jsonl", ".factory/sessions/-srv-shop/f0.jsonl"),
    ("droid", "input.settings.json", ".factory/sessions/-srv-shop/f0.settings.json"),
    ("gemini", "input.jsonl", ".gemini/tmp/shop/chats/session-2026-05-01T10-00-1.jsonl"),
    ("goose", "input.jsonl", ".local/share/goose/sessions/20260501_1.jsonl"),
    ("iflow", "input.jsonl", ".iflow/projects/-srv-shop/session-1.jsonl"),
    ("kimi", "input.jsonl", ".kimi/sessions/shop/k0/wire.jsonl"),
    ("opencode", "input.json", ".local/share/opencode/storage/session/shop/ses_1.json"),
    ("pi", "input.jsonl", ".pi/agent/sessions/--srv-shop--/1_p0.jsonl"),
    ("qwen", "input.jsonl", ".qwen/projects/-srv-shop/chats/q0.jsonl"),
];

fn antiphon(folder: &Path, words: &[&str]) -> (i32, Value) {
    let mut asked = command();
    asked.env("HOME", folder.join("home")).env("ANTIPHON_HOME", folder.join("store"));
    let done = asked.args(words).output().unwrap();
    let out = String::from_utf8(done.stdout).unwrap();
    (done.status.code().unwrap(), serde_json::from_str(&out).unwrap_or_default())
}

/// A home in which every agent has left a session.
fn every_agent() -> tempfile::TempDir {
    let folder = folder();
    let fixtures = workspace().join("crates/antiphon-formats/fixtures");
    for (format, file, place) in LEFT {
        let place = place.replace("{code}", ".config/Code/User/globalStorage");
        let to = folder.path().join("home").join(place);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(fixtures.join(format).join("minimal").join(file), to).unwrap();
    }
    folder
}

#[test]
fn what_is_forgotten_of_any_agent_does_not_come_back() {
    let folder = every_agent();
    antiphon(folder.path(), &["sync"]);
    let rows = |folder: &Path| antiphon(folder, &["ls", "--json"]).1.as_array().unwrap().clone();
    let kept = rows(folder.path());
    assert!(kept.len() > 14);
    for row in &kept {
        // Two agents may have the same id: both have gone with the first.
        if !rows(folder.path()).iter().any(|it| it["key"] == row["key"]) {
            continue;
        }
        let (exit, _) = antiphon(folder.path(), &["forget", row["id"].as_str().unwrap(), "--yes"]);
        assert_eq!(exit, 0, "{row}");
        antiphon(folder.path(), &["sync"]);
        let left = rows(folder.path());
        assert!(!left.iter().any(|it| it["key"] == row["key"]), "{row} came back");
    }
    assert!(rows(folder.path()).is_empty());
    let below = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    for agent in below(&folder.path().join("store/archive")).map(|it| it.path()) {
        assert_eq!(below(&agent).count(), 0, "{}", agent.display());
    }
    assert_eq!(below(&folder.path().join("store/packs")).count(), 0);
}

#[test]
fn a_forgetting_that_was_killed_is_finished_by_the_next_process() {
    for words in [&["sync"][..], &["doctor"], &["forget", "{id}", "--yes"]] {
        let folder = every_agent();
        antiphon(folder.path(), &["sync"]);
        let (_, rows) = antiphon(folder.path(), &["ls", "--json"]);
        let row = &rows.as_array().unwrap()[0];
        let (id, key, agent) = (&row["id"], row["key"].as_str().unwrap(), &row["format"]);
        let (id, agent) = (id.as_str().unwrap(), agent.as_str().unwrap());
        // As it is left by one that was killed when it had written down what is to be done, and by
        // one that had removed the first file.
        let marks = folder.path().join("store/forgotten");
        fs::create_dir_all(&marks).unwrap();
        let pending = format!("{id}\narchive/{agent}/{key}\n../..\n{key}\n");
        fs::write(marks.join("x.pending"), pending).unwrap();
        let kept = folder.path().join("store/archive").join(agent).join(key);
        if words == ["sync"] {
            fs::write(marks.join(key), "").unwrap();
            let _ = fs::remove_file(kept.join("session.json"));
        }
        let words: Vec<&str> = words.iter().map(|it| if *it == "{id}" { id } else { it }).collect();
        let mut asked = command();
        asked.env("HOME", folder.path().join("home"));
        asked.env("ANTIPHON_HOME", folder.path().join("store"));
        let done = asked.args(&words).output().unwrap();
        let told = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(0), "{words:?}: {told}");
        assert!(
            told.contains(&format!("Finished an interrupted deletion of session {id}")),
            "{words:?}: {told}"
        );
        assert!(!kept.exists() && !marks.join("x.pending").exists(), "{words:?}");
        assert!(marks.join(key).exists(), "{words:?}");
        antiphon(folder.path(), &["sync"]);
        assert!(!kept.exists());
    }
}

#[test]
fn a_session_of_every_agent_is_kept_once_and_none_is_lost() {
    let folder = every_agent();
    let mut left: Vec<&str> = LEFT.iter().map(|(format, ..)| *format).collect();
    left.dedup();
    for format in antiphon_formats::FORMATS.iter().filter(|format| format.layout.kept.is_some()) {
        assert!(left.contains(&format.name), "{} has left nothing here", format.name);
    }
    let (exit, synced) = antiphon(folder.path(), &["sync", "--json"]);
    assert_eq!(
        (exit, &synced["found"], &synced["copied"]),
        (0, &left.len().into(), &left.len().into())
    );
    let listed = |folder: &Path| -> Vec<String> {
        let (_, rows) = antiphon(folder, &["ls", "--json"]);
        let formats = rows.as_array().unwrap().iter().map(|row| row["format"].as_str().unwrap());
        let mut formats: Vec<String> = formats.map(str::to_owned).collect();
        formats.sort();
        formats
    };
    assert_eq!(listed(folder.path()), left, "each once, each read as what it is");
    let (_, rows) = antiphon(folder.path(), &["ls", "--json"]);
    for row in rows.as_array().unwrap() {
        let id = row["key"].as_str().unwrap();
        assert!(row["events"].as_u64().unwrap() > 1, "{row}");
        let (exit, shown) = antiphon(folder.path(), &["show", id, "--json"]);
        assert_eq!((exit, &shown["format"]), (0, &row["format"]), "{row}");
    }
    let (_, report) = antiphon(folder.path(), &["doctor", "--json"]);
    assert_eq!(report["problems"], Value::Array(Vec::new()));
    // One that cannot be read costs itself, and is counted.
    let bad = folder.path().join("home/.local/share/opencode/opencode.db");
    fs::write(&bad, "no database").unwrap();
    let (exit, synced) = antiphon(folder.path(), &["sync", "--json"]);
    assert_eq!((exit, &synced["failed"]), (3, &1.into()), "{synced}");
    let (_, report) = antiphon(folder.path(), &["doctor", "--json"]);
    let bad = Value::from(bad.to_str().unwrap());
    assert_eq!(
        (report["problems"].as_array().unwrap().len(), &report["problems"][0]["at"]),
        (1, &bad)
    );
    assert_eq!(listed(folder.path()), left);
}

#[test]
fn a_history_in_a_project_is_found_from_within_and_followed_from_then_on() {
    let folder = folder();
    let fixture = workspace().join("crates/antiphon-formats/fixtures/aider/minimal/input.md");
    let project = folder.path().join("shop/src");
    fs::create_dir_all(&project).unwrap();
    fs::create_dir_all(folder.path().join("home")).unwrap();
    let history = folder.path().join("shop/.aider.chat.history.md");
    let text = fs::read_to_string(fixture).unwrap();
    fs::write(&history, &text).unwrap();
    let sync = |from: &Path| {
        let mut asked = command();
        asked.env("HOME", folder.path().join("home"));
        asked.env("ANTIPHON_HOME", folder.path().join("store"));
        let done = asked.current_dir(from).args(["sync", "--json"]).output().unwrap();
        let told: Value = serde_json::from_slice(&done.stdout).unwrap();
        (told["found"].clone(), told["copied"].clone())
    };
    let elsewhere = folder.path().join("home");
    assert_eq!(sync(&elsewhere), (0.into(), 0.into()), "nobody knows of it");
    assert_eq!(sync(&project), (1.into(), 1.into()));
    fs::write(&history, format!("{text}\n#### And more\n\nDone.\n\n")).unwrap();
    assert_eq!(sync(&elsewhere), (1.into(), 1.into()), "it is known now");
    assert_eq!(sync(&project), (1.into(), 0.into()));
    let (_, rows) = antiphon(folder.path(), &["ls", "--json"]);
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["format"]), (1, &"aider".into()));
    let (exit, _) = antiphon(folder.path(), &["search", "more", "--json"]);
    assert_eq!(exit, 0);
}

#[test]
fn a_cline_task_is_kept_by_what_its_screen_showed_until_its_conversation_is_there() {
    let folder = folder();
    let fixtures = workspace().join("crates/antiphon-formats/fixtures/cline/minimal");
    let tasks = ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/17";
    let task = folder.path().join("home").join(tasks);
    fs::create_dir_all(&task).unwrap();
    fs::copy(fixtures.join("ui_messages.json"), task.join("ui_messages.json")).unwrap();
    let (exit, synced) = antiphon(folder.path(), &["sync", "--json"]);
    assert_eq!((exit, &synced["found"], &synced["copied"]), (0, &1.into(), &1.into()));
    let (_, screen_alone) = antiphon(folder.path(), &["ls", "--json"]);
    assert_eq!(screen_alone[0]["id"], "17");
    let exported = |name: &str| {
        let mut asked = command();
        asked.env("HOME", folder.path().join("home"));
        asked.env("ANTIPHON_HOME", folder.path().join("store"));
        let to = folder.path().join("out").join(name);
        asked.args(["export", "17", "--as", "native", "-o", to.to_str().unwrap()]);
        assert_eq!(asked.output().unwrap().status.code(), Some(0));
        to
    };
    fs::create_dir_all(folder.path().join("out")).unwrap();
    let screen = fs::read(fixtures.join("ui_messages.json")).unwrap();
    assert_eq!(fs::read(exported("screen.json")).unwrap(), screen);

    fs::copy(fixtures.join("input.json"), task.join("api_conversation_history.json")).unwrap();
    let (exit, synced) = antiphon(folder.path(), &["sync", "--json"]);
    assert_eq!((exit, &synced["found"], &synced["copied"]), (0, &1.into(), &1.into()));
    let (_, whole) = antiphon(folder.path(), &["ls", "--json"]);
    assert_eq!(whole.as_array().unwrap().len(), 1);
    assert_eq!(whole[0]["key"], screen_alone[0]["key"]);
    assert_eq!(whole[0]["tokens"], screen_alone[0]["tokens"]);
    let (_, stats) = antiphon(folder.path(), &["stats", "--json"]);
    assert_eq!(stats["totals"]["requests"], 1);
}

#[test]
fn a_session_that_says_no_name_has_the_one_that_its_agent_gave_its_file_or_folder() {
    let folder = every_agent();
    antiphon(folder.path(), &["sync"]);
    let (_, rows) = antiphon(folder.path(), &["ls", "--json"]);
    let named = [("cline", "17"), ("cursor", "d0"), ("goose", "20260501_1"), ("kimi", "k0")];
    for (format, name) in named {
        let row = rows.as_array().unwrap().iter().find(|row| row["format"] == format).unwrap();
        assert_eq!(row["id"], name, "{format}");
        let (_, copy) = antiphon(folder.path(), &["show", name, "--json"]);
        assert_eq!(copy["session_id"], name, "the copy of {format}");
        let (_, _, place) = LEFT.iter().find(|(left, ..)| *left == format).unwrap();
        let place = place.replace("{code}", ".config/Code/User/globalStorage");
        let file = folder.path().join("home").join(place);
        let (_, own) = antiphon(folder.path(), &["show", file.to_str().unwrap(), "--json"]);
        assert_eq!(own["session_id"], name, "the file of {format}");
        let _ = fs::remove_file(folder.path().join("store/catalog.sqlite"));
        let (_, again) = antiphon(folder.path(), &["show", name, "--json"]);
        assert_eq!(again["session_id"], name, "{format} without a catalogue");
    }
    // A history of Aider has no name but its path.
    let aider = rows.as_array().unwrap().iter().find(|row| row["format"] == "aider").unwrap();
    assert_eq!(aider["id"], aider["key"]);
}
