//! The library: sessions found, kept, listed, searched, counted.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::run::{Done, command, folder, workspace};

/// A home in which Claude Code has kept a session with sub-agents.
pub(crate) fn home(folder: &Path) -> PathBuf {
    let project = folder.join("home/.claude/projects/-repo");
    std::fs::create_dir_all(&project).unwrap();
    crate::agents::family(&project)
}

/// The binary, with that home and a store beside it.
fn at_home(folder: &Path, words: &[&str]) -> Command {
    let mut asked = command();
    asked.env("HOME", folder.join("home")).env("ANTIPHON_HOME", folder.join("store"));
    asked.args(words);
    asked
}

pub(crate) fn antiphon(folder: &Path, words: &[&str]) -> Done {
    let done = at_home(folder, words).output().unwrap();
    Done {
        // What is left of a damaged copy may be no text.
        out: String::from_utf8_lossy(&done.stdout).into_owned(),
        err: String::from_utf8(done.stderr).unwrap(),
        exit: done.status.code().unwrap(),
    }
}

pub(crate) fn json(folder: &Path, words: &[&str]) -> Value {
    let done = antiphon(folder, words);
    serde_json::from_str(&done.out).unwrap()
}

#[test]
fn what_was_kept_stays_when_its_source_is_gone() {
    let folder = folder();
    let main = home(folder.path());
    let first = json(folder.path(), &["sync", "--json"]);
    assert_eq!((&first["found"], &first["copied"]), (&1.into(), &1.into()));
    let again = json(folder.path(), &["sync", "--json"]);
    assert_eq!((&again["found"], &again["copied"]), (&1.into(), &0.into()), "nothing is new");
    let totals = json(folder.path(), &["stats", "--json"])["totals"].clone();
    let home = folder.path().join("home/.claude");
    let there = json(folder.path(), &["stats", home.to_str().unwrap(), "--json"]);
    assert_eq!(totals, there["totals"], "sub-agents too");
    assert!(totals["output"].as_u64().unwrap() > 0);
    let bytes = std::fs::read_to_string(&main).unwrap();

    std::fs::remove_dir_all(folder.path().join("home/.claude")).unwrap();
    assert_eq!(json(folder.path(), &["sync", "--json"])["found"], 0);
    let listed = json(folder.path(), &["ls", "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), 1, "sub-agents are no sessions of their own");
    assert_eq!(json(folder.path(), &["stats", "--json"])["totals"], totals);
    let id = listed[0]["id"].as_str().unwrap();
    let native = antiphon(folder.path(), &["export", id, "--as", "native"]);
    assert_eq!(native.out, bytes, "byte for byte");
}

#[test]
fn what_is_new_is_added_and_what_was_rewritten_is_another_generation() {
    let folder = folder();
    let main = home(folder.path());
    antiphon(folder.path(), &["sync"]);
    let text = std::fs::read_to_string(&main).unwrap();
    let last = text.lines().last().unwrap().replace("\"r3\"", "\"r4\"");
    let more = format!("{text}{}\n", last.replace("interrupted", &"interrupted ".repeat(900)));
    std::fs::write(&main, &more).unwrap();
    assert_eq!(json(folder.path(), &["sync", "--json"])["copied"], 1);
    let cut: String = text.lines().take(2).map(|line| format!("{line}\n")).collect();
    std::fs::write(&main, &cut).unwrap();
    assert_eq!(json(folder.path(), &["sync", "--json"])["copied"], 1);
    let generations = std::fs::read_dir(folder.path().join("store/archive/claude-code")).unwrap();
    let session = generations.map(|entry| entry.unwrap().path()).next().unwrap();
    let name = main.file_name().unwrap();
    assert_eq!(std::fs::read_to_string(session.join("000001").join(name)).unwrap(), more);
    assert_eq!(std::fs::read_to_string(session.join("000002").join(name)).unwrap(), cut);
}

#[test]
fn an_empty_store_says_how_to_fill_it() {
    let folder = folder();
    std::fs::create_dir_all(folder.path().join("home")).unwrap();
    for words in [&["search", "word"][..], &["stats"], &["ls"], &["show", "latest"]] {
        let told = antiphon(folder.path(), words);
        assert!(told.to_string().contains("`antiphon sync` copies"), "{words:?}: {told}");
    }
    let synced = antiphon(folder.path(), &["sync"]);
    assert_eq!(synced.out, "No agent's sessions were found on this machine.\n");
    let unknown = antiphon(folder.path(), &["sync", "--agent", "nobody"]);
    assert_eq!(unknown.exit, 2, "{unknown}");
}

#[test]
fn what_is_no_session_is_counted_and_named_once() {
    let folder = folder();
    let main = home(folder.path());
    let beside = |name: &str| main.with_file_name(name);
    std::fs::write(beside("bad.jsonl"), "no JSON\nat all\n").unwrap();
    std::fs::write(beside("empty.jsonl"), "").unwrap();
    let codex = workspace().join("crates/antiphon-formats/fixtures/codex/minimal/input.jsonl");
    std::fs::copy(codex, beside("other.jsonl")).unwrap();
    let first = antiphon(folder.path(), &["sync", "--json"]);
    assert_eq!(first.out.trim(), r#"{"found":2,"copied":1,"busy":0,"failed":0,"unread":2}"#);
    assert_eq!((first.exit, first.err.lines().count()), (0, 2), "{first}");
    assert!(first.err.contains("bad.jsonl: skipped: not a valid Claude Code session"));
    let again = antiphon(folder.path(), &["sync"]);
    let told = "2 sessions (claude-code): 0 updated; 2 other files skipped\n";
    assert_eq!((&*again.out, &*again.err), (told, ""));
    assert_eq!(json(folder.path(), &["ls", "--json"]).as_array().unwrap().len(), 1);

    for session in std::fs::read_dir(folder.path().join("store/archive/claude-code")).unwrap() {
        let by = session.unwrap().path().join("unread");
        let _ = by.exists() && std::fs::write(by, "0").is_ok();
    }
    let newer = antiphon(folder.path(), &["sync", "--json"]);
    assert_eq!(newer.err.lines().count(), 2, "newer readers look again");
    let text = std::fs::read(&main).unwrap();
    std::fs::write(beside("bad.jsonl"), text).unwrap();
    let mended = json(folder.path(), &["sync", "--json"]);
    assert_eq!((&mended["found"], &mended["unread"]), (&3.into(), &1.into()), "it is looked at");
}

#[test]
fn two_syncs_at_once_do_no_harm() {
    let folder = folder();
    let main = home(folder.path());
    let path = folder.path().to_owned();
    let syncs: Vec<_> = (0..4)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || antiphon(&path, &["sync"]).exit)
        })
        .collect();
    assert!(syncs.into_iter().all(|sync| sync.join().unwrap() == 0));
    antiphon(folder.path(), &["sync"]);
    let native = antiphon(folder.path(), &["export", "latest", "--as", "native"]);
    assert_eq!(native.out, std::fs::read_to_string(main).unwrap());
}

#[cfg(unix)]
#[test]
fn a_watching_sync_keeps_what_comes_until_it_is_interrupted() {
    let folder = folder();
    let main = home(folder.path());
    let mut watching = at_home(folder.path(), &["sync", "--watch"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let is_kept = |text: &str| {
        (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(200));
            antiphon(folder.path(), &["export", "latest", "--as", "native"]).out == text
        })
    };
    let text = std::fs::read_to_string(&main).unwrap();
    assert!(is_kept(&text), "what is there");
    let more = format!("{text}{}\n", text.lines().last().unwrap().replace("\"r3\"", "\"r4\""));
    std::fs::write(&main, &more).unwrap();
    assert!(is_kept(&more), "what comes");
    // As a person would, with Ctrl-C.
    let id = watching.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ended = watching.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(2));
    assert_eq!(json(folder.path(), &["sync", "--json"])["copied"], 0, "all is as it was left");
}

#[cfg(unix)]
#[test]
fn a_run_that_was_recorded_and_kept_is_one_session() {
    let folder = folder();
    let main = home(folder.path());
    let id = main.file_stem().unwrap().to_str().unwrap();
    let script = folder.path().join("agent.sh");
    let init = format!(
        r#"{{"type":"system","subtype":"init","session_id":"{id}","model":"m","apiKeySource":"none"}}"#
    );
    std::fs::write(&script, format!("echo '{init}'\n")).unwrap();
    let agent = script.to_str().unwrap();
    let recorded = antiphon(folder.path(), &["record", "--role", "reviewer", "--", "sh", agent]);
    assert_eq!(recorded.exit, 0, "{recorded}");
    antiphon(folder.path(), &["sync"]);
    let listed = json(folder.path(), &["ls", "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed:#}");
    assert_eq!(
        (&listed[0]["role"], &listed[0]["outcome"]),
        (&"reviewer".into(), &"completed".into())
    );
    assert_eq!(listed[0]["origin"], "archived");
}

#[test]
fn what_was_forgotten_does_not_come_back() {
    let folder = folder();
    home(folder.path());
    antiphon(folder.path(), &["sync"]);
    let id = json(folder.path(), &["ls", "--json"])[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(antiphon(folder.path(), &["forget", &id]).exit, 2, "nobody can be asked");
    let done = antiphon(folder.path(), &["forget", &id, "--yes"]);
    assert_eq!(done.exit, 0, "{done}");
    antiphon(folder.path(), &["sync"]);
    assert_eq!(json(folder.path(), &["ls", "--json"]).as_array().unwrap().len(), 0);
    assert_eq!(antiphon(folder.path(), &["forget", &id, "--yes"]).exit, 1);
}

#[test]
fn the_doctor_says_what_is_where() {
    let folder = folder();
    let main = home(folder.path());
    let file = std::fs::File::options().write(true).open(&main).unwrap();
    let now = file.metadata().unwrap().modified().unwrap();
    file.set_modified(now - std::time::Duration::from_secs(25 * 24 * 3600)).unwrap();
    let report = json(folder.path(), &["doctor", "--json"]);
    let source = &report["sources"][0];
    assert_eq!((&source["agent"], &source["sessions"]), (&"claude-code".into(), &1.into()));
    assert_eq!(source["soon_deleted"], 1, "{report:#}");
    assert_eq!(report["kept"], 0);
    assert_eq!(report["problems"], Value::Array(Vec::new()));
}

#[test]
fn the_doctor_says_what_is_wrong() {
    let folder = folder();
    let main = home(folder.path());
    let mut text = std::fs::read_to_string(&main).unwrap();
    text.push_str("{\"type\":\"user\",\n");
    std::fs::write(&main, text).unwrap();
    std::fs::write(main.with_file_name("bad.jsonl"), "no JSON\n").unwrap();
    antiphon(folder.path(), &["sync"]);
    std::fs::write(folder.path().join("store/catalog.sqlite.damaged"), "").unwrap();
    let report = json(folder.path(), &["doctor", "--json"]);
    let source = &report["sources"][0];
    assert_eq!((&source["sessions"], &source["other_files"]), (&1.into(), &1.into()));
    let problems = report["problems"].as_array().unwrap();
    let whats: Vec<&str> = problems.iter().map(|it| it["what"].as_str().unwrap()).collect();
    assert_eq!(
        whats,
        [
            "not a valid claude-code session",
            "1 problem; see `antiphon show`",
            "a damaged catalogue that was set aside and rebuilt; this file can be deleted",
        ]
    );
    let told = antiphon(folder.path(), &["doctor"]).out;
    assert!(
        told.contains("\n3 problems\n") && told.contains("  1 session, 1 other file"),
        "{told}"
    );
}

#[test]
fn bare_antiphon_tells_what_is_there_and_what_will_go_and_writes_nothing() {
    let folder = folder();
    let main = home(folder.path());
    let days_ago = |days: u64| {
        #[expect(clippy::disallowed_methods, reason = "files have the machine's time")]
        let then = std::time::SystemTime::now() - std::time::Duration::from_secs(days * 86_400);
        std::fs::File::open(&main).unwrap().set_modified(then).unwrap();
    };
    days_ago(28);
    let told = antiphon(folder.path(), &[]);
    assert!(
        told.out.contains("claude-code   1 session\n              1 will be deleted within a week"),
        "{told}"
    );
    let line = told.out.lines().find(|line| line.contains("Build it")).unwrap_or_default();
    assert!(line.contains("claude-code  interrupted"), "{told}");
    assert!(told.out.contains("Next: antiphon sync copies them"), "{told}");
    assert!(!folder.path().join("store").exists(), "nothing was written");
    days_ago(40);
    let told = antiphon(folder.path(), &[]);
    let overdue = "1 is past Claude Code's limit of 30 days and may be deleted at any time";
    assert!(told.out.contains(overdue) && !told.out.contains("within a week"), "{told}");
    days_ago(28);
    // Claude Code can be told to keep them longer.
    let settings = folder.path().join("home/.claude/settings.json");
    std::fs::write(&settings, r#"{"cleanupPeriodDays":3650}"#).unwrap();
    let told = antiphon(folder.path(), &[]);
    assert!(!told.out.contains("deleted"), "{told}");
    antiphon(folder.path(), &["sync"]);
    let told = antiphon(folder.path(), &[]);
    assert!(told.out.contains("Next: antiphon show latest"), "{told}");
}

#[test]
fn a_list_is_filtered_and_sorted() {
    let folder = folder();
    home(folder.path());
    antiphon(folder.path(), &["sync"]);
    let count = |words: &[&str]| {
        let words = [&["ls", "--json"], words].concat();
        json(folder.path(), &words).as_array().unwrap().len()
    };
    assert_eq!(count(&["--agent", "CLAUDE", "--sort", "cost"]), 1);
    assert_eq!(count(&["--agent", "codex"]), 0);
    assert_eq!(count(&["--tool", "Read", "--sort", "events"]), 1);
    assert_eq!(count(&["--tool", "Reads"]), 0);
    assert_eq!(count(&["--file", "x.rs", "--sort", "started"]), 1);
    assert_eq!(count(&["--file", "nowhere.rs"]), 0);
    assert_eq!(count(&["--min-cost", "1000"]), 0);
    assert_eq!(count(&["--since", "2020-01-01", "--until", "2100-01-01"]), 1);
    assert_eq!(count(&["--since", "2100-01-01"]), 0);
    let wrong = antiphon(folder.path(), &["ls", "--since", "soon"]);
    assert_eq!(wrong.exit, 2, "{wrong}");
}

#[test]
fn sums_are_printed_for_a_spreadsheet() {
    let folder = folder();
    home(folder.path());
    antiphon(folder.path(), &["sync"]);
    let told = antiphon(folder.path(), &["stats", "--by", "sub-agent", "--csv"]);
    let lines: Vec<&str> = told.out.lines().collect();
    assert!(lines[0].starts_with("key,input,output,"), "{told}");
    let columns = lines[0].split(',').count();
    assert!(
        lines.len() > 2 && lines.iter().all(|line| line.split(',').count() == columns),
        "{told}"
    );
}
